"""An audit from beginning to end: open or train a model, measure it, judge, write a folder, draw its page.

    audit.json        the verdict, the seven answers and what a page shows (schema 1)
    findings.parquet, rows.parquet, words.parquet    the same as tables
    figures/          PNG and SVG
    index.html        the page

`measure` (study), `judge` (verdict) and the drawing (report) do the work; this only puts them in order.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful import __version__
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.files import write_atomically
from heedful.records import Finding
from heedful.records.wording import lasting
from heedful.report.audit_figures import about_figures, draw_all
from heedful.study.auditing.at_hand import share_left
from heedful.study.auditing.forecast import forecast
from heedful.study.auditing.measuring import Measured, Progress, Say, measure
from heedful.study.auditing.own_rankings import own_rankings
from heedful.study.auditing.plan import AuditSettings, Plan, begun_in, make_plan
from heedful.study.auditing.plausibility import check_rationales, plausibility
from heedful.study.auditing.subjects import open_subject
from heedful.study.auditing.trial import EPSILON
from heedful.study.kept_runs import trained_once
from heedful.training.opening import HUB, is_of_hub
from heedful.training.presets import prepare
from heedful.training.run import RESULT, SETTINGS, Run
from heedful.verdict import Answer, Evidence, Verdict, answers, instead, judge, sentence

if TYPE_CHECKING:
    import pandas

    from heedful.models.subject import Subject

SCHEMA = 1
AUDIT, PAGE, FIGURES = "audit.json", "index.html", "figures"
MODEL = "dp"  # what is trained where there are only texts


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found; `content` is all of audit.json."""

    folder: Path
    content: Mapping[str, Any]
    verdict: Verdict
    answers: tuple[Answer, ...]
    evidence: Evidence

    @property
    def reading(self) -> str:
        """faithful, use with care, do not show as an explanation, or cannot say."""
        return self.verdict.reading

    def to_frame(self) -> "pandas.DataFrame":
        """One row a finding, with the question it belongs to."""
        import pandas

        return pandas.DataFrame(_finding_rows(self.answers))

    @staticmethod
    def load(folder: str | Path) -> "Audit":
        """Read an audit's folder again; the verdict is made anew from its evidence."""
        folder = Path(folder)
        try:
            content = json.loads((folder / AUDIT).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise UserError(f"{folder} holds no audit: `heedful audit` makes one.") from None
        except ValueError as error:
            raise UserError(f"{folder / AUDIT} is damaged ({error}): make the audit again.") from None
        if content.get("schema") != SCHEMA:
            raise UserError(
                f"{folder / AUDIT} has schema {content.get('schema')}, and {SCHEMA} is read here: make it "
                "again."
            )
        evidence = Evidence.from_dict(content["evidence"])
        return Audit(folder, content, judge(evidence), answers(evidence), evidence)

    def __str__(self) -> str:
        about = self.content["subject"]["name"]
        return f"{about}: {self.reading}. {self.content['verdict']['sentence']}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{answer.number}</td><td>{escape(entry['question'])}</td><td>{answer.outcome}</td>"
            f"<td>{escape(answer.answer)}</td></tr>"
            for answer, entry in zip(self.answers, self.content["questions"], strict=True)
        )
        head = f"<b>{escape(self.reading)}</b>: {escape(self.content['verdict']['sentence'])}"
        return f'<div class="heedful-audit"><p>{head}</p><table>{rows}</table></div>'


def audit(
    subject: "Run | Subject | str | Path",
    data: "Corpus | str | Path | None" = None,
    *,
    out: str | Path | None = None,
    settings: AuditSettings | None = None,
    rankings: Mapping[str, Any] | None = None,
    rationales: Sequence[Any] | None = None,
    model: str = MODEL,
    device: str = "cpu",
    data_dir: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    say: Say = lambda sentence: None,
    callbacks: Sequence[Any] = (),
    **changes: Any,
) -> Audit:
    """Audit a run or its folder, hf:NAME or any `Subject` with `data`, or texts alone: `model` learns those.

    `changes` are fields of `AuditSettings`. `rankings` are your own by name: a function of subject and batch,
    or one array of word scores a text of the split. `rationales` mark the words that a person would give as
    reasons, one array of 0 and 1 a text of the split. `columns` name the text, label and split of a file.
    """
    asked = settings_with(settings, changes)
    folder = Path(out) if out is not None else Path("audits") / _stem(subject)
    begun_in(folder, asdict(asked))
    if _is_texts(subject) and data is not None:
        raise UserError(
            "Texts that a model is to learn from bring their own test split: leave --data out, or train "
            "first and audit the run with it."
        )
    where: dict[str, Any] = {"data_dir": data_dir, **(columns or {})}
    corpus = load_data(data, learn=False, **where) if isinstance(data, str | Path) else data
    if _is_texts(subject):
        corpus = load_data(str(subject), **where)
        for note in corpus.notes:
            say(note)
        if rationales is not None:
            check_rationales(rationales, len(corpus.split(asked.split)))
        kept = run_folder(folder) if asked.keep_texts else None
        for line in promise(corpus, asked, model=model, folder=folder, out=kept):
            say(line)
        subject = train_for_audit(
            corpus,
            model=model,
            seed=asked.seed,
            out=kept,
            source={"source": str(subject), **(columns or {})},
            device=device,
            callbacks=callbacks,
        )
    audited = open_subject(subject, corpus, device=device, data_dir=data_dir)
    plan = make_plan(audited, asked)
    if rationales is not None:
        check_rationales(rationales, len(audited.corpus.split(asked.split)))
    for line in announce(plan, folder):
        say(line)
    own = own_rankings(rankings or {}, len(audited.corpus.split(asked.split)))
    measured = measure(plan, folder, rankings=own, progress=progress, say=say)
    plausible = None
    if rationales is not None:
        plausible = plausibility(plan, rationales, extra={**audited.rankings, **own})
    return write_audit(plan, measured, folder, plausible=plausible)


def _is_texts(subject: Any) -> bool:
    """Whether this names texts to train on, and no model."""
    if not isinstance(subject, str | Path) or is_of_hub(subject):
        return False
    return not (Path(subject) / SETTINGS).exists()


def train_for_audit(
    corpus: Corpus,
    *,
    model: str,
    seed: int,
    out: Path | None,
    source: Mapping[str, Any],
    device: str = "cpu",
    callbacks: Sequence[Any] = (),
    **changes: Any,
) -> Run:
    """A model of these texts; one that is in `out` already is taken if it was trained alike on the same."""
    settings, training = prepare(model, {"seed": seed, **changes})
    about = {**source, "preset": model}
    return trained_once(
        corpus, model=settings, training=training, source=about, out=out, device=device, callbacks=callbacks
    )


def run_folder(folder: Path) -> Path:
    """Where the model goes that was trained for an audit: beside the audit's folder, not in it."""
    return folder.with_name(f"{folder.name}-run")


def promise(
    corpus: Corpus, asked: AuditSettings, *, model: str, folder: Path, out: Path | None, **changes: Any
) -> list[str]:
    """What training and audit will do, and about how long that takes; before either begins."""
    begun_in(folder, asdict(asked))
    texts, audited = (len(corpus.split(name)) for name in ("train", asked.split))
    steps = f"train {model} on {texts:,} texts, audit it on {audited:,} {asked.split} texts"
    if out is not None and (out / RESULT).exists():
        return [f"{corpus.name}: {steps}, write {folder / PAGE}. It is trained already: {out}."]
    settings, training = prepare(model, {"seed": asked.seed, **changes})
    seconds = forecast(corpus, model=settings, training=training, settings=asked, folder=folder)
    parts = f" ({_parts(seconds)})" if _parts(seconds) else ""
    lines = [
        f"{corpus.name}: {steps}, write {folder / PAGE}.",
        f"About {lasting(sum(seconds.values()))} in all{parts}: tried on a few texts.",
    ]
    if out is None:
        lines.append(
            "The trained model holds words of the texts, so it is not kept: a restart trains it again."
        )
    return lines


def announce(plan: Plan, folder: Path) -> list[str]:
    """What the audit will do beyond what `folder` holds already, and about how long that takes."""
    audited, settings = plan.audited, plan.settings
    of = len(audited.corpus.split(settings.split))
    taken = f"all {of:,}" if len(plan.rows) == of else f"{len(plan.rows):,} of {of:,} (drawn by the seed)"
    lines = [f"Auditing {audited.name} on {audited.corpus.name}: {taken} {settings.split} texts."]
    seconds = plan.estimate(folder)
    stages = ["weights", *(["seeds"] if audited.can_train and settings.seeds > 1 else [])]
    if not seconds and not any(share_left(folder, stage, texts=of) for stage in stages):
        return [*lines, "All of it was measured before and is at hand: only page and figures are made again."]
    parts = _parts(seconds)
    more = "" if audited.exact_adversary else ", not counting the search for other weights"
    lines.append(f"About {lasting(sum(seconds.values()))}{f' ({parts})' if parts else ''}{more}.")
    if begun_in(folder, {}) is not None:
        lines.append("That is what is left: what was measured before is taken from the folder.")
    return lines


def write_audit(
    plan: Plan, measured: Measured, folder: Path, *, plausible: Sequence[Finding] | None = None
) -> Audit:
    """Judge what was measured, and write the folder; the page last."""
    evidence = Evidence(**measured.evidence)
    verdict, found = judge(evidence), answers(evidence)
    drawn = draw_all(evidence, measured.rows, folder / FIGURES)
    content = _content(plan, measured, evidence, verdict, found, drawn, plausible)
    _write_table(folder / "findings.parquet", _finding_rows(found))
    with write_atomically(folder / "rows.parquet", "wb") as file:
        measured.rows.to_parquet(file, index=False)
    if plan.settings.keep_texts:
        with write_atomically(folder / "words.parquet", "wb") as file:
            measured.words.to_parquet(file, index=False)
    with write_atomically(folder / AUDIT) as file:
        json.dump(content, file, ensure_ascii=False, allow_nan=False)
    if find_spec("heedful.report.page") is not None:
        from heedful.report.page import write_page

        write_page(folder)
    return Audit(folder, content, verdict, found, evidence)


def _content(
    plan: Plan,
    measured: Measured,
    evidence: Evidence,
    verdict: Verdict,
    found: Sequence[Answer],
    drawn: Sequence[str],
    plausible: Sequence[Finding] | None,
) -> dict[str, Any]:
    audited, settings = plan.audited, plan.settings
    kinds = set(measured.rows["smallest_kind"].dropna()) if "smallest_kind" in measured.rows else set()
    better = instead(evidence, subject=audited.called)
    counts = np.bincount(plan.labels, minlength=len(audited.corpus.label_names))
    questions = [answer.to_dict() for answer in found]
    for entry in questions:
        entry["figures"] = [stem for stem in entry["figures"] if stem in drawn]
    return {
        "schema": SCHEMA,
        "figures": about_figures(evidence, drawn),
        "heedful": __version__,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": {name: round(value, 3) for name, value in measured.seconds.items()},
        "subject": {
            "name": f"{audited.name} on {audited.corpus.name}",
            "kind": audited.kind,
            "model": audited.name,
            "called": audited.called,
            "classes": list(audited.corpus.label_names),
            "linear_head": kinds == {"exact"},
            "mixes_tokens": bool(audited.subject.mixes_tokens),
            "device": audited.device,
        },
        "data": {
            "name": audited.corpus.name,
            "split": settings.split,
            "instances": len(plan.rows),
            "accuracy": evidence.accuracy.to_dict(),
            "majority": evidence.accuracy.coordinates["majority"],
            "class_counts": dict(zip(audited.corpus.label_names, counts.tolist(), strict=True)),
            "notes": list(measured.notes),
            "texts_kept": settings.keep_texts,
        },
        "verdict": {
            "reading": verdict.reading,
            "sentence": sentence(verdict),
            "reasons": list(verdict.reasons),
            "failed": list(verdict.failed),
            "caps": list(verdict.caps),
            "instead": None if better is None else better.to_dict(),
        },
        "questions": questions,
        "evidence": evidence.to_dict(),
        "thresholds": verdict.thresholds.to_dict(),
        "plausibility": None if plausible is None else [finding.to_dict() for finding in plausible],
        "words": _word_entries(measured.words),
        "instances": measured.instances,
        "sampling": {
            "stored": len(measured.instances),
            "of": len(plan.rows),
            "how": "the texts where attention agrees best and least with leaving words out, some around the "
            "middle, and some that the model gets wrong",
        },
        "methods": {
            **asdict(settings),
            "audited": len(plan.rows),
            "texts_of_split": measured.of,
            "epsilon": EPSILON,
            "closed_form": audited.closed,
            "shares": [0.05, 0.1, 0.2, 0.5],
            "interval": "95 %, percentile bootstrap over texts, paired; Wilson for shares",
        },
    }


def settings_with(settings: AuditSettings | None, changes: Mapping[str, Any]) -> AuditSettings:
    """The settings with changes to their fields; one that is no field is refused."""
    from heedful.settings import settings_from

    base = settings or AuditSettings()
    known = {item.name: getattr(base, item.name) for item in fields(AuditSettings)}
    return settings_from(AuditSettings, {**known, **changes}, where="the audit's settings")


def _word_entries(words: "pandas.DataFrame") -> list[dict[str, Any]]:
    def plain(value: Any) -> Any:
        if value is None or (isinstance(value, float) and np.isnan(value)):
            return None
        return float(f"{value:.4g}")

    if not len(words):
        return []
    return [
        {
            "word": row.word,
            "count": int(row.count_),
            "type": row.type if isinstance(row.type, str) else None,
            "polarity": [float(f"{value:.4g}") for value in row.polarity],
            "attention": plain(row.attention),
            "weight": plain(row.weight),
            "stability": plain(row.stability),
        }
        for row in words.rename(columns={"count": "count_"}).itertuples(index=False)
    ]


def _finding_rows(found: Sequence[Answer]) -> list[dict[str, Any]]:
    rows = []
    for answer in found:
        listed = [finding for finding in (answer.finding, *answer.evidence) if finding is not None]
        rows += [{"question": answer.id, **finding.to_row()} for finding in listed]
    return rows


def _write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    import pandas

    with write_atomically(path, "wb") as file:
        pandas.DataFrame(rows).to_parquet(file, index=False)


def _stem(subject: Any) -> str:
    import re

    if isinstance(subject, Run):
        subject = subject.folder or "run"
    name = str(subject) if isinstance(subject, str | Path) else type(subject).__name__
    return re.sub(r"[^\w.-]+", "-", Path(name.removeprefix(HUB)).name.split(".")[0]).strip("-.") or "audit"


def _parts(seconds: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {lasting(value)}" for name, value in seconds.items() if value >= 1)
