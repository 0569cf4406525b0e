"""Does attention agree with leaving items out, more than weights that say nothing do? (Jain & Wallace, 2019.)

Without an encoder the weight itself is a factor of what leaving out does, so that even random weights agree
with it. The null is therefore measured again: shuffled weights beside what leaving out does *under them*.
"""

from typing import TYPE_CHECKING

from heedful.auditing.questions.answer import (
    Answer,
    NotAsked,
    Question,
    difference_finding,
    mean_finding,
    outcome_of,
    scale_of,
)
from heedful.drawing import BLUE, PURPLE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from torch import Tensor

    from heedful.auditing.asking import Asking
    from heedful.models.trace import Trace


def measure(asking: "Asking") -> "DataFrame":
    """τ of the weights with leaving out at the layer, of shuffled weights likewise, and of gradient."""
    import pandas

    from heedful.trials.agreement.ranks import kendall
    from heedful.trials.erasure.erased import leave_one_out, whole_logits
    from heedful.trials.erasure.rereading import log_odds
    from heedful.trials.rankings.layer_rankings import scores_of, shuffle_weights
    from heedful.trials.stream import trace_trial

    seed = asking.seed

    def left_out(trace: "Trace") -> "Tensor":
        whole, alone = whole_logits(trace).double(), leave_one_out(trace).double()
        decided = whole.argmax(-1)
        fall = log_odds(whole, decided)[:, None] - log_odds(alone, decided[:, None].expand(alone.shape[:2]))
        return fall.abs()

    def taus(trace: "Trace") -> "DataFrame":
        dealt = shuffle_weights(trace, seed=seed)
        mask, alone = trace.present, left_out(trace)
        own = scores_of("attention", trace, seed=seed).double()
        other = scores_of("attention", dealt, seed=seed).double()
        slope = scores_of("gradient", trace, seed=seed).double().abs()
        return pandas.DataFrame(
            {
                "tau_attention": kendall(own, alone, mask).tau,
                "tau_gradient": kendall(slope, alone, mask).tau,
                "tau_shuffled": kendall(other, left_out(dealt), mask).tau,
            }
        )

    return asking.stream("agreement", trace_trial(asking.with_trace(), taus), asking.rows)


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    pairs = rows[["tau_attention", "tau_shuffled", "tau_gradient"]].dropna()
    if len(pairs) < 2:
        raise NotAsked("There is no order to compare: the weights are constant, or texts have one item.")
    left = len(rows) - len(pairs)
    missing = f"; {left} texts where it is undefined are left out" if left else ""
    how = f"mean of Kendall's τ-b of sizes, without signs{missing}"
    own = mean_finding(
        "τ of attention and leaving out",
        pairs["tau_attention"].to_numpy(),
        how,
        seed=asking.seed,
        better="higher",
        coordinates=asking.about,
        baselines={"shuffled": pairs["tau_shuffled"].to_numpy()},
    )
    gradient = mean_finding(
        "τ of gradient and leaving out",
        pairs["tau_gradient"].to_numpy(),
        how,
        seed=asking.seed,
        better="higher",
    )
    beside = difference_finding(
        "τ beyond shuffled weights",
        pairs["tau_attention"].to_numpy(),
        pairs["tau_shuffled"].to_numpy(),
        "that minus the same of shuffled weights with what leaving out does under them, paired over texts",
        seed=asking.seed,
        better="higher",
    )
    outcome = outcome_of(beside, ">", 0.0)
    null = own.baselines["shuffled"].value
    compared = f"τ = {own.value:.2f}, shuffled weights that are measured again {null:.2f}"
    return QUESTION.plainly(
        outcome,
        f"Attention agrees with leaving items out at {compared}{': no better' if outcome == 'no' else ''}.",
        "Kendall's τ between two orders of a text's items: 1 is the same order, 0 no relation. Each item is "
        "left out at the attention layer. Weights are a factor of what leaving out does, so even weights "
        "that say nothing agree with it: shuffled ones are put into the model and measured again.",
        finding=own,
        scale=scale_of(
            own,
            low_end=min(0.0, own.value, null),
            high_end=max(gradient.value, own.value, 1e-9),
            best=gradient.value,
            best_name="gradient",
        ),
        evidence=(beside, gradient),
    )


def figure(answer: Answer, rows: "DataFrame") -> "Figure | None":
    """τ text by text, beside that of shuffled weights."""
    drawn = new_figure()
    axes = drawn.subplots()
    for name, colour in (("attention", BLUE), ("shuffled", PURPLE)):
        values = rows[f"tau_{name}"].dropna().to_numpy()
        axes.hist(values, bins=40, range=(-1, 1), histtype="step", color=colour, label=name)
    axes.set_xlabel(f"Kendall's τ with leaving items out (n = {len(rows):,} texts)")
    axes.set_ylabel("texts")
    axes.legend(loc="upper left")
    return drawn


QUESTION = Question(
    "agreement",
    "Does it agree with leaving items out, more than shuffled weights do?",
    measure,
    answer,
    figure,
    "Kendall's τ with leaving items out, text by text",
    of_attention="Does attention agree with leaving items out, more than shuffled weights do?",
)
