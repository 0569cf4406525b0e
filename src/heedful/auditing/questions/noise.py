"""Does it stay when the text is written otherwise but means the same? Case, spacing, everything said twice.

Stability without training again, for models that are not ours.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from heedful.auditing.questions.answer import Answer, Question, bars

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from heedful.auditing.asking import Asking
    from heedful.data.batches import Batch

WAYS = {
    "case": "with capitals made small, or the first letter made a capital where there are none",
    "spacing": "with every space doubled",
    "twice": "with the text said twice; a word has the paint of both its places",
}


def rewritten(text: str, way: str) -> str:
    """The text, or each text of a pair, in another way that means the same."""
    from heedful.data.pairs import PAIR

    if way == "case":
        return text.lower() if text.lower() != text else text[:1].upper() + text[1:]
    if way == "spacing":
        return text.replace(" ", "  ")
    return PAIR.join(f"{part} {part}" for part in text.split(PAIR))


def measure(asking: "Asking") -> "DataFrame":
    """The map of each text, and of the text in other ways."""
    import pandas

    from heedful.auditing.steady import Painted, compared, painted, some_texts
    from heedful.data.pairs import PAIR

    subject = asking.plan.audited.subject

    def once(batch: "Batch", found: "Painted", other: "Painted") -> "Painted":
        """The map of a text that was said twice, as one of the text: unknown where one was cut off."""
        import torch

        scores, mask = torch.zeros_like(found.scores), torch.zeros_like(found.mask)
        assert batch.words is not None
        for row, words in enumerate(batch.words):
            first = len(subject.encode([words.text.split(PAIR)[0]]).words[0])  # type: ignore[index]
            count = int(found.mask[row].sum())
            if len(words) == count and int(other.mask[row].sum()) == 2 * count:
                for begin, end in ((0, first), (first, count)) if first < count else ((0, count),):
                    both = other.scores[row, 2 * begin : 2 * end].abs().view(2, -1)
                    scores[row, begin:end] = both.sum(0)
                mask[row, :count] = True
        return Painted(scores, mask, other.decided)

    texts = asking.plan.audited.corpus.split(asking.settings.split).texts

    def trial(batch: "Batch", first: int) -> "DataFrame":
        if batch.words is None:  # a model of ours is handed ids; here its texts are rewritten
            batch = replace(subject.encode([texts[row] for row in batch.rows]), rows=batch.rows)
        assert batch.words is not None
        own = painted(asking, subject, batch)
        columns = {"words": own.mask.sum(1).numpy()}
        for way in WAYS:
            other = painted(asking, subject, subject.encode([rewritten(w.text, way) for w in batch.words]))
            columns |= compared(own, once(batch, own, other) if way == "twice" else other, way)
        return pandas.DataFrame(columns)

    return asking.stream("noise", trial, some_texts(asking))


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    from heedful.auditing.steady import steady_answer

    return steady_answer(
        QUESTION,
        rows,
        WAYS,
        asking,
        changed="when case or spacing change, or the text is said twice",
        how="Some texts are written in other ways that mean the same, and painted again: "
        "capitals made small (or one added), spaces doubled, the text said twice.",
    )


def figure(answer: Answer, rows: "DataFrame") -> "Figure | None":
    """How often the strongest word stays."""
    assert answer.finding is not None
    ways = {way: float(rows[f"top_{way}"].mean()) for way in WAYS if rows[f"top_{way}"].notna().any()}
    return bars(answer.finding, "share of cases in which the strongest word stays", ways)


QUESTION = Question(
    "noise",
    "Does it stay when the text is written otherwise, but means the same?",
    measure,
    answer,
    figure,
    "how often the strongest word stays",
    of_others=True,
)
