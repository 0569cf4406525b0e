"""Could very different attention give the same decision? (Jain & Wallace, 2019, section 4.2.)"""

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from heedful.auditing.questions.answer import Answer, NotAsked, Outcome, Question, mean_finding, scale_of
from heedful.auditing.rule import high, low
from heedful.drawing import BLACK, BLUE, GREY, PURPLE, new_figure
from heedful.records.wording import in_percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from heedful.auditing.asking import Asking

EPSILON = 0.01  # how far the adversary may move the output
MOST_APART = math.log(2)  # of the Jensen–Shannon divergence, in nats
FAR = MOST_APART / 2  # from here other weights count as very different
EXACT_TEXTS, ASCENT_TEXTS, STEPS = 2000, 30, 150


def measure(asking: "Asking") -> "DataFrame":
    """The farthest other weights for the same output, exact or by ascent; also of weights dealt anew."""
    from heedful.trials.stream import batch_of, trace_trial
    from heedful.trials.weights.adversary import is_exact
    from heedful.trials.weights.moved import farthest_weights, permuted_weights

    subject = asking.with_trace()
    exact = is_exact(subject.trace(batch_of(subject, asking.texts, asking.rows[:1])))
    ascent: dict[str, Any] = {} if exact else {"restarts": 2, "steps": asking.steps(STEPS), "rate": 0.05}
    farthest = partial(farthest_weights, epsilon=EPSILON, nulls=True, seed=asking.seed, **ascent)
    trial = trace_trial(subject, farthest, partial(permuted_weights, seed=asking.seed))
    return asking.stream("adversary", trial, asking.some(EXACT_TEXTS if exact else ASCENT_TEXTS))


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    rows = rows.dropna(subset=["divergence"])  # a single item has no other weights
    if not len(rows):
        raise NotAsked("No text has two items at the attention layer, so none has other weights.")
    exact = bool((rows["kind"] == "exact").all())
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
    permuted = mean_finding(
        "output change under permuted weights",
        rows["permuted"].to_numpy(),
        "median total variation distance of the output over 100 permutations; the mean over texts",
        **described,
    )
    # A lower bound can say that such weights exist, never that they do not.
    outcome: Outcome = "yes" if low(apart) >= FAR else "unsure" if not exact else "no"
    if outcome == "no" and high(apart) >= FAR:
        outcome = "unsure"
    share = f"{in_percent(apart.value / MOST_APART)} as far away as weights can be"
    words = {
        "yes": f"Yes. Weights {share} give nearly the same output.",
        "no": f"No. Weights that give nearly the same output are at most {share}.",
        "unsure": f"Perhaps. Weights were found, {share}, that give nearly the same output.",
    }[outcome]
    return QUESTION.said(
        outcome,
        f"{words} Such weights exist for almost any model, so this alone says little.",
        "For each text the weights farthest from the model's own (by Jensen–Shannon divergence) that move "
        f"its output by at most 0.01: "
        f"{'the exact maximum' if exact else 'the best that a search found, a lower bound'}.",
        finding=apart,
        scale=scale_of(apart, low_end=MOST_APART, high_end=0.0, best=0.0, best_name="no other weights"),
        evidence=(permuted,),
        good=None if outcome == "unsure" else outcome == "no",
    )


def figure(answer: Answer, rows: "DataFrame") -> "Figure | None":
    """How far other weights with the same output are, text by text."""
    assert answer.finding is not None
    drawn = new_figure()
    axes = drawn.subplots()
    values = rows["divergence"].dropna().to_numpy()
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
    of_attention="Could very different attention give the same decision?",
)
