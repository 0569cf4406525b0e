"""Does the item with the largest weight matter more than that of shuffled weights? (Serrano & Smith, 2019.)

Beside it, for a linear head, how many items must go in the order of attention before the decision flips, as a
multiple of the exact smallest set.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heedful.auditing.questions.answer import (
    Answer,
    NotAsked,
    Question,
    bars,
    difference_finding,
    mean_finding,
    outcome_of,
    present,
    scale_of,
)
from heedful.records import Estimate, Finding, bootstrap_interval, wilson_interval
from heedful.records.interval import share_of
from heedful.records.wording import in_percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from heedful.auditing.asking import Asking

GAP = "median optimality gap"


def measure(asking: "Asking") -> "DataFrame":
    """Items erased at the layer, in the order of attention and of shuffled weights, and the smallest sets.

    Those are exact for a linear head; else a beam search gives an upper bound.
    """
    from heedful.trials.streamed_trials import layer_trial

    trial = layer_trial(asking.with_trace(), ["attention"], samples=1, search=True, seed=asking.seed)
    return asking.stream("top", trial, asking.rows)


def answer(rows: "DataFrame", asking: "Asking") -> Answer:
    frame = rows[rows["items"] > 1]
    if not len(frame):
        raise NotAsked("No text has two items at the attention layer.")
    own, shuffled, other = (
        frame[f"single_{name}"].to_numpy().astype(float)
        for name in ("attention_top_flips", "shuffled_top_flips", "attention_other_flips")
    )
    described: dict[str, Any] = {"unit": "of texts", "better": "higher"}
    top = Finding(
        "flips by the top item",
        float(own.mean()),
        interval=wilson_interval(int(own.sum()), len(own)),
        count=len(own),
        baselines={
            "random": share_of(other),
            "shuffled": share_of(shuffled),
        },
        coordinates=asking.about,
        measured="share of texts whose decision changes when only the item with the largest weight is erased",
        **described,
    )
    beside = difference_finding(
        "flips by the top item beyond shuffled weights",
        own,
        shuffled,
        "that minus the same for the weights shuffled among the items, paired over texts",
        seed=asking.seed,
        **described,
    )
    outcome = outcome_of(beside, ">", 0.0)
    compared = (
        f"{in_percent(top.value)} of decisions, and that of shuffled weights {in_percent(shuffled.mean())}"
    )
    if top.value < shuffled.mean():
        why = "what it puts first decides less than what chance puts there."
    else:
        why = "weights this uneven do that wherever they lie." if top.value else "neither decides alone."
    words = f"Erasing its top item alone changes {compared}"
    words += f": {why}" if outcome == "no" else "."
    best = float((frame["smallest"] == 1).mean()) if "smallest" in frame else None
    gaps = _gaps(frame, asking) if "smallest" in frame else ()
    gap = next((one for one in gaps if one.name == GAP and one.kind == "estimate"), None)
    if gap is not None:
        most = f"{gap.value:.2g} times as many items as needed" if gap.value > 1 else "no more than needed"
        words += f" To change a decision at the layer, its order takes {most} (median)."
    return QUESTION.plainly(
        outcome,
        words,
        "The item with the largest weight is erased at the attention layer and the rest renormalised. The "
        "same is done with the model's weights shuffled among the words, and their own top item. The best "
        "there can be is the share of decisions that some single item changes.",
        finding=top,
        scale=scale_of(top, low_end=0.0, high_end=best or 1.0, best=best, best_name="best single item"),
        evidence=(beside, *gaps),
    )


def _gaps(frame: "DataFrame", asking: "Asking") -> tuple[Finding, ...]:
    """The share of decisions that can be flipped, and the items needed ÷ those of the smallest set."""
    exact = bool((frame["smallest_kind"] == "exact").all())
    can = frame["smallest"].to_numpy() > 0
    flippable = Finding(
        "decisions that can be flipped",
        float(can.mean()),
        interval=wilson_interval(int(can.sum()), len(can)),
        count=len(can),
        unit="of texts",
        kind="estimate" if exact else "lower bound",
        coordinates=asking.about,
        measured="share of texts whose decision changes when some set of items is erased at the layer",
    )
    if not can.any():
        return (flippable,)
    gaps = _times(frame, "attention", "smallest")
    nulls = {"random": _times(frame, "random", "smallest")[can]}
    ahead = None
    if "smallest_shuffled" in frame:
        both = can & (frame["smallest_shuffled"].to_numpy() > 0)
        if both.any():
            nulls["shuffled"] = _times(frame, "shuffled", "smallest_shuffled")[both]
            ahead = mean_finding(
                "gap of shuffled weights beside attention's",
                np.log2(nulls["shuffled"] / gaps[both]),
                "mean over texts of log2 of the shuffled weights' gap (to their own smallest set) ÷ "
                "attention's",
                unit="doublings",
                better="higher",
                seed=asking.seed,
            )
    gap = Finding(
        GAP,
        float(np.median(gaps[can])),
        interval=bootstrap_interval(gaps[can], "median", seed=asking.seed),
        count=int(can.sum()),
        baselines={name: Estimate(float(np.median(values))) for name, values in nulls.items()},
        unit="times the smallest set",
        better="lower",
        kind="estimate" if exact else "lower bound",
        coordinates=asking.about,
        measured="median of the items that attention needs to flip the decision ÷ those of the smallest set",
    )
    return present((gap, ahead, flippable))


def _times(frame: "DataFrame", name: str, smallest: str) -> NDArray[np.float64]:
    """Items needed ÷ items of the smallest set; where a ranking never flips, all items count."""
    sizes, least = frame[f"size_{name}"].to_numpy(), frame[smallest].to_numpy()
    found: NDArray[np.float64] = np.where(sizes > 0, sizes, frame["items"]) / np.where(least > 0, least, 1)
    return found


def figure(answer: Answer, rows: "DataFrame") -> "Figure | None":
    """Decisions that the top item alone flips, beside its baselines and the best there can be."""
    assert answer.finding is not None
    assert answer.scale is not None
    more = {} if answer.scale.best is None else {"best single item": answer.scale.best}
    return bars(answer.finding, "share of decisions flipped", more, whose="attention")


QUESTION = Question(
    "top",
    "Does its top item matter more than the top item of shuffled weights?",
    measure,
    answer,
    figure,
    "decisions that the top item alone flips",
    of_attention="Does attention's top item matter more than the top item of shuffled weights?",
)
