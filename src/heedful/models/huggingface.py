"""Somebody's Hugging Face sequence classifier as a `Subject`: the BERT, RoBERTa and DistilBERT families.

These decide from one position, the first. In the last layer only that position's row of attention reaches the
decision, so a `Trace` of it is exact: R attention heads over the sub-words, their values, and as the head the
rest of the network: the heads' output projection, the residual with its norm, the feed-forward block, the
pooler and the classifier. The state is what the residual carries. Erasing a word masks its sub-words in every
head and renormalises each; what lower layers have mixed into other sub-words stays.

Words are runs of letters and digits with the marks on them, or of other signs. A text is tokenised as it is
written (words taken out leave one space), so an unchanged text is read exactly as the model's own pipeline
reads it. Sub-words are put together to words by their characters. Words beyond the model's length are unread.

Axes: B texts, T words, L sub-words, R heads, E embedding width, H state width, K classes.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from heedful.data.batches import Batch
from heedful.data.huggingface import hub_is_known
from heedful.data.vocabulary import PADDING_ID, SPECIAL
from heedful.data.words import Words, combining_class
from heedful.errors import MissingExtra, UserError, choose_from, listed
from heedful.models.pretrained import Pieces, most_positions, quietly
from heedful.models.trace import Trace

WORD_ID = 2  # of every word: these models do not read our ids


@dataclass(frozen=True)
class Family:
    """Where a family of networks keeps the parts of its last layer that lie behind its attention."""

    values: Callable[[Any], nn.Module]  # network → the projection to values
    heads: Callable[[Any], int]
    after: Callable[
        [Any, Tensor, Tensor], Tensor
    ]  # network, attended (B,1,H), residual (B,1,H) → logits (B,K)


def _bert_layer(network: Any) -> Any:
    return network.base_model.encoder.layer[-1]


def _after_bert_layer(network: Any, attended: Tensor, residual: Tensor) -> Tensor:
    layer = _bert_layer(network)
    passed = layer.attention.output(attended, residual)
    return layer.output(layer.intermediate(passed), passed)


def _after_bert(network: Any, attended: Tensor, residual: Tensor) -> Tensor:
    states = _after_bert_layer(network, attended, residual)
    return network.classifier(network.dropout(network.base_model.pooler(states)))


def _after_roberta(network: Any, attended: Tensor, residual: Tensor) -> Tensor:
    return network.classifier(_after_bert_layer(network, attended, residual))


def _after_distilbert(network: Any, attended: Tensor, residual: Tensor) -> Tensor:
    layer = network.base_model.transformer.layer[-1]
    passed = layer.sa_layer_norm(layer.attention.out_lin(attended) + residual)
    states = layer.output_layer_norm(layer.ffn(passed) + passed)
    pooled = torch.relu(network.pre_classifier(states[:, 0]))
    return network.classifier(network.dropout(pooled))


_BERT = Family(
    lambda network: _bert_layer(network).attention.self.value,
    lambda network: int(network.config.num_attention_heads),
    _after_bert,
)
_ROBERTA = Family(_BERT.values, _BERT.heads, _after_roberta)
_DISTILBERT = Family(
    lambda network: network.base_model.transformer.layer[-1].attention.v_lin,
    lambda network: int(network.config.n_heads),
    _after_distilbert,
)
FAMILIES = {
    "bert": _BERT,
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "camembert": _ROBERTA,
    "electra": _ROBERTA,
    "distilbert": _DISTILBERT,
}


class HuggingFaceSubject(nn.Module):
    """A classifier with its tokenizer, read word by word. A `Subject`; load one with `load_huggingface`."""

    mixes_tokens = True

    def __init__(self, network: Any, tokenizer: Any, *, name: str = "classifier") -> None:
        super().__init__()
        self.network: Any = network
        self.tokenizer, self.name = tokenizer, name
        self.family = _family(network, name)
        _refuse_other_heads(network.config, name)
        _refuse_other_tokenizers(tokenizer, name)
        _attend_eagerly(network, name)
        self.classes = tuple(
            str(network.config.id2label[number]) for number in range(network.config.num_labels)
        )
        self.longest = min(int(tokenizer.model_max_length), most_positions(network.config))
        self.notes: tuple[str, ...] = (
            f"Attention is that of the first position in the last of {network.config.num_hidden_layers} "
            "layers.",
        )
        self.eval()

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    def encode(self, texts: Sequence[str]) -> Batch:
        """The words of these texts as a batch (B,T)."""
        words = [_words(text) for text in texts]
        for row, found in enumerate(words):
            if not len(found):
                raise UserError(f"Text {row} has no word: leave such texts out.")
        counts = torch.tensor([len(found) for found in words])
        mask = torch.arange(int(counts.max())) < counts[:, None]
        ids = torch.where(mask, WORD_ID, PADDING_ID)
        return Batch(ids, mask, labels=None, rows=np.arange(len(words)), words=words).to(self.device)

    def embed(self, batch: Batch) -> Tensor:
        """The mean input embedding (B,T,E) of each word's sub-words."""
        pieces = self.pieces(batch)
        return pieces.mean(self.network.get_input_embeddings()(pieces.ids))

    def logits(self, batch: Batch, embedded: Tensor | None = None) -> Tensor:
        """The logits (B,K); a changed embedding (B,T,E) moves all sub-words of its word alike."""
        pieces = self.pieces(batch)
        if embedded is None:
            return self.network(input_ids=pieces.ids, attention_mask=pieces.mask.long()).logits
        vectors = self.network.get_input_embeddings()(pieces.ids)
        vectors = vectors + pieces.spread(embedded - pieces.mean(vectors))
        return self.network(inputs_embeds=vectors, attention_mask=pieces.mask.long()).logits

    @torch.no_grad()
    def trace(self, batch: Batch, level: str = "final") -> Trace:
        """The last layer's attention from the first position: R heads over sub-words; the items are words."""
        choose_from("attention level of a Hugging Face classifier", level, ("final",))
        pieces = self.pieces(batch)
        read = self._read(pieces)
        weights = read.attentions[-1][:, :, 0]  # (B,R,L)
        states = read.hidden_states[-2]  # (B,L,H) what the last layer sees
        rows = self.family.heads(self.network)
        values = self.family.values(self.network)(states).unflatten(-1, (rows, -1)).transpose(1, 2)
        mask = pieces.mask[:, None].expand(weights.shape)
        weights = weights.masked_fill(~mask, 0)
        weights = weights / weights.sum(-1, keepdim=True)  # rounding of a masked softmax
        items = torch.where(pieces.mask, pieces.word, -1)[:, None].expand(weights.shape)
        return Trace(weights, values, mask, head=self._rest, items=items.contiguous(), state=states[:, 0])

    def attentions(self, batch: Batch) -> tuple[Tensor, Pieces]:
        """All attention (B,layers,R,L,L), and the sub-words."""
        pieces = self.pieces(batch)
        with torch.no_grad():
            return torch.stack(self._read(pieces).attentions, dim=1), pieces

    def pieces(self, batch: Batch) -> Pieces:
        """The sub-words of a batch, and the word that each belongs to."""
        if batch.words is None:
            raise UserError(
                "A Hugging Face classifier reads words, but this batch has only ids: encode the texts."
            )
        written = [_written(words, self.tokenizer.unk_token) for words in batch.words]
        cut = self.tokenizer(
            [text for text, _ in written],
            truncation=True,
            max_length=self.longest,
            padding=True,
            return_offsets_mapping=True,
        )
        ids, spans = torch.tensor(cut["input_ids"]), np.array(cut["offset_mapping"])
        word = torch.full(ids.shape, -1)
        for row, (_, starts) in enumerate(written):
            first, last = spans[row].T
            # By its last character: the first of a sub-word may be the space before the word.
            place = np.searchsorted(starts, last - 1, side="right") - 1
            word[row] = torch.from_numpy(np.where(last > first, place, -1))
        device = batch.mask.device
        mask = torch.tensor(cut["attention_mask"]).bool()
        return Pieces(ids.to(device), mask.to(device), word.to(device), batch.mask.shape[1])

    def _read(self, pieces: Pieces) -> Any:
        if self.training:
            raise UserError("A trace of a model in training would carry its dropout: call eval() first.")
        read = self.network(
            input_ids=pieces.ids,
            attention_mask=pieces.mask.long(),
            output_attentions=True,
            output_hidden_states=True,
        )
        if not read.attentions or read.attentions[-1] is None:
            raise UserError(
                f"The classifier {self.name!r} does not give its attention, so it cannot be audited."
            )
        return read

    def _rest(self, attended: Tensor, state: Tensor) -> Tensor:
        """The network from the attended vectors (B,R,H/R) of the first position to the logits (B,K)."""
        return self.family.after(self.network, attended.flatten(1)[:, None], state[:, None])


def load_huggingface(name: str | Path, *, device: str = "cpu") -> HuggingFaceSubject:
    """The sequence classifier in a folder, or of that name on the hub, with attention that can be seen."""
    try:
        from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer
    except ImportError:
        raise MissingExtra("A Hugging Face classifier", "hf") from None
    try:
        with quietly():
            here = {"local_files_only": not hub_is_known(name)}
            config = AutoConfig.from_pretrained(name, **here)
            if config.model_type not in FAMILIES:
                raise _foreign(config, str(name))
            _refuse_other_heads(config, str(name))
            tokenizer = AutoTokenizer.from_pretrained(name, use_fast=True, **here)
            network = AutoModelForSequenceClassification.from_pretrained(
                name, attn_implementation="eager", **here
            )
    except UserError:
        raise
    except (OSError, ValueError) as fault:
        reason = str(fault).splitlines()[0]
        raise UserError(f"No Hugging Face classifier could be loaded from {str(name)!r}: {reason}") from None
    return HuggingFaceSubject(network.to(device), tokenizer, name=str(name))


def _foreign(config: Any, name: str) -> UserError:
    return UserError(
        f"{name!r} is of the family {config.model_type}, and attention can be audited in {listed(FAMILIES)}."
    )


def _family(network: Any, name: str) -> Family:
    if network.config.model_type not in FAMILIES:
        raise _foreign(network.config, name)
    return FAMILIES[network.config.model_type]


def _refuse_other_heads(config: Any, name: str) -> None:
    problem = getattr(config, "problem_type", None)
    if problem == "regression" or config.num_labels < 2:
        raise UserError(f"{name!r} has a regression head, and an audit needs classes to decide between.")
    if problem == "multi_label_classification":
        raise UserError(f"{name!r} may give several labels at once, and an audit needs one decision a text.")


def _refuse_other_tokenizers(tokenizer: Any, name: str) -> None:
    if not tokenizer.is_fast or tokenizer.padding_side != "right":
        raise UserError(f"The classifier {name!r} needs a fast tokenizer that pads on the right.")


def _attend_eagerly(network: Any, name: str) -> None:
    """Only the eager kernel gives weights; a network that cannot be switched to it is refused."""
    if getattr(network.config, "_attn_implementation", "eager") == "eager":
        return
    try:
        network.set_attn_implementation("eager")
    except (AttributeError, ValueError) as fault:
        raise UserError(
            f"The classifier {name!r} cannot show its attention ({str(fault).splitlines()[0]}): load it with "
            'attn_implementation="eager".'
        ) from None


@lru_cache
def _pattern() -> re.Pattern[str]:
    run = rf"\w[\w{combining_class()}]*"
    return re.compile(rf"{run}(?:['’]{run})*|[^\w\s]+")


def _words(text: str) -> Words:
    found = list(_pattern().finditer(text))
    starts = np.array([match.start() for match in found], dtype=np.int64)
    ends = np.array([match.end() for match in found], dtype=np.int64)
    return Words(text, [match.group() for match in found], starts, ends)


def _written(words: Words, unknown: str) -> tuple[str, np.ndarray]:
    """The text of these words, and where each begins in it.

    Between neighbours stands what stood there; where words have gone, a space if there was one.
    """
    parts: list[str] = []
    starts: list[int] = []
    length, before = 0, None
    for form, start, end in zip(words.forms, words.starts.tolist(), words.ends.tolist(), strict=True):
        if before is not None:
            between = words.text[before:start] if before <= start else " "
            gap = between if not between.strip() else " " if re.search(r"\s", between) else ""
            parts.append(gap)
            length += len(gap)
        shown = unknown if form == SPECIAL[1] else words.text[start:end]
        starts.append(length)
        parts.append(shown)
        length, before = length + len(shown), end
    return "".join(parts), np.array(starts)
