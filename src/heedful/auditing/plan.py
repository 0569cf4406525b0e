"""What an audit will do: its settings, the texts it takes, and the folder it claims."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.auditing.audited import Audited
from heedful.auditing.maps import Maps
from heedful.auditing.reading import ReadSettings, maps_of
from heedful.data.encoded import EncodedTexts
from heedful.errors import LARGEST_SEED, UserError, check_seed, choose_from
from heedful.models.subject import gives
from heedful.models.transformers import TransformerSubject
from heedful.models.transformers.memory import longest_seen
from heedful.settings import MOST_SEEDS, check_sizes, setting, settings_from
from heedful.store import Store
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.stream import MOST_SUMMED, batch_of, sample_rows

PLAN = "plan.json"
SCHEMA = 4
POOL = 2000  # texts from which those are drawn that are read many times, where each must be read again
READ_CLOSED, READ_AGAIN = (
    1000,
    300,
)  # texts that are read many times, where deletions are products, and elsewhere
BLACK_BOX = "leave-one-out"  # what is judged of a subject without attention


@dataclass(frozen=True)
class AuditSettings:
    """What an audit asks: each field is a keyword of `heedful.audit`, and an option of the command."""

    split: str = setting("test", "the split that is audited: train, dev or test")
    shown: str = setting("", "the ranking that people are shown; attention, or leave-one-out without any")
    also: str = setting("", "further rankings to judge, such as flow or layer-2-head-5, with commas between")
    limit: int | None = setting(None, "texts to take, drawn by the seed; all where nothing is read again")
    deletions: int | None = setting(
        None, "random deletions for each word of a text; 16 where they are products, else 4", most=10**4
    )
    looks: bool = setting(True, "stop as soon as the reading is settled")
    seeds: int = setting(
        3,
        "models over which stability is measured, the audited one among them; 1 does not ask",
        most=MOST_SEEDS,
    )
    uniform: bool = setting(True, "train the model with uniform weights, to see whether attention is needed")
    folds: int = setting(
        0,
        "so many models are trained, each text judged by one that has not seen it; 0: one model",
        most=MOST_SEEDS,
    )
    keep_texts: bool = setting(True, "keep texts and words for browsing; without, nothing written has any")
    seed: int = setting(0, "the seed of everything that is left to chance", most=LARGEST_SEED)

    @property
    def named(self) -> list[str]:
        """The rankings that were asked for by name, the one that is shown first."""
        names = [self.shown, *self.also.split(",")]
        return [name.strip() for name in names if name.strip()]

    def __post_init__(self) -> None:
        choose_from("split", self.split, ("train", "dev", "test"))
        for name, least in (("seeds", 1), ("deletions", 1), ("limit", 1), ("folds", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UserError(f"The audit's {name} must be at least {least}, not {value}.")
        check_seed(self.seed)
        check_sizes(self)


def settings_with(settings: AuditSettings | None, changes: Mapping[str, Any]) -> AuditSettings:
    """The settings with changes to their fields; one that is no field is refused."""
    base = settings or AuditSettings()
    known = {item.name: getattr(base, item.name) for item in fields(AuditSettings)}
    return settings_from(AuditSettings, {**known, **changes}, where="the audit's settings")


@dataclass(frozen=True, eq=False)
class Plan:
    """The texts to be audited, and how."""

    audited: Audited
    settings: AuditSettings
    texts: "EncodedTexts | list[str]"
    pool: NDArray[np.int64]  # places in the split
    own: Mapping[str, Ranking] = field(default_factory=dict)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The labels of the pool."""
        return np.asarray(self.audited.corpus.split(self.settings.split).labels)[self.pool]

    @property
    def shown(self) -> str:
        """The ranking that is judged."""
        if self.settings.shown:
            return self.settings.shown
        return "attention" if gives(self.audited.subject, "attention") else BLACK_BOX

    @cached_property
    def reading(self) -> ReadSettings:
        """How the subject is read."""
        closed = self.audited.closed
        most = min(len(self.pool), READ_CLOSED if closed else READ_AGAIN)
        return ReadSettings(texts=most, deletions=self.settings.deletions, looks=self.settings.looks)

    @cached_property
    def maps(self) -> Maps:
        """What is judged by the deletions."""
        maps = maps_of(self.audited.subject, shown=self.shown, rankings=self.own, settings=self.reading)
        opted = frozenset(self.settings.named) & self.own.keys() - {self.shown}
        maps = replace(maps, dear=maps.dear | opted)
        # Kept for texts to browse; halves are compared where nothing else can say how sure effects are.
        return replace(maps, keep=self.settings.keep_texts, halves=self.audited.run is None)

    def looked_at(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of these texts that are not too long for their attention to be looked at."""
        subject = self.audited.subject
        if not isinstance(subject, TransformerSubject) or not gives(subject, "attention"):
            return rows
        seen: NDArray[np.bool_] = subject.fits(batch_of(subject, self.texts, rows)).numpy()
        return rows[seen]

    @cached_property
    def unseen(self) -> tuple[str, ...]:
        """What is said of texts that are too long for their attention to be looked at, if there are any."""
        subject, rankings = self.audited.subject, self.maps.names
        if not isinstance(subject, TransformerSubject) or not gives(subject, "attention"):
            return ()
        asked: dict[str, float] = {"Attention": subject.looked_at}
        if subject.entry is not None and "attention-gradient" in rankings:
            asked["The ranking attention-gradient"] = subject.entry.calls
        limits = {what: longest_seen(subject, layers=layers) for what, layers in asked.items()}
        if not any(limits.values()):
            return ()
        pieces = np.array([len(cut) for cut in subject.cut(batch_of(subject, self.texts, self.pool))])
        counts = {what: int((pieces > most).sum()) for what, most in limits.items() if most is not None}
        return tuple(
            f"{what} is unknown for {count:,} of {len(pieces):,} texts, of more than {limits[what]:,} "
            f"pieces: the weights would take more than {subject.memory / 1e9:.2g} GB."
            for what, count in counts.items()
            if count
        )

    @property
    def recipe(self) -> dict[str, Any]:
        """Plain values that stand for what is asked; records made for another recipe are refused."""
        # Scores of one's own count by what they say, functions by their names alone.
        own = {name: getattr(self.own[name], "digest", "") for name in sorted(self.own)}
        return {
            "schema": SCHEMA,
            "subject": self.audited.digest,
            "corpus": self.audited.corpus.fingerprint,
            "texts": len(self.pool),
            "rankings": own,
            **asdict(self.settings),
        }


def make_plan(audited: Audited, settings: AuditSettings, own: Mapping[str, Ranking] | None = None) -> Plan:
    """Choose the texts: all that sum up a split where nothing is read again, else a smaller sample."""
    texts = audited.texts(settings.split)
    limit = settings.limit
    if limit is None:
        limit = MOST_SUMMED if audited.kind == "run" else POOL
    plan = Plan(audited, settings, texts, sample_rows(len(texts), limit, seed=settings.seed), own or {})
    choose_from("ranking to judge", plan.shown, plan.maps.names)
    return plan


def claim_folder(folder: Path, recipe: Mapping[str, Any]) -> None:
    """Begin an audit in a folder, or go on with it; one that holds anything else is refused."""
    begun_in(folder, recipe)
    store = _store(folder, recipe)
    store.check()
    store.begin()


def begun_in(folder: Path, asked: Mapping[str, Any]) -> dict[str, Any] | None:
    """The recipe of an audit that was begun there; a place where this one cannot be written is refused.

    `asked` are parts of the recipe, as far as they are known before there is a model.
    """
    store = _store(folder, asked)
    known = store.begun()
    if known is not None and known.get("schema") != SCHEMA:
        raise UserError(
            f"{folder} holds an audit of another version of heedful (schema {known.get('schema')}, and "
            f"{SCHEMA} is written here): choose another place, or remove it."
        )
    store.check(only=asked)
    return known


def _store(folder: Path, recipe: Mapping[str, Any]) -> Store:
    return Store(folder, recipe, mark=PLAN, what="an audit")
