"""A flat classifier: embed the words, encode them, attend to them, decide.

Sun & Lu's dp, dp-a, dp-l and ad (2020, §3 and supplement D to G) and Serrano & Smith's FLAN (2019, §3) are
this with different settings. Axes: B texts, T words, E embedding width, H state width, K classes (1 for one
score).

The stages are `embed`, `states`, `attend` and `decide`, and `logits` calls them in this order; whoever
intervenes between two stages calls them too. (`encode` is what a `Subject` calls turning texts into a batch.)
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from heedful.attention import AdditiveScore, Attended, Attention, DotScore, GeneralScore, masked_softmax
from heedful.data.batches import Batch, batch_of_texts
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules
from heedful.errors import UserError, choose_from
from heedful.models.dropout import Dropout
from heedful.models.encoders import AffineEncoder, NoEncoder
from heedful.models.level import Level, score_of
from heedful.models.pretrained import PretrainedEncoder
from heedful.models.self_attention import SelfAttentionEncoder
from heedful.models.settings import ModelSettings
from heedful.models.trace import Trace


class FlatClassifier(nn.Module):
    """Attention over all words of a text. A `Subject`; build one with `build_model`."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        vocabulary: Vocabulary,
        rules: WordRules,
        classes: tuple[str, ...],
        embedding: nn.Embedding | None,  # None where a pretrained encoder has its own
        words: Level,
        head: nn.Linear,
    ) -> None:
        super().__init__()
        self.settings, self.vocabulary, self.rules, self.classes = settings, vocabulary, rules, classes
        self.embedding = embedding
        self.words = words
        self.dropout_head = Dropout(settings.dropout_head)
        self.head = head

    @property
    def mixes_tokens(self) -> bool:
        """Whether the encoder lets a word's state carry what other words say."""
        return bool(self.words.encoder.mixes_tokens)

    def encode(self, texts: Sequence[str]) -> Batch:
        """The words of these texts as a batch (B,T)."""
        batch = batch_of_texts(texts, self.vocabulary, self.rules, max_length=self.settings.max_length)
        return batch.to(self.head.weight.device)

    def embed(self, batch: Batch) -> Tensor:
        """The words' vectors (B,T,E)."""
        if isinstance(self.words.encoder, PretrainedEncoder):
            return self.words.encoder.embed(batch)
        assert self.embedding is not None
        vectors: Tensor = self.embedding(batch.ids)
        return vectors

    def states(self, embedded: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """The states (B,T,H) that attention sees, 0 on padding, and the mask (B,T) of the words read."""
        if isinstance(self.words.encoder, PretrainedEncoder):
            states, read = self.words.encoder(embedded, batch)
            return self.words.dropout(states), read
        return self.words.encode(embedded, batch.mask), batch.mask

    def attend(self, states: Tensor, mask: Tensor, *, weights: Tensor | None = None) -> Attended:
        """Attend to the states (B,T,H), by given weights (B,T) if there are any."""
        return self.words.attend(states, mask, weights=weights)

    def decide(self, context: Tensor) -> Tensor:
        """The logits (B,K), or one score (B,1), of the attended vectors (B,H)."""
        logits: Tensor = self.head(self.dropout_head(context))
        return logits

    def logits(
        self, batch: Batch, embedded: Tensor | None = None, *, weights: Tensor | None = None
    ) -> Tensor:
        """The logits (B,K) or scores (B,1), from `embedded` (B,T,E) and under weights (B,T) where given."""
        embedded = self.embed(batch) if embedded is None else embedded
        states, mask = self.states(embedded, batch)
        return self.decide(self.attend(states, mask, weights=weights).context)

    forward = logits

    @torch.no_grad()
    def trace(self, batch: Batch, level: str = "final", *, weights: Tensor | None = None) -> Trace:
        """What attention saw and gave; words are items, by their place in the batch. Holds no gradients.

        Over the encoder self-attention, "encoder" is the trace of that layer (`self_attention`).
        """
        encoder = self.words.encoder
        lower = isinstance(encoder, SelfAttentionEncoder)
        choose_from("attention level of a flat model", level, ("final", "encoder") if lower else ("final",))
        refuse_untraceable(self.settings, training=self.training)
        if level == "encoder":
            assert isinstance(encoder, SelfAttentionEncoder)

            def rest(states: Tensor, mask: Tensor) -> Tensor:
                return self.decide(self.attend(states, mask).context)

            return encoder.trace(self.embed(batch), batch.mask, rest)
        states, mask = self.states(self.embed(batch), batch)
        attended = self.attend(states, mask, weights=weights)
        return Trace(attended.weights, states, mask, head=self.head)

    def parts(self) -> dict[str, list[nn.Parameter]]:
        """The parameters by part: embedding, encoder, attention, head."""
        return parts_of(self.embedding, [self.words], self.head)

    @property
    def context_vector(self) -> Tensor | None:
        """V: the learned vector that scores words; None where nothing is learnt, or places are scored."""
        score: Any = score_of(self.words.attention)
        return None if self.settings.attention == "location" else getattr(score, "context", None)

    @property
    def head_vector(self) -> Tensor | None:
        """W of a model with one score (H,); None for K classes, whose Wʰ is `head.weight` transposed."""
        return self.head.weight[0] if self.head.out_features == 1 else None

    def alignment(self) -> Tensor:
        """How far attention and the head look in one direction (K,): VᵀW, the term to be penalised.

        Of an affine model it is V'ᵀW' = (MᵀV)ᵀ(MᵀW) (Eq. 63), of additive attention (MᵃᵀV)ᵀW (Eq. 71).
        """
        score, context = score_of(self.words.attention), self.context_vector
        if isinstance(score, DotScore) and context is not None:
            look = context
        elif isinstance(score, AdditiveScore) and context is not None:
            look = score.projection.T @ context
        elif isinstance(score, GeneralScore) and context is not None:
            look = score.matrix.T @ context
        else:
            name = self.settings.control if score is None else self.settings.attention
            raise UserError(
                f"VᵀW needs dot, general or additive attention, but this is {name}: leave it out."
            )
        directions: Tensor = self.head.weight  # (K,H)
        if isinstance(self.words.encoder, AffineEncoder):
            project = self.words.encoder.project.weight  # M (H,E)
            look, directions = project.T @ look, directions @ project
        return directions @ look


def parts_of(
    embedding: nn.Module | None, levels: Sequence[Level], head: nn.Module
) -> dict[str, list[nn.Parameter]]:
    """The parameters of a model by part, both levels of a hierarchical one together."""
    return {
        "embedding": [] if embedding is None else list(embedding.parameters()),
        "encoder": [parameter for level in levels for parameter in level.encoder.parameters()],
        "attention": [parameter for level in levels for parameter in level.attention.parameters()],
        "head": list(head.parameters()),
    }


def refuse_untraceable(settings: ModelSettings, *, training: bool) -> None:
    """A trace is of a model that decides: no dropout; and of weights that erasure can renormalise."""
    if training:
        raise UserError("A trace of a model in training would carry its dropout: call eval() first.")
    if settings.normaliser == "sigmoid" and settings.control not in ("uniform", "frozen"):
        raise UserError(
            "Sigmoid attention does not sum to 1, so erasing words and renormalising says nothing about it: "
            "use softmax, sparsemax or entmax15."
        )


def softmax_score(model: FlatClassifier) -> nn.Module | None:
    """What scores words, where softmax makes weights of it; None for other normalisers and controls."""
    attention = model.words.attention
    if not (isinstance(attention, Attention) and attention.normalise is masked_softmax):
        return None
    return attention.score


def dot_score(model: object) -> DotScore | None:
    """The score of Sun & Lu's `dp` (softmax over eᵀV/λ, V learned, no encoder between); else None.

    Closed-form gradients at the words hold for these models alone.
    """
    if not (isinstance(model, FlatClassifier) and isinstance(model.words.encoder, NoEncoder)):
        return None
    score = softmax_score(model)
    return score if isinstance(score, DotScore) and score.context is not None else None
