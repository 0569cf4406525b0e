"""Is it stable when the model is trained again from other seeds? (Wiegreffe & Pinter, 2019, section 3.2.)

A property of the training, not of the model in hand: it is context, and never decides.
"""

import math
from typing import TYPE_CHECKING, Any

from heedful.auditing.questions.answer import Answer, NotAsked, Question, bars, outcome_of, present, scale_of
from heedful.records.wording import in_percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from heedful.auditing.asking import Asking
    from heedful.data.batches import Batch


def measure(asking: "Asking") -> "DataFrame":
    """How far models that differ in their seed alone attend to the same words, pair by pair."""
    import numpy as np
    import pandas

    from heedful.models.word_attention import word_attention
    from heedful.study.seeds import compare_weights

    if asking.settings.seeds < 3:
        raise NotAsked("It takes three seeds or more to tell how models vary: ask for them with --seeds.")
    asking.trainable()

    def trial(batch: "Batch", first: int) -> "DataFrame":
        weights = [word_attention(model, batch)[0].double().cpu() for model in asking.other_seeds()]
        rows = np.asarray(batch.rows)
        return pandas.DataFrame(compare_weights(weights, batch.mask.cpu(), seed=asking.seed, rows=rows))

    return asking.stream("stable", trial, asking.rows)


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    from heedful.study.seeds import pairs_finding

    described: dict[str, Any] = {"coordinates": asking.about, "seeds": asking.settings.seeds}
    shared = pairs_finding(
        rows,
        "overlap",
        name="overlap of the top word between seeds",
        measured="mean over texts and pairs of seeds of whether the word with the largest weight is the same",
        within=(0.0, 1.0),
        unit="of texts",
        better="higher",
        baselines=("random", "shuffled"),
        **described,
    )
    beyond = pairs_finding(
        rows,
        "overlap",
        than="shuffled_overlap",
        name="overlap of the top word beyond shuffled weights",
        measured="mean over texts and pairs of seeds of the overlap minus that of both models' weights "
        "shuffled among the words, on average",
        within=(-1.0, 1.0),
        better="higher",
        **described,
    )
    apart = pairs_finding(
        rows,
        "divergence",
        name="divergence of the weights between seeds",
        measured="mean over texts and pairs of seeds of the JSD between the weights",
        within=(0.0, math.log(2)),
        unit="nats",
        better="lower",
        baselines=("shuffled",),
        **described,
    )
    if shared is None:
        raise NotAsked("No text has two words, so there is no top word to compare.")
    assert beyond is not None
    outcome = outcome_of(beyond, ">", 0.0)
    chance = shared.baselines["shuffled"].value
    compared = (
        f"share their top word in {in_percent(shared.value)} of texts, and {in_percent(chance)} if weights "
        "are shuffled"
    )
    return QUESTION.plainly(
        outcome,
        f"Models trained from other seeds {compared}.",
        f"The model is trained from {shared.seeds} seeds and nothing else is changed; the words with the "
        "largest weight are compared pair by pair.",
        finding=shared,
        scale=scale_of(shared, low_end=0.0, high_end=1.0, best=1.0, best_name="the same word always"),
        evidence=present((beyond, apart)),
    )


def figure(answer: Answer, rows: "DataFrame") -> "Figure | None":
    """How often models of other seeds have the same top word."""
    assert answer.finding is not None
    return bars(answer.finding, "share of texts with the same top word", whose="attention")


QUESTION = Question(
    "stable",
    "Is it stable when the model is trained again?",
    measure,
    answer,
    figure,
    "how often models of other seeds have the same top word",
    of_attention="Is attention stable when the model is trained again?",
)
