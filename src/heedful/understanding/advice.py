"""From a watched run, say in words what its attention is doing, and which λ or penalty to try next.

Sun & Lu (2020), §4.1, 4.2 and 5: polarity scores come out well if term A is small beside B and C; positive
and negative words get different attention if term D outweighs E and F, with the sign of VᵀW; a very large λ
makes attention mean pooling; a very small one puts all weight on one word before anything is learnt. The
thresholds are ours, and settings: the paper says "reasonably small" and "too large".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.errors import UserError
from heedful.records.wording import in_percent
from heedful.settings import setting
from heedful.training.run import Run
from heedful.understanding.token_types import NEUTRAL
from heedful.understanding.watch import KIND, watched

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class AdviceSettings:
    """Where one regime ends and another begins."""

    learnt: float = setting(0.9, "nothing is learnt yet if mean β ends above this part of its start")
    collapsed: float = setting(0.1, "attention sits on single words if entropy/log T ends below this")
    pooling: float = setting(0.998, "attention is mean pooling if entropy/log T ends above this")
    sides: float = setting(0.5, "term D splits the classes if its part of D against E and F is above this")
    gap: float = setting(
        2.0, "and if the classes' gap is above this many lifts over neutral: at 2 one class falls below"
    )
    alike: float = setting(
        0.5, "the classes' words are treated alike if their gap is below this many lifts over neutral"
    )
    negligible: float = setting(0.1, "term A is negligible if its part of all polarity terms is below this")


@dataclass(frozen=True)
class Numbers:
    """What the advice is read from. Parts are summed over all records, the rest is of the last one."""

    a_part: float  # |A| of |A| + |B| + |C|, over the words of classes
    d_part: float  # D's split of the classes against D's split and E + F
    spread_first: float
    spread: float  # mean entropy of the weights over log T
    gap: float  # largest minus least mean attention of the classes' words, positive minus negative for two
    lift: float  # mean attention of the classes' words above neutral ones; NaN if there are none
    alignment: float  # VᵀW, the largest in size for K classes
    beta_first: float
    beta: float  # mean β: half is chance, 0 is done
    accuracy: float  # on the sampled training texts, without dropout
    attention: Mapping[str, float]  # mean score by type
    polarity: Mapping[str, float]  # the same, of two classes; empty for more
    records: int


@dataclass(frozen=True)
class Regime:
    """One question about the run, and its answer with the numbers."""

    name: str
    holds: bool
    words: str


@dataclass(frozen=True)
class Advice:
    """What the run is doing, and what to try next; None where nothing is to be changed."""

    scale: float
    penalty: float
    regimes: tuple[Regime, ...]
    numbers: Numbers
    next_scale: float | None
    next_penalty: float | None
    tries: tuple[str, ...]

    @property
    def found(self) -> tuple[str, ...]:
        """The names of the regimes the run is in; none is the sound one."""
        return tuple(regime.name for regime in self.regimes if regime.holds)

    def summary(self) -> str:
        """All of it as sentences."""
        return " ".join([*(regime.words for regime in self.regimes), *self.tries])

    def to_frame(self) -> "pandas.DataFrame":
        """One row a regime."""
        import pandas

        return pandas.DataFrame([vars(regime) for regime in self.regimes])

    def _repr_html_(self) -> str:
        lines = [
            f"<li>{'<b>' if one.holds else ''}{escape(one.words)}{'</b>' if one.holds else ''}</li>"
            for one in self.regimes
        ]
        return f"<ul>{''.join(lines)}</ul><p>{escape(' '.join(self.tries))}</p>"


def advise(run: Run, *, settings: AdviceSettings | None = None) -> Advice:
    """Read a watched run."""
    model = run.recipe.model
    width = model.embedding if model.encoder == "none" else model.hidden
    default = width**0.5 if model.attention == "scaled-dot" else 1.0
    return advise_from(
        run.history,
        scale=default if model.scale is None else model.scale,
        penalty=run.recipe.training.penalty,
        width=width,
        settings=settings,
    )


def advise_from(
    history: "pandas.DataFrame | Iterable[Mapping[str, Any]]",
    *,
    scale: float,
    penalty: float,
    width: int,
    settings: AdviceSettings | None = None,
) -> Advice:
    """Read the rows of a watch; `width` is that of the states, whose root is the paper's moderate λ."""
    settings = settings or AdviceSettings()
    numbers = read_numbers(history)
    regimes = _regimes(numbers, scale, settings)
    found = {regime.name for regime in regimes if regime.holds}
    next_scale, next_penalty, tries = _next(found, scale=scale, penalty=penalty, moderate=width**0.5)
    return Advice(scale, penalty, regimes, numbers, next_scale, next_penalty, tries)


def read_numbers(history: "pandas.DataFrame | Iterable[Mapping[str, Any]]") -> Numbers:
    """The numbers behind the advice, from the rows of a watch of `dp`, `dp-a` or `ad`."""
    import pandas

    frame = history if isinstance(history, pandas.DataFrame) else pandas.DataFrame(list(history))
    attention = watched(frame, "attention")  # refuses a run that was not watched
    rows = frame[frame["kind"] == KIND]
    if "spread" not in set(rows["quantity"]):
        raise UserError(
            "Advice is read from the flow terms, which this model has none of: it is for dp, dp-a and ad."
        )
    polar = [name for name in attention.columns if name != NEUTRAL]
    if len(polar) < 2:
        raise UserError("Advice needs words of at least two classes, but the token types have fewer.")
    rows = rows.assign(letter=rows["quantity"].str.split(" ").str[0].str.rstrip("'"))
    own = rows[rows["group"].isin(polar)]
    sizes = own[own["letter"].isin(list("ABC"))].groupby("letter")["size"].sum()
    moves = own[own["letter"].isin(list("DEF"))].pivot_table(
        index=["step", "group"], columns="letter", values="mean", aggfunc="sum"
    )
    split = moves["D"].groupby("step").agg(np.ptp).sum()
    common = (moves["E"] + moves["F"]).groupby("step").mean().abs().sum() * 2
    last = attention.iloc[-1]
    spread = watched(frame, "spread").iloc[:, 0]
    beta = watched(frame, "beta").iloc[:, 0]
    aligned = watched(frame, "alignment").iloc[-1].to_numpy()
    two = {"positive", "negative"} == set(polar)
    quantities = set(rows["quantity"])
    return Numbers(
        a_part=float(sizes["A"] / sizes.sum()),
        d_part=float(split / (split + common)),
        spread_first=float(spread.iloc[0]),
        spread=float(spread.iloc[-1]),
        gap=float(last["positive"] - last["negative"]) if two else float(np.ptp(last[polar])),
        lift=float(last[polar].mean() - last[NEUTRAL]) if NEUTRAL in last else float("nan"),
        alignment=float(aligned[np.abs(aligned).argmax()]),
        beta_first=float(beta.iloc[0]),
        beta=float(beta.iloc[-1]),
        accuracy=float(watched(frame, "accuracy").iloc[-1, 0]),
        attention={str(name): float(value) for name, value in last.items()},
        polarity={str(name): float(value) for name, value in watched(frame, "polarity").iloc[-1].items()}
        if "polarity" in quantities
        else {},
        records=len(attention),
    )


def _regimes(numbers: Numbers, scale: float, settings: AdviceSettings) -> tuple[Regime, ...]:
    collapsed = numbers.spread < settings.collapsed
    pooled = numbers.spread > settings.pooling
    lift = 0.0 if np.isnan(numbers.lift) else abs(numbers.lift)
    sides = numbers.d_part > settings.sides and abs(numbers.gap) > settings.gap * lift
    matters = numbers.a_part >= settings.negligible
    idle = numbers.beta > settings.learnt * numbers.beta_first
    return (
        Regime("not learnt", idle, _idle(numbers, idle)),
        Regime("collapsed", collapsed, _collapsed(numbers, scale, collapsed)),
        Regime("mean pooling", pooled, _pooled(numbers, scale, pooled)),
        Regime(
            "taking sides", sides, _sides(numbers, sides, alike=abs(numbers.gap) <= settings.alike * lift)
        ),
        Regime("term A matters", matters, _term_a(numbers, matters)),
    )


def _idle(numbers: Numbers, holds: bool) -> str:
    went = f"mean β went from {numbers.beta_first:.3f} to {numbers.beta:.3f}"
    return f"Little has been learnt ({went})." if holds else f"The texts are being learnt ({went})."


def _collapsed(numbers: Numbers, scale: float, holds: bool) -> str:
    spread = f"entropy/log T went from {numbers.spread_first:.3f} to {numbers.spread:.3f}"
    if not holds:
        return f"Attention has not collapsed onto single words ({spread})."
    begun = (
        "it was so before anything was learnt, so chance chose the words"
        if numbers.spread_first < 0.5
        else "it became so in training"
    )
    return (
        f"Attention sits on single words ({spread}; 0 is one word): {begun}. λ = {scale:g} is too small; "
        f"accuracy on the watched training texts is {in_percent(numbers.accuracy, 1)}."
    )


def _pooled(numbers: Numbers, scale: float, holds: bool) -> str:
    if not holds:
        return f"Attention is not mean pooling (entropy/log T is {numbers.spread:.4f}, and 1 would be)."
    return (
        f"Attention is mean pooling in all but name: entropy/log T is {numbers.spread:.5f}, so λ = {scale:g} "
        "leaves every word about the same weight, and the decision is the words' average polarity."
    )


def _sides(numbers: Numbers, holds: bool, *, alike: bool) -> str:
    forces = f"term D is {in_percent(numbers.d_part)} of D against E and F"
    gap = f"the classes' words differ by {numbers.gap:+.3g} in attention"
    lift = "" if np.isnan(numbers.lift) else f" and stand {numbers.lift:+.3g} above neutral ones"
    if not holds and alike:
        return f"Attention treats the classes' words alike: {forces}; {gap}{lift}."
    if not holds:
        polar = {name: score for name, score in numbers.attention.items() if name != NEUTRAL}
        most, least = max(polar, key=lambda name: polar[name]), min(polar, key=lambda name: polar[name])
        return (
            f"Attention favours {most} words ({polar[most]:+.3g}) over {least} ones ({polar[least]:+.3g}): "
            f"{forces}; {gap}{lift}. What it says of {least} words may be worth little: look at the classes "
            "one by one (`heedful audit`)."
        )
    sign = "" if numbers.gap * numbers.alignment < 0 else ", with the sign of VᵀW,"
    return (
        f"Attention takes sides{sign} as VᵀW = {numbers.alignment:+.3g}: {forces}; {gap}{lift}. A low "
        "attention score here may only mean the other class."
    )


def _term_a(numbers: Numbers, holds: bool) -> str:
    part = f"it is {in_percent(numbers.a_part, 1)} of the polarity terms"
    if not holds:
        return f"Term A is negligible ({part}), so polarity scores follow the words' classes."
    return (
        f"Term A is not negligible ({part}): VᵀW/λ bends polarity scores, which may not follow the classes."
    )


def _next(
    found: set[str], *, scale: float, penalty: float, moderate: float
) -> tuple[float | None, float | None, tuple[str, ...]]:
    """The next λ, the next penalty, and both in words."""
    if "collapsed" in found:
        larger = moderate if scale < moderate / 2 else 10 * scale
        return larger, None, (f"Try λ = {larger:g} (the root of the width is {moderate:g}).",)
    if "not learnt" in found:
        weaker = penalty / 10 if penalty else None
        less = "" if weaker is None else f", or a penalty of {weaker:g}"
        return (
            None,
            weaker,
            (f"Train for longer or with a larger rate first{less}: the rest is still as it started.",),
        )
    if "mean pooling" in found:
        smaller = moderate if scale > 2 * moderate else scale / 3
        tries = [f"Try λ = {smaller:g} (the root of the width is {moderate:g})."]
        stronger = None
        if "taking sides" in found:
            stronger = _stronger(penalty)
            tries.append(
                f"Or keep λ = {scale:g} with a penalty of {stronger:g} on |VᵀW|, which closes the gap."
            )
        return smaller, stronger, tuple(tries)
    if "taking sides" in found:
        stronger = _stronger(penalty)
        return None, stronger, (f"Try a penalty of {stronger:g} on |VᵀW|, or a λ below {scale:g}.",)
    if "term A matters" in found:
        stronger = _stronger(penalty)
        larger = 3 * scale
        return larger, stronger, (f"Try λ = {larger:g}, or a penalty of {stronger:g} on |VᵀW|.",)
    return None, None, (f"Keep λ = {scale:g}.",)


def _stronger(penalty: float) -> float:
    """The paper's weights are 1e-4 (SST) and 1e-3 (synthetic data); one that is not enough grows tenfold."""
    return 10 * penalty if penalty else 1e-3
