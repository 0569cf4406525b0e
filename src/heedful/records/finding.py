"""`Finding`: one number that reaches a person, with everything needed to judge it."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from heedful.errors import UserError, choose_from
from heedful.records.interval import Estimate, Interval, finite
from heedful.records.stored import check_keys, check_stamp, load_json, save_json, stamp
from heedful.records.wording import decimals, in_brackets, number, plain

if TYPE_CHECKING:
    import pandas

Scalar = str | int | float | bool | None
VERSION = 1
KINDS = {
    "exact": "",
    "estimate": "",
    "lower bound": "≥ ",
    "upper bound": "≤ ",
}  # with the sign before the number
BETTER = ("higher", "lower", None)
# What a row of a finding or a claim is called by; a coordinate may not take these names.
COLUMNS = (
    *(
        "name",
        "value",
        "low",
        "high",
        "level",
        "interval",
        "count",
        "seeds",
        "unit",
        "better",
        "kind",
        "measured",
    ),
    *("statement", "source", "outcome", "criterion"),
)


@dataclass(frozen=True)
class Finding:
    """One measured number. Its mappings are copies: read them, do not change them."""

    name: str
    value: float
    _: KW_ONLY
    count: int  # instances it was measured on
    measured: str  # how, in one sentence
    interval: Interval | None = None  # None only where an interval has no meaning
    seeds: int = 1  # trained models it was measured over
    baselines: Mapping[str, Estimate] = field(default_factory=dict)  # such as "random" and "shuffled"
    unit: str = ""
    better: Literal["higher", "lower"] | None = None
    kind: Literal["exact", "estimate", "lower bound", "upper bound"] = "estimate"
    coordinates: Mapping[str, Scalar] = field(default_factory=dict)  # corpus, model, scale, seed, split …

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not (isinstance(self.name, str) and self.name.strip() and isinstance(self.measured, str)):
            raise UserError(f"A finding needs a name and how it was measured, and got {self.name!r}.")
        put(self, "value", finite(self.value, f"the finding {self.name!r}"))
        put(self, "count", _whole(self.count, f"the count of {self.name!r}", least=0))
        put(self, "seeds", _whole(self.seeds, f"the seeds of {self.name!r}", least=1))
        choose_from("kind of finding", self.kind, KINDS)
        if self.better not in BETTER:
            raise UserError(f'Better is "higher", "lower" or None, and {self.name!r} has {self.better!r}.')
        for name, baseline in self.baselines.items():
            if not isinstance(baseline, Estimate):
                raise UserError(
                    f"The baseline {name!r} of {self.name!r} needs an Estimate, and is {baseline!r}."
                )
        put(self, "baselines", dict(self.baselines))
        put(self, "coordinates", {key: _scalar(key, value) for key, value in self.coordinates.items()})
        self._check_columns()

    @classmethod
    def of(cls, name: str, estimate: Estimate, **about: Any) -> Self:
        """An estimate as a finding: its value and its interval."""
        return cls(name, estimate.value, interval=estimate.interval, **about)

    def _check_columns(self) -> None:
        # DuckDB's column names do not know upper from lower case.
        taken = {column.lower() for column in (*COLUMNS, *self._baseline_columns())}
        for key in self.coordinates:
            if key.lower() in taken:
                raise UserError(
                    f"The coordinate {key!r} of {self.name!r} has the name of another column: rename it."
                )
            taken.add(key.lower())

    def _baseline_columns(self) -> dict[str, float | None]:
        columns: dict[str, float | None] = {}
        for name, baseline in self.baselines.items():
            ends = baseline.interval
            columns[f"baseline_{name}"] = baseline.value
            columns[f"baseline_{name}_low"] = ends.low if ends else None
            columns[f"baseline_{name}_high"] = ends.high if ends else None
        return columns

    def to_row(self) -> dict[str, Scalar]:
        """One flat row, for `append_rows`: coordinates first, then the number, then its baselines."""
        ends = self.interval
        return {
            **self.coordinates,
            "name": self.name,
            "value": self.value,
            "low": ends.low if ends else None,
            "high": ends.high if ends else None,
            "level": ends.level if ends else None,
            "interval": ends.method if ends else None,
            "count": self.count,
            "seeds": self.seeds,
            "unit": self.unit,
            "better": self.better,
            "kind": self.kind,
            "measured": self.measured,
            **self._baseline_columns(),
        }

    def to_frame(self) -> "pandas.DataFrame":
        """A frame of one row."""
        import pandas

        return pandas.DataFrame([self.to_row()])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, with a schema version; an unbounded end is null."""
        return {
            **stamp("finding", VERSION),
            "name": self.name,
            "value": self.value,
            "count": self.count,
            "measured": self.measured,
            "interval": from_interval(self.interval),
            "seeds": self.seeds,
            "baselines": {
                name: {"value": baseline.value, "interval": from_interval(baseline.interval)}
                for name, baseline in self.baselines.items()
            },
            "unit": self.unit,
            "better": self.better,
            "kind": self.kind,
            "coordinates": dict(self.coordinates),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """The finding that `to_dict` wrote."""
        check_stamp(content, "finding", VERSION)
        fields = {key: value for key, value in content.items() if key not in stamp("", 0)}
        check_keys(fields, set(cls.__dataclass_fields__) - {"_"}, "finding")
        for key in ("baselines", "coordinates"):
            if not isinstance(fields[key], Mapping):
                raise UserError(f"The {key} of this finding need an object, and are {fields[key]!r}.")
        fields["interval"] = to_interval(fields["interval"])
        fields["baselines"] = {name: to_estimate(entry) for name, entry in fields["baselines"].items()}
        return cls(**fields)

    def save(self, path: str | Path) -> Path:
        """Write as JSON, whole or not at all."""
        return save_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        return cls.from_dict(load_json(path))

    def __str__(self) -> str:
        places = decimals(self.value, self.interval)
        sign = KINDS[self.kind]
        unit = f" {self.unit}" if self.unit else ""
        count = f"n = {self.count:,}" + (f", {self.seeds} seeds" if self.seeds > 1 else "")
        if self.interval is None:
            shown, beside = f"{sign}{plain(self.value)}{unit}", plain
        else:
            shown = f"{sign}{number(self.value, places)}{unit} {in_brackets(self.interval, places)}"

            def beside(value: float) -> str:
                return number(value, places)

        baselines = ", ".join(f"{name} {beside(baseline.value)}" for name, baseline in self.baselines.items())
        return f"{shown} ({count}; {baselines})" if baselines else f"{shown} ({count})"

    def _repr_html_(self) -> str:
        title = escape(self.measured, quote=True)
        words = f"<b>{escape(self.name)}</b>: {escape(str(self))}"
        return f'<span class="heedful-finding" title="{title}">{words}</span>'


def _whole(value: Any, what: str, *, least: int) -> int:
    number_ = finite(value, what)
    if number_ != int(number_) or number_ < least:
        raise UserError(f"Expected a whole number of at least {least} for {what}, and got {value!r}.")
    return int(number_)


def _scalar(key: str, value: Any) -> Scalar:
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(key, str) or not isinstance(value, str | int | float | bool | None):
        raise UserError(
            f"The coordinate {key!r} needs one plain value (text, number, yes or no), and is {value!r}."
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"The coordinate {key!r} needs a finite number, and is {value}.")
    return value


def from_interval(interval: Interval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    ends = {end: getattr(interval, end) for end in ("low", "high")}
    ends = {end: value if math.isfinite(value) else None for end, value in ends.items()}
    return {**ends, "level": interval.level, "method": interval.method}


def to_interval(content: Any) -> Interval | None:
    if content is None:
        return None
    if not isinstance(content, Mapping):
        raise UserError(f"An interval needs an object, and is {content!r}.")
    check_keys(content, {"low", "high", "level", "method"}, "interval")
    low = -math.inf if content["low"] is None else finite(content["low"], "the low end of an interval")
    high = math.inf if content["high"] is None else finite(content["high"], "the high end of an interval")
    return Interval(low, high, level=finite(content["level"], "a level"), method=str(content["method"]))


def to_estimate(content: Any) -> Estimate:
    if not isinstance(content, Mapping):
        raise UserError(f"A baseline needs an object, and is {content!r}.")
    check_keys(content, {"value", "interval"}, "baseline")
    return Estimate(content["value"], to_interval(content["interval"]))
