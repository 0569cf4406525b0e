"""The task of `bahdanau` and `luong`: dates as people write them, to be written as ISO dates.

Every format names its date without doubt: dots have the day first, slashes the month, and a year of two
digits lies in 1950–2049. Test texts speak of days that no training text speaks of, so a calendar must be
read, not remembered. Axes: B texts, T characters of a text, N = 10 characters of an ISO date.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date as Date
from datetime import timedelta

import numpy as np
import torch
from torch import Tensor

FIRST, LAST = Date(1950, 1, 1), Date(2049, 12, 31)
KEPT = 11  # one day in so many is for the test alone; prime to 7, so that it is no weekday
INPUTS = string.ascii_letters + string.digits + " ',-./~"  # the id of a character is its place, from 1
OUTPUTS = string.digits + "-"  # here its place, from 0
PADDING = 0
LENGTH = 10  # N

# Not from `strftime` or `calendar`, which write them in the language of the machine.
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
UNITS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
TEENS = (
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth"),
    *("fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
)
TWENTIES = ("twentieth", *(f"twenty-{unit}" for unit in UNITS))
ORDINALS = (*UNITS, *TEENS, *TWENTIES, "thirtieth", "thirty-first")


def month(date: Date) -> str:
    return MONTHS[date.month - 1]


def weekday(date: Date) -> str:
    return WEEKDAYS[date.weekday()]


def ordinal(day: int) -> str:
    """A day of the month as people say it, in figures."""
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


FORMATS: tuple[Callable[[Date], str], ...] = (
    lambda date: f"{date.day} {month(date)} {date.year}",
    lambda date: f"{month(date)} {date.day}, {date.year}",
    lambda date: f"{weekday(date)}, {date.day} {month(date)[:3]} {date.year}",
    lambda date: f"{weekday(date)[:3]} {date.day} {month(date)[:3]} {date:%y}",
    lambda date: f"{ordinal(date.day)} of {month(date)} {date.year}",
    lambda date: f"{month(date)} the {ordinal(date.day)}, {date.year}",
    lambda date: f"{month(date)[:3]}. {ordinal(date.day)} '{date:%y}",
    lambda date: f"{ORDINALS[date.day - 1]} {month(date)[:3]} {date.year}",
    lambda date: f"{month(date)[:3]} {ORDINALS[date.day - 1]}, {date.year}",
    lambda date: f"{date.day}.{date.month}.{date.year}",
    lambda date: f"{date:%d.%m.%y}",
    lambda date: f"{date.month}/{date.day}/{date.year}",
    lambda date: f"{date:%m/%d/%y}",
    lambda date: f"{date.day}-{month(date)[:3]}-{date.year}",
    lambda date: f"{date.day}. {ROMAN[date.month - 1]}. {date.year}",
    lambda date: f"{date.year} {month(date)[:3]} {date.day}",
    lambda date: f"{date.year}, {weekday(date)} {date.day}.{date.month}.",
    lambda date: f"{date:%Y%m%d}",
)
CASES: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper)
BEFORE = ("", "", "on ", "by ", "~ ")


@dataclass(frozen=True)
class Dates:
    """Texts and their ISO dates, also as ids: sources (B,T), 0 where a text has ended, and targets (B,N)."""

    texts: tuple[str, ...]
    isos: tuple[str, ...]
    sources: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return len(self.texts)

    def rows(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """Sources and targets of these rows, the sources no longer than the longest of them."""
        sources = self.sources[chosen]
        return sources[:, : int((sources != PADDING).sum(-1).max())], self.targets[chosen]


def write_dates(count: int, *, test: bool, seed: int) -> Dates:
    """Draw days, and for each one of the ways in which people write it."""
    generator = np.random.default_rng([seed, int(test)])
    days = np.arange((LAST - FIRST).days + 1)
    dates = [
        FIRST + timedelta(days=int(day)) for day in generator.choice(days[(days % KEPT == 0) == test], count)
    ]
    texts = [
        CASES[case](BEFORE[before] + FORMATS[form](date))
        for date, form, case, before in zip(
            dates,
            *(generator.integers(len(ways), size=count) for ways in (FORMATS, CASES, BEFORE)),
            strict=True,
        )
    ]
    return encode_dates(texts, [date.isoformat() for date in dates])


def encode_dates(texts: Sequence[str], isos: Sequence[str]) -> Dates:
    """Texts and ISO dates as ids."""
    sources = torch.full((len(texts), max(map(len, texts))), PADDING)
    for row, text in enumerate(texts):
        sources[row, : len(text)] = torch.tensor([INPUTS.index(character) + 1 for character in text])
    targets = torch.tensor([[OUTPUTS.index(character) for character in iso] for iso in isos])
    return Dates(tuple(texts), tuple(isos), sources, targets)


def as_text(written: Tensor) -> str:
    """The ids (N) of an ISO date as characters."""
    return "".join(OUTPUTS[place] for place in written.tolist())
