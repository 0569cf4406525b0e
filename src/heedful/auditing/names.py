"""The names of rankings for people. No torch."""

import re
from collections.abc import Mapping, Sequence

SHUFFLED, RANDOM = "shuffled", "random"  # what a map is compared with
NOBODY = "No single word decides here."
NAMES: Mapping[str, str] = {
    "attention": "attention",
    "gradient": "gradient × input",
    "gradient-held": "gradient × input with attention held",
    "integrated": "integrated gradients",
    "leave-one-out": "leave-one-out",
    "contribution": "contribution (weight × what the word says)",
    "value-norms": "weight × length of the value",
    "rollout": "attention rollout",
    "flow": "attention flow",
    "attention-gradient": "attention × its gradient, layer by layer",
    "value-zeroing": "value zeroing",
    "jain-wallace": "gradient as Jain & Wallace take it",
    "lime": "LIME",
    "shapley": "Shapley values",
    "shuffled": "shuffled weights",
    "random": "random",
}
LAYER = re.compile(r"layer-(\d+)(?:-head-(\d+))?")  # one layer of a transformer, or one head of it
HEAD = re.compile(r"head-(\d+)-only")  # one head of a transformer's last layer
UNSIGNED = frozenset(("attention", "value-norms", "rollout", "flow", "attention-gradient"))  # never below 0


def named(ranking: str) -> str:
    """A ranking's name for people; a user's own has the name that they gave it."""
    layer = LAYER.fullmatch(ranking)
    if layer:
        return f"attention of layer {layer[1]}{f', head {layer[2]}' if layer[2] else ''}"
    head = HEAD.fullmatch(ranking)
    return f"attention of head {head[1]} alone" if head else NAMES.get(ranking, ranking)


def has_signs(ranking: str) -> bool:
    """Whether a ranking can say that a word speaks against the decision; a user's own may."""
    return ranking not in UNSIGNED and not LAYER.fullmatch(ranking) and not HEAD.fullmatch(ranking)


def no_word_decides(decision: str) -> str:
    """What is said of a text that is decided by default."""
    return f"No word decides “{decision}”: the model decides so when nothing speaks against it."


def shown_names(names: Sequence[str]) -> list[str]:
    """Those of the maps that a person could be shown: not chance, nor shuffled weights."""
    return [name for name in names if name not in (SHUFFLED, RANDOM)]
