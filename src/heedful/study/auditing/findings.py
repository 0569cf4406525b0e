"""From the rows of the stages to the findings that a verdict reads."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful.errors import UserError
from heedful.records import (
    Estimate,
    Finding,
    Interval,
    bootstrap_interval,
    paired_difference,
    wilson_interval,
)
from heedful.records.finding import Scalar
from heedful.study.pooling import MOST
from heedful.study.seeds import pairs_finding
from heedful.trials.groups import mean_findings
from heedful.trials.multi import Erasures
from heedful.trials.skill import ONE, measurable, skill_estimate, word_skill
from heedful.trials.word_erasures import WordErasures

Found = dict[str, Any]  # fields of `verdict.Evidence`, by name
Coordinates = Mapping[str, Scalar]
NULLS = ("random", "shuffled")
YARDSTICKS = ("contribution", "gradient")  # where leaving out is no yardstick


def accuracy_finding(decided: NDArray, labels: NDArray, *, about: Coordinates) -> Finding:
    """The accuracy, with the share of the largest class beside it."""
    right, count = int((decided == labels).sum()), len(labels)
    majority = float(np.bincount(labels).max() / count)
    return Finding(
        "accuracy",
        right / count,
        interval=wilson_interval(right, count),
        count=count,
        baselines={"majority": Estimate(majority)},
        unit="of texts",
        better="higher",
        coordinates={**about, "majority": majority},
        measured="share of texts whose label the model decides",
    )


def word_evidence(
    frame: pd.DataFrame, *, classes: Sequence[str], about: Coordinates, seed: int = 0
) -> tuple[Found, dict[str, str]]:
    """Word skill, agreement and label words from the rows of `words_trial`; and why a question has none."""
    erasures = WordErasures.from_frame(frame)
    several = frame["words"].to_numpy() > 1
    found: Found = {"constant": _constant(frame["constant"].to_numpy()[several], about)}
    not_asked: dict[str, str] = {}
    try:
        yardstick = find_yardstick(erasures, seed=seed)
        settings: dict[str, Any] = {
            "coordinates": {**about, "yardstick": yardstick},
            "yardstick": yardstick,
            "seed": seed,
        }
        skills = word_skill(erasures, "attention", classes=classes, by_share=False, **settings)
        found["skill"] = skills[0]
        found["class_skills"] = tuple(part for part in skills if "predicted" in part.coordinates)
        names = [name for name in erasures.without if name not in ("random", "shuffled")]
        found["rankings"] = tuple(_beside(skills[0], erasures, name, seed=seed) for name in names)
    except UserError as error:
        not_asked["decides"] = str(error)
    found |= _agreement(
        frame, found["skill"].coordinates["yardstick"] if "skill" in found else ONE, about, seed
    )
    if "agreement_margin" not in found:
        not_asked["agreement"] = "There is no order to compare: constant weights, or no yardstick of its own."
    if "label_mass" in frame:
        found |= _labels(frame, about, seed)
    else:
        not_asked["labels"] = "There are no training texts here to tell which words go with a class."
    return found, not_asked


def _beside(attention: Finding, erasures: WordErasures, name: str, *, seed: int) -> Finding:
    """The same finding for another ranking."""
    if name == "attention":
        return attention
    where = attention.coordinates
    skill = skill_estimate(erasures, name, yardstick=str(where["yardstick"]), seed=seed)
    return replace(
        attention, value=skill.value, interval=skill.interval, coordinates={**where, "ranking": name}
    )


def find_yardstick(erasures: WordErasures, *, seed: int = 0) -> str:
    """What word skill is measured by: leaving out, or the best other ranking where that is no better than
    chance.

    It is not where several words of a text say the same: none of them is missed alone.
    """
    bounded = [
        name
        for name in (ONE, *YARDSTICKS)
        if name in erasures.without
        and measurable(erasures, erasures.words > 1, yardstick=name)
        and _has_interval(skill_estimate(erasures, name, yardstick=name, seed=seed))
    ]
    if not bounded or ONE in bounded:
        return ONE
    several = erasures.words > 1
    return max(bounded, key=lambda name: erasures.without[name][several].mean())


def _has_interval(estimate: Estimate) -> bool:
    return estimate.interval is not None and estimate.interval.bounded


def layer_evidence(frame: pd.DataFrame, *, about: Coordinates, seed: int = 0) -> tuple[Found, dict[str, str]]:
    """The gap to the smallest sets and the top item's flips, from the rows of `layer_trial`."""
    frame = frame[frame["items"] > 1]
    if not len(frame):
        why = "No text has two items at the attention layer."
        return {}, {"top": why, "gap": why}
    found = _top(frame, about, seed)
    erasures = Erasures.from_frame(frame)
    if erasures.smallest is None:
        return found, {
            "gap": "The smallest sets of this model are not known, so the gap to them was not asked."
        }
    exact = erasures.kind == "exact"
    can = erasures.smallest > 0
    share = wilson_interval(int(can.sum()), len(can))
    found["flippable"] = Finding(
        "decisions that can be flipped",
        float(can.mean()),
        interval=share,
        count=len(can),
        unit="of texts",
        kind="estimate" if exact else "lower bound",
        coordinates=about,
        measured="share of texts whose decision changes when some set of items is erased at the layer",
    )
    if not exact:
        reason = (
            "This head is not linear, so smallest sets are only bounded by a search: the gap to them is a "
            "lower bound, and was not asked."
        )
    if can.any():
        found |= _gap(erasures, can, about, seed)
    return found, {} if exact else {"gap": reason}


def weights_evidence(frame: pd.DataFrame, *, about: Coordinates, seed: int = 0) -> Found:
    """The adversary's divergence, also from random and shuffled weights, and the change under permuted ones.

    From the rows of `weights_trial`.
    """
    exact = bool(frame["exact"].all())
    settings: dict[str, Any] = {"coordinates": about, "seed": seed}
    apart = mean_findings(
        frame["divergence"].to_numpy(),
        name="adversary's divergence",
        measured="JSD between the weights and other weights that move the output by at most 0.01, "
        + ("the exact maximum" if exact else "the best that gradient ascent found")
        + "; log 2 = 0.693 is the most there can be",
        unit="nats",
        kind="exact" if exact else "lower bound",
        baselines={name: frame[f"divergence_{name}"].to_numpy() for name in NULLS},
        **settings,
    )[0]
    permuted = mean_findings(
        frame["permuted"].to_numpy(),
        name="output change under permuted weights",
        measured="median total variation distance of the output over 100 permutations; the mean over texts",
        **settings,
    )
    return {"adversary": apart, "permutation": permuted[0] if permuted else None}


def needed_finding(
    decided: NDArray,
    uniform: NDArray,
    labels: NDArray,
    *,
    about: Coordinates,
    nulls: Mapping[str, NDArray] | None = None,
    seed: int = 0,
) -> Finding:
    """The accuracy minus that of the same model trained with uniform weights, on the same texts.

    `nulls` are the model's decisions under weights that say nothing (random, shuffled), by name.
    """
    own, other = (decided == labels).astype(float), (uniform == labels).astype(float)
    gain = paired_difference(own, other, seed=seed)
    beside = {
        name: paired_difference((found == labels).astype(float), other, seed=seed)
        for name, found in (nulls or {}).items()
    }
    return Finding(
        "accuracy beyond uniform weights",
        gain.value,
        interval=gain.interval,
        count=len(labels),
        unit="of texts",
        better="higher",
        baselines=beside,
        coordinates={**about, "uniform_accuracy": float(other.mean())},
        measured="accuracy minus that of the same model trained with uniform weights, paired over texts "
        "(one training each: how trainings vary is not in it); beside it the model itself, not trained "
        "again, with its weights shuffled or drawn at random",
    )


def stable_evidence(frame: pd.DataFrame, *, seeds: int, about: Coordinates) -> Found:
    """The overlap of the top word between seeds, from the rows of `seeds_trial`.

    Intervals are over seeds, crossed with texts: a few trainings are a small sample of all that could be.
    """
    settings: dict[str, Any] = {"coordinates": about, "seeds": seeds}
    shared = pairs_finding(
        frame,
        "overlap",
        name="overlap of the top word between seeds",
        measured="mean over texts and pairs of seeds of whether the word with the largest weight is the same",
        within=(0.0, 1.0),
        unit="of texts",
        better="higher",
        baselines=("random", "shuffled"),
        **settings,
    )
    beyond = pairs_finding(
        frame,
        "overlap",
        than="shuffled_overlap",
        name="overlap of the top word beyond shuffled weights",
        measured="mean over texts and pairs of seeds of the overlap minus that of both models' weights "
        "shuffled among the words, on average",
        within=(-1.0, 1.0),
        better="higher",
        **settings,
    )
    apart = pairs_finding(
        frame,
        "divergence",
        name="divergence of the weights between seeds",
        measured="mean over texts and pairs of seeds of the JSD between the weights",
        within=(0.0, MOST),
        unit="nats",
        better="lower",
        baselines=("shuffled",),
        **settings,
    )
    if shared is None:
        return {}
    judged = {"stable_advantage": beyond} if seeds > 2 else {}  # one pair says nothing of others
    return {"stable": shared, "stable_divergence": apart, **judged}


def _constant(constant: NDArray, about: Coordinates) -> Finding:
    hits, count = int(constant.sum()), len(constant)
    return Finding(
        "texts with constant weights",
        hits / count if count else 1.0,
        interval=wilson_interval(hits, count),
        count=count,
        unit="of texts",
        coordinates=about,
        measured="share of texts of two words or more whose weights are all equal",
    )


def _agreement(frame: pd.DataFrame, yardstick: Scalar, about: Coordinates, seed: int) -> Found:
    """τ of attention and of the gradient with the yardstick, which must be neither of the two."""
    if yardstick not in (ONE, "contribution"):
        return {}
    end = "" if yardstick == ONE else "_contribution"
    pairs = frame[[f"tau_{name}{end}" for name in ("attention", "gradient", "shuffled")]].dropna()
    if len(pairs) < 2:
        return {}
    own, gradient, dealt = (pairs.iloc[:, column].to_numpy() for column in range(3))
    with_ = "leaving out" if yardstick == ONE else "contribution"
    where = {**about, "yardstick": yardstick}
    settings: dict[str, Any] = {"coordinates": where, "better": "higher", "seed": seed}
    left = (
        f"; {len(frame) - len(pairs)} texts where it is undefined left out" if len(frame) > len(pairs) else ""
    )
    found = {
        "agreement": _mean(
            f"τ of attention and {with_}",
            own,
            f"mean of Kendall's τ-b of sizes, without signs{left}",
            **settings,
        ),
        "agreement_gradient": _mean(
            f"τ of gradient and {with_}",
            gradient,
            f"mean of Kendall's τ-b of sizes, without signs{left}",
            **settings,
        ),
        "agreement_margin": _mean(
            "τ of attention beyond half the gradient's",
            own - gradient / 2,
            f"mean over texts of τ(attention, {with_}) − ½ τ(gradient, {with_})",
            **settings,
        ),
    }
    chance = Estimate(float(dealt.mean()), bootstrap_interval(dealt, seed=seed))
    beside = {"random": Estimate(0.0), "shuffled": chance}  # a random order has τ = 0 on average
    found["agreement"] = replace(found["agreement"], baselines=beside)
    return found


def _labels(frame: pd.DataFrame, about: Coordinates, seed: int) -> Found:
    frame = frame[frame["words"] > 1]
    own, chance = frame["label_mass"].to_numpy(), frame["label_words"].to_numpy()
    if not len(own) or not chance.any():
        return {}
    share = _mean(
        "attention on words that go with one class",
        own,
        "mean over texts of the weight on words that occur mostly in training texts of one class",
        unit="of the weight",
        baselines={"random": chance, "shuffled": frame["label_shuffled"].to_numpy()},
        coordinates=about,
        seed=seed,
    )
    difference = paired_difference(own, chance, seed=seed)
    return {
        "labels": share,
        "labels_advantage": Finding(
            "attention on such words beyond chance",
            difference.value,
            interval=difference.interval,
            count=len(own),
            unit="of the weight",
            coordinates=about,
            measured="that minus the share of such words, which is what random and shuffled weights put "
            "there on average",
        ),
    }


def _top(frame: pd.DataFrame, about: Coordinates, seed: int) -> Found:
    own, shuffled = (frame[f"top_{name}"].to_numpy().astype(float) for name in ("attention", "shuffled"))
    other = frame["other_attention"].to_numpy().astype(float)
    count = len(own)
    where: dict[str, Scalar] = dict(about)
    if "smallest" in frame:
        where["possible"] = float((frame["smallest"] == 1).mean())
    top = Finding(
        "flips by the top item",
        float(own.mean()),
        interval=wilson_interval(int(own.sum()), count),
        count=count,
        baselines={"random": _share(other), "shuffled": _share(shuffled)},
        unit="of texts",
        better="higher",
        coordinates=where,
        measured="share of texts whose decision changes when only the item with the largest weight is erased",
    )
    difference = paired_difference(own, shuffled, seed=seed)
    return {
        "top": top,
        "top_advantage": Finding(
            "flips by the top item beyond shuffled weights",
            difference.value,
            interval=difference.interval,
            count=count,
            unit="of texts",
            better="higher",
            coordinates=about,
            measured="that minus the same for the weights shuffled among the items, paired over texts",
        ),
    }


def _gap(erasures: Erasures, can: NDArray, about: Coordinates, seed: int) -> Found:
    """The median gap; and how far shuffled weights are behind, where they can be flipped too."""
    assert erasures.smallest is not None
    gaps = _gaps(erasures, "attention", erasures.smallest)
    kind = "estimate" if erasures.kind == "exact" else "lower bound"
    baselines = {"random": _gaps(erasures, "random", erasures.smallest)[can]}
    found: Found = {}
    if erasures.smallest_shuffled is not None:
        both = can & (erasures.smallest_shuffled > 0)
        shuffled = _gaps(erasures, "shuffled", erasures.smallest_shuffled)
        if both.any():
            baselines["shuffled"] = shuffled[both]
            ratio = np.log2(shuffled[both] / gaps[both])
            found["gap_advantage"] = _mean(
                "gap of shuffled weights beside attention's",
                ratio,
                "mean over texts of log2 of the shuffled weights' gap (to their own smallest set) ÷ "
                "attention's",
                unit="doublings",
                better="higher",
                coordinates=about,
                seed=seed,
            )
    found["gap"] = Finding(
        "median optimality gap",
        float(np.median(gaps[can])),
        interval=bootstrap_interval(gaps[can], "median", seed=seed),
        count=int(can.sum()),
        baselines={name: Estimate(float(np.median(values))) for name, values in baselines.items()},
        unit="times the smallest set",
        better="lower",
        kind=kind,  # type: ignore[arg-type]  # one of the two words above
        coordinates=about,
        measured="median of the items that attention needs to flip the decision ÷ those of the smallest set",
    )
    return found


def _gaps(erasures: Erasures, name: str, smallest: NDArray) -> NDArray[np.float64]:
    """Items needed ÷ items of the smallest set; where a ranking never flips, all items count."""
    sizes = erasures.sizes[name][:, 0]
    return np.where(sizes > 0, sizes, erasures.items) / np.where(smallest > 0, smallest, 1)


def _mean(
    name: str,
    values: NDArray,
    measured: str,
    *,
    seed: int,
    baselines: Mapping[str, NDArray] | None = None,
    **described: Any,
) -> Finding:
    return Finding(
        name,
        float(values.mean()),
        interval=bootstrap_interval(values, seed=seed),
        count=len(values),
        baselines={key: Estimate(float(column.mean())) for key, column in (baselines or {}).items()},
        measured=measured,
        **described,
    )


def _share(hits: NDArray) -> Estimate:
    interval: Interval = wilson_interval(int(hits.sum()), len(hits))
    return Estimate(float(hits.mean()), interval)
