"""What a head decides: one class of several, one label yes or no, or a number above a threshold."""

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor

from heedful.errors import UserError, choose_from, listed

Decide = Callable[[Tensor], Tensor]  # what the head gives (B,·) → logits (B,K), or scores (B,1)
PROBLEMS = (None, "regression", "single_label_classification", "multi_label_classification")


def check_task(
    config: Any, name: str, *, label: str | None = None, threshold: float | None = None
) -> tuple[Decide | None, tuple[str, ...]]:
    """How the head's numbers become a decision (None: as they are), and the classes; others are refused."""
    classes = class_names(config, name)
    problem = getattr(config, "problem_type", None)
    if problem not in PROBLEMS:
        raise UserError(
            f"The problem_type of {name!r} is {problem!r}: transformers knows {listed(PROBLEMS[1:])}."
        )
    if problem == "regression" or len(classes) == 1:
        if len(classes) > 1:
            raise UserError(
                f"{name!r} gives {len(classes)} numbers and no class, and an audit needs one decision a text."
            )
        if threshold is None:
            raise UserError(
                f"{name!r} gives a number and no class: name a threshold (--threshold), and it is audited as "
                "a decision whether the number is above."
            )
        if not math.isfinite(threshold):
            raise UserError(f"A threshold is a finite number, not {threshold}.")
        return lambda scores: scores - threshold, (f"up to {threshold:g}", f"above {threshold:g}")
    if threshold is not None:
        raise UserError(f"{name!r} decides between {listed(classes)}: it needs no threshold.")
    if problem == "multi_label_classification":
        if label is None:
            raise UserError(
                f"{name!r} may give several labels at once: name the one to audit, out of {listed(classes)}."
            )
        place = classes.index(choose_from("label", label, classes))
        return lambda scores: scores[:, place : place + 1], (f"not {label}", label)
    if label is not None:
        raise UserError(
            f"{name!r} decides for one of {listed(classes)}: only a model with several labels at once is "
            "audited label by label."
        )
    return None, classes


def class_names(config: Any, name: str) -> tuple[str, ...]:
    """The names of the classes in the order of the logits; gaps and names that stand twice are refused."""
    named = getattr(config, "id2label", None)
    if not isinstance(named, dict) or set(named) != set(range(len(named))) or not named:
        raise UserError(f"The classes of {name!r} (id2label) are not numbered from 0 without a gap.")
    classes = tuple(str(named[number]) for number in range(len(named)))
    if len(set(classes)) < len(classes) or any(not one.strip() for one in classes):
        raise UserError(f"The classes of {name!r} (id2label) do not all have names of their own.")
    return classes
