"""A model that may give several labels at once: one audit a label, and one page with a reading for each.

    OUT/index.html, OUT/labels.json    the readings beside each other
    OUT/LABEL/                         the audit of one label, as any other

Each label is a decision of its own: has the text this label, or not?
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.auditing.audited import label_reading
from heedful.auditing.page.several import write_several
from heedful.auditing.result import Audit
from heedful.auditing.whole import audit
from heedful.data.gathering import OneClass
from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.models.transformers.loading import labels_at_once, load_labels
from heedful.records.stored import save_json
from heedful.training.devices import find_device
from heedful.training.opening import HUB, Asked, opened_of_hub

if TYPE_CHECKING:
    import pandas

LABELS = "labels.json"


@dataclass(frozen=True, eq=False)
class LabelAudits:
    """The audits of a model's labels, and why others have none."""

    folder: Path
    audits: Mapping[str, Audit]
    left_out: Mapping[str, str]  # a label, and why it was not audited

    @property
    def rank(self) -> int:
        """That of the worst reading: 0 for faithful, 1 for care, 2 otherwise."""
        return max((found.verdict.rank for found in self.audits.values()), default=2)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types: of each label its reading, what it rests on, and its folder."""
        return {
            "schema": 1,
            "labels": {label: _brief(found) for label, found in self.audits.items()},
            "left_out": dict(self.left_out),
        }

    def to_frame(self) -> "pandas.DataFrame":
        """One row a label."""
        import pandas

        return pandas.DataFrame([{"label": label, **_brief(found)} for label, found in self.audits.items()])


def audit_labels(
    subject: str,
    data: str | Path,
    *,
    out: str | Path | None = None,
    labels: Sequence[str] | None = None,
    columns: Mapping[str, Any] | None = None,
    asked_of: Asked | None = None,
    device: str = "cpu",
    data_dir: str | Path | None = None,
    say: Any = lambda sentence: None,
    **options: Any,
) -> LabelAudits:
    """Audit hf:PATH_OR_NAME, which gives several labels at once, on a file: each label by itself.

    `labels` are those to audit, all unless said; the file has a column for each, with 0 and 1, or one column
    with all labels of a text. The rest is as `audit` has it. The model is opened once, and what it gave for a
    text, or for what a deletion left of it, serves every label.
    """
    every = labels_at_once(subject.removeprefix(HUB))
    if not every:
        raise UserError(f"{subject} does not give several labels at once: audit it as it is.")
    folder = Path(out) if out is not None else Path("audits") / _safe(Path(subject.removeprefix(HUB)).name)
    audits: dict[str, Audit] = {}
    left_out: dict[str, str] = {}
    name, asked, where = subject.removeprefix(HUB), asked_of or Asked(), dict(columns or {})
    chosen = tuple(labels or every)
    for label, one in zip(chosen, load_labels(name, chosen, device=str(find_device(device))), strict=True):
        say(f"The label {label}:")
        own = replace(asked, label=label)
        read_as = label_reading(subject, data, columns, own)
        try:
            audits[label] = audit(
                opened_of_hub(one, subject, own),
                load_data(data, learn=False, data_dir=data_dir, **where | read_as),
                out=folder / _safe(label),
                say=say,
                **options,
            )
        except OneClass as why:
            left_out[label] = str(why)
            say(str(why))
    if not audits:
        raise UserError(" ".join(left_out.values()))
    found = LabelAudits(folder, audits, left_out)
    save_json(folder / LABELS, found.to_dict())
    write_several(folder, _title(audits), [(label, _brief(one)) for label, one in audits.items()], left_out)
    return found


def _brief(found: Audit) -> dict[str, Any]:
    verdict, accuracy = found.verdict, found.content["data"]["accuracy"]
    counts = list(found.content["data"]["class_counts"].values())
    skill = verdict.skill
    return {
        "reading": found.reading,
        "sentence": verdict.sentence,
        "why": verdict.reasons[0] if verdict.reasons else "",
        "shown": verdict.shown,
        "skill": None if skill is None else skill.value,
        "low": None if skill is None or skill.interval is None else skill.interval.low,
        "high": None if skill is None or skill.interval is None else skill.interval.high,
        "instead": None if verdict.instead is None else verdict.instead.ranking,
        "texts": accuracy["count"],
        "with_label": int(counts[1]),
        "accuracy": accuracy["value"],
        "majority": found.content["data"]["majority"],
        "balanced": accuracy["coordinates"]["balanced"],
        "folder": found.folder.name,
    }


def _title(audits: Mapping[str, Audit]) -> str:
    label, one = next(iter(audits.items()))
    return str(one.content["subject"]["name"]).replace(f" ({label})", "", 1)


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "label"
