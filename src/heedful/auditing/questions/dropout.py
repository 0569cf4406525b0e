"""Does it stay under the model's own dropout? The nearest there is to other trainings of somebody's model."""

from typing import TYPE_CHECKING

from heedful.auditing.questions.answer import Answer, NotAsked, Question, bars

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from heedful.auditing.asking import Asking
    from heedful.data.batches import Batch

MASKS = 3
WAYS = {f"mask-{number}": f"dropout mask {number}" for number in range(1, MASKS + 1)}


def measure(asking: "Asking") -> "DataFrame":
    """The map of each text as it is, and under some masks."""
    import pandas

    from heedful.auditing.steady import compared, painted, some_texts
    from heedful.models.dropout import dropping, drops

    subject = asking.plan.audited.subject
    if not drops(subject):
        raise NotAsked(
            "This cannot be asked of this model: it has no dropout layers that could be switched on."
        )

    def trial(batch: "Batch", first: int) -> "DataFrame":
        own = painted(asking, subject, batch)
        columns = {"words": own.mask.sum(1).numpy()}
        for number, way in enumerate(WAYS):
            with dropping(subject, seed=asking.seed + 1000 * first + number):
                columns |= compared(own, painted(asking, subject, batch), way)
        return pandas.DataFrame(columns)

    return asking.stream("dropout", trial, some_texts(asking))


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    from heedful.auditing.steady import steady_answer

    return steady_answer(
        QUESTION,
        rows,
        WAYS,
        asking,
        changed="when the model drops parts of itself, as it did in training",
        how=f"Some texts are painted again with the model's dropout layers switched on, {MASKS} times with "
        "other masks. Dropout written as functions stays off.",
    )


def figure(answer: Answer, rows: "DataFrame") -> "Figure | None":
    """How often the strongest word stays."""
    assert answer.finding is not None
    return bars(answer.finding, "share of cases in which the strongest word stays")


QUESTION = Question(
    "dropout",
    "Does it stay when the model drops parts of itself?",
    measure,
    answer,
    figure,
    "how often the strongest word stays under dropout",
    of_others=True,
)
