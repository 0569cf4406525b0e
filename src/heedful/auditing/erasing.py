"""Erasure over a whole split, for any subject: at its attention layer, or of words in its texts.

The trials are those of `trials.streamed_trials`, one row a text, written as they come: the same call goes on
after a stop.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from heedful.auditing.audited import Audited, label_reading, open_subject
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.errors import UserError, choose_from
from heedful.files import check_folder
from heedful.models.building import Classifier
from heedful.models.subject import why_not
from heedful.models.transformers import TransformerSubject
from heedful.models.transformers.any_layer import AtLevel
from heedful.records import Finding
from heedful.store import digest_of
from heedful.training.opening import Asked
from heedful.trials.erasure.deletion import WAYS
from heedful.trials.rankings.layer_rankings import RANKINGS
from heedful.trials.rankings.named import brought_by, check_own_names
from heedful.trials.rankings.own_scores import read_scores
from heedful.trials.rankings.word_rankings import WORD_RANKINGS, can_rank
from heedful.trials.stream import RECIPE, Streamed, sample_rows, stream
from heedful.trials.streamed_trials import layer_findings, layer_trial, word_findings, word_trial

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True)
class Erased:
    """What erasing a split left: a row per text, the findings, and a sentence for what could not be asked."""

    streamed: Streamed
    rows: pd.DataFrame
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    coordinates: Mapping[str, str]

    @property
    def folder(self) -> Path:
        return self.streamed.folder


def erase_split(
    subject: Any,
    data: "Corpus | str | Path | None" = None,
    *,
    split: str = "test",
    rankings: Sequence[str] | None = None,
    own: Mapping[str, Any] | None = None,
    level: str = "final",
    at_input: bool = False,
    how: str = "delete",
    limit: int | None = None,
    out: str | Path | None = None,
    seed: int = 0,
    device: str = "cpu",
    data_dir: str | Path | None = None,
    columns: Mapping[str, Any] | None = None,
    label_map: Mapping[str, str] | None = None,
    asked_of: Asked | None = None,
    progress: Progress | None = None,
) -> Erased:
    """Erase items at the attention layer of any subject, or words of its texts with `at_input`.

    The subject is a run or its folder, which has its own texts, hf:NAME or any `Subject` with `data`.
    `rankings` are names, all that it can have unless said; `own` are yours by name: a function
    (`rankings.ranking`), or a file of scores (.npy, .json). `level` "words" is the lower layer of a
    hierarchical model, "layer-2" or "layer-2-head-5" any of a transformer's; `asked_of` one is how it
    decides. Rows go to `out`, by default a folder of the run, or below trials.

    Example: `heedful.erase_split("runs/reviews", limit=500).findings`
    """
    known = WORD_RANKINGS if at_input else RANKINGS
    _check(known, rankings, own or {}, level=level, at_input=at_input, how=how)
    if out is not None:
        check_folder(Path(out), marks=(RECIPE,))
    where_from: dict[str, Any] = {"data_dir": data_dir, **(columns or {})}
    where_from |= label_reading(subject, data, columns, asked_of)
    corpus = load_data(data, learn=False, **where_from) if isinstance(data, str | Path) else data
    audited = open_subject(
        subject, corpus, device=device, label_map=label_map, asked=asked_of, data_dir=data_dir
    )
    names = _askable(audited, rankings, level=level, at_input=at_input)
    texts = audited.texts(split)
    given = {
        name: read_scores(name, one, texts=len(texts)) if isinstance(one, str | Path) else one
        for name, one in (own or {}).items()
    }
    where = {"at": "input", "how": how} if at_input else {"at": "layer", "layer": level}
    coordinates = {"corpus": audited.corpus.name, "model": audited.name, "split": split, **where}
    scored = {name: getattr(one, "digest", "") for name, one in given.items()}
    recipe = {
        **coordinates,
        "fingerprint": audited.corpus.fingerprint,
        "weights": audited.digest,
        "rankings": None if rankings is None else list(rankings),
        "seed": seed,
        **({"own": scored} if scored else {}),
    }
    folder = Path(out) if out is not None else _place(audited, recipe, limit)
    trial = (
        word_trial(audited.subject, names, own={**_brought(audited, rankings), **given}, seed=seed, how=how)
        if at_input
        else layer_trial(audited.subject, names, own=given, level=level, seed=seed)
    )
    rows = sample_rows(len(texts), limit, seed=seed)
    shown = nullcontext() if progress is None else progress(f"{audited.corpus.name}, texts", len(rows))
    with shown as advance:
        streamed = stream(trial, audited.subject, texts, folder, recipe=recipe, rows=rows, progress=advance)
    frame = streamed.summed(seed=seed)
    drawn = []
    if len(frame) < streamed.instances:
        drawn.append(
            f"Each of {streamed.instances:,} texts has its row; the numbers and figures are of "
            f"{len(frame):,} of them, drawn by the seed."
        )
    about: dict[str, Any] = {"coordinates": coordinates, "seed": seed}
    findings, notes = (
        word_findings(frame, classes=audited.subject.classes, **about)
        if at_input
        else layer_findings(frame, **about)
    )
    left = _left_out(audited, rankings) if at_input else []
    return Erased(streamed, frame, tuple(findings), (*audited.notes, *drawn, *left, *notes), coordinates)


def _check(
    known: Mapping[str, Any],
    rankings: Sequence[str] | None,
    own: Mapping[str, Any],
    *,
    level: str,
    at_input: bool,
    how: str,
) -> None:
    for name in rankings or ():
        if not at_input or name not in known:
            choose_from("ranking", name, known)
    check_own_names(own, known)
    if at_input and level != "final":
        raise UserError("Words leave the whole text, not one layer: leave out --level, or --input.")
    if how != "delete" and not at_input:
        raise UserError("How words are taken out is a matter of --input: add it, or leave out --how.")
    choose_from("way to take out words", how, WAYS)


def _askable(
    audited: Audited, rankings: Sequence[str] | None, *, level: str, at_input: bool
) -> list[str] | None:
    """The names that this subject can have; what cannot be asked of it is refused, with the reason."""
    subject = audited.subject
    if at_input:
        for name in rankings or ():
            if not can_rank(subject, name):
                raise UserError(f"This model cannot be ranked by {name}: leave it out.")
        return None if rankings is None else list(rankings)
    reason = why_not(subject, "trace")
    if reason is not None:
        raise UserError(
            f"There is no attention layer to erase at ({reason.rstrip('.')}): take words out of the texts, "
            "with --input."
        )
    if isinstance(subject, TransformerSubject) and level != "final":
        AtLevel(subject, level)  # refuses what is not there
        return None if rankings is None else list(rankings)
    lower = isinstance(subject, Classifier) and subject.settings.hierarchical
    choose_from("attention level of this model", level, ("final", "words") if lower else ("final",))
    return None if rankings is None else list(rankings)


def _brought(audited: Audited, rankings: Sequence[str] | None) -> dict[str, Any]:
    """The rankings that only this kind of subject has, where all are asked for."""
    return dict(brought_by(audited.subject)) if rankings is None else {}


def _left_out(audited: Audited, rankings: Sequence[str] | None) -> list[str]:
    lacking = [name for name in WORD_RANKINGS if not can_rank(audited.subject, name)]
    if rankings is not None or not lacking:
        return []
    return [f"This model cannot be ranked by {', '.join(lacking)}: that was not asked."]


def _place(audited: Audited, recipe: Mapping[str, Any], limit: int | None) -> Path:
    """A place for each thing that can be asked, so that asking again goes on or is answered."""
    name = f"erase-{recipe['at']}-{recipe['split']}-{digest_of([dict(recipe), limit], size=4)}"
    if audited.run is not None and audited.run.folder is not None:
        return audited.run.folder / "trials" / name
    return Path("trials") / f"{audited.name}-{name}"
