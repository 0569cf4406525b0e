"""A pretrained Hugging Face encoder over words (Sun & Lu's future work: deep contextual encoders).

The encoder reads the forms of a batch's words, cut into sub-words, with its own marks around the text. A
word's state is that of its first sub-word, or the mean of them. A word's embedding is the mean of its
sub-words' input embeddings; a changed embedding moves all its sub-words by the same difference, so gradients
and integrated gradients of words are exact. Words beyond what the encoder can read, or of which its tokenizer
keeps nothing, are unread: attention does not see them.

Axes: B texts, T words, L sub-words, E width of the encoder's input embeddings, H width of its states.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from heedful.data.batches import Batch
from heedful.data.huggingface import hub_is_known
from heedful.data.vocabulary import SPECIAL
from heedful.errors import MissingExtra, UserError

if TYPE_CHECKING:
    from heedful.models.settings import ModelSettings


@dataclass(frozen=True)
class Pieces:
    """The sub-words of a batch, and the word that each belongs to."""

    ids: Tensor  # (B,L)
    mask: Tensor  # (B,L) true where there is one
    word: Tensor  # (B,L) place of its word, −1 for marks around the text and for padding
    words: int  # T

    def mean(self, vectors: Tensor) -> Tensor:
        """The mean (B,T,E) of each word's sub-words' vectors (B,L,E), 0 for an unread word."""
        summed = self._gather_up(vectors)
        count = self._gather_up(torch.ones_like(vectors[..., :1]))
        return summed / count.clamp(min=1)

    def first(self, vectors: Tensor) -> Tensor:
        """The vector (B,T,E) of each word's first sub-word out of (B,L,E), 0 for an unread word."""
        before = torch.cat([torch.full_like(self.word[:, :1], -1), self.word[:, :-1]], dim=1)
        return self._gather_up(vectors * (self.word != before)[..., None])

    def spread(self, vectors: Tensor) -> Tensor:
        """Give each sub-word (B,L,E) the vector of its word out of (B,T,E), 0 for marks."""
        index = self.word.clamp(min=0)[..., None].expand(-1, -1, vectors.shape[-1])
        return vectors.gather(1, index) * (self.word >= 0)[..., None]

    @property
    def read(self) -> Tensor:
        """Which words (B,T) have a sub-word."""
        return self._gather_up(torch.ones_like(self.word, dtype=torch.float32)[..., None])[..., 0] > 0

    def _gather_up(self, vectors: Tensor) -> Tensor:
        batch, _, width = vectors.shape
        index = torch.where(self.word < 0, self.words, self.word)[..., None].expand(-1, -1, width)
        # Marks go into a column of their own, which is left behind.
        return vectors.new_zeros(batch, self.words + 1, width).scatter_add(1, index, vectors)[:, : self.words]


class PretrainedEncoder(nn.Module):
    """Words to contextual states; takes whole batches, because it reads the words and not our ids."""

    mixes_tokens = True

    def __init__(self, name: str, *, frozen: bool, pooling: str) -> None:
        super().__init__()
        self.network: Any
        self.tokenizer, self.network = _load(name)
        self.frozen, self.pooling = frozen, pooling
        self.width = int(self.network.config.hidden_size)
        self.longest = min(int(self.tokenizer.model_max_length), most_positions(self.network.config))
        self.network.requires_grad_(not frozen)
        self.train(False)

    def train(self, mode: bool = True) -> "PretrainedEncoder":
        """A frozen encoder stays in evaluation: its dropout would only add noise to fixed features."""
        super().train(mode)
        self.network.train(mode and not self.frozen)
        return self

    def embed(self, batch: Batch) -> Tensor:
        """The words' input embeddings (B,T,E)."""
        pieces = self.pieces(batch)
        return pieces.mean(self.network.get_input_embeddings()(pieces.ids))

    def forward(self, embedded: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """The words' states (B,T,H) from their embeddings (B,T,E), and which words were read (B,T)."""
        pieces = self.pieces(batch)
        read = batch.mask & pieces.read
        if not read.any(1).all():
            row = int((~read.any(1)).nonzero()[0])
            raise UserError(f"The pretrained encoder's tokenizer keeps nothing of text {row}: leave it out.")
        vectors = self.network.get_input_embeddings()(pieces.ids)
        vectors = vectors + pieces.spread(embedded - pieces.mean(vectors))
        states = self.network(inputs_embeds=vectors, attention_mask=pieces.mask.long()).last_hidden_state
        pooled = pieces.first(states) if self.pooling == "first" else pieces.mean(states)
        return pooled.masked_fill(~read[..., None], 0), read

    def pieces(self, batch: Batch) -> Pieces:
        """Cut the batch's words into sub-words; the unknown word becomes the tokenizer's own."""
        if batch.words is None:
            raise UserError(
                "A pretrained encoder reads words, but this batch has only ids: make it from texts."
            )
        unknown = self.tokenizer.unk_token
        forms = [[unknown if form == SPECIAL[1] else form for form in words.forms] for words in batch.words]
        cut = self.tokenizer(
            forms,
            is_split_into_words=True,
            truncation=True,
            max_length=self.longest,
            padding=True,
            return_tensors="pt",
        )
        word = [[-1 if word is None else word for word in cut.word_ids(row)] for row in range(len(forms))]
        device = batch.mask.device
        return Pieces(
            cut["input_ids"].to(device),
            cut["attention_mask"].bool().to(device),
            torch.tensor(word, device=device),
            batch.mask.shape[1],
        )


def _load(name: str) -> tuple[Any, Any]:
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError:
        raise MissingExtra("A pretrained encoder", "hf") from None
    try:
        with quietly():
            # Byte-level tokenizers need the prefix space to take words one by one; others ignore it.
            here = {"local_files_only": not hub_is_known(name)}
            tokenizer = AutoTokenizer.from_pretrained(name, add_prefix_space=True, use_fast=True, **here)
            network = AutoModel.from_pretrained(name, **here)
    except (OSError, ValueError) as fault:
        reason = str(fault).splitlines()[0]
        raise UserError(f"No Hugging Face encoder could be loaded from {name!r}: {reason}") from None
    if not tokenizer.is_fast or tokenizer.padding_side != "right":
        raise UserError(f"The encoder {name!r} needs a fast tokenizer that pads on the right.")
    return tokenizer, network


def pretrained(settings: "ModelSettings", width: int) -> PretrainedEncoder:
    """The encoder pretrained: it embeds words itself, so no width comes in."""
    return PretrainedEncoder(settings.pretrained, frozen=settings.pretrained_frozen, pooling=settings.pooling)


@contextmanager
def quietly() -> Iterator[None]:
    """Keep transformers' progress bar and reports and the hub's retries off the terminal, for a while."""
    from huggingface_hub.utils import logging as hub
    from transformers.utils import logging

    shown, level, own = logging.is_progress_bar_enabled(), hub.get_verbosity(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    hub.set_verbosity_error()
    try:
        yield
    finally:
        hub.set_verbosity(level)
        logging.set_verbosity(own)
        if shown:
            logging.enable_progress_bar()


def most_positions(config: Any) -> int:
    """How many sub-words the network can read."""
    positions = int(getattr(config, "max_position_embeddings", 512))
    # RoBERTa and its family count positions from after the padding's.
    return positions - (config.pad_token_id + 1 if "roberta" in config.model_type else 0)
