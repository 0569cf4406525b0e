"""Who is audited: a run, somebody's Hugging Face classifier or any `Subject`; and on which texts."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError, listed
from heedful.models.building import Classifier
from heedful.models.subject import Subject
from heedful.training.opening import is_of_hub, open_of_hub
from heedful.training.reopening import corpus_of, encode_for
from heedful.training.run import Run, load_run
from heedful.trials.named_rankings import brought_by
from heedful.trials.rereading import deletion_is_erasure
from heedful.trials.word_rankings import OwnRanking

Kind = Literal["run", "huggingface", "module"]
PROBE = 4  # texts by whose answers a module is known
# Texts an audit takes unless said, where each must be read again many times; closed forms take all.
READ_AGAIN: Mapping[Kind, int] = {"run": 1000, "huggingface": 300, "module": 300}
PLACES: Mapping[Kind, int] = {"run": 16_384, "huggingface": 2048, "module": 4096}


@dataclass(frozen=True)
class Audited:
    """A subject, its texts, and what is known about both."""

    subject: Subject
    corpus: Corpus  # its labels are the subject's classes
    kind: Kind
    name: str  # of the model, for people
    called: str  # how the command line names it
    run: Run | None = None
    rankings: Mapping[str, OwnRanking] = field(default_factory=dict)  # that only this kind of subject has
    notes: tuple[str, ...] = ()

    @property
    def closed(self) -> bool:
        """Whether deleting words has a closed form, so that every text can be audited."""
        return deletion_is_erasure(self.subject)

    @property
    def exact_adversary(self) -> bool:
        """Whether the farthest other weights have a closed form too: for two classes."""
        return self.closed and len(self.subject.classes) <= 2

    @property
    def can_train(self) -> bool:
        """Whether it is a run whose training texts are here, so that it can be trained again."""
        return self.run is not None and len(self.corpus.split("train")) > 0

    @cached_property
    def digest(self) -> str:
        """Of its parameters: records of another model are never taken for those of this one.

        Parts of somebody's module may be hidden in functions, so what it answers to a few texts counts too.
        """
        if self.kind != "module":
            return digest_of(self.subject)
        return f"{digest_of(self.subject)}-{_behaviour(self.subject, self.corpus.texts[:PROBE])}"

    @property
    def device(self) -> str:
        """Where the subject's parameters are."""
        parameters: Iterator[torch.Tensor] = getattr(self.subject, "parameters", lambda: iter(()))()
        return str(next((parameter.device for parameter in parameters), "cpu"))

    def texts(self, split: str) -> "EncodedTexts | list[str]":
        """The texts of a split as `stream` takes them."""
        part = self.corpus.split(split)
        if not len(part):
            have = [name for name in ("train", "dev", "test") if len(self.corpus.split(name))]
            raise UserError(f"{self.corpus.name} has no {split} split to audit: it has {listed(have)}.")
        return encode_for(self.run.model, part) if self.run is not None else list(part.texts)


def open_subject(
    subject: "Run | Subject | str | Path", data: Corpus | None = None, *, device: str = "cpu", **where: Any
) -> Audited:
    """What to audit, from a run or its folder, hf:PATH_OR_NAME, or a subject; `data` is the run's own unless
    said.

    `where` is handed to the loader of a run's corpus (data_dir).
    """
    called = str(subject)
    if is_of_hub(subject):
        return _of_hub(called, data, device=device)
    if isinstance(subject, str | Path):
        subject = load_run(subject, device=device)
    if isinstance(subject, Run):
        return _of_run(subject, data, called, **where)
    if data is None:
        raise UserError("Auditing somebody's model needs labelled texts: give them as data.")
    corpus, notes = with_classes(data, subject.classes)
    name = type(subject).__name__
    return Audited(subject, corpus, "module", name, "MODEL", rankings=brought_by(subject), notes=notes)


def _of_run(run: Run, data: Corpus | None, called: str, **where: Any) -> Audited:
    corpus = corpus_of(run, **where) if data is None else data
    corpus, notes = with_classes(corpus, run.model.classes)
    called = str(run.folder) if run.folder is not None else "RUN"
    preset = str(run.recipe.corpus.get("preset", "")) or "model"
    return Audited(run.model, corpus, "run", preset, called, run=run, notes=notes)


def _of_hub(name: str, data: Corpus | None, *, device: str) -> Audited:
    if data is None:
        raise UserError(
            "Auditing a Hugging Face classifier needs labelled texts: name a file or corpus with --data."
        )
    subject = open_of_hub(name, device=device)
    corpus, notes = with_classes(data, subject.classes)
    return Audited(
        subject,
        corpus,
        "huggingface",
        Path(subject.name).name,
        name,
        rankings=brought_by(subject),
        notes=(*notes, *subject.notes),
    )


def with_classes(corpus: Corpus, classes: tuple[str, ...]) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus with its labels numbered as the model numbers its classes, and what had to be assumed.

    Names are compared without upper and lower case. Names that say nothing (LABEL_0, 0, 1) are taken in their
    order, which is said.
    """
    if corpus.label_names == tuple(classes):
        return corpus, ()
    place = {name.lower(): number for number, name in enumerate(classes)}
    notes: tuple[str, ...] = ()
    if all(label.lower() in place for label in corpus.label_names):
        order = [place[label.lower()] for label in corpus.label_names]
    elif len(corpus.label_names) == len(classes) and all(_says_nothing(name) for name in classes):
        order = list(range(len(classes)))
        pairs = ", ".join(f"{one} = {two}" for one, two in zip(classes, corpus.label_names, strict=True))
        notes = (f"The model's classes have no names: taken in their order, {pairs}.",)
    else:
        raise UserError(
            f"The model knows the classes {listed(classes)}, but the labels of {corpus.name} are "
            f"{listed(corpus.label_names)}: rename the labels to the model's."
        )
    names = corpus.label_names if notes else tuple(classes)
    labels = np.array(order, dtype=np.int64)[corpus.labels]
    return replace(corpus, labels=labels, label_names=names), notes


def _says_nothing(name: str) -> bool:
    return name.lower().removeprefix("label").strip("_ ").isdigit()


def _behaviour(subject: Subject, texts: Sequence[str]) -> str:
    """Eight hexadecimal digits of its weights and logits for these texts, rounded: threads move the last."""
    digest = hashlib.blake2b(digest_size=4)
    trace = subject.trace(subject.encode(list(texts)))
    for found in (trace.weights, trace.logits()):
        digest.update(np.round(found.detach().cpu().double().numpy(), 3).astype(np.float32).tobytes())
    return digest.hexdigest()


def digest_of(subject: Subject | Classifier) -> str:
    """Sixteen hexadecimal digits of all parameters; of a subject without any, of its type's name."""
    digest = hashlib.blake2b(type(subject).__name__.encode(), digest_size=8)
    state: dict[str, Any] = getattr(subject, "state_dict", dict)()
    for name, value in state.items():
        digest.update(name.encode())
        if isinstance(value, torch.Tensor):
            plain = value.detach().cpu().contiguous()
            digest.update(plain.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
