"""Do the words it stresses carry the label? Sun & Lu's token types of the training texts.

Of a model without attention it is asked about the map that is judged.
"""

from typing import TYPE_CHECKING

from heedful.auditing.questions.answer import (
    Answer,
    NotAsked,
    Question,
    bars,
    difference_finding,
    mean_finding,
    outcome_of,
    scale_of,
)
from heedful.records.wording import in_percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from heedful.auditing.asking import Asking
    from heedful.data.batches import Batch


def measure(asking: "Asking") -> "DataFrame":
    """The share of the weight, and of the words, on words that go with one class."""
    import pandas

    from heedful.auditing.maps import read_only
    from heedful.models.subject import gives
    from heedful.trials.rankings.word_rankings import attention, dealt_anew

    marked, subject = asking.label_words, asking.plan.audited.subject
    attends = gives(subject, "attention")
    if marked is None:
        raise NotAsked("There are no training texts here to tell which words go with a class.")

    def trial(batch: "Batch", first: int) -> "DataFrame":
        reader, _ = read_only(subject, batch)
        there = marked(reader.batch) & reader.batch.mask
        weights = attention(reader) if attends else asking.shown_map(reader.batch)
        total = weights.sum(1).clamp(min=1e-12)
        dealt = dealt_anew(weights, reader.batch, seed=asking.seed)
        return pandas.DataFrame(
            {
                "words": reader.batch.mask.sum(1).cpu(),
                "label_mass": ((weights * there).sum(1) / total).cpu(),
                "label_shuffled": ((dealt * there).sum(1) / total).cpu(),
                "label_words": (there.sum(1) / reader.batch.mask.sum(1)).cpu(),
            }
        )

    return asking.stream("labels", trial, asking.rows)


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    frame = rows[rows["words"] > 1]
    if not len(frame) or not frame["label_words"].any():
        raise NotAsked("No word of these texts goes with one class.")
    own, chance = frame["label_mass"].to_numpy(), frame["label_words"].to_numpy()
    share = mean_finding(
        "weight on words that go with one class",
        own,
        "mean over texts of the weight on words that occur mostly in training texts of one class",
        unit="of the weight",
        baselines={"random": chance, "shuffled": frame["label_shuffled"].to_numpy()},
        coordinates=asking.about,
        seed=asking.seed,
    )
    beside = difference_finding(
        "weight on such words beyond chance",
        own,
        chance,
        "that minus the share of such words, which is what random and shuffled weights put there on average",
        seed=asking.seed,
        unit="of the weight",
    )
    outcome = outcome_of(beside, ">", 0.0)
    return QUESTION.plainly(
        outcome,
        f"{in_percent(share.value)} of its weight lies on words of one class; by chance "
        f"{in_percent(chance.mean())} would.",
        "Words that occur mostly in training texts of one class go with it (Sun & Lu's token types: of two "
        "classes more than three times as often as in the other, of more classes over 55 %). Chance is the "
        "share of such words among those of the text.",
        finding=share,
        scale=scale_of(share, low_end=0.0, high_end=1.0),
        evidence=(beside,),
    )


def figure(answer: Answer, rows: "DataFrame") -> "Figure | None":
    """The attention on words that go with one class."""
    assert answer.finding is not None
    return bars(answer.finding, "share of the weight on words of one class", whose="its weight")


QUESTION = Question(
    "labels",
    "Do the words it stresses carry the label?",
    measure,
    answer,
    figure,
    "weight on words that go with one class",
    of_attention="Do the words that the model attends to carry the label?",
)
