"""Hand-made evidence: what a good attention would leave, to be spoilt one finding at a time."""

from heedful.records import Estimate, Finding, Interval
from heedful.verdict import Evidence


def finding(name="a number", value=0.0, low=None, high=None, *, count=499, kind="estimate", **more):
    interval = None
    if low is not None and high is not None:
        interval = Interval(low, high, level=0.95, method="made by hand")
    baselines = {key: Estimate(number) for key, number in more.pop("baselines", {}).items()}
    return Finding(
        name,
        value,
        interval=interval,
        count=count,
        kind=kind,
        baselines=baselines,
        measured="by hand",
        **more,
    )


def skill(value, half=0.05, *, count=499, **coordinates):
    return finding(
        "word skill",
        value,
        value - half,
        value + half,
        count=count,
        baselines={"random": 0.0, "shuffled": 0.02},
        coordinates={"ranking": "attention", "yardstick": "leave-one-out", **coordinates},
    )


def evidence(**changes):
    """Evidence for a faithful attention, with these findings in place of its own."""
    good = {
        "accuracy": finding("accuracy", 0.83, 0.80, 0.86, coordinates={"majority": 0.5}),
        "constant": finding("constant weights", 0.0),
        "skill": skill(0.7),
        "class_skills": (skill(0.66, predicted="bad", count=241), skill(0.74, predicted="good", count=258)),
        "rankings": (
            skill(0.7),
            skill(0.9, ranking="gradient"),
            skill(1.0, ranking="leave-one-out"),
            skill(1.3, ranking="magic"),
        ),
        "flippable": finding("flippable", 0.9, 0.87, 0.92),
        "gap": finding("gap", 1.3, 1.2, 1.5, baselines={"shuffled": 3.0}),
        "gap_advantage": finding("gap beside shuffled", 0.8, 0.7, 0.9),
        "top": finding("flips", 0.3, 0.26, 0.34, baselines={"random": 0.05, "shuffled": 0.1}),
        "top_advantage": finding("flips beyond", 0.2, 0.16, 0.24),
        "agreement": finding("τ", 0.4, 0.38, 0.42),
        "agreement_gradient": finding("τ", 0.6, 0.58, 0.62),
        "agreement_margin": finding("margin", 0.1, 0.08, 0.12),
        "adversary": finding("divergence", 0.6, 0.58, 0.62, kind="exact"),
        "permutation": finding("change", 0.2, 0.18, 0.22),
        "needed": finding("gain", 0.03, 0.01, 0.05),
        "stable": finding("overlap", 0.6, 0.57, 0.63, baselines={"shuffled": 0.1}, seeds=3),
        "stable_advantage": finding("overlap beyond", 0.5, 0.47, 0.53),
        "stable_divergence": finding("JSD", 0.1, 0.09, 0.11),
        "labels": finding("on label words", 0.5, 0.48, 0.52, baselines={"random": 0.3, "shuffled": 0.31}),
        "labels_advantage": finding("beyond", 0.2, 0.18, 0.22),
    }
    return Evidence(**{**good, **changes})
