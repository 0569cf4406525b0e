"""What does the rest decide without this attention? What the head alone contributes.

For models that cannot be trained again with uniform weights: at the attention layer every word gets the same
weight, or none at all. What is left then is what goes past the layer, and the head's own leaning.
"""

from typing import TYPE_CHECKING, Any

from heedful.auditing.questions.answer import (
    Answer,
    NotAsked,
    Question,
    mean_finding,
    outcome_of,
    scale_of,
)
from heedful.records.wording import in_percent

if TYPE_CHECKING:
    from pandas import DataFrame

    from heedful.auditing.asking import Asking
    from heedful.data.batches import Batch
    from heedful.models.trace import Trace

TEXTS = 60  # that are run again from the attention layer on
NEARLY = 0.9  # of the decisions: if surely as many stay, the attention is hardly needed


def even(trace: "Trace") -> Any:
    """Weights that spread what each row gives to items evenly over them; other slots keep theirs."""
    movable = (trace.items >= 0).to(trace.weights)
    share = (trace.weights * movable).sum(-1, keepdim=True) / movable.sum(-1, keepdim=True).clamp(min=1)
    return trace.weights * (1 - movable) + movable * share


def measure(asking: "Asking") -> "DataFrame":
    """What is decided with even weights on the words, and without any."""
    import pandas

    from heedful.models.trace import decisions
    from heedful.trials.erasure.erased import logits_without, whole_logits
    from heedful.trials.erasure.forwards import two_sided
    from heedful.trials.erasure.rereading import log_odds

    subject = asking.with_trace()

    def trial(batch: "Batch", first: int) -> "DataFrame":
        trace = subject.trace(batch)
        whole = whole_logits(trace).double()
        decided = decisions(whole)
        spread = two_sided(trace.logits(even(trace))).double()
        nothing = logits_without(trace, trace.present[None])[0].double()
        return pandas.DataFrame(
            {
                "decided": decided.cpu().numpy(),
                "even": (decisions(spread) == decided).double().cpu().numpy(),
                "nothing": (decisions(nothing) == decided).double().cpu().numpy(),
                "odds": log_odds(whole, decided).cpu().numpy(),
                "odds_nothing": log_odds(nothing, decided).cpu().numpy(),
            }
        )

    return asking.stream("head", trial, asking.some(TEXTS))


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    if len(rows) < 2:
        raise NotAsked("There are too few texts to compare.")
    described: dict[str, Any] = {"seed": asking.seed, "unit": "of texts"}
    commonest = (rows["decided"] == rows["decided"].mode()[0]).to_numpy().astype(float)
    kept = mean_finding(
        "decisions without any word at this layer",
        rows["nothing"].to_numpy(),
        "share of texts with the same decision when the layer attends to no word",
        baselines={"commonest decision": commonest},
        coordinates=asking.about,
        **described,
    )
    spread = mean_finding(
        "decisions with even weights",
        rows["even"].to_numpy(),
        "share of texts with the same decision when every word has the same weight in this layer",
        **described,
    )
    odds = mean_finding(
        "log-odds that are left without any word at this layer",
        rows["odds_nothing"].to_numpy(),
        f"mean log-odds of the decided class; with the model's own weights {rows['odds'].mean():.2f}",
        seed=asking.seed,
    )
    outcome = outcome_of(kept, ">=", NEARLY)
    said = {"yes": "Nearly the same.", "no": "Other things.", "unsure": "Much the same, or not: unclear."}
    return QUESTION.said(
        outcome,
        f"{said[outcome]} Without any word at this layer {in_percent(kept.value)} of decisions stay, with "
        f"even weights {in_percent(spread.value)}; always the commonest decision would be "
        f"{in_percent(commonest.mean())}.",
        "At the layer whose attention is looked at, every word gets the same weight, or none; what stood in "
        "earlier layers stays. Decisions that stay without any word rest on what goes past this attention, "
        "which then cannot show why they were taken.",
        finding=kept,
        scale=scale_of(kept, low_end=1.0, high_end=0.0),  # further right is better for the map
        evidence=(spread, odds),
        good=None if outcome == "unsure" else outcome == "no",
    )


QUESTION = Question(
    "head",
    "Does the rest decide the same without this attention?",
    measure,
    answer,
    of_others=True,
    of_attention="Does the rest decide the same without the last layer's attention?",
)
