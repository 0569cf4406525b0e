"""Token scores: what each word of the vocabulary says (polarity s_e) and how much it draws attention (a_e).

Sun & Lu (2020), Eq. 7 and §4; K classes have one polarity for each (Eq. 81). Without an encoder, or with
one that reads each word alone, a word has one pair of scores everywhere. Where the encoder mixes words
there are two kinds (supplement G.1): *global* scores, of the word fed alone, and *local* ones, averaged
over its occurrences in a split. The head's bias is in no word's score.
Axes: V vocabulary, K scores (1 for one binary score), B texts, T words, H width, N texts of a split.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from heedful.attention import UniformAttention
from heedful.data.batches import Batch, batches
from heedful.data.encoded import EncodedTexts
from heedful.data.vocabulary import PADDING_ID
from heedful.data.words import Words
from heedful.errors import UserError, choose_from
from heedful.models.building import Classifier
from heedful.models.classifier import FlatClassifier
from heedful.models.level import score_of
from heedful.models.pretrained import PretrainedEncoder
from heedful.training.evaluation import EVALUATION_TOKENS, logits_of
from heedful.understanding.groups import grouped
from heedful.understanding.token_types import TokenTypes

if TYPE_CHECKING:
    import pandas

WORDS_AT_A_TIME = 1 << 14  # fed alone: keeps an LSTM's work space small


@dataclass(frozen=True, eq=False)
class TokenScores:
    """Scores of words by id. NaN where a word has none: padding, words that do not occur or are not read."""

    kind: str  # global or local
    ids: np.ndarray  # (V,) which words
    words: tuple[str, ...]  # (V,)
    scores: tuple[str, ...]  # (K,) names of the polarities; one binary score is called ""
    polarity: np.ndarray  # (V, K)
    attention: np.ndarray  # (V,)
    counts: np.ndarray  # (V,) occurrences they are averaged over; of global scores, in the training texts
    weights: np.ndarray | None = None  # (V,) average attention weight, of local scores (main Fig. 5)

    def columns(self) -> dict[str, np.ndarray]:
        """Each score (V,) by name."""
        found = {f"polarity {name}".strip(): self.polarity[:, k] for k, name in enumerate(self.scores)}
        found["attention"] = self.attention
        return found if self.weights is None else {**found, "weight": self.weights}

    def to_frame(self, types: TokenTypes | None = None) -> "pandas.DataFrame":
        """One row per word that has scores."""
        import pandas

        columns: dict[str, Any] = {"id": self.ids, "word": np.array(self.words, dtype=object)}
        columns |= {"count": self.counts, **self.columns()}
        if types is not None:
            columns["type"] = types.labels[self.ids]
        frame = pandas.DataFrame(columns)
        return frame[~np.isnan(self.polarity[:, 0])].reset_index(drop=True)

    def highest(self, column: str, count: int = 10, *, least: bool = False) -> "pandas.DataFrame":
        """The words with the largest values of a column, or with the least; ties go by id."""
        frame = self.to_frame()
        choose_from("score", column, list(self.columns()))
        return frame.sort_values(column, ascending=least, kind="stable", ignore_index=True).head(count)

    def by_type(self, types: TokenTypes) -> "pandas.DataFrame":
        """Mean, size, quartiles and count of each score, for each type; words without scores left out."""
        import pandas

        rows = []
        for name, values in self.columns().items():
            for kind, members in types.members.items():
                chosen = values[np.isin(self.ids, members, assume_unique=True)]
                rows.append({"score": name, "type": kind, **grouped(chosen[~np.isnan(chosen)])})
        return pandas.DataFrame(rows)


@dataclass(frozen=True, eq=False)
class InstanceScores:
    """What the model says of each text: the head's scores (N, K), without its bias in `polarity`."""

    scores: tuple[str, ...]
    polarity: np.ndarray  # (N, K) s = hᵀW
    bias: np.ndarray  # (K,)
    labels: np.ndarray | None  # (N,)
    lengths: np.ndarray  # (N,) words

    def to_frame(self) -> "pandas.DataFrame":
        """One row per text, in their own order."""
        import pandas

        columns: dict[str, Any] = {
            f"polarity {name}".strip(): self.polarity[:, k] for k, name in enumerate(self.scores)
        }
        if self.labels is not None:
            columns["label"] = self.labels
        return pandas.DataFrame({**columns, "words": self.lengths})


def token_scores(model: Classifier, *, ids: Sequence[int] | np.ndarray | None = None) -> TokenScores:
    """Global scores of every word (or of these ids): each is fed alone; all at once, dropout off.

    Where the encoder does not mix words these are *the* scores, exact. Padding has none.

    Example: `heedful.token_scores(run.model).highest("attention", 5)`
    """
    flat = _flat(model)
    chosen = np.arange(len(flat.vocabulary)) if ids is None else np.asarray(ids, np.int64)
    polarity = np.full((len(chosen), flat.head.out_features), np.nan)
    attention = np.full(len(chosen), np.nan)
    with _evaluating(flat):
        readable = np.flatnonzero(chosen != PADDING_ID)
        for start in range(0, len(readable), WORDS_AT_A_TIME):
            part = _read(flat, chosen, readable[start : start + WORDS_AT_A_TIME])
            batch = _alone(flat, chosen[part])
            states, _ = flat.states(flat.embed(batch), batch)
            polarity[part] = (states[:, 0] @ flat.head.weight.T).double().cpu().numpy()
            attention[part] = _attention_scores(flat, states)[:, 0].double().cpu().numpy()
    return TokenScores(
        "global",
        chosen,
        tuple(flat.vocabulary.words[id] for id in chosen),
        _names(flat),
        polarity,
        attention,
        np.array(flat.vocabulary.counts)[chosen],
    )


def local_scores(model: Classifier, encoded: EncodedTexts) -> TokenScores:
    """Scores and attention weights of every word, averaged over its occurrences in these texts."""
    flat = _flat(model)
    size, scores = len(flat.vocabulary), flat.head.out_features
    device = flat.head.weight.device
    totals = torch.zeros(size, scores + 3, dtype=torch.float64, device=device)  # s, a, α and 1
    with _evaluating(flat):
        for batch in _walk(encoded, device):
            states, read = flat.states(flat.embed(batch), batch)
            weights = flat.attend(states, read).weights
            each = torch.cat(
                [
                    states @ flat.head.weight.T,
                    _attention_scores(flat, states)[..., None],
                    weights[..., None],
                    torch.ones_like(weights[..., None]),
                ],
                dim=-1,
            )  # (B, T, K + 3)
            totals.index_add_(0, batch.ids[read], each[read].double())
    found = totals.cpu().numpy()
    counts = found[:, -1]
    means = np.divide(
        found[:, :-1], counts[:, None], out=np.full((size, scores + 2), np.nan), where=counts[:, None] > 0
    )
    return TokenScores(
        "local",
        np.arange(size),
        flat.vocabulary.words,
        _names(flat),
        means[:, :scores],
        means[:, scores],
        counts.astype(np.int64),
        means[:, scores + 1],
    )


def instance_scores(model: Classifier, encoded: EncodedTexts) -> InstanceScores:
    """What the model says of each text, in the texts' own order, dropout off."""
    bias = model.head.bias
    shift = np.zeros(model.head.out_features) if bias is None else bias.detach().double().cpu().numpy()
    logits = logits_of(model, encoded).double().numpy()
    labels = None if encoded.labels is None else np.asarray(encoded.labels)
    return InstanceScores(_names(model), logits - shift, shift, labels, encoded.lengths)


def _flat(model: Classifier) -> FlatClassifier:
    if not isinstance(model, FlatClassifier):
        raise UserError(
            "Token scores are of flat models: in a hierarchical one the head reads sentences, not words."
        )
    if model.settings.control == "frozen":
        raise UserError(
            "This model's attention is given from outside, so its words have no attention scores."
        )
    return model


def _names(model: Classifier) -> tuple[str, ...]:
    return ("",) if model.head.out_features == 1 else tuple(model.classes)


def _attention_scores(model: FlatClassifier, states: Tensor) -> Tensor:
    """a (B, T) of states (B, T, H); uniform attention scores every word alike, by 0."""
    if isinstance(model.words.attention, UniformAttention):
        return states.new_zeros(states.shape[:2])
    score: Any = score_of(model.words.attention)
    scores: Tensor = score(states)
    return scores


def _read(model: FlatClassifier, ids: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The places whose words the encoder reads: a pretrained one's tokenizer may keep nothing of a word."""
    if not isinstance(model.words.encoder, PretrainedEncoder):
        return places
    kept = model.words.encoder.pieces(_alone(model, ids[places])).read[:, 0]
    read: np.ndarray = places[kept.cpu().numpy()]
    return read


def _alone(model: FlatClassifier, ids: np.ndarray) -> Batch:
    """A batch of one-word texts (B, 1)."""
    column = torch.from_numpy(ids)[:, None].to(model.head.weight.device)
    forms = [model.vocabulary.words[id] for id in ids]
    words = None
    if isinstance(model.words.encoder, PretrainedEncoder):
        words = [Words(form, [form], np.zeros(1, np.int64), np.array([len(form)])) for form in forms]
    mask = torch.ones_like(column, dtype=torch.bool)
    return Batch(column, mask, labels=None, rows=np.arange(len(ids)), words=words)


def _walk(encoded: EncodedTexts, device: torch.device) -> Iterator[Batch]:
    for batch in batches(encoded, token_budget=EVALUATION_TOKENS):
        yield batch.to(device)


@contextmanager
def _evaluating(model: FlatClassifier) -> Iterator[None]:
    """Dropout off and no gradients inside, and the model's mode as it was after."""
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        model.train(was_training)
