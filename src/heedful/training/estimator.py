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
    from sklearn.utils import Tags, assert_all_finite, check_random_state, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
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
        random_state: int | np.random.RandomState | None = 0,
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
        model, training = prepare(self.model, self._changes())
        if not 0 < self.dev_share < 1:
            raise UserError(f"dev_share must be between 0 and 1, but it is {self.dev_share}.")
        texts = _texts(X)
        classes, numbers = _classes(y, len(texts))
        # Not dealt by `random_state`: fits that differ in their seed must differ in nothing else.
        splits = deal(texts, numbers.tolist(), shares=(self.dev_share, 0.0), seed=0)
        if "dev" not in splits:
            raise ValueError(
                f"Some texts are set aside to choose the epoch, but {len(texts)} are too few: give at least "
                "three different ones of a class."
            )
        corpus = Corpus("texts given to fit", texts, numbers, splits, tuple(str(name) for name in classes))
        self.classes_ = classes
        self.run_ = train_run(corpus, model=model, training=training, device=self.device)
        return self

    def predict_proba(self, X: Iterable[str]) -> np.ndarray:
        """The probability of each class (N, K), in the order of `classes_`."""
        return probabilities(self._logits(X)).numpy()

    def predict(self, X: Iterable[str]) -> np.ndarray:
        """The label of each text (N,)."""
        decided = decisions(self._logits(X)).numpy()  # which also looks whether there was a fit
        labels: np.ndarray = self.classes_[decided]
        return labels

    def _logits(self, X: Iterable[str]) -> torch.Tensor:
        check_is_fitted(self, "run_")
        return predict(self.run_.model, _texts(X))

    def _changes(self) -> dict[str, Any]:
        """What differs from the preset, in Python's own types: a search may hand in NumPy's."""
        named = ("scale", "epochs", "batch", "rate", "penalty", "min_count")
        given = {name: getattr(self, name) for name in named if getattr(self, name) is not None}
        # A whole number is the seed itself, so that a fit and `heedful train --seed` mean the same.
        whole = isinstance(self.random_state, int | np.integer)
        given["seed"] = self.random_state if whole else check_random_state(self.random_state).randint(2**31)
        more = self.settings or {}
        for name in given:
            if name in more:
                own = "random_state" if name == "seed" else name
                raise UserError(f"{name} in settings has a parameter of its own: say it there, as {own}=.")
        return {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in {**given, **more}.items()
        }

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def _texts(X: Iterable[str]) -> list[str]:
    if isinstance(X, str):
        raise ValueError("A list of texts is needed, but one text came: wrap it in a list.")
    shape: tuple[int, ...] = getattr(X, "shape", (0,))  # a data frame would be walked by its columns' names
    if len(shape) != 1:
        if len(shape) != 2 or shape[1] != 1:
            raise ValueError(f"One column of texts is needed, but the shape is {shape}: choose a column.")
        X = np.asarray(X)[:, 0]
    texts = list(X)
    wrong = next((row for row, text in enumerate(texts) if not isinstance(text, str)), None)
    if wrong is not None:
        raise ValueError(
            f"Texts are needed, but row {wrong} is a {type(texts[wrong]).__name__}: {texts[wrong]!r:.60}."
        )
    if not texts:
        raise ValueError("There are no texts: give at least one.")
    return [str(text) for text in texts]


def _classes(y: Iterable[Any], count: int) -> tuple[np.ndarray, np.ndarray]:
    """The classes (K,) and the number of each text's class (N,)."""
    labels = column_or_1d(y, warn=True)
    if len(labels) != count:
        raise ValueError(
            f"There must be one label a text, but there are {count} texts and {len(labels)} labels."
        )
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"A classifier needs at least two classes, but there is one class: {classes[0]!r}.")
    return classes, numbers.astype(np.int64)
