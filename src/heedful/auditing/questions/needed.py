"""Is attention needed at all? The same model trained with uniform weights (Wiegreffe & Pinter, 2019)."""

from typing import TYPE_CHECKING

from heedful.auditing.questions.answer import (
    Answer,
    NotAsked,
    Outcome,
    Question,
    difference_finding,
    scale_of,
)
from heedful.auditing.rule import high, low

if TYPE_CHECKING:
    from pandas import DataFrame

    from heedful.auditing.asking import Asking

NEGLIGIBLE = 0.01  # accuracy that counts as nothing: surely less is "not needed", any sure gain "needed"


def measure(asking: "Asking") -> "DataFrame":
    """What the model and the uniform control decide."""
    import pandas

    if not asking.settings.uniform:
        raise NotAsked("No uniform control was asked for.")
    run = asking.trainable()
    if run.recipe.model.control != "none":
        raise NotAsked(f"The model's attention is {run.recipe.model.control} already.")
    known = asking.records.value("uniform")
    if known is None:
        known = asking.decisions_of(asking.train_again("uniform", uniform=True)).tolist()
        asking.records.keep_value("uniform", known)
    return pandas.DataFrame({"label": asking.labels, "decided": asking.decided, "uniform": known})


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    own, other = ((rows[name] == rows["label"]).to_numpy().astype(float) for name in ("decided", "uniform"))
    gain = difference_finding(
        "accuracy beyond uniform weights",
        own,
        other,
        "accuracy minus that of the same model trained with uniform weights, paired over texts (one training "
        "each: how trainings vary is not in it)",
        seed=asking.seed,
        unit="of texts",
        better="higher",
        coordinates={**asking.about, "uniform_accuracy": float(other.mean())},
    )
    outcome: Outcome = "yes" if low(gain) > 0 else "no" if high(gain) < NEGLIGIBLE else "unsure"
    points = f"{100 * gain.value:+.1f} points of accuracy"
    words = {
        "yes": f"It is worth {points} over a model that gives every word the same weight.",
        "no": f"A model that gives every word the same weight decides as well ({points}).",
        "unsure": f"Beside a model that gives every word the same weight it is worth {points}.",
    }[outcome]
    return QUESTION.plainly(
        outcome,
        words,
        "The same model is trained with uniform weights, and both decide the same texts. Where attention "
        "adds nothing, what it looks at need not matter.",
        finding=gain,
        scale=scale_of(gain, low_end=min(0.0, gain.value), high_end=max(0.05, gain.value)),
    )


ASKS = "Is attention needed at all?"
QUESTION = Question("needed", ASKS, measure, answer, of_attention=ASKS)
