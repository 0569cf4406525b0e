"""A hierarchical classifier: attention over the words of each sentence, then over the sentences.

This is HAN (Yang et al., 2016). Serrano & Smith's (2019) HANrnn, HANconv and HANnoenc are this with different
encoders, the same at both levels. Batches are flat, as everywhere; the words are grouped into sentences
inside. Axes: B texts, T words, S sentences of a text, W words of a sentence, M sentences of all texts, E, H
widths, K classes.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from heedful.attention import Attended
from heedful.data.batches import Batch, batch_of_texts
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules
from heedful.errors import UserError, choose_from
from heedful.models.classifier import parts_of, refuse_untraceable
from heedful.models.dropout import Dropout
from heedful.models.grouping import Sentences, gather_blocks, group_sentences
from heedful.models.level import Level
from heedful.models.settings import ModelSettings
from heedful.models.trace import Trace

TRACE_LEVELS = ("final", "words")


class HierarchicalClassifier(nn.Module):
    """Attention over words, then over sentences. A `Subject`; build one with `build_model`."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        vocabulary: Vocabulary,
        rules: WordRules,
        classes: tuple[str, ...],
        embedding: nn.Embedding,
        words: Level,
        sentences: Level,
        head: nn.Linear,
    ) -> None:
        super().__init__()
        self.settings, self.vocabulary, self.rules, self.classes = settings, vocabulary, rules, classes
        self.embedding = embedding
        self.words = words
        self.sentences = sentences
        self.dropout_head = Dropout(settings.dropout_head)
        self.head = head

    @property
    def mixes_tokens(self) -> bool:
        """Whether the encoders let a state carry what other words, or sentences, say."""
        return bool(self.words.encoder.mixes_tokens)

    def encode(self, texts: Sequence[str]) -> Batch:
        """The words of these texts as a batch (B,T), with the sentence of each word."""
        length = self.settings.max_length
        batch = batch_of_texts(texts, self.vocabulary, self.rules, max_length=length, sentences=True)
        return batch.to(self.head.weight.device)

    def embed(self, batch: Batch) -> Tensor:
        """The words' vectors (B,T,E)."""
        vectors: Tensor = self.embedding(batch.ids)
        return vectors

    def states(self, embedded: Tensor, batch: Batch) -> tuple[Tensor, Sentences]:
        """The words' states by sentences (M,W,H), and which words those are."""
        sentences = self.group(batch)
        return self.words.encode(sentences.gather(embedded), sentences.mask), sentences

    def group(self, batch: Batch) -> Sentences:
        """Which words of the batch make each sentence."""
        if batch.sentences is None:
            raise UserError(
                "A hierarchical model needs the sentence of each word: make the batch with sentences=True."
            )
        return group_sentences(batch.sentences, batch.mask)

    def attend(self, states: Tensor, sentences: Sentences) -> Attended:
        """Attend to each sentence's words by their states (M,W,H); the contexts (M,H) are its vector."""
        return self.words.attend(states, sentences.mask)

    def attend_sentences(self, vectors: Tensor, present: Tensor) -> tuple[Tensor, Attended]:
        """Encode the vectors (B,S,H) of sentences that are `present` (B,S), and attend to the states."""
        states = self.sentences.encode(vectors, present)
        return states, self.sentences.attend(states, present)

    def decide(self, context: Tensor) -> Tensor:
        """The logits (B,K), or one score (B,1), of the attended vectors (B,H)."""
        logits: Tensor = self.head(self.dropout_head(context))
        return logits

    def from_sentences(self, vectors: Tensor, present: Tensor) -> Tensor:
        """The rest of the network: from the sentences' vectors (B,S,H) to the logits (B,K)."""
        return self.decide(self.attend_sentences(vectors, present)[1].context)

    def logits(self, batch: Batch, embedded: Tensor | None = None) -> Tensor:
        """The logits (B,K) or scores (B,1), from `embedded` (B,T,E) where given."""
        embedded = self.embed(batch) if embedded is None else embedded
        sentences = self.group(batch)
        numbers, blocks = zip(*sentences.of_like_lengths(), strict=True)
        contexts = [
            self.attend(self.words.encode(words, block.mask), block).context
            for words, block in zip(gather_blocks(embedded, blocks), blocks, strict=True)
        ]
        vectors = torch.cat(contexts).index_select(0, torch.cat(numbers).argsort())
        return self.from_sentences(sentences.spread(vectors), sentences.present)

    forward = logits

    @torch.no_grad()
    def trace(self, batch: Batch, level: str = "final") -> Trace:
        """What attention saw and gave over the sentences ("final"), or within each of them ("words").

        At "final" the items are sentences, counted among those that have words in the batch. At "words" there
        is a row of weights for each sentence, the items are words by their place in the batch, and the head
        is the rest of the network. Holds no gradients.
        """
        choose_from("attention level of a hierarchical model", level, TRACE_LEVELS)
        refuse_untraceable(self.settings, training=self.training)
        states, sentences = self.states(self.embed(batch), batch)
        attended = self.attend(states, sentences)
        if level == "words":
            return Trace(
                sentences.spread(attended.weights),
                sentences.spread(states),
                sentences.spread(sentences.mask),
                head=self.from_sentences,
                items=sentences.spread(torch.where(sentences.mask, sentences.word, -1), fill=-1),
                state=sentences.present,
            )
        vectors = sentences.spread(attended.context)
        document, over_sentences = self.attend_sentences(vectors, sentences.present)
        return Trace(over_sentences.weights, document, sentences.present, head=self.head)

    def parts(self) -> dict[str, list[nn.Parameter]]:
        """The parameters by part: embedding, encoder, attention, head, each with both levels."""
        return parts_of(self.embedding, [self.words, self.sentences], self.head)
