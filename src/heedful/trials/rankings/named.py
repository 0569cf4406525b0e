"""Rankings of a subject's words by name: those that every subject has, and those that only its kind has.

One pass of a transformer gives rollout, flow and the heads: they share what was read of the last batch.
Axes: B texts, T words.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from heedful.errors import UserError, nearest
from heedful.models.subject import Subject
from heedful.models.transformers.any_layer import place_of
from heedful.models.transformers.subject import TransformerSubject
from heedful.trials.rankings.attention_gradient import attention_gradient
from heedful.trials.rankings.attention_rankings import LastRead, flow, of_layer, one_head, rollout
from heedful.trials.rankings.ranking import Ranking, ranking_of
from heedful.trials.rankings.value_norms import value_norms
from heedful.trials.rankings.value_zeroing import value_zeroing
from heedful.trials.rankings.word_gradients import Doubted
from heedful.trials.rankings.word_rankings import WORD_RANKINGS, word_scores

MOST_HEADS = 16  # heads that are ranked one by one
HEAD = re.compile(r"head-\d+-only")  # what they are called, counted from 1


@dataclass(frozen=True)
class About:
    """What a ranking costs, and where it comes from."""

    cost: str
    reference: str
    opt_in: bool = False  # measured in an audit only when asked for


ABOUT: Mapping[str, About] = {
    "rollout": About("1 pass", "Abnar & Zuidema, 2020"),
    "value-norms": About("1 pass", "Kobayashi et al., 2020"),
    "attention-gradient": About("1 forward and backward pass", "Chefer et al., 2021"),
    "value-zeroing": About("as many passes as words", "after Mohebbi et al., 2023", opt_in=True),
    "flow": About("1 pass, and up to 10 seconds for a long text", "Abnar & Zuidema, 2020", opt_in=True),
    "layer-N, layer-N-head-M": About("1 pass", "any layer, or a head of it", opt_in=True),
    "head-N-only": About("1 pass for all", "the heads of the last layer, one by one", opt_in=True),
}


def transformer_rankings(subject: TransformerSubject, *, all_of_them: bool = False) -> Mapping[str, Ranking]:
    """The rankings of this subject by name, with those that are opt-in if `all_of_them`.

    Those that go through layers are not for encoder–decoders, whose attention does not go from a text to
    itself; value norms need values, which are not seen through a caught softmax.
    """
    if subject.entry is None or not getattr(subject.network, "single", True):
        return {}  # labels of several pieces are scored in several passes
    found: dict[str, Ranking] = {}
    read = LastRead()
    through = not getattr(subject.network.config, "is_encoder_decoder", False)
    if through:
        found |= {
            "rollout": ranking_of(partial(rollout, read=read)),
            "attention-gradient": ranking_of(attention_gradient),
        }
    if subject.entry.way.sees_values:
        found["value-norms"] = ranking_of(value_norms)
    if not all_of_them:
        return found
    found["value-zeroing"] = ranking_of(value_zeroing)
    if through:
        found["flow"] = ranking_of(partial(flow, read=read))
        heads = read(subject, subject.encode(["Heads"]))[0].heads.shape[1]
        for number in range(heads if heads <= MOST_HEADS else 0):
            found[f"head-{number + 1}-only"] = ranking_of(partial(one_head, head=number, read=read))
    return found


def layer_ranking(subject: TransformerSubject, name: str) -> Ranking | None:
    """The ranking that layer-N or layer-N-head-M names; None for another name, and as `place_of` refuses."""
    place = place_of(subject, name)
    return None if place is None else ranking_of(partial(of_layer, layer=place.layer, head=place.head))


# What every audit judges where the subject has it.
IN_AUDITS = frozenset(("attention", "gradient", "integrated", "leave-one-out", "shuffled", "random"))


def brought_by(subject: Subject, *, all_of_them: bool = False) -> Mapping[str, Ranking]:
    """Rankings that a subject brings along, such as rollout for a transformer.

    Flow, which takes ten seconds for a long text, and single heads, which are many, come with `all_of_them`.
    """
    if not isinstance(subject, TransformerSubject):
        return {}
    return transformer_rankings(subject, all_of_them=all_of_them)


def by_name(subject: Subject, names: Sequence[str], *, own: Collection[str] = ()) -> dict[str, Ranking]:
    """Those of these rankings that an audit does not have by itself, ready to be used.

    They are the opt-in ones of a transformer, its single layers and heads, and rankings of words by name.
    A name that there is not is refused, with the nearest, be it one of the user's `own`.
    """
    usual = brought_by(subject)
    wanted = [name for name in dict.fromkeys(names) if name not in usual]
    layers = {name: _layer(subject, name) for name in wanted}
    rest = [name for name in wanted if layers[name] is None]
    more = brought_by(subject, all_of_them=True) if any(name not in WORD_RANKINGS for name in rest) else {}
    found = {name: ranking for name, ranking in layers.items() if ranking is not None}
    for name in rest:
        if name in more:
            found[name] = more[name]
        elif name in WORD_RANKINGS and name not in IN_AUDITS:
            found[name] = WORD_RANKINGS[name]
        elif name not in WORD_RANKINGS:
            known = [*own, *_briefly(more), *WORD_RANKINGS]
            raise UserError(f"There is no ranking of words {name!r}{nearest(name, known)}.")
    return found


def _layer(subject: Subject, name: str) -> Ranking | None:
    return layer_ranking(subject, name) if isinstance(subject, TransformerSubject) else None


def text_scores(subject: Subject, text: str, by: str, *, seed: int = 0) -> list[float]:
    """The score of each word of one text by the ranking of this name, be it one that the subject brings."""
    own = dict(brought_by(subject, all_of_them=True))
    layer = _layer(subject, by)
    if layer is not None:
        own[by] = layer
    if by not in own and by not in WORD_RANKINGS:
        raise UserError(
            f"There is no ranking of words {by!r}{nearest(by, [*_briefly(own), *WORD_RANKINGS])}."
        )
    found = word_scores(own.get(by, by), subject, subject.encode([text]), seed=seed)
    return list((found.scores if isinstance(found, Doubted) else found)[0].tolist())


def _briefly(names: Mapping[str, Ranking]) -> list[str]:
    """The names with all heads as one entry: twelve heads would leave no room for the rest."""
    heads = [name for name in names if HEAD.fullmatch(name)]
    rest = [name for name in names if name not in heads]
    return [*rest, f"{heads[0]} to {heads[-1]}"] if heads else rest


def check_own_names(own: Iterable[str], taken: Collection[str]) -> None:
    """Refuse names of rankings that are taken, or that the columns of the results could not carry."""
    for name in own:
        if name in taken or not re.fullmatch(r"[\w-]*[^\W\d_]", name):
            raise UserError(
                f"A ranking of your own needs a new name of letters that ends in one, and not {name!r}."
            )
