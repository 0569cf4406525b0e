"""`Audit`: what an audit found, typed; and `audit.json`, which only this file writes and reads. No torch.

audit.json        the verdict, the answers and what a page shows
findings.parquet, rows.parquet, words.parquet, pool.parquet    the same as tables
figures/          PNG and SVG
index.html        the page
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from heedful.auditing.instead import Instead
from heedful.auditing.names import named
from heedful.auditing.questions.answer import Answer
from heedful.auditing.rule import (
    CARE,
    FAITHFUL,
    NOT_SHOWN,
    UNKNOWN,
    ClassReading,
    Reading,
    Thresholds,
    Verdict,
)
from heedful.errors import UserError
from heedful.records import Estimate, Finding, Interval
from heedful.records.finding import from_interval, to_estimate
from heedful.records.manifest import MANIFEST, checked_manifest
from heedful.records.stored import load_json, save_json

if TYPE_CHECKING:
    import pandas

SCHEMA = 3
AUDIT, PAGE, FIGURES = "audit.json", "index.html", "figures"
NEEDED = ("subject", "data", "verdict", "questions", "words", "instances", "sampling", "methods")
SENTENCES: Mapping[Reading, str] = {
    FAITHFUL: "You may show {this} as an explanation: it points to the words that decide.",
    CARE: "Show {this} with care, if at all: it points to some of what decides, but not reliably.",
    NOT_SHOWN: "Do not show {this} as an explanation: it does not point to the words that decide.",
    UNKNOWN: "It cannot be said whether {this} explains anything.",
}


@dataclass(frozen=True, kw_only=True)
class AuditVerdict(Verdict):
    """The verdict with its sentence, the ranking it is of, and what to show instead."""

    sentence: str
    shown: str  # the ranking that was judged
    level: float  # of the intervals
    groups: tuple[ClassReading, ...]
    instead: Instead | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; what to show instead with its name for people."""
        found: dict[str, Any] = plain(self)
        if self.instead is not None:
            found["instead"]["called"] = named(self.instead.ranking)
        return found

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote."""
        try:
            known: dict[str, Any] = {one.name: content[one.name] for one in fields(cls)}
            for name in ("skill", "paint", "first", "operator", "against"):
                known[name] = _finding(known[name])
            for name in ("limit", "room", "chance"):
                known[name] = _estimate(known[name])
            for name in ("classes", "groups"):
                known[name] = tuple(_class_reading(one) for one in known[name])
            better = known["instead"]
            if better is not None:
                known["instead"] = Instead(
                    better["ranking"],
                    Finding.from_dict(better["skill"]),
                    to_estimate(better["better_by"]),
                    better["reading"],
                    better["first"],
                    _finding(better["signed"]),
                )
            known["reasons"] = tuple(known["reasons"])
            known["thresholds"] = Thresholds(**known["thresholds"])
            return cls(**known)
        except (KeyError, TypeError) as error:
            raise UserError(f"The verdict of this audit is damaged: {error}.") from None


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found; `content` is all of audit.json."""

    folder: Path
    verdict: AuditVerdict
    answers: tuple[Answer, ...]
    content: Mapping[str, Any]

    @property
    def reading(self) -> Reading:
        """faithful, use with care, do not show as an explanation, or cannot say."""
        return self.verdict.reading

    def to_frame(self) -> "pandas.DataFrame":
        """One row a finding, with the question it belongs to."""
        import pandas

        rows = [
            {"question": answer.id, **finding.to_row()}
            for answer in self.answers
            for finding in answer.findings
        ]
        return pandas.DataFrame(rows)

    @classmethod
    def load(cls, folder: str | Path) -> "Audit":
        """Read an audit's folder again."""
        content = load_audit(folder)
        answers = tuple(Answer.from_dict(one) for one in content["questions"])
        return cls(Path(folder), AuditVerdict.from_dict(content["verdict"]), answers, content)

    def __str__(self) -> str:
        return f"{self.content['subject']['name']}: {self.reading}. {self.verdict.sentence}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{answer.number}</td><td>{escape(answer.question)}</td><td>{answer.outcome}</td>"
            f"<td>{escape(answer.answer)}</td></tr>"
            for answer in self.answers
        )
        head = f"<b>{escape(self.reading)}</b>: {escape(self.verdict.sentence)}"
        return f'<div class="heedful-audit"><p>{head}</p><table>{rows}</table></div>'


def write_audit(folder: Path, content: Mapping[str, Any]) -> None:
    """Write `audit.json`."""
    save_json(folder / AUDIT, content)


def load_audit(folder: str | Path) -> dict[str, Any]:
    """Read `audit.json` of a finished audit; one that was changed, or that nothing vouches for, is refused.

    The manifest is written last: without it the audit was stopped in its last writes, or somebody removed it.
    """
    if (Path(folder) / AUDIT).exists() and checked_manifest(Path(folder)) is None:
        raise UserError(
            f"{folder} has no {MANIFEST}, so nobody can say whether its numbers are as they were measured: "
            "give the same `heedful audit` again, which takes up what is there."
        )
    return read_audit(folder)


def read_audit(folder: str | Path) -> dict[str, Any]:
    """Read `audit.json` as it is; another schema, or one that lacks a part, is refused."""
    path = Path(folder) / AUDIT
    if not path.exists():
        raise UserError(f"{folder} holds no audit: `heedful audit` makes one.")
    audit = load_json(path)
    if audit.get("schema") != SCHEMA:
        raise UserError(
            f"{path} has schema {audit.get('schema')!r} and {SCHEMA} is read here: audit anew, or use the "
            "heedful that wrote it."
        )
    for key in NEEDED:
        if key not in audit:
            raise UserError(f"{path} lacks {key!r}: it is damaged, or made by hand.")
    return audit


def sentence_of(reading: Reading, shown: str) -> str:
    """The reading as one sentence for somebody who shows highlights to people."""
    this = "this attention" if shown == "attention" else f"highlights by {named(shown)}"
    return SENTENCES[reading].format(this=this)


def plain(value: Any) -> Any:
    """Dataclasses, findings and tuples as JSON types; an unbounded end of an interval is null."""
    if isinstance(value, Finding):
        return value.to_dict()
    if isinstance(value, Interval):
        return from_interval(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value


def _finding(content: Mapping[str, Any] | None) -> Finding | None:
    return None if content is None else Finding.from_dict(content)


def _estimate(content: Mapping[str, Any] | None) -> Estimate | None:
    return None if content is None else to_estimate(content)


def _class_reading(content: Mapping[str, Any]) -> ClassReading:
    found = {name: _finding(content[name]) for name in ("skill", "paint", "first", "against")}
    return ClassReading(**{**content, **found})
