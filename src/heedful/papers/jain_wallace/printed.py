"""Jain & Wallace's published mean τ on SST (their code, AttentionExplanation), and when ours agrees.

Ours agrees if its whole 95 % interval lies within `NEAR` of the printed mean, and does not if all of it lies
outside; what is printed is of one training, and is taken as it stands.
"""

from dataclasses import replace

from heedful.records import Finding, Interval

NEAR = 0.1
PAIRS = (("attention", "leave-one-out"), ("attention", "gradient"), ("gradient", "leave-one-out"))
# In the order of PAIRS, by encoder and score.
SST = {
    "average-tanh": (0.62, 0.61, 0.56),
    "average-dot": (0.31, 0.35, 0.66),
    "cnn-tanh": (0.35, 0.48, 0.49),
    "cnn-dot": (0.22, 0.24, 0.64),
    "bilstm-tanh": (0.29, 0.35, 0.66),
    "bilstm-dot": (0.06, 0.07, 0.71),
}


def printed_tau(corpus: str, model: str, pair: tuple[str, str]) -> float | None:
    """The published mean τ of a pair of scores; None where there is none."""
    known = SST.get(model.removeprefix("jain-wallace-")) if corpus == "sst" else None
    return None if known is None else known[PAIRS.index(pair)]


def beside_printed(tau: Finding, printed: float) -> Finding:
    """Our mean τ minus the published one."""
    ends = tau.interval
    if ends is not None:
        ends = Interval(ends.low - printed, ends.high - printed, ends.level, ends.method)
    return replace(
        tau,
        name=f"{tau.name}, minus the printed {printed:.2f}",
        value=tau.value - printed,
        interval=ends,
        baselines={},
        better=None,
    )
