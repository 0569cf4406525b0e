"""Could very different attention give the same decision? (Jain & Wallace, 2019, section 4.2.)"""

import math
from typing import TYPE_CHECKING, Any

from heedful.auditing.questions.answer import Answer, Outcome, Question, mean_finding, present, scale_of
from heedful.auditing.rule import high, low
from heedful.drawing import BLACK, BLUE, GREY, PURPLE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from heedful.auditing.asking import Asking
    from heedful.data.batches import Batch
    from heedful.models.trace import Trace
    from heedful.trials.weights.adversary import Adversary

EPSILON = 0.01  # how far the adversary may move the output
MOST_APART = math.log(2)  # of the Jensen–Shannon divergence, in nats
FAR = MOST_APART / 2  # from here other weights count as very different
EXACT_TEXTS, ASCENT_TEXTS = 2000, 30


def measure(asking: "Asking") -> "DataFrame":
    """The farthest other weights for the same output, exact or by ascent; also of weights dealt anew."""
    import pandas

    from heedful.trials.rankings.layer_rankings import random_weights, shuffle_weights
    from heedful.trials.stream import batch_of
    from heedful.trials.weights.adversary import exact_adversary, is_exact
    from heedful.trials.weights.ascent import ascent_adversary
    from heedful.trials.weights.permutation import permute_weights

    subject, seed = asking.with_trace(), asking.seed

    def farthest(of: "Trace", first: int) -> "Adversary":
        if is_exact(of):
            return exact_adversary(of, EPSILON)
        return ascent_adversary(of, EPSILON, restarts=2, steps=150, rate=0.05, seed=seed, first=first)

    def trial(batch: "Batch", first: int) -> "DataFrame":
        trace = subject.trace(batch)
        found, permuted = farthest(trace, first), permute_weights(trace, seed=seed, first=first)
        columns = {"divergence": found.divergence, "change": found.change, "permuted": permuted.change}
        for name, deal in (("shuffled", shuffle_weights), ("random", random_weights)):
            columns[f"divergence_{name}"] = farthest(deal(trace, seed=seed, first=first), first).divergence
        frame = pandas.DataFrame({name: values.cpu().numpy() for name, values in columns.items()})
        return frame.assign(exact=is_exact(trace))

    exact = is_exact(subject.trace(batch_of(subject, asking.texts, asking.rows[:1])))
    return asking.stream("adversary", trial, asking.some(EXACT_TEXTS if exact else ASCENT_TEXTS))


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    exact = bool(rows["exact"].all())
    described: dict[str, Any] = {"coordinates": asking.about, "seed": asking.seed}
    apart = mean_finding(
        "adversary's divergence",
        rows["divergence"].to_numpy(),
        "JSD between the weights and other weights that move the output by at most 0.01, "
        + ("the exact maximum" if exact else "the best that gradient ascent found")
        + "; log 2 = 0.693 is the most there can be",
        unit="nats",
        kind="exact" if exact else "lower bound",
        baselines={name: rows[f"divergence_{name}"].to_numpy() for name in ("random", "shuffled")},
        **described,
    )
    several = rows["permuted"].dropna().to_numpy()  # one item cannot be permuted
    permuted = None
    if len(several):
        permuted = mean_finding(
            "output change under permuted weights",
            several,
            "median total variation distance of the output over 100 permutations; the mean over texts",
            **described,
        )
    # A lower bound can say that such weights exist, never that they do not.
    outcome: Outcome = "yes" if low(apart) >= FAR else "unsure" if not exact else "no"
    if outcome == "no" and high(apart) >= FAR:
        outcome = "unsure"
    share = f"{apart.value / MOST_APART:.0%} of the way to having nothing in common"
    words = {
        "yes": f"Yes. Other weights, {share}, give nearly the same output.",
        "no": f"No. Weights that give nearly the same output are at most {share} with these.",
        "unsure": f"Perhaps. Other weights, {share}, were found.",
    }[outcome]
    return QUESTION.said(
        outcome,
        f"{words} Such weights exist for almost any model, so this alone says little.",
        "For each text the weights farthest from the model's own (by Jensen–Shannon divergence) that move "
        f"its output by at most 0.01: "
        f"{'the exact maximum' if exact else 'the best that a search found, a lower bound'}.",
        finding=apart,
        scale=scale_of(apart, low_end=MOST_APART, high_end=0.0, best=0.0, best_name="no other weights"),
        evidence=present((permuted,)),
        good=None if outcome == "unsure" else outcome == "no",
    )


def figure(answer: Answer, rows: "DataFrame") -> "Figure | None":
    """How far other weights with the same output are, text by text."""
    assert answer.finding is not None
    drawn = new_figure()
    axes = drawn.subplots()
    values = rows["divergence"].to_numpy()
    axes.hist(values, bins=40, range=(0, MOST_APART), color=BLUE, alpha=0.7, label="attention")
    axes.axvline(MOST_APART, color=GREY, linestyle="-.", label="nothing in common (log 2)")
    for name, colour, line in (("shuffled", PURPLE, "--"), ("random", BLACK, ":")):
        mean = answer.finding.baselines[name].value
        axes.axvline(mean, color=colour, linestyle=line, label=f"mean, {name} weights")
    axes.set_xlabel(f"divergence of the adversary's weights, nats (n = {len(values):,} texts)")
    axes.set_ylabel("texts")
    axes.legend(loc="upper left")
    return drawn


QUESTION = Question(
    "adversary",
    "Could very different attention give the same decision?",
    measure,
    answer,
    figure,
    "how far other weights with the same output are",
)
