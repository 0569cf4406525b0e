"""A scikit-learn estimator: texts in, labels out, for pipelines and searches over settings."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch

from heedful.data.corpus import Corpus
from heedful.data.dealing import deal
from heedful.errors import MissingExtra, UserError
from heedful.models.trace import decisions, probabilities
from heedful.training.evaluation import predict
from heedful.training.from_corpus import train_run
from heedful.training.presets import prepare

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import Tags
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingExtra("AttentionClassifier", "sklearn") from None


class AttentionClassifier(ClassifierMixin, BaseEstimator):
    """An attention classifier by its name, with the settings one searches over as parameters.

    None leaves a setting as the model's preset has it. `settings` takes any other field of the model's or the
    training's settings. A share of the texts given to `fit` is set aside to choose the epoch.
    """

    def __init__(
        self,
        model: str = "dp",
        *,
        scale: float | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        rate: float | None = None,
        penalty: float | None = None,
        min_count: int | None = None,
        settings: Mapping[str, Any] | None = None,
        dev_share: float = 0.1,
        device: str = "cpu",
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.scale = scale
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.penalty = penalty
        self.min_count = min_count
        self.settings = settings
        self.dev_share = dev_share
        self.device = device
        self.random_state = random_state

    def fit(self, X: Iterable[str], y: Iterable[Any]) -> "AttentionClassifier":
        """Train on texts and their labels."""
        texts = _texts(X)
        labels = np.asarray(y)
        if labels.ndim != 1 or len(labels) != len(texts):
            raise ValueError(
                f"There must be one label a text: {len(texts)} texts, labels of shape {labels.shape}."
            )
        if not 0 < self.dev_share < 1:
            raise UserError(f"dev_share must be between 0 and 1, but it is {self.dev_share}.")
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"A classifier needs at least two classes, but there is one: {self.classes_[0]!r}."
            )
        named = ("scale", "epochs", "batch", "rate", "penalty", "min_count")
        given = {name: getattr(self, name) for name in named if getattr(self, name) is not None}
        model, training = prepare(self.model, {**given, **(self.settings or {}), "seed": self.random_state})
        corpus = Corpus(
            "texts given to fit",
            texts,
            numbers.astype(np.int64),
            deal(texts, numbers.tolist(), shares=(self.dev_share, 0.0), seed=self.random_state),
            tuple(str(name) for name in self.classes_),
        )
        self.run_ = train_run(corpus, model=model, training=training, device=self.device)
        return self

    def predict_proba(self, X: Iterable[str]) -> np.ndarray:
        """The probability of each class (N, K), in the order of `classes_`."""
        return probabilities(self._logits(X)).numpy()

    def predict(self, X: Iterable[str]) -> np.ndarray:
        """The label of each text (N,)."""
        return self.classes_[decisions(self._logits(X)).numpy()]

    def _logits(self, X: Iterable[str]) -> torch.Tensor:
        check_is_fitted(self, "run_")
        return predict(self.run_.model, _texts(X), device=self.device)

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def _texts(X: Iterable[str]) -> list[str]:
    if isinstance(X, str):
        raise ValueError("A list of texts is needed, but one text came: wrap it in a list.")
    texts = [text.item() if isinstance(text, np.ndarray) and text.size == 1 else text for text in X]
    wrong = next((row for row, text in enumerate(texts) if not isinstance(text, str)), None)
    if wrong is not None:
        raise ValueError(
            f"Texts are needed, but row {wrong} is a {type(texts[wrong]).__name__}: {texts[wrong]!r:.60}."
        )
    if not texts:
        raise ValueError("There are no texts: give at least one.")
    return [str(text) for text in texts]
