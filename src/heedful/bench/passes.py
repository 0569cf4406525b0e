"""How many plain passes a whole audit of a transformer takes, stage by stage: counted, so no clock matters.

A plain pass reads every audited text once. What is counted are the products in the network's linear maps: a
last layer that is run by itself counts as the part of a pass that it is. The backward pass of a gradient,
which costs about as much again, is counted beside; and so are the seconds that the audit announced, and took.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import nn

from heedful.auditing.forecast import ANNOUNCED
from heedful.auditing.whole import audit
from heedful.bench.found import Found, Table, numbers_of
from heedful.bench.minilm import learnt_minilm
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.models.transformers.subject import TransformerSubject
from heedful.training.devices import find_device
from heedful.training.opening import open_of_hub
from heedful.trials.stream import sample_rows

REST = "deciding, browsing and the forecast"  # what is not read by a stream of texts


@dataclass
class Products:
    """Products in linear maps, by stage; with a backward pass, counted once more in `back`."""

    stage: str = REST
    forth: dict[str, int] = field(default_factory=dict)
    back: dict[str, int] = field(default_factory=dict)

    def add(self, products: int, *, gradient: bool) -> None:
        self.forth[self.stage] = self.forth.get(self.stage, 0) + products
        if gradient:
            self.back[self.stage] = self.back.get(self.stage, 0) + products

    @contextmanager
    def during(self, what: str, total: int) -> Iterator[Any]:
        """A stage, as an audit's progress is told of it."""
        before, self.stage = self.stage, what.removesuffix(", texts")
        try:
            yield lambda steps: None
        finally:
            self.stage = before


@dataclass(frozen=True)
class AuditPasses:
    """A whole audit in plain passes over its texts, by stage."""

    texts: int
    reading: str
    changed_texts: int  # that the reading rests on
    forth: dict[str, float]
    back: dict[str, float]
    announced: float  # seconds, at most, before it began
    seconds: float  # that it took

    @property
    def total(self) -> float:
        return sum(self.forth.values())


@contextmanager
def counted(network: nn.Module) -> Iterator[Products]:
    """Counts the products of a network's linear maps while this lasts."""
    found = Products()
    hooks = []
    for part in network.modules():
        weight = getattr(part, "weight", None)
        if weight is None or weight.dim() != 2 or isinstance(part, nn.Embedding):
            continue

        def count(module: nn.Module, args: tuple[Any, ...], output: Any, size: int = weight.numel()) -> None:
            places = args[0].numel() // args[0].shape[-1]
            found.add(places * size, gradient=output.requires_grad)

        hooks.append(part.register_forward_hook(count))
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def audit_passes(subject: TransformerSubject, corpus: Corpus, *, texts: int, seed: int = 0) -> AuditPasses:
    """Audit a subject on so many test texts, page included, and count."""
    every = corpus.split("test").texts
    chosen = [every[row] for row in sample_rows(len(every), texts, seed=seed)]
    with counted(subject.network) as plain, torch.no_grad():
        for group in subject.groups(subject.encode(chosen)):
            subject.runner.logits(group.inputs)
    one = sum(plain.forth.values())
    begun = time.perf_counter()
    with TemporaryDirectory() as folder, counted(subject.network) as found:
        done = audit(
            subject, corpus, out=Path(folder) / "audit", limit=texts, seed=seed, progress=found.during
        )
    seconds = time.perf_counter() - begun
    return AuditPasses(
        len(chosen),
        str(done.reading),
        int(done.content["methods"]["changed_texts_read"]),
        {stage: count / one for stage, count in found.forth.items()},
        {stage: count / one for stage, count in found.back.items()},
        announced=done.content["seconds"][ANNOUNCED],
        seconds=seconds,
    )


def passes(
    model: str | None, source: str, *, texts: int, seed: int, data_dir: Path | None, device: str
) -> Found:
    """An audit of a transformer, by default of MiniLM with a head that learnt the corpus, in plain passes."""
    where = find_device(device)
    corpus = load_data(source, data_dir=data_dir)
    if model is None:
        subject = learnt_minilm(corpus, seed=seed, device=where)
    else:
        subject = open_of_hub(model, device=device)
    found = audit_passes(subject, corpus, texts=texts, seed=seed)
    table = Table(
        f"An audit of {found.texts} texts in plain passes",
        ["stage", "passes", "backward"],
        [
            [stage, f"{count:.1f}", f"{found.back.get(stage, 0):.1f}"]
            for stage, count in sorted(found.forth.items(), key=lambda item: -item[1])
        ],
    )
    told = (
        f"{found.total:.0f} plain passes in all, and {sum(found.back.values()):.0f} backward passes; "
        f"the reading is “{found.reading}”, from {found.changed_texts:,} changed texts. It announced "
        f"{found.announced:.0f} s at most and took {found.seconds:.0f} s."
    )
    return Found(numbers_of(found, "total"), (table, told))
