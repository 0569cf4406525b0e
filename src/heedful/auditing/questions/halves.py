"""Do two halves of the deletions say the same? How sure the yardstick itself is.

Every text's deletions are dealt into two halves, and the words' effects are estimated from each. By the
formula of Spearman and Brown (1910) their agreement tells how well all deletions together would agree with as
many others.
"""

from typing import TYPE_CHECKING

from heedful.auditing.questions.answer import Answer, NotAsked, Question, mean_finding, outcome_of, scale_of
from heedful.drawing import BLACK, BLUE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from heedful.auditing.asking import Asking

SURE = 0.7  # agreement of all deletions with as many others, from which effects count as measured


def measure(asking: "Asking") -> "DataFrame":
    """The rows of the reading, which have the halves."""
    return asking.read.rows


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    if "halves" not in rows or rows["halves"].notna().sum() < 2:
        raise NotAsked("The texts are so short that all their parts were read: nothing was left to luck.")
    half = rows["halves"].dropna().clip(-0.999, 1).to_numpy()
    whole = 2 * half / (1 + half)
    agreed = mean_finding(
        "agreement of the deletions with as many others",
        whole.clip(min=-1),
        "mean over texts of 2r / (1 + r), r being the cosine between the words' effects by two halves",
        seed=asking.seed,
        better="higher",
        baselines={"random": whole * 0},
        coordinates=asking.about,
    )
    each = mean_finding(
        "agreement of two halves",
        half,
        "mean over texts of that cosine",
        seed=asking.seed,
        better="higher",
    )
    outcome = outcome_of(agreed, ">=", SURE)
    return QUESTION.plainly(
        outcome,
        f"What single words do agrees at {each.value:.2f} between two halves, so at about "
        f"{agreed.value:.2f} between all deletions and as many others.",
        "The deletions of each text are dealt into two halves without one in common, and what each word does "
        "is estimated from both: 1 is the same, 0 unrelated. Luck of the deletions is in every interval "
        f"above; it is small if all of them surely agree at {SURE} or more. More deletions: --deletions.",
        finding=agreed,
        scale=scale_of(agreed, low_end=0.0, high_end=1.0, best=1.0, best_name="the same"),
        evidence=(each,),
    )


def figure(answer: Answer, rows: "DataFrame") -> "Figure | None":
    """The agreement of two halves, text by text."""
    drawn = new_figure()
    axes = drawn.subplots()
    values = rows["halves"].dropna().to_numpy()
    axes.hist(values, bins=40, range=(-1, 1), color=BLUE, alpha=0.7)
    axes.axvline(values.mean(), color=BLACK, linestyle="--", label="mean")
    axes.set_xlabel(f"cosine between the effects by two halves (n = {len(values):,} texts)")
    axes.set_ylabel("texts")
    axes.legend(loc="upper left")
    return drawn


QUESTION = Question(
    "halves",
    "Do two halves of the deletions say the same?",
    measure,
    answer,
    figure,
    "agreement of two halves of the deletions, text by text",
    of_others=True,
)
