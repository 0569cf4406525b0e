"""`heedful.highlight`: open the model and the texts, choose a map, and mark text after text.

Texts go through in pieces. With files to write, each piece is kept beside the first of them, in NAME.parts,
until all are written: a run that was stopped goes on where it was, and memory is that of one piece.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heedful import __version__
from heedful.auditing.audited import digest_of
from heedful.auditing.result import Audit
from heedful.data.batches import plan_batches
from heedful.errors import UserError, check_seed, choose_from
from heedful.files import check_file
from heedful.highlights.choosing import (
    Choice,
    called,
    choose_by_audit,
    choose_by_name,
    choose_by_reading,
    own_maps,
)
from heedful.highlights.formats import ending_of, write
from heedful.highlights.marking import Marking, no_words
from heedful.highlights.result import About, Highlight, Highlights, flat, unflat
from heedful.highlights.strength import WAYS
from heedful.highlights.texts import Survey, Texts, has_words, open_texts, survey
from heedful.models.subject import Subject
from heedful.records.stored import parse_json
from heedful.store import Stage, Store
from heedful.training.opening import Asked, open_any
from heedful.trials.erasure.rereading import deletion_is_erasure
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.stream import lengths_of

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
Say = Callable[[str], None]
SCHEMA = 1
SAMPLE = 2000  # texts from which a small audit draws
PIECE, PIECE_AGAIN = 4000, 64  # texts of a piece, where deletions are products, and where each is read
PLACES, PLACES_AGAIN = 16_384, 2048  # B × T of one batch
PROBE = 4  # texts by whose answers a model is known
UNITS = {
    "deletions": "how much the word changes the probability of the decision on average, over random "
    "deletions of the other words; ± is the standard error.",
    "leave-one-out": "how far the probability of the decision falls when this word alone is taken out of the "
    "text. The model answers alike each time, so there is no error to give.",
}


@dataclass(frozen=True)
class Tally:
    """How many texts were highlighted, and of how many there was nothing to highlight."""

    texts: int
    marked: int  # with at least one highlighted word
    nobody: int  # no single word decides
    flips: int  # whose smallest flipping set is known
    about: About
    outs: tuple[Path, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        counts = {"texts": self.texts, "marked": self.marked, "nobody": self.nobody, "flips": self.flips}
        return {**counts, "about": self.about.to_dict(), "out": [str(path) for path in self.outs]}


def highlight(
    model: Any,
    texts: Any,
    *,
    tokenizer: Any = None,
    classes: Sequence[Any] | None = None,
    audit: "Audit | str | Path | None" = None,
    by: str | None = None,
    strength: str | None = None,
    rankings: Mapping[str, Ranking] | None = None,
    keep_texts: bool = True,
    text: str | None = None,
    text_pair: str | None = None,
    device: str = "cpu",
    seed: int = 0,
    progress: Progress | None = None,
    say: Say = lambda sentence: None,
) -> Highlights:
    """The words that decide in each text, with what each does to the decision's probability.

    `model` is anything that `heedful.audit` takes; `texts` a DataFrame, a list, a dataset, a path …, `text`
    their column, and `text_pair` that of a second text, decided together with the first. Words are painted by
    the map that `audit`, an audit of this model, found best; or `by` name; or else a small audit of its own
    decides. `strength` is "deletions" or "leave-one-out", by default the first where deletions have a closed
    form. `rankings` are your own maps by name.

    Example: `heedful.highlight("runs/reviews", texts, audit="audits/reviews").save("page.html")`
    """
    opened = open_any(model, tokenizer=tokenizer, classes=classes, device=device)
    job = prepare(
        opened.subject,
        opened.name,
        open_texts(texts, text=text, text_pair=text_pair),
        by=by,
        strength=strength,
        rankings=rankings,
        keep_texts=keep_texts,
        seed=seed,
    )
    choice = job.choose(audit, say)
    with job.shown(progress) as advance:
        items = [item for piece in job.pieces() for item in job.marked(piece, choice, advance)]
    return Highlights(job.about(choice), tuple(items))


def highlight_files(
    model: Any,
    texts: Texts,
    outs: Sequence[Path],
    *,
    audit: "str | Path | None" = None,
    asked: Asked | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
    say: Say = lambda sentence: None,
    **options: Any,
) -> Tally:
    """The same into files, which may be larger than memory; what is done stays if it is stopped."""
    for path in outs:
        ending_of(path)
        check_file(path)
    if not outs:
        raise UserError("Highlights need a file to go to: name one with --out, such as page.html.")
    opened = open_any(model, device=device, asked=asked)
    job = prepare(opened.subject, opened.name, texts, **options)
    named = None if audit is None else Path(audit).name
    parts = outs[0].with_name(f"{outs[0].name}.parts")
    known = job.choose(audit, say) if job.by is not None or audit is not None else None
    store = Store(parts, {**job.recipe, "audit": named}, what="highlights")
    with store.opened():
        stage = store.stage()
        kept = stage.value("choice")  # of a small audit that was made before
        choice = known or (job.choose(None, say) if kept is None else Choice.from_dict(kept))
        stage.keep_value("choice", choice.to_dict())
        say(f"By {called(choice.by)}. {choice.why}")
        with job.shown(progress) as advance:
            keys = job.fill(stage, choice, advance)
        about = job.about(choice)
        for path in outs:
            write(path, about, kept_items(stage, keys), job.survey.count)
        counts = _count(kept_items(stage, keys))
    shutil.rmtree(parts)
    return Tally(job.survey.count, *counts, about, tuple(outs))


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be highlighted, and how."""

    subject: Subject
    name: str
    texts: Texts
    survey: Survey
    by: str | None
    way: str
    rankings: Mapping[str, Ranking]
    keep_texts: bool
    seed: int

    @property
    def closed(self) -> bool:
        """Whether deleting words has a closed form."""
        return deletion_is_erasure(self.subject)

    @property
    def piece(self) -> int:
        """How many texts go together."""
        return PIECE if self.closed else PIECE_AGAIN

    @property
    def recipe(self) -> dict[str, Any]:
        """Plain values that stand for what is asked."""
        return {
            "schema": SCHEMA,
            "model": f"{digest_of(self.subject)}-{self._answers()}",
            "texts": self.survey.digest,
            "by": self.by,
            "strength": self.way,
            "rankings": sorted(self.rankings),
            "keep_texts": self.keep_texts,
            "seed": self.seed,
            "piece": self.piece,
        }

    def choose(self, audit: "Audit | str | Path | None", say: Say) -> Choice:
        """The map: by its name, by an audit of this model, or by a small one."""
        if self.by is not None:
            choice = choose_by_name(self.by, self.subject, self.rankings)
            if audit is None:
                return choice
            # The audit still knows which classes no word decides.
            judged = choose_by_audit(audit, self.subject, self.rankings)
            return replace(choice, defaults=judged.defaults)
        if audit is not None:
            return choose_by_audit(audit, self.subject, self.rankings)
        say("No audit was given: a small one of its own decides by which map words are highlighted …")
        return choose_by_reading(self.subject, self.survey.sample, self.rankings, seed=self.seed)

    def about(self, choice: Choice) -> About:
        """How it was made."""
        return About(
            model=f"{self.name} on {self.texts.name}",
            by=choice.by,
            called=called(choice.by),
            why=choice.why,
            strength=self.way,
            unit=UNITS[self.way],
            reading=choice.reading,
            classes=tuple(self.subject.classes),
            defaults=choice.defaults,
            seed=self.seed,
            texts_kept=self.keep_texts,
            heedful=__version__,
            roles=self.texts.roles,
        )

    def pieces(self) -> Iterator[list[tuple[int, str]]]:
        """The texts with their numbers, a piece at a time."""
        left = enumerate(self.texts.walk())
        while piece := list(islice(left, self.piece)):
            yield piece

    def marked(
        self, piece: Sequence[tuple[int, str]], choice: Choice, advance: Callable[[int], None] | None = None
    ) -> list[Highlight]:
        """The highlights of a piece, in its order."""
        kept = {number: text if self.keep_texts else "" for number, text in piece}
        items = {number: no_words(number, kept[number]) for number, text in piece if not has_words(text)}
        readable = [(number, text) for number, text in piece if number not in items]
        maps = own_maps(self.subject, self.rankings)
        marking = Marking(self.subject, choice, self.way, maps, self.keep_texts, self.seed)
        texts = [text for _, text in readable]
        numbers = np.array([number for number, _ in readable], dtype=np.int64)
        budget = PLACES if self.closed else PLACES_AGAIN
        for part in plan_batches(lengths_of(texts), token_budget=budget) if texts else ():
            batch = replace(self.subject.encode([texts[row] for row in part]), rows=numbers[part])
            items |= {item.number: item for item in marking.highlights(batch)}
            if advance is not None:
                advance(len(part))
        if advance is not None:
            advance(len(piece) - len(texts))
        return [items[number] for number, _ in piece]

    def fill(self, stage: Stage, choice: Choice, advance: Callable[[int], None] | None) -> list[str]:
        """Make the pieces that are missing, and name them all."""
        import pandas

        keys = [f"{place:07d}" for place in range(-(-self.survey.count // self.piece))]
        missing = set(stage.missing(keys))
        for key, piece in zip(keys, self.pieces(), strict=True):
            if key in missing:
                items = self.marked(piece, choice, advance)
                rows = [{"item": json.dumps(flat(item))} for item in items]
                stage.keep(key, pandas.DataFrame(rows))
            elif advance is not None:
                advance(len(piece))
        return keys

    def shown(self, progress: Progress | None) -> AbstractContextManager[Callable[[int], None] | None]:
        """Progress over the texts."""
        return nullcontext() if progress is None else progress("texts", self.survey.count)

    def _answers(self) -> str:
        """Of what it answers to a few texts, rounded: parts of a model may be hidden in functions."""
        with torch.no_grad():
            logits = self.subject.logits(self.subject.encode(list(self.survey.sample[:PROBE])))
        plain = np.round(logits.detach().cpu().double().numpy(), 3) + 0.0
        return hashlib.blake2b(plain.tobytes(), digest_size=4).hexdigest()


def prepare(
    subject: Subject,
    name: str,
    texts: Texts,
    *,
    by: str | None = None,
    strength: str | None = None,
    rankings: Mapping[str, Ranking] | None = None,
    keep_texts: bool = True,
    seed: int = 0,
) -> Job:
    """Check what was asked and look at the texts once, before any work."""
    check_seed(seed)
    if strength is None:
        strength = "deletions" if deletion_is_erasure(subject) else "leave-one-out"
    choose_from("way to measure strength", strength, WAYS)
    rankings = dict(rankings or {})
    if by is not None:
        choose_by_name(by, subject, rankings)
    found = survey(texts, SAMPLE, seed=seed)
    return Job(subject, name, texts, found, by, strength, rankings, keep_texts, seed)


def kept_items(stage: Stage, keys: Sequence[str]) -> Iterator[Highlight]:
    """The highlights of these pieces, one piece in memory at a time."""
    for key in keys:
        for row in stage.rows([key])["item"]:
            yield unflat(parse_json(row))


def _count(items: Iterator[Highlight]) -> tuple[int, int, int]:
    marked = nobody = flips = 0
    for item in items:
        marked += bool(item.marks)
        nobody += bool(item.decision and not item.marks)
        flips += item.flip is not None
    return marked, nobody, flips
