"""An audit from beginning to end: open or train a model, ask every question, write a folder and page."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful import __version__
from heedful.auditing.asking import Asking, Progress, Say, pool_table
from heedful.auditing.audited import label_reading, open_subject
from heedful.auditing.browsing import choose, instances
from heedful.auditing.folded import FoldedAsking, ask_folds, fold_corpora, said
from heedful.auditing.forecast import announce, promise, too_long
from heedful.auditing.names import named
from heedful.auditing.own_rankings import own_rankings
from heedful.auditing.page import write_page
from heedful.auditing.plan import PLAN, AuditSettings, begun_in, claim_folder, make_plan, settings_with
from heedful.auditing.plausibility import check_rationales, plausibility
from heedful.auditing.questions import QUESTIONS, Answer, NotAsked, Question
from heedful.auditing.reading import read_groups
from heedful.auditing.result import AUDIT, FIGURES, SCHEMA, Audit, AuditVerdict, sentence_of, write_audit
from heedful.auditing.word_table import word_entries, word_table
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.data.tables.held import is_data
from heedful.drawing import save_figure, styled
from heedful.errors import UserError
from heedful.files import locked, write_atomically
from heedful.models.subject import forgetting, gives, remembering
from heedful.records import Estimate, Finding, wilson_interval
from heedful.records.manifest import MANIFEST, file_digest, write_manifest
from heedful.records.wording import in_percent, lasting
from heedful.study.forecast import one_training
from heedful.study.kept_runs import trained_once
from heedful.training.opening import HUB, Asked, is_of_hub, is_of_transformers
from heedful.training.presets import prepare
from heedful.training.run import SETTINGS, Run
from heedful.trials.rankings.named import by_name

if TYPE_CHECKING:
    import pandas

MODEL = "dp"  # what is trained where there are only texts
LOCK = ".lock"


def audit(
    subject: Any,
    data: Any = None,
    labels: Any = None,
    *,
    tokenizer: Any = None,
    classes: Sequence[str] | None = None,
    out: str | Path | None = None,
    settings: AuditSettings | None = None,
    rankings: Mapping[str, Any] | None = None,
    rationales: Sequence[Any] | None = None,
    by: Sequence[Any] | None = None,
    questions: Sequence[Question] = (),
    model: str = MODEL,
    device: str = "cpu",
    data_dir: str | Path | None = None,
    columns: Mapping[str, Any] | None = None,
    label_map: Mapping[str, str] | None = None,
    asked_of: Asked | None = None,
    progress: Progress | None = None,
    say: Say = lambda sentence: None,
    callbacks: Sequence[Any] = (),
    **changes: Any,
) -> Audit:
    """Audit a model with labelled texts, or texts alone: `model` learns those.

    The model is a run or its folder (which has its own texts), hf:NAME, a Hugging Face classifier with its
    `tokenizer`, a pipeline, an `AttentionClassifier`, a `Subject`, or a function from texts to probabilities
    of `classes`. Texts are whatever `load_data` takes: a path, a DataFrame, a Dataset, a dictionary, a list
    with `labels`.

    `changes` are fields of `AuditSettings`. `rankings` are your own by name: a function (`rankings.ranking`),
    or one array of word scores a text of the split. `rationales` mark the words that a person would give as
    reasons, one array of 0 and 1 a text of the split. `by` names the group of each text of the split, for a
    reading of each group. `questions` are your own, asked after ours. `columns` say how a file is read (text,
    label, split, encoding, test_share), and `label_map` which of its labels is which class of the model.
    `asked_of` a transformer is how it decides.

    Example: `heedful.audit("reviews.csv", model="dp", seeds=1, uniform=False).reading`
    """
    asked = settings_with(settings, changes)
    folder = Path(out) if out is not None else Path("audits") / _stem(subject)
    begun_in(folder, asdict(asked))
    if data is not None and labels is None and is_data(subject) and not isinstance(data, str | Path):
        data, labels = None, data  # audit(texts, labels)
    if is_texts(subject) and data is not None:
        raise UserError(
            "Texts that a model is to learn from bring their own test split: leave --data out, or train "
            "first and audit the run with it."
        )
    where: dict[str, Any] = {"data_dir": data_dir, **(columns or {})}
    read_as = label_reading(subject, data, columns, asked_of)
    corpus = None if data is None else load_data(data, labels, learn=False, **where | read_as)
    if asked.folds and not is_texts(subject):
        raise UserError("Folds are for texts that models learn from; a trained model is audited as it is.")
    if is_texts(subject):
        corpus = load_data(subject, labels, learn=not asked.folds, **where)
        for note in corpus.notes:
            say(note)
        if asked.folds:
            if rationales is not None or rankings:
                raise UserError("Folds are read by several models: leave rationales and own rankings out.")
            return audit_folds(
                corpus,
                asked,
                folder,
                model=model,
                device=device,
                by=by,
                progress=progress,
                say=say,
                callbacks=callbacks,
            )
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
            source={"source": str(subject), **(columns or {})} if isinstance(subject, str | Path) else {},
            device=device,
            callbacks=callbacks,
        )
    audited = open_subject(
        subject,
        corpus,
        tokenizer=tokenizer,
        classes=classes,
        device=device,
        label_map=label_map,
        asked=asked_of,
        data_dir=data_dir,
    )
    for note in () if data is None else (*audited.corpus.notes, *audited.notes):
        say(note)
    count = len(audited.corpus.split(asked.split))
    own = own_rankings(rankings or {}, count)
    named = [name for name in asked.named if name not in own]
    plan = make_plan(audited, asked, {**by_name(audited.subject, named, own=own), **own})
    if rationales is not None:
        check_rationales(rationales, count)
    if by is not None and len(by) != count:
        raise UserError(f"There are {count:,} texts, but groups for {len(by):,}: give one for each.")
    claim_folder(folder, plan.recipe)
    with locked(folder / LOCK), remembering(audited.subject):
        asking = Asking(plan, folder, progress, say)
        with forgetting(audited.subject):
            lines = announce(asking)
        for line in lines:
            say(line)
        return ask_all(asking, rationales=rationales, by=by, questions=(*QUESTIONS, *questions))


def audit_folds(
    corpus: Corpus,
    asked: AuditSettings,
    folder: Path,
    *,
    model: str = MODEL,
    device: str = "cpu",
    by: Sequence[Any] | None = None,
    progress: Progress | None = None,
    say: Say = lambda sentence: None,
    callbacks: Sequence[Any] = (),
) -> Audit:
    """Train a model for each fold of the texts, and judge each text by the one that has not seen it."""
    fold_of, corpora = fold_corpora(corpus, asked.folds, seed=asked.seed)
    seconds = one_training(corpora[0], *prepare(model, {"seed": asked.seed}), threads=None)
    say(said(asked.folds))
    taken = lasting(asked.folds * seconds)
    say(f"{corpus.name}: {asked.folds} trainings take about {taken} (tried on a few texts).")
    runs = []
    for number, part in enumerate(corpora):
        say(f"Training fold {number + 1} of {asked.folds} on {len(part.split('train')):,} texts …")
        out = run_folder(folder) / f"fold-{number + 1}" if asked.keep_texts else None
        runs.append(
            train_for_audit(
                part, model=model, seed=asked.seed, out=out, source={}, device=device, callbacks=callbacks
            )
        )
    asking = ask_folds(runs, corpora, fold_of, asked, folder, progress=progress, say=say)
    claim_folder(folder, asking.plan.recipe)
    with locked(folder / LOCK):
        for line in announce(asking):
            say(line)
        return ask_all(asking, by=by)


def ask_all(
    asking: Asking,
    *,
    rationales: Sequence[Any] | None = None,
    by: Sequence[Any] | None = None,
    questions: Sequence[Question] = QUESTIONS,
) -> Audit:
    """Ask every question, and write the folder; the page last."""
    folder, plan, settings = asking.folder, asking.plan, asking.settings
    answers, drawn = [], {}
    ours = plan.audited.run is not None
    other = plan.shown != "attention" and gives(plan.audited.subject, "attention")

    def told(question: Question, answer: Answer) -> Answer:
        return question.beside(answer, named(plan.shown)) if other else answer

    for number, question in enumerate((one for one in questions if not (ours and one.of_others)), 1):
        try:
            rows = asking.measure(question)
            answer = question.answer(rows, asking)
        except NotAsked as why:
            answers.append(replace(told(question, question.not_asked(str(why))), number=number))
            continue
        with styled():
            figure = None if question.figure is None else question.figure(answer, rows)
        if figure is not None:
            save_figure(figure, folder / FIGURES / question.id)
            measured = answer.finding.measured if answer.finding is not None else answer.measured
            drawn[question.id] = {"title": question.figure_title, "count": len(rows), "measured": measured}
        shown = (question.id,) if figure is not None else ()
        answer = replace(answer, number=number, decides=question.decides, figures=shown)
        answers.append(told(question, answer))
    table, stored = None, []
    if settings.keep_texts:
        with asking.timed("browsing"):
            if isinstance(asking, FoldedAsking):
                stored = asking.instances(choose(asking))
            else:
                table = word_table(plan, asking.rows, asking.label_words, _others(asking))
                stored = instances(asking, choose(asking))
    plausible = None
    if rationales is not None:
        plausible = plausibility(asking, rationales)
    verdict = _verdict(asking, by)
    content = {
        "schema": SCHEMA,
        "heedful": __version__,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": {name: round(value, 3) for name, value in asking.seconds.items()},
        "verdict": verdict.to_dict(),
        "questions": [answer.to_dict() for answer in answers],
        "figures": drawn,
        "plausibility": None if plausible is None else [finding.to_dict() for finding in plausible],
        "words": [] if table is None else word_entries(table),
        "instances": stored,
        **_about(asking, len(stored)),
    }
    found = Audit(folder, verdict, tuple(answers), content)
    (folder / MANIFEST).unlink(missing_ok=True)  # of an earlier time: it would call the new files changed
    _write_tables(found, asking.read.rows, table, pool_table(asking))
    write_audit(folder, content)
    write_page(folder)
    names = [PLAN, AUDIT, *sorted(path.name for path in folder.glob("*.parquet"))]
    write_manifest(folder, {name: file_digest(folder / name) for name in names})
    return found


def is_texts(subject: Any) -> bool:
    """Whether this names texts to train on, and no model."""
    if isinstance(subject, Corpus) or is_data(subject):
        return True
    if not isinstance(subject, str | Path) or is_of_hub(subject) or is_of_transformers(subject):
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


def _verdict(asking: Asking, by: Sequence[Any] | None) -> AuditVerdict:
    read = asking.read
    found = read.verdict
    groups = () if by is None else read_groups(read, np.asarray(by, dtype=object)[asking.plan.pool])
    return AuditVerdict(
        **vars(found),
        sentence=sentence_of(found.reading, read.shown),
        shown=read.shown,
        level=read.level,
        groups=groups,
        instead=read.instead,
    )


def _about(asking: Asking, stored: int) -> dict[str, Any]:
    """The subject, the data, and how it was measured."""
    plan, read = asking.plan, asking.read
    audited, settings = plan.audited, plan.settings
    names = audited.corpus.label_names
    counts = np.bincount(plan.labels, minlength=len(names))
    subject = audited.subject
    return {
        "subject": {
            "name": f"{audited.name} on {audited.corpus.name}",
            "kind": audited.kind,
            "model": audited.name,
            "called": audited.called,
            "classes": list(names),
            "mixes_tokens": bool(subject.mixes_tokens),
            "device": audited.device,
            "way": getattr(subject, "way", None),
            "cannot": dict(getattr(subject, "cannot", {})),
        },
        "data": {
            "name": audited.corpus.name,
            "split": settings.split,
            "fingerprint": audited.corpus.fingerprint,
            "instances": len(plan.pool),
            "accuracy": accuracy_finding(asking).to_dict(),
            "majority": float(counts.max() / max(1, counts.sum())),
            "class_counts": dict(zip(names, counts.tolist(), strict=True)),
            "confusion": _confusion(asking),
            "notes": [*audited.corpus.notes, *audited.notes, *too_long(plan), *plan.unseen],
            "roles": list(audited.corpus.roles),
            "texts_kept": settings.keep_texts,
        },
        "sampling": {
            "stored": stored,
            "of": len(asking.rows),
            "how": "texts on which this map predicts deletions best and least, some around the middle, "
            "and some that the model gets wrong",
        },
        "methods": {
            **asdict(settings),
            "texts_of_split": len(plan.texts),
            "texts_read_many_times": len(read.rows),
            "changed_texts_read": read.evaluations,
            "measure": "heat-map skill of random deletions, paint on words that matter, strongest word",
            "deletions": f"{plan.maps.per_word} for each word of a text, at most {plan.maps.most}",
            "words_are": "deleted at random, and each is read alone; on "
            f"{len(read.operator_rows)} texts they are also hidden behind the unknown word",
            "maps": list(plan.maps.names),
            "closed_form": audited.closed,
            "interval": f"{in_percent(read.level, 1)} at this look, 95 % over all looks (BCa bootstrap over "
            "texts, copies as one); context: 95 %, percentile bootstrap over texts, Wilson for shares",
        },
    }


def accuracy_finding(asking: Asking) -> Finding:
    """The accuracy on the pool, with the share of the largest class and the balanced accuracy beside it."""
    decided, labels = asking.decided, asking.labels
    right, count = int((decided == labels).sum()), len(labels)
    majority = float(np.bincount(labels).max() / count)
    each = [float((decided[labels == code] == code).mean()) for code in np.unique(labels)]
    return Finding(
        "accuracy",
        right / count,
        interval=wilson_interval(right, count),
        count=count,
        baselines={"majority": Estimate(majority)},
        unit="of texts",
        better="higher",
        coordinates={**asking.about, "majority": majority, "balanced": float(np.mean(each))},
        measured="share of texts whose label the model decides",
    )


def _confusion(asking: Asking) -> list[list[int]]:
    """How many texts of each label (rows) are decided as each class (columns)."""
    classes = len(asking.plan.audited.corpus.label_names)
    found = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(found, (asking.labels, asking.decided), 1)
    return [[int(count) for count in row] for row in found]


def _others(asking: Asking) -> Sequence[Any]:
    """The models of other seeds, where stability was asked."""
    try:
        return asking.other_seeds()[1:] if asking.settings.seeds > 2 else ()
    except NotAsked:
        return ()


def _write_tables(
    found: Audit, rows: "pandas.DataFrame", words: "pandas.DataFrame | None", pool: "pandas.DataFrame"
) -> None:
    kept = rows.drop(columns=[name for name in rows if name.startswith(("map_", "error_"))])
    tables = {"findings": found.to_frame(), "rows": kept, "words": words, "pool": pool}
    for name, table in tables.items():
        if table is not None:
            with write_atomically(found.folder / f"{name}.parquet", "wb") as file:
                table.to_parquet(file, index=False)


def _stem(subject: Any) -> str:
    if isinstance(subject, Run):
        subject = subject.folder or "run"
    name = str(subject) if isinstance(subject, str | Path) else type(subject).__name__
    return re.sub(r"[^\w.-]+", "-", Path(name.removeprefix(HUB)).name.split(".")[0]).strip("-.") or "audit"
