"""Who is audited: a run, somebody's Hugging Face classifier or any `Subject`; and on which texts."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.auditing.reading import decide_all
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.data.label_matching import match_labels
from heedful.data.label_rules import above, rule_for
from heedful.data.tables import open_table
from heedful.data.tables.held import open_held
from heedful.errors import UserError, listed
from heedful.models.building import Classifier
from heedful.models.subject import Subject
from heedful.models.transformers.loading import check_decision, labels_at_once
from heedful.training.opening import HUB, Asked, Kind, is_of_hub, open_any
from heedful.training.run import Run
from heedful.training.texts_of_run import corpus_of
from heedful.trials.erasure.rereading import deletion_is_erasure
from heedful.trials.rankings.named import brought_by
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.stream import texts_for

PROBE = 4  # texts by whose answers a module is known


@dataclass(frozen=True)
class Audited:
    """A subject, its texts, and what is known about both."""

    subject: Subject
    corpus: Corpus  # its labels are the subject's classes
    kind: Kind
    name: str  # of the model, for people
    called: str  # how the command line names it
    run: Run | None = None
    rankings: Mapping[str, Ranking] = field(default_factory=dict)  # that only this kind of subject has
    notes: tuple[str, ...] = ()

    @property
    def closed(self) -> bool:
        """Whether deleting words has a closed form, so that every text can be audited."""
        return deletion_is_erasure(self.subject)

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
        return texts_for(self.subject, part)


def open_subject(
    subject: Any,
    data: Corpus | None = None,
    *,
    tokenizer: Any = None,
    classes: Sequence[str] | None = None,
    device: str = "cpu",
    label_map: Mapping[str, str] | None = None,
    asked: Asked | None = None,
    **where: Any,
) -> Audited:
    """What to audit, from a model as `open_any` takes it; a run has its own data.

    `label_map` says which label of the data is which class, `asked` how a transformer is to decide, and
    `where` is handed to the loader of a run's corpus (data_dir).
    """
    if is_of_hub(subject) and data is None:
        raise UserError(
            "Auditing a Hugging Face classifier needs labelled texts: name a file or corpus with --data."
        )
    opened = open_any(
        subject,
        tokenizer=tokenizer,
        classes=classes,
        labels=None if data is None else data.label_names,
        device=device,
        asked=asked,
    )
    if data is None:
        if opened.run is None:
            raise UserError("Auditing somebody's model needs labelled texts: give them as data.")
        data = corpus_of(opened.run, **where)
    corpus, notes = matched(data, opened.subject, label_map)
    return Audited(
        opened.subject,
        corpus,
        opened.kind,
        opened.name,
        opened.called,
        opened.run,
        brought_by(opened.subject),
        (*notes, *opened.notes),
    )


def label_reading(
    subject: Any, data: Any, columns: Mapping[str, Any] | None, asked: Asked | None
) -> dict[str, Any]:
    """How labels are read where a transformer decides about one of several labels, or at a threshold.

    What it does not decide is refused here, before any data are read.
    """
    if not is_of_hub(subject) or data is None:
        return {}
    asked, name = asked or Asked(), str(subject).removeprefix(HUB)
    if asked.template is None:
        check_decision(name, label=asked.label, threshold=asked.threshold)
    if isinstance(data, Corpus):
        return {}
    if asked.threshold is not None:
        return {"rule": above(asked.threshold)}
    if asked.label is None:
        return {}
    every = labels_at_once(name)
    if isinstance(data, str | Path):
        table = open_table(Path(data)) if Path(data).is_file() else None
    else:
        table = open_held(data)
    rule, column = rule_for(table, every, asked.label, column=(columns or {}).get("label"))
    return {"rule": rule} if column is None else {"rule": rule, "label": column}


def matched(
    corpus: Corpus, subject: Subject, label_map: Mapping[str, str] | None = None
) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus with its labels numbered as the subject numbers its classes, and what had to be assumed."""

    def decide(texts: Sequence[str]) -> NDArray[np.int64]:
        return decide_all(subject, list(texts))

    return match_labels(corpus, subject.classes, label_map=label_map, decide=decide)


def _behaviour(subject: Subject, texts: Sequence[str]) -> str:
    """Eight hexadecimal digits of its logits for these texts, rounded: threads move the last."""
    digest = hashlib.blake2b(digest_size=4)
    with torch.no_grad():
        found = subject.logits(subject.encode(list(texts)))
    digest.update(np.round(found.detach().cpu().double().numpy(), 3).astype(np.float32).tobytes())
    return digest.hexdigest()


def digest_of(subject: Subject | Classifier) -> str:
    """Sixteen hexadecimal digits of all parameters; of a subject without any, of its type's name.

    One that is asked in a way of its own (a prompt and its labels, one of several labels, a threshold) has
    another digest for each.
    """
    digest = hashlib.blake2b(type(subject).__name__.encode(), digest_size=8)
    digest.update(getattr(subject, "asked", "").encode())
    state: dict[str, Any] = getattr(subject, "state_dict", dict)()
    for name, value in state.items():
        digest.update(name.encode())
        if isinstance(value, torch.Tensor):
            plain = value.detach().cpu().contiguous()
            digest.update(plain.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
