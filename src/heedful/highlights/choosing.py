"""By which map the words of a model are painted: the one that was measured best for it.

An audit of this model says so: the map that it judged if that is faithful, else the one to show instead.
Without an audit a small one of its own is made, on some of the texts that are to be highlighted; it
needs no labels. Where no map may be shown, words are painted by their measured changes alone (`CHANGES`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.auditing.audited import digest_of
from heedful.auditing.instead import Instead
from heedful.auditing.names import named
from heedful.auditing.plan import PLAN
from heedful.auditing.reading import ReadSettings, read_subject
from heedful.auditing.result import Audit
from heedful.auditing.rule import CARE, FAITHFUL, ClassReading, Reading
from heedful.errors import UserError, choose_from
from heedful.models.subject import Subject, gives
from heedful.records import Finding
from heedful.records.stored import read_json
from heedful.records.wording import in_percent
from heedful.trials.erasure.rereading import deletion_is_erasure
from heedful.trials.rankings.named import brought_by
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.word_rankings import WORD_RANKINGS, can_rank

CHANGES = "changes"  # paints by what was measured on the text itself
READ_CLOSED, READ_AGAIN = 400, 100  # texts of a small audit, where deletions are products, and elsewhere


@dataclass(frozen=True)
class Choice:
    """A map by its name, why it was chosen, and the classes that no word decides."""

    by: str
    why: str
    reading: Reading | None = None  # of this map; None if it was not judged
    defaults: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"by": self.by, "why": self.why, "reading": self.reading, "defaults": list(self.defaults)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Choice":
        """What `to_dict` wrote."""
        return cls(**{**content, "defaults": tuple(content["defaults"])})


def choose_by_name(by: str, subject: Subject, rankings: Mapping[str, Ranking]) -> Choice:
    """A map that was asked for; nothing is judged."""
    known = own_maps(subject, rankings)
    names = [CHANGES, *known, *(name for name in WORD_RANKINGS if can_rank(subject, name))]
    choose_from("map to highlight by", by, names)
    return Choice(by, f"You asked for {called(by)}; whether it may be shown was not judged here.")


def choose_by_audit(audit: "Audit | str | Path", subject: Subject, rankings: Mapping[str, Ranking]) -> Choice:
    """What an audit of this very model found; the audit of another one is refused."""
    found = audit if isinstance(audit, Audit) else Audit.load(audit)
    _check_same(found, subject)
    verdict = found.verdict
    choice = _choice(
        f"the audit in {found.folder.name}",
        verdict.reading,
        verdict.shown,
        verdict.skill,
        verdict.instead,
        verdict.classes,
    )
    if choice.by not in {CHANGES, *own_maps(subject, rankings)} and not can_rank(subject, choice.by):
        raise UserError(
            f"The audit in {found.folder} found {choice.by!r} best, a ranking of your own: hand it over as "
            f"rankings={{{choice.by!r}: ...}} in Python, or choose another with --by."
        )
    return choice


def choose_by_reading(
    subject: Subject, texts: Sequence[str], rankings: Mapping[str, Ranking], *, seed: int = 0
) -> Choice:
    """What a small audit finds on these texts."""
    most = READ_CLOSED if deletion_is_erasure(subject) else READ_AGAIN
    read = read_subject(
        subject,
        texts,
        shown="attention" if gives(subject, "attention") else "leave-one-out",
        rankings=rankings,
        settings=ReadSettings(texts=most, operator=False),
        seed=seed,
    )
    where = f"a small audit of {len(read.rows):,} of these texts"
    verdict = read.verdict
    return _choice(where, verdict.reading, read.shown, verdict.skill, read.instead, verdict.classes)


def own_maps(subject: Subject, rankings: Mapping[str, Ranking]) -> dict[str, Ranking]:
    """Maps that are functions: those that the subject brings, and the user's."""
    return {**brought_by(subject, all_of_them=True), **rankings}


def called(by: str) -> str:
    """A map's name for people."""
    return "the measured changes themselves" if by == CHANGES else named(by)


def _choice(
    source: str,
    reading: Reading,
    shown: str,
    skill: Finding | None,
    instead: Instead | None,
    classes: Sequence[ClassReading],
) -> Choice:
    defaults = tuple(one.name for one in classes if one.default)
    own = "" if skill is None else f" (it predicts {in_percent(skill.value)} of what the best map could)"
    said = source[0].upper() + source[1:]
    if reading == FAITHFUL:
        return Choice(shown, f"{said} reads {named(shown)} as faithful{own}.", reading, defaults)
    if instead is not None:
        better = f"{named(instead.ranking)}, which predicts {in_percent(instead.skill.value)}"
        why = f"{said} found {better} of what the best map could"
        why += "" if skill is None else f"; {named(shown)} predicts {in_percent(skill.value)}"
        return Choice(
            instead.ranking, f"{why}. That map itself reads “{instead.reading}”.", instead.reading, defaults
        )
    if reading == CARE:
        why = f"{said} reads {named(shown)} as “{reading}”{own}, and nothing measured better."
        return Choice(shown, why, reading, defaults)
    why = f"{said} reads {named(shown)} as “{reading}” and found no map to show instead"
    return Choice(CHANGES, f"{why}, so words are painted by what taking them out does.", None, defaults)


def _check_same(audit: Audit, subject: Subject) -> None:
    path = audit.folder / PLAN
    try:
        asked = dict(read_json(path))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{path} cannot be read ({error}): audit again.") from None
    # What a module answers to a few of its texts may follow its parameters' digest.
    if str(asked.get("subject")).split("-")[0] != digest_of(subject):
        raise UserError(
            f"The audit in {audit.folder} is of another model ({audit.content['subject']['name']}): give the "
            "audit of this one, or leave it out."
        )
