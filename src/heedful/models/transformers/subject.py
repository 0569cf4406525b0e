"""`TransformerSubject`: a text classifier of any family of transformers, with its tokenizer, as a `Subject`.

Words are deleted from the written text, which is tokenised again, so every variant is read as the model's own
pipeline would read it. Words beyond the model's length are unread. Attention to words is that of the deciding
position in the last attention, the mean of its heads; of all positions where all decide. The trace is exact:
see `last_layer`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import torch
from torch import Tensor, nn

from heedful.data.batches import Batch
from heedful.data.pairs import PAIR
from heedful.errors import UserError
from heedful.models.trace import Trace
from heedful.models.transformers.last_layer import LastLayer, find_last_layer
from heedful.models.transformers.memory import MOST, bytes_of, fits, within
from heedful.models.transformers.network import Runner
from heedful.models.transformers.pieces import TOKENS, Cut, Cutter, Group, groups
from heedful.models.transformers.probing import LOOK, Entry, find_entry, same_logits, shown_attentions
from heedful.models.transformers.products import by_onednn, gains
from heedful.models.transformers.remembered import Remembered
from heedful.models.transformers.tapping import Call, kernel_of
from heedful.models.transformers.tasks import Decide, check_task
from heedful.models.transformers.traced import trace_of
from heedful.models.written import batch_of_words

PROBES = (
    "A plain text.",
    "It was, in the end, a long film about two brothers.",
    "Nobody there had heard of it before!",
)
OMITTED = "…"  # is written for the unknown word where a tokenizer has no sign for it


class TransformerSubject(nn.Module):
    """A classifier with its tokenizer, read word by word; it is switched to evaluation.

    `way` says how its attention is seen, `position` which position decides, and `cannot` what it does not
    give, and why.
    """

    mixes_tokens = True
    memory = MOST  # bytes that the weights of one text's attention may take
    batches_itself = True  # any number of texts may be handed to `logits` at once

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        *,
        classes: Sequence[str] | None = None,
        decide: Decide | None = None,
        template: Sequence[str] = (),
        special: bool = True,
        name: str = "classifier",
        tokens: int = TOKENS,
    ) -> None:
        """`classes` and what the head decides are by default those of the configuration, as `check_task` has
        them; `template` is what stands around a text (see `prompted`), `special` whether the tokenizer puts
        its marks around that; `tokens` are read in one pass.
        """
        super().__init__()
        network = getattr(
            network, "_orig_mod", network
        )  # of torch.compile, whose wrapper hides what it takes
        self.network, self.tokenizer, self.name, self.tokens = network, tokenizer, name, tokens
        self.eval()
        if classes is None:
            decide, classes = check_task(network.config, name)
        self.runner, self.classes = Runner(network, decide), tuple(classes)
        self.longest = longest(network, tokenizer)
        self.cutter = Cutter(
            tokenizer,
            longest=self.longest,
            accepts=self.runner.accepts,
            unknown=_unknown(tokenizer),
            template=template,
            special=special,
        )
        # What makes another classifier of the same parameters; most are asked nothing.
        self.asked = _asked(self.cutter, self.classes) if template or decide is not None else ""
        self.cannot: dict[str, str] = {}
        self.entry: Entry | None = None
        self.last: LastLayer | None = None
        self.remembered: Remembered | None = None
        self._probe()
        self.notes: tuple[str, ...] = (self._note(),)

    def asked_for(self, decide: Decide, classes: Sequence[str]) -> "TransformerSubject":
        """The same network, asked for another decision about the same texts.

        It is not tried anew, and both remember together what the network gave.
        """
        other = copy(self)
        other.runner = self.runner.deciding(decide)
        other.last = None if self.last is None else self.last.by(other.runner)
        other.classes, other.asked = tuple(classes), _asked(self.cutter, classes)
        return other

    @property
    def device(self) -> torch.device:
        return self.runner.device

    @property
    def way(self) -> str:
        """How attention is seen: the attention interface, the caught softmax, output_attentions, or not."""
        if self.entry is not None:
            return self.entry.way.name
        return LOOK if "attention" not in self.cannot else "logits only"

    @property
    def position(self) -> str:
        """Which position of the last attention decides: first, last, all or other; unknown if not seen."""
        return self.entry.position if self.entry is not None else "unknown"

    def encode(self, texts: Sequence[str]) -> Batch:
        """The words of these texts as a batch (B,T)."""
        return batch_of_words(texts, self.device)

    def words_read(self, batch: Batch) -> Tensor:
        """Which words (B,T) have a piece within the model's length."""
        found = torch.zeros_like(batch.mask)
        for group in self.groups(batch):
            found[group.rows] = group.belongs(batch.mask.shape[1]).sum(-1) > 0
        return found

    def embed(self, batch: Batch) -> Tensor:
        """The mean input embedding (B,T,E) of each word's pieces, 0 for unread words."""
        self._refuse("embed")
        return _in_order(
            (group.rows, _mean(group.belongs(batch.mask.shape[1]), self.runner.vectors(group.inputs)))
            for group in self.groups(batch)
        )

    def logits(self, batch: Batch, embedded: Tensor | None = None) -> Tensor:
        """The logits (B,K); a changed embedding (B,T,E) moves all pieces of its word alike."""
        if embedded is not None:
            return _in_order(
                (group.rows, self._logits_of(group, embedded[group.rows])) for group in self.groups(batch)
            )
        kept, cuts, decide = self._kept, self.cut(batch), self.runner.decide
        found = self._read(cuts) if kept is None else kept.logits(cuts, self._read)
        return found if decide is None else decide(found)

    @property
    def _plainly(self) -> bool:
        """Whether nobody wants a gradient, and no dropout makes every reading another."""
        return not torch.is_grad_enabled() and not self._drops

    @property
    def _drops(self) -> bool:
        return any(part.training for part in self.network.modules())

    @property
    def _kept(self) -> Remembered | None:
        return self.remembered if self._plainly else None

    def _read(self, cuts: Sequence[Cut]) -> Tensor:
        """What the head gives (B,·) for texts in pieces, before anything is decided by it."""
        parts = list(groups(cuts, device=self.device, tokens=self.tokens))
        texts = [group.inputs for group in parts]
        found = self._through(self.runner.deciding(None), texts, early=not torch.is_grad_enabled())
        return _in_order([(torch.cat([group.rows for group in parts]), found)])

    def _through(self, runner: Runner, texts: Sequence[Mapping[str, Tensor]], *, early: bool) -> Tensor:
        """The logits (N,·) of groups of texts; `early` passes end at the deciding row, where they can."""
        if early and self.last is not None and self.last.gives_logits and not self._drops:
            return self.last.by(runner).logits(texts)
        return torch.cat([runner.logits(inputs) for inputs in texts])

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """While this lasts the same pieces are read once; its parameters must not be changed meanwhile."""
        before, self.remembered = self.remembered, self.remembered or Remembered()
        try:
            yield
        finally:
            self.remembered = before

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        """While this lasts what was read before is not known, so reading takes the time that it takes."""
        before = self.remembered
        self.remembered = Remembered() if before is not None and before.known else before
        try:
            yield
        finally:
            self.remembered = before

    def _logits_of(self, group: Group, embedded: Tensor) -> Tensor:
        self._refuse("embed")
        vectors = self.runner.vectors(group.inputs)
        belongs = group.belongs(embedded.shape[1])
        moved = belongs.transpose(1, 2) @ (embedded - _mean(belongs, vectors))
        with self.runner.embedding(group.inputs, vectors + moved):
            return self._through(self.runner, [group.inputs], early=True)

    @torch.no_grad()
    def trace(self, batch: Batch, level: str = "final") -> Trace:
        """The last attention from the deciding position: R heads over pieces; the items are words.

        Another `level` is any layer, or a head of it: layer-2, layer-2-head-5.
        """
        if level != "final":
            from heedful.models.transformers.any_layer import layer_trace

            return layer_trace(self, batch, level)
        self._refuse("trace")
        self.refuse_too_long(batch)
        assert self.last is not None
        return trace_of(self.last, list(self.groups(batch)), len(batch), kept=self._kept)

    @torch.no_grad()
    def word_attention(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The attention (B,T) to words at the deciding position, mean of the heads; and which are read.

        That of texts too long to be looked at is unknown.
        """
        self._refuse("attention")
        found = torch.full(batch.mask.shape, torch.nan, device=batch.mask.device)
        for group in within(self, batch, layers=self.looked_at):
            belongs = group.belongs(batch.mask.shape[1])
            found[group.rows] = (belongs @ self._pieces_attention(group)[..., None])[..., 0]
        return found.masked_fill(~batch.mask, 0), self.words_read(batch)

    @property
    def looked_at(self) -> int:
        """How many layers' weights are held to see the last one's."""
        return 1 if self.entry is not None else int(getattr(self.network.config, "num_hidden_layers", 1))

    def fits(self, batch: Batch, *, every: bool = False) -> Tensor:
        """The texts (B,) that are not too long to look at their attention, or that of every layer."""
        return fits(self, batch, layers=self._held(every))

    def refuse_too_long(self, batch: Batch, *, every: bool = False) -> None:
        """Refuse texts whose attention would take more than the memory that it may."""
        if not self.fits(batch, every=every).all():
            pieces = max(len(cut) for cut in self.cut(batch))
            size = bytes_of(self, pieces, layers=self._held(every))
            raise UserError(
                f"To look at the attention of a text of {pieces:,} pieces takes {size / 1e9:.1f} GB, and "
                f"{self.memory / 1e9:.1f} may be taken: cut such texts, or set the memory of the subject."
            )

    def _held(self, every: bool) -> int:
        """How many layers' weights are held at once."""
        return self.entry.calls if every and self.entry is not None else self.looked_at

    def groups(self, batch: Batch) -> "Sequence[Group]":
        """The batch's texts in pieces, those of equal length together."""
        return list(groups(self.cut(batch), device=batch.mask.device, tokens=self.tokens))

    def cut(self, batch: Batch) -> list[Cut]:
        """The pieces of each text of a batch."""
        if self.training:
            raise UserError("A model in training would be read with its dropout: call eval() first.")
        if batch.words is None:
            raise UserError("A transformer reads words, but this batch has only ids: encode the texts.")
        return self.cutter(batch.words)

    def forget_trace(self, reason: str) -> None:
        """Give no trace, for a reason that the probes cannot see."""
        self.last = None
        self.cannot["trace"] = reason

    def deciding(self, weights: Tensor) -> Tensor:
        """The row (...,L) of weights (...,L,L) from the deciding position, or the mean of all rows."""
        if self.position == "first":
            return weights[..., 0, :]
        return weights[..., -1, :] if self.position == "last" else weights.mean(-2)

    def _pieces_attention(self, group: Group) -> Tensor:
        """The head mean (G,L) of the last attention at the deciding position."""
        if self.entry is None:
            return self.deciding(shown_attentions(self.runner, group.inputs)[-1].mean(1))
        last, kept = self.entry.calls - 1, []

        def look(call: Call) -> None:
            if call.number == last:
                kept.append(self.deciding(call.weights.mean(1)))

        with self.entry.way.tapped(self.network, look):
            self.runner(group.inputs)
        return kept[0]

    def _refuse(self, what: str) -> None:
        if what in self.cannot:
            raise UserError(f"The classifier {self.name!r} gives no {what}: {self.cannot[what]}.")

    def _probe(self) -> None:
        """Find out how this network can be read, on a few texts; nothing is taken on trust."""
        texts = list(PROBES)
        if len(self.cutter.template) == 3:  # a template for pairs
            texts = [f"{text}{PAIR}{PROBES[0]}" for text in texts]
        cuts = self.cut(self.encode(texts))
        twice = {group.length: group for group in groups([*cuts, *cuts], device=self.device)}
        probes = [group.inputs for group in twice.values()]
        self._probe_reading(probes)
        self._choose_products(probes)
        self._choose_kernel(probes)
        self._probe_embedding(cuts)
        if not self.tokenizer.is_fast:
            slow = "its tokenizer does not say which characters a piece is made of"
            self.cannot |= {"attention": slow, "trace": slow, "embed": slow}
            return
        self.entry, reasons = find_entry(self.runner, probes)
        if self.entry is None:
            why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
            self.cannot["trace"] = f"no way into its attention is to be trusted ({why})"
            if not self._shows(probes):
                self.cannot["attention"] = self.cannot["trace"]
            return
        try:
            self.last = find_last_layer(self.runner, self.entry, probes)
        except LookupError as reason:
            self.cannot["trace"] = str(reason)

    @torch.no_grad()
    def _probe_reading(self, probes: Sequence[Mapping[str, Tensor]]) -> None:
        """Refuse a network that cannot read what its tokenizer gives, or does not answer in its classes."""
        for inputs in probes:
            try:
                found = self.runner(inputs).logits
            # Families refuse inputs with errors of every kind.
            except Exception as fault:  # noqa: BLE001
                reason = (str(fault).splitlines() or [type(fault).__name__])[0][:160]
                raise UserError(f"The classifier {self.name!r} cannot read its own texts: {reason}") from None
            shape = (len(inputs["input_ids"]), 1 if len(self.classes) == 2 else len(self.classes))
            if tuple(found.shape) not in (shape, (shape[0], len(self.classes))) or not found.isfinite().all():
                raise UserError(
                    f"The classifier {self.name!r} must give a number for each of {len(self.classes)} "
                    f"classes, but gives {tuple(found.shape)}, or what is no number."
                )

    @torch.no_grad()
    def _choose_products(self, probes: Sequence[Mapping[str, Tensor]]) -> None:
        """Take oneDNN's products where they are faster on this machine, if they give the same logits."""
        if not gains(self.network):
            return
        plain = [self.runner(inputs).logits for inputs in probes]
        with by_onednn():
            fast = [self.runner(inputs).logits for inputs in probes]
        self.runner.onednn = all(map(same_logits, fast, plain))

    @torch.no_grad()
    def _choose_kernel(self, probes: Sequence[Mapping[str, Tensor]]) -> None:
        """Take torch's fused attention where no weights are needed, if it gives the same logits."""
        own = getattr(self.network.config, "_attn_implementation", None)
        if own != "eager" or not getattr(self.network, "_supports_sdpa", False):
            return
        plain = [self.runner(inputs).logits for inputs in probes]
        with kernel_of(self.network, "sdpa"):
            fused = [self.runner(inputs).logits for inputs in probes]
        if all(map(same_logits, fused, plain)):
            self.runner.kernel = "sdpa"

    @torch.no_grad()
    def _probe_embedding(self, cuts: Sequence[Cut]) -> None:
        """Whether vectors instead of the input embeddings reach the logits."""
        for group in groups(cuts, device=self.device):
            try:
                vectors = self.runner.vectors(group.inputs)
                same = self.runner.logits_of(group.inputs, vectors)
                moved = self.runner.logits_of(group.inputs, vectors + vectors.roll(1, dims=1))
            except (RuntimeError, ValueError, TypeError, AttributeError, NotImplementedError) as fault:
                self.cannot["embed"] = f"its input embeddings cannot be replaced ({type(fault).__name__})"
                return
            plain = self.runner(group.inputs).logits
            if not same_logits(same, plain) or torch.equal(moved, plain):
                self.cannot["embed"] = "its input embeddings cannot be replaced"
                return

    @torch.no_grad()
    def _shows(self, probes: Sequence[Mapping[str, Tensor]]) -> bool:
        """Whether the network itself gives attention over the pieces, to look at only."""
        for inputs in probes:
            shown = shown_attentions(self.runner, inputs)
            length = inputs["input_ids"].shape[1]
            if not shown or shown[-1].shape[-2:] != (length, length):
                return False
        return True

    def _note(self) -> str:
        if "attention" in self.cannot:
            return f"Attention is not seen: {self.cannot['attention']}."
        rows = {"first": "the first position", "last": "the last position", "all": "all positions"}
        row = rows.get(self.position, "all positions, because it is not known which decide,")
        return f"Attention is that of {row} in the last layer, seen through the {self.way}."


def longest(network: Any, tokenizer: Any) -> int | None:
    """How many pieces of a text are read; None where there is no limit."""
    limits = [int(tokenizer.model_max_length)]
    for name in ("max_position_embeddings", "n_positions"):
        positions = getattr(network.config, name, None)
        if isinstance(positions, int) and positions > 0:
            limits.append(positions - _before_first(network))
            break
    shortest = min(limits)
    return shortest if shortest < 10**9 else None


def _before_first(network: nn.Module) -> int:
    """Positions that are not used: RoBERTa and its relatives count from after the padding's."""
    for name, part in network.named_modules():
        if isinstance(part, nn.Embedding) and "position" in name and part.padding_idx is not None:
            return part.padding_idx + 1
    return 0


def _asked(cutter: Cutter, classes: Sequence[str]) -> str:
    return repr((*cutter.template, cutter.special, *classes))


def _unknown(tokenizer: Any) -> str:
    """What is written for the unknown word: the tokenizer's sign, unless that also ends or pads a text."""
    sign = tokenizer.unk_token
    marks = (tokenizer.pad_token, tokenizer.eos_token, tokenizer.bos_token)
    return OMITTED if sign is None or sign in marks else str(sign)


def _in_order(parts: Iterable[tuple[Tensor, Tensor]]) -> Tensor:
    """What was found group by group, each with its rows, in the order of the batch."""
    rows, found = zip(*parts, strict=True)
    return torch.cat(found)[torch.cat(rows).argsort()]


def _mean(belongs: Tensor, vectors: Tensor) -> Tensor:
    """The mean (G,T,E) of each word's pieces' vectors (G,L,E), 0 for an unread word."""
    belongs = belongs.to(vectors.dtype)
    return belongs @ vectors / belongs.sum(-1, keepdim=True).clamp(min=1e-9)
