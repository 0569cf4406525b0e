"""What a subject says of texts without some of their words: read again in full, or in closed form.

Where a word's value carries nothing of other words, and softmax or uniform weights are taken over all of them
at once, deleting words is the same as erasing them at the attention layer: the trace then answers in closed
form. Any other subject reads all variants again. Those of several texts go together, equal ones once, in
batches of like length under a budget of B × T places.

Logits have K ≥ 2 columns in double precision: one score s is read as (0, s).
Axes: P variants of each text, B texts, T words, K classes, Q variants of all texts together.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from heedful.data.batches import Batch, plan_batches
from heedful.errors import UserError, choose_from
from heedful.models.classifier import FlatClassifier
from heedful.models.level import score_of
from heedful.models.subject import Subject, gives, traceable
from heedful.models.trace import Trace, decisions, probabilities
from heedful.models.word_attention import word_attention
from heedful.trials.erasure.deletion import WAYS, take_out
from heedful.trials.erasure.erased import leave_one_out, logits_without
from heedful.trials.erasure.flips import flip_sizes
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.linear_votes import bias_of, chunks, in_numpy

PLACES = 4096  # B × T of one forward pass: enough to keep a processor busy, and to stay in its cache
MANY_PLACES = 65_536  # of what is handed to a subject that makes its own batches of equal lengths
MASKS = 2**26  # bytes of the variants' masks held at once
KEPT = 2**20  # words of variants whose votes are summed at once: 8 MB


class Reader:
    """Reads a batch of texts again, with words taken out by "delete" or "unknown".

    `closed` None takes the closed form where it is exact; False never does; True insists on it.
    """

    def __init__(
        self,
        subject: Subject,
        batch: Batch,
        *,
        how: str = "delete",
        closed: bool | None = None,
        places: int | None = None,
    ) -> None:
        if getattr(subject, "training", False):
            raise UserError("A model in training would be read with its dropout: call eval() first.")
        exact = choose_from("way to take out words", how, WAYS) == "delete" and deletion_is_erasure(subject)
        if closed and not exact:
            raise UserError(
                "Deleting words of this subject is not the same as erasing them at its attention layer, "
                "so there is no closed form: leave out closed=True."
            )
        at_once = MANY_PLACES if getattr(subject, "batches_itself", False) else PLACES
        self.subject, self.batch, self.how, self.places = subject, batch, how, places or at_once
        self.closed = exact if closed is None else closed
        self.known: dict[bytes, Tensor] = {}  # what was read ahead, by the text and what has left it

    @cached_property
    def trace(self) -> Trace:
        """The subject's trace of the whole texts."""
        return self.subject.trace(self.batch)

    @cached_property
    def attention(self) -> tuple[Tensor, Tensor]:
        """The attention (B,T) to each word, and which words are read (B,T)."""
        traced = gives(self.subject, "trace") and bool(traceable(self.subject, self.batch).all())
        final = self.trace if traced else None
        return word_attention(self.subject, self.batch, final=final)

    @cached_property
    def logits(self) -> Tensor:
        """The logits (B,K) of the whole texts."""
        with torch.no_grad():
            return two_sided(self.subject.logits(self.batch)).double()

    @cached_property
    def decided(self) -> Tensor:
        """The class (B,) that the subject decides for each whole text."""
        return decisions(self.logits)

    @cached_property
    def nothing(self) -> Tensor:
        """The logits (K,) of a text that has lost all its words: of the unknown word alone."""
        of = torch.zeros(1, dtype=torch.long, device=self.batch.mask.device)
        with torch.no_grad():
            emptied = take_out(self.batch, torch.ones_like(self.batch.mask[:1]), of=of)
            return two_sided(self.subject.logits(emptied))[0].double()

    def chance(self, logits: Tensor) -> Tensor:
        """The probability (...,B) that logits (...,B,K) give to the class decided for the whole text."""
        return chance_of_class(logits, self.decided)

    def lead(self, logits: Tensor) -> Tensor:
        """The log-odds (...,B) of the decided class: they rank as its probability, and do not saturate."""
        return log_odds(logits, self.decided.expand(logits.shape[:-1]))

    def without(self, gone: Tensor) -> Tensor:
        """The logits (P,B,K) of the texts without the words where `gone` (P,B,T) is true."""
        if tuple(gone.shape[1:]) != tuple(self.batch.mask.shape) or gone.dtype != torch.bool:
            raise UserError(
                f"Which words to take out needs bool (P, {len(self.batch)}, {self.batch.mask.shape[1]}), "
                f"but {gone.dtype} {tuple(gone.shape)} came."
            )
        gone = gone & self.batch.mask
        if not self.closed:
            of = torch.arange(len(self.batch), device=gone.device).expand(gone.shape[:2])
            logits: Tensor = self._read(of.flatten(), gone.flatten(0, 1)).unflatten(0, gone.shape[:2])
            return logits
        logits = _erased(self.trace, gone[..., : self.trace.present.shape[1]])
        empty = (gone | ~self.batch.mask).all(-1)
        return torch.where(empty[..., None], self.nothing, logits) if empty.any() else logits

    def variants(self, of: Tensor, gone: Tensor) -> Tensor:
        """The logits (B,M,K) of the texts at places `of` (B,), each without its words in `gone` (B,M,T)."""
        of, gone = of.to(self.batch.mask.device), gone.to(self.batch.mask.device)
        gone = gone & self.batch.mask[of][:, None]
        if not self.closed:
            each = of[:, None].expand(gone.shape[:2])
            logits: Tensor = self._read(each.flatten(), gone.flatten(0, 1)).unflatten(0, gone.shape[:2])
            return logits
        trace = self.trace.take(of)
        logits = _erased(trace, gone.transpose(0, 1)[..., : trace.present.shape[1]]).transpose(0, 1)
        empty = (gone | ~self.batch.mask[of][:, None]).all(-1)
        return torch.where(empty[..., None], self.nothing, logits)

    def each_out(self) -> Tensor:
        """The logits (B,T,K) without each single word; on padding those of the whole text."""
        mask = self.batch.mask
        found = self.logits[:, None].repeat(1, mask.shape[1], 1)
        if self.closed:
            count = self.trace.present.shape[1]
            found[:, :count] = leave_one_out(self.trace)
            return torch.where((mask.sum(1) == 1)[:, None, None] & mask[..., None], self.nothing, found)
        text, word = mask.nonzero(as_tuple=True)
        # Some texts at a time: every word is a variant, whose mask has T entries.
        for part in torch.arange(len(text), device=text.device).split(max(1, MASKS // mask.shape[1])):
            gone = torch.nn.functional.one_hot(word[part], mask.shape[1]).bool()
            found[text[part], word[part]] = self._read(text[part], gone)
        return found

    def first_flips(self, order: Tensor) -> Tensor:
        """The number (B,) of words gone when the decision first flips; −1 where it never does.

        `order` (B,T) names the words of each text, most important first. One word is always left.
        """
        counts = self.batch.mask.sum(1)
        if self.closed:
            sizes = flip_sizes(self.trace, order)
            return sizes.where(sizes < counts, -1)
        rank = rank_of(order)
        sizes = torch.full_like(counts, -1)
        waiting, gone, steps = (counts > 1).nonzero()[:, 0], 1, 4
        while len(waiting):
            steps *= 2
            numbers = torch.arange(gone, gone + steps, device=order.device)
            # Texts shorter than that are asked for their last prefix again, which is read only once.
            prefix = torch.minimum(numbers[:, None], counts[waiting] - 1)  # (P,W)
            variants = rank[waiting] < prefix[..., None]
            logits = self._read(waiting.repeat(steps), variants.flatten(0, 1)).unflatten(0, prefix.shape)
            hits = decisions(logits) != self.decided[waiting]
            found = hits.any(0)
            first = prefix.gather(0, hits.long().argmax(0, keepdim=True))[0]
            sizes[waiting[found]] = first[found]
            gone += steps
            waiting = waiting[~found & (counts[waiting] > gone)]
        return sizes

    @property
    def can_read_ahead(self) -> bool:
        """Whether questions are better read together: by a subject that puts equal lengths together."""
        count, width = self.batch.mask.shape
        itself = getattr(self.subject, "batches_itself", False)
        return itself and not self.closed and count * width**2 <= MASKS

    def read_ahead(self, variants: "Sequence[tuple[Tensor, Tensor]]") -> None:
        """Read what several questions will ask together: texts `of` (Q,) without their words `gone` (Q,T).

        For a batch whose rows are different texts. Readers of some of these texts may share what is known.
        """
        of, gone = (torch.cat(parts).to(self.batch.mask.device) for parts in zip(*variants, strict=True))
        gone = gone & self.batch.mask[of]
        self.known |= zip(self._keys(of, gone), self._read(of, gone), strict=True)

    def _keys(self, of: Tensor, gone: Tensor) -> list[bytes]:
        """Stands for each variant; padding adds nothing to it."""
        texts, packed = self.batch.rows[of.cpu().numpy()], np.packbits(gone.cpu().numpy(), axis=1)
        each = zip(texts.tolist(), packed, strict=True)
        return [b"%d " % text + bits.tobytes().rstrip(b"\0") for text, bits in each]

    @torch.no_grad()
    def _read(self, of: Tensor, gone: Tensor) -> Tensor:
        """The logits (Q,K) of the texts `of` (Q,) without the words where `gone` (Q,T) is true."""
        of, gone, back = _once(of, gone)
        known = [self.known.get(key) for key in self._keys(of, gone)] if self.known else [None]
        if all(one is not None for one in known):
            return torch.stack(known)[back]  # type: ignore[arg-type]
        left = (self.batch.mask[of] & ~gone).sum(1)
        lengths = left if self.how == "delete" else self.batch.mask[of].sum(1)
        rows = plan_batches(lengths.clamp(min=1).cpu().numpy(), token_budget=self.places)
        parts = [torch.from_numpy(part).to(of.device) for part in rows]
        found = [
            two_sided(self.subject.logits(take_out(self.batch, gone[part], how=self.how, of=of[part])))
            for part in parts
        ]
        return torch.cat(found).double()[torch.cat(parts).argsort()[back]]


def _erased(trace: Trace, gone: Tensor) -> Tensor:
    """The logits (P,B,K) of a linear head without the items where `gone` (P,B,N) is true.

    As `logits_without`, for very many variants: the sums over what is left are one product an instance.
    """
    if trace.linear is None:
        return logits_without(trace, gone)
    there = ~in_numpy(gone).transpose(1, 0, 2)  # (B,P,N)
    found = np.empty((len(gone), len(trace), len(bias_of(trace))))
    for rows, votes in chunks(trace):
        cast = np.concatenate([votes.votes, votes.mass[..., None]], axis=2)  # (B,N,K+1)
        size = max(1, KEPT // cast[..., 0].size)
        for first in range(0, len(gone), size):
            left = there[rows, first : first + size].astype(np.float64) @ cast
            left[..., :-1] += votes.kept_votes[:, None]
            left[..., -1] += votes.kept_mass[:, None]
            found[first : first + size, rows] = votes.logits(left[..., :-1], left[..., -1]).transpose(1, 0, 2)
    return torch.from_numpy(found).to(trace.weights.device)


def deletion_is_erasure(subject: Subject) -> bool:
    """Whether deleting words is the same as erasing them at the attention layer and renormalising.

    Not so where words see each other, where weights depend on places, and for sparse weights, which the words
    that are left share out anew.
    """
    if not isinstance(subject, FlatClassifier) or subject.mixes_tokens:
        return False
    settings = subject.settings
    if settings.control != "none":
        return settings.control == "uniform"
    company = getattr(score_of(subject.words.attention), "mixes_tokens", False)  # of a user's own score
    return settings.normaliser == "softmax" and settings.attention != "location" and not company


def rank_of(order: Tensor) -> Tensor:
    """The place (B,T) that each word has in an order (B,T): 0 is the most important."""
    places = torch.arange(order.shape[1], device=order.device).expand_as(order)
    return torch.empty_like(order).scatter_(1, order, places)


def chance_of_class(logits: Tensor, classes: Tensor) -> Tensor:
    """The probability (...) of these classes, broadcast to (...), from logits (...,K) or scores (...,1)."""
    shares = probabilities(logits)
    return shares.gather(-1, classes.expand(shares.shape[:-1])[..., None])[..., 0]


def log_odds(logits: Tensor, classes: Tensor) -> Tensor:
    """log p / (1 − p) (...) of these classes (...), from logits (...,K), K ≥ 2."""
    own = torch.nn.functional.one_hot(classes, logits.shape[-1]).bool()
    rest = logits.masked_fill(own, -torch.inf).logsumexp(-1)
    return logits.gather(-1, classes[..., None])[..., 0] - rest


def _once(of: Tensor, gone: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The different ones among variants, and where each of the given finds its own."""
    packed = np.packbits(gone.cpu().numpy(), axis=1)
    keys = np.concatenate([of.cpu().numpy()[:, None].view(np.uint8).reshape(len(of), -1), packed], axis=1)
    rows = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.shape[1])))[:, 0]
    _, first, back = np.unique(rows, return_index=True, return_inverse=True)
    kept = torch.from_numpy(first).to(of.device)
    return of[kept], gone[kept], torch.from_numpy(back).to(of.device)
