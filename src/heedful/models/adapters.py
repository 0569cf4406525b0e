"""Anybody's attention model as a `Subject`, from four of its parts.

    subject = ModuleSubject(
        classes=("negative", "positive"),
        words=my_word_ids,                       # word → id, with the ids of your own table
        embed=model.embedding,                   # ids (B,T) → vectors (B,T,E)
        attend=lambda vectors, mask: (weights, values),   # (B,T) and (B,T,H), or (B,R,T) and (B,R,T,H)
        head=model.classifier,                   # attended (B,H) or (B,R,H) → logits (B,K)
    )

Everything that an audit does follows from these: the decision is head(Σ weights · values).

Axes: B texts, T words, E embedding width, R rows of weights, H value width, K classes.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from heedful.data.batches import Batch, batch_of_texts
from heedful.data.vocabulary import PADDING_ID, SPECIAL, UNKNOWN_ID, Vocabulary
from heedful.data.words import WordRules
from heedful.errors import UserError, choose_from
from heedful.models.trace import Trace

Attend = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


class ModuleSubject(nn.Module):
    """A model given by its word ids, embedding, attention and head."""

    def __init__(
        self,
        *,
        classes: Sequence[str],
        words: Mapping[str, int],
        embed: nn.Module,
        attend: Attend,
        head: nn.Module,
        unknown: int | None = None,
        padding: int = 0,
        mixes_tokens: bool = True,
        rules: WordRules | None = None,
        max_length: int | None = None,
    ) -> None:
        """`unknown` is your id for words you do not have (left out: they are refused); `mixes_tokens` false
        says that a word's value depends on no other word; `rules` say what a word is; `max_length` how many
        are read. Parts that are modules are switched to evaluation.
        """
        super().__init__()
        self.classes, self.mixes_tokens = tuple(classes), mixes_tokens
        self.embedding, self.head = embed, head
        self.attention = attend
        self.rules, self.max_length = rules or WordRules(), max_length
        self.vocabulary = Vocabulary.build(words)
        own = [
            padding if word == SPECIAL[PADDING_ID] else words.get(word, unknown)
            for word in self.vocabulary.words
        ]
        self.refuses_unknown = unknown is None
        own[UNKNOWN_ID] = padding if unknown is None else unknown
        self.register_buffer("own_ids", torch.tensor(own, dtype=torch.long))
        self.eval()

    def encode(self, texts: Sequence[str]) -> Batch:
        """The words of these texts as a batch (B,T)."""
        batch = batch_of_texts(texts, self.vocabulary, self.rules, max_length=self.max_length)
        if self.refuses_unknown and (batch.ids == UNKNOWN_ID).any():
            row, place = (batch.ids == UNKNOWN_ID).nonzero()[0].tolist()
            assert batch.words is not None
            raise UserError(
                f"Text {row} has the word {batch.words[row].forms[place]!r}, which this model has no id "
                "for: give "
                "unknown= an id for such words."
            )
        return batch.to(self.own_ids.device)  # type: ignore[arg-type]  # a buffer is a tensor

    def embed(self, batch: Batch) -> Tensor:
        """The words' vectors (B,T,E)."""
        vectors: Tensor = self.embedding(self.own_ids[batch.ids])  # type: ignore[index]  # a tensor
        return vectors

    def logits(self, batch: Batch, embedded: Tensor | None = None) -> Tensor:
        """The logits (B,K) of the words, or of `embedded` (B,T,E) in their place."""
        weights, values = self.attention(self.embed(batch) if embedded is None else embedded, batch.mask)
        attended = (weights[..., None, :] @ values)[..., 0, :]
        logits: Tensor = self.head(attended)
        return logits

    @torch.no_grad()
    def trace(self, batch: Batch, level: str = "final") -> Trace:
        """What its attention saw and gave; a word is an item in all rows."""
        choose_from("attention level of this model", level, ("final",))
        weights, values = self.attention(self.embed(batch), batch.mask)
        mask = batch.mask if weights.dim() == 2 else batch.mask[:, None].expand(weights.shape)
        places = torch.arange(mask.shape[-1], device=mask.device).expand(mask.shape)
        return Trace(weights, values, mask, head=self.head, items=torch.where(mask, places, -1))
