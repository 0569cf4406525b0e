"""What an audit will do: its settings, the texts it takes, and about how long that lasts."""

import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError, check_seed, choose_from
from heedful.files import check_folder, write_atomically
from heedful.settings import setting
from heedful.study.auditing.at_hand import models_left, share_left
from heedful.study.auditing.subjects import PLACES, READ_AGAIN, Audited
from heedful.study.auditing.trial import layer_trial, weights_trial, words_trial
from heedful.trials.stream import batch_of, sample_rows

PLAN = "plan.json"
SCHEMA = 2
PROBE, PROBE_CLOSED = 4, 64  # texts that are tried to guess the time; more where they are quickly done
WEIGHTS_TEXTS, ASCENT_TEXTS = 2000, 60  # texts of the adversary: exact, and by ascent


@dataclass(frozen=True)
class AuditSettings:
    """What is asked of an audit."""

    split: str = setting("test", "the split that is audited: train, dev or test")
    limit: int | None = setting(
        None, "texts to take, drawn by the seed; all where deletion has a closed form"
    )
    seeds: int = setting(
        3, "models over which stability is measured, the audited one among them; 1 does not ask"
    )
    uniform: bool = setting(True, "train the model with uniform weights, to see whether attention is needed")
    keep_texts: bool = setting(True, "keep texts and words for browsing; without, nothing written has any")
    seed: int = setting(0, "the seed of everything that is left to chance")

    def __post_init__(self) -> None:
        choose_from("split", self.split, ("train", "dev", "test"))
        if self.seeds < 1 or (self.limit is not None and self.limit < 1):
            raise UserError(
                f"An audit needs at least one seed and one text, not {self.seeds} and {self.limit}."
            )
        check_seed(self.seed)


@dataclass(frozen=True, eq=False)
class Plan:
    """The texts to be audited, and how."""

    audited: Audited
    settings: AuditSettings
    texts: "EncodedTexts | list[str]"
    rows: NDArray[np.int64]

    @property
    def places(self) -> int:
        """B × T of one batch."""
        return PLACES[self.audited.kind]

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The labels of the audited rows."""
        return np.asarray(self.audited.corpus.split(self.settings.split).labels)[self.rows]

    @property
    def recipe(self) -> dict[str, Any]:
        """Plain values that stand for what is asked; records made for another recipe are refused."""
        return {
            "schema": SCHEMA,
            "subject": self.audited.digest,
            "corpus": self.audited.corpus.fingerprint,
            "instances": len(self.rows),
            **asdict(self.settings),
        }

    def weights_rows(self, *, exact: bool) -> NDArray[np.int64]:
        """The rows on which other weights are looked for."""
        most = WEIGHTS_TEXTS if exact else ASCENT_TEXTS
        chosen = sample_rows(len(self.rows), most, seed=self.settings.seed)
        return self.rows[chosen]

    def estimate(self, folder: Path | None = None) -> dict[str, float]:
        """About how many seconds each stage takes: tried on a few texts, and by the run's own training.

        What `folder` holds already is not counted; a stage or training that is finished has no entry.
        """
        folder = folder or Path(os.devnull)  # which holds nothing
        lengths = _lengths(self.texts)[self.rows]
        tried = PROBE_CLOSED if self.audited.closed else PROBE
        middle = self.rows[np.argsort(np.abs(lengths - np.median(lengths)), kind="stable")[:tried]]
        batch = batch_of(self.audited.subject, self.texts, middle)
        trials = {
            "words": words_trial(self.audited.subject, extra=self.audited.rankings),
            "layer": layer_trial(self.audited.subject),
        }
        if self.audited.exact_adversary:  # else it is by ascent, which takes as long for a few as for all
            trials["weights"] = weights_trial(self.audited.subject)
        found = {}
        for name, trial in trials.items():
            asked = min(1.0, WEIGHTS_TEXTS / len(lengths)) if name == "weights" else 1.0
            left = share_left(folder, name, texts=round(asked * len(lengths)))
            if not left:
                continue
            if self.audited.closed:
                trial(batch, 0)  # the first one compiles, allocates and loads, and would be most of it
            begun = time.perf_counter()
            trial(batch, 0)
            per_word = (time.perf_counter() - begun) / max(1, _lengths(self.texts)[middle].sum())
            found[name] = float(per_word * lengths.sum() * asked * left)
        run = self.audited.run
        if run is not None and self.audited.can_train:
            recipe = run.recipe
            more = models_left(folder, self.settings, seed=recipe.training.seed, control=recipe.model.control)
            if more:
                found["training again"] = len(more) * float(run.result.get("seconds", 0.0))
        return found


def make_plan(audited: Audited, settings: AuditSettings) -> Plan:
    """Choose the texts: all where deletion has a closed form, else a sample."""
    texts = audited.texts(settings.split)
    limit = text_limit(audited, settings)
    return Plan(audited, settings, texts, sample_rows(len(texts), limit, seed=settings.seed))


def text_limit(audited: Audited, settings: AuditSettings) -> int | None:
    """How many texts an audit takes at most; None for all."""
    if settings.limit is None and not audited.closed:
        return READ_AGAIN[audited.kind]
    return settings.limit


def claim_folder(folder: Path, recipe: Mapping[str, Any]) -> None:
    """Begin an audit in a folder, or go on with it; one that holds anything else is refused."""
    known = begun_in(folder, recipe)
    if known is None:
        with write_atomically(folder / PLAN) as file:  # makes the folder
            json.dump(recipe, file, indent=1)
        return
    _refuse_other(folder, known, recipe, names={**recipe, **known})


def begun_in(folder: Path, asked: Mapping[str, Any]) -> dict[str, Any] | None:
    """The recipe of an audit that was begun there; a place where this one cannot be written is refused.

    `asked` are parts of the recipe, as far as they are known before there is a model.
    """
    check_folder(folder, marks=(PLAN,))
    path = folder / PLAN
    if not path.exists():
        return None
    try:
        known = dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise UserError(f"{path} is damaged ({error}): remove {folder}, or choose another place.") from None
    _refuse_other(folder, known, asked, names=asked)
    return known


def _refuse_other(
    folder: Path, known: Mapping[str, Any], recipe: Mapping[str, Any], *, names: Iterable[str]
) -> None:
    for name in names:
        if known.get(name) != recipe.get(name):
            raise UserError(
                f"{folder} holds another audit ({name} was {known.get(name)}, and is {recipe.get(name)}): "
                "choose another place, or remove it."
            )


def _lengths(texts: "EncodedTexts | list[str]") -> NDArray[np.int64]:
    if isinstance(texts, EncodedTexts):
        return np.asarray(texts.lengths)
    return np.array([len(text.split()) + 1 for text in texts])
