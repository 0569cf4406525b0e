"""A watch over training: how scores, flow terms and dot-products go, by type of word (Sun & Lu, 2020).

`Watch` is a callback. At the beginning and then every so many steps it adds rows of kind "watch" to the
run's history, one for each quantity and group: `quantity`, `group` (a type, a pair of types, a class, or
""), `mean`, `size` (mean of absolute values), `low`, `middle`, `high` (quartiles) and `count`. A number
that is not of a group of words is its own mean.

    polarity, attention         scores, of all words of a type
    A … F, A', B', D', F', F''  terms of their movement (`terms`), pi and rho, of all words of a type
    polarity change, attention change   the sums of the terms
    omega, states               dot-products of embeddings (and of affine states), of pairs of types
    omega of one pair, …        the same of one pair of words, drawn once; `words` names them
    alignment                   VᵀW, for each score of the head
    context norm, head norm     ‖V‖² and ‖W‖²
    beta, loss, accuracy        means over texts, dropout off
    spread                      entropy of the weights over log T: 1 is mean pooling, 0 is one word

To be cheap beside a compiled epoch of some milliseconds, terms and means over texts are taken on a fixed
sample of training texts (the same share of each class), and omega on a fixed sample of words; `texts` and
`pair_words` say how many, and `count` of omega how many pairs. Scores are of all typed words. Quartiles are
of scores and dot-products. Models beyond `dp`, `dp-a` and `ad` get global scores and VᵀW only.
Axes: R words watched, C quantities, n words of a group.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from heedful.data.encoded import EncodedTexts
from heedful.errors import LARGEST_SEED, UserError, choose_from
from heedful.models.classifier import FlatClassifier
from heedful.settings import check_sizes, setting
from heedful.training.callbacks import Callback, Training
from heedful.training.closed import flat_texts
from heedful.understanding.flow import Flow
from heedful.understanding.forms import paper_form, why_not
from heedful.understanding.groups import STATISTICS, summaries
from heedful.understanding.omega import TypedSample
from heedful.understanding.sums import Part, add_up, parts_of
from heedful.understanding.terms import terms
from heedful.understanding.token_types import TokenTypes, TypeRules, find_types
from heedful.understanding.word_scoring import token_scores

KIND = "watch"


@dataclass(frozen=True)
class WatchSettings:
    """How often to look, and at how much."""

    records: int = setting(50, "records in a run, at least, besides the one at the beginning")
    every: int | None = setting(None, "steps between two records, instead of a number of records")
    texts: int = setting(300, "training texts the terms are taken on; all if there are no more")
    pair_words: int = setting(40, "words of each type whose dot-products are taken; all if there are no more")
    seed: int = setting(0, "draws both samples", most=LARGEST_SEED)

    def __post_init__(self) -> None:
        check_sizes(self)
        for name in ("records", "texts", "pair_words"):
            if getattr(self, name) < 1:
                raise UserError(f"The watch's {name} must be at least 1, but it is {getattr(self, name)}.")
        if self.every is not None and self.every < 1:
            raise UserError(f"A watch looks every 1 step or more, but every is {self.every}.")


class Watch(Callback):
    """Records what attention learns while it learns it."""

    def __init__(
        self,
        types: TokenTypes | Mapping[str, str] | None = None,
        settings: WatchSettings | None = None,
        *,
        rules: TypeRules | None = None,
    ) -> None:
        """Types are found in the training texts by `rules` unless they are given, or named word by word."""
        self.given, self.rules, self.settings = types, rules, settings or WatchSettings()
        self.every = 0
        self._view: _View | None = None

    def epoch_begins(self, training: Training) -> None:
        if self._view is None:
            self._view = _View.make(training, self.given, self.rules, self.settings)
            steps = training.settings.epochs * training.steps_per_epoch
            self.every = self.settings.every or max(1, steps // self.settings.records)
        if training.step == 0:
            self.record(training)

    def step_ends(self, training: Training) -> None:
        if training.step % self.every == 0:
            self.record(training)

    def record(self, training: Training) -> None:
        """Add the rows of this moment to the history."""
        assert self._view is not None
        moment = {"kind": KIND, "epoch": training.epoch, "step": training.step}
        moment |= {"texts": self.settings.texts, "pair_words": self.settings.pair_words}
        training.history.extend({**moment, **row} for row in self._view.rows(training))


@dataclass(frozen=True, eq=False)
class _View:
    """What is looked at, with places in the watched words in place of ids."""

    ids: torch.Tensor  # (R,) the watched words
    members: dict[str, np.ndarray]  # places of each type's words
    averaging: np.ndarray  # (R, types): 1/n at the places of a type's n words
    parts: tuple[Part, ...]  # the sample of texts, in places
    pairs: tuple[tuple[tuple[str, ...], np.ndarray], ...]  # pairs of types with as many word pairs, and those
    pair_places: np.ndarray
    one_pair: dict[str, tuple[int, int, str]]  # one word pair of each: places in `pair_places`, and the words

    @staticmethod
    def make(
        training: Training,
        given: TokenTypes | Mapping[str, str] | None,
        rules: TypeRules | None,
        settings: WatchSettings,
    ) -> "_View":
        model, train = training.model, training.train
        types = _types(given, rules, training)
        rows = sample_texts(train, settings.texts, seed=settings.seed)
        flat, lengths = flat_texts(train.ids, train.offsets, rows)
        ids = np.unique(np.concatenate([flat, *types.members.values()])).astype(np.int64)
        sample = TypedSample.draw(types, settings.pair_words, seed=settings.seed)
        texts = EncodedTexts(
            np.searchsorted(ids, flat),
            np.concatenate([[0], lengths.cumsum()]),
            np.asarray(train.labels)[rows],
            np.zeros(len(rows), np.int32),
        )
        members = {name: np.searchsorted(ids, own) for name, own in types.members.items()}
        averaging = np.zeros((len(ids), len(members)))
        for column, places in zip(averaging.T, members.values(), strict=True):
            column[places] = 1 / max(len(places), 1)
        one_pair: dict[str, tuple[int, int, str]] = {}
        alike: defaultdict[int, dict[str, np.ndarray]] = defaultdict(dict)
        draw = np.random.default_rng(settings.seed)
        for name, i, k in sample.pairs():
            if len(i):
                at = draw.integers(len(i))
                words = ", ".join(types.words[sample.ids[place]] for place in (i[at], k[at]))
                one_pair[name] = int(i[at]), int(k[at]), words
                alike[len(i)][name] = i * len(sample.ids) + k
        return _View(
            ids=torch.from_numpy(ids).to(model.head.weight.device),
            members=members,
            averaging=averaging,
            parts=tuple(parts_of(texts, rows=len(ids), device=model.head.weight.device)),
            pairs=tuple((tuple(own), np.stack(list(own.values()))) for own in alike.values()),
            pair_places=np.searchsorted(ids, sample.ids),
            one_pair=one_pair,
        )

    def rows(self, training: Training) -> Iterator[dict[str, Any]]:
        """All rows of this moment."""
        model = training.model
        if not isinstance(model, FlatClassifier):
            raise UserError("A watch looks at words, but in a hierarchical model the head reads sentences.")
        if why_not(model):
            found = token_scores(model, ids=self.ids.cpu().numpy()).columns()
            yield from self._by_type(found)
            yield from _alignment(model)
            return
        form = paper_form(model).take(self.ids)
        sums = add_up(form, self.parts)
        flow = Flow((), model.classes, form, sums, terms(form, sums))
        columns = {name: part.cpu().numpy() for name, part in flow.columns().items()}
        scores = {name: columns.pop(name) for name in _score_columns(flow)}
        yield from self._by_type(scores)
        yield from self._means_by_type(columns)
        vectors = {"omega": form.table} | ({"states": form.keys} if form.family == "dp-a" else {})
        for name, table in vectors.items():
            some = table[self.pair_places]
            products = (some @ some.T).cpu().numpy()
            yield from self._by_pair(name, products)
            for group, (i, k, words) in self.one_pair.items():
                value = float(products[i, k])
                yield {"quantity": f"{name} of one pair", "group": group, "mean": value, "words": words}
        norms = form.head.square().sum(1).tolist()
        for name, aligned, norm in zip(flow.scores, form.alignment.tolist(), norms, strict=True):
            yield {"quantity": "alignment", "group": name, "mean": aligned}
            yield {"quantity": "head norm", "group": name, "mean": norm}
        yield {"quantity": "context norm", "group": "", "mean": float(form.context.square().sum())}
        for name in ("beta", "loss", "accuracy", "spread"):
            yield {"quantity": name, "group": "", "mean": getattr(sums, name), "count": sums.instances}

    def _by_type(self, columns: Mapping[str, np.ndarray]) -> Iterator[dict[str, Any]]:
        """With quartiles."""
        together = np.stack(list(columns.values()))  # (C, R)
        for group, places in self.members.items():
            yield from _told(list(columns), group, summaries(together[:, places]), len(places))

    def _means_by_type(self, columns: Mapping[str, np.ndarray]) -> Iterator[dict[str, Any]]:
        """Means and sizes alone, of all types in one product."""
        together = np.stack(list(columns.values()), dtype=np.float64)  # (C, R)
        means, sizes = together @ self.averaging, np.abs(together) @ self.averaging  # (C, types)
        for place, (group, places) in enumerate(self.members.items()):
            found = {"mean": means[:, place], "size": sizes[:, place]}
            yield from _told(list(columns), group, found, len(places))

    def _by_pair(self, quantity: str, values: np.ndarray) -> Iterator[dict[str, Any]]:
        """In the order of `one_pair`; pairs of types with as many word pairs are sorted in one go."""
        told: dict[str, dict[str, Any]] = {}
        for groups, places in self.pairs:
            found = {name: part.tolist() for name, part in summaries(values.ravel()[places]).items()}
            for at, group in enumerate(groups):
                told[group] = {name: part[at] for name, part in found.items()} | {"count": places.shape[1]}
        for group in self.one_pair:
            yield {"quantity": quantity, "group": group, **told[group]}


def _types(
    given: TokenTypes | Mapping[str, str] | None, rules: TypeRules | None, training: Training
) -> TokenTypes:
    model = training.model
    if isinstance(given, TokenTypes):
        return given
    if given is not None:
        return TokenTypes.from_names(given, model.vocabulary, classes=model.classes)
    return find_types(training.train, model.vocabulary, classes=model.classes, rules=rules)


def sample_texts(encoded: EncodedTexts, size: int, *, seed: int) -> np.ndarray:
    """Rows of about `size` texts, the same share of each class and at least one; all if there are no more."""
    if len(encoded) <= size:
        return np.arange(len(encoded))
    labels, generator = np.asarray(encoded.labels), np.random.default_rng(seed)
    parts = []
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        count = max(1, round(len(own) * size / len(labels)))
        parts.append(generator.choice(own, count, replace=False))
    return np.sort(np.concatenate(parts))


def watched(
    history: "pd.DataFrame | Iterable[Mapping[str, Any]]", quantity: str, *, statistic: str = "mean"
) -> pd.DataFrame:
    """One quantity over the steps: a row a moment, a column a group."""
    frame = history if isinstance(history, pd.DataFrame) else pd.DataFrame(list(history))
    rows = frame[frame["kind"] == KIND] if "kind" in frame else frame.iloc[:0]
    if not len(rows):
        raise UserError("This run was not watched: train it with a Watch among its callbacks.")
    choose_from("watched quantity", quantity, sorted(set(rows["quantity"])))
    choose_from("statistic", statistic, (*STATISTICS, "count"))
    own = rows[rows["quantity"] == quantity]
    groups = list(dict.fromkeys(own["group"]))
    return own.pivot_table(index="step", columns="group", values=statistic, dropna=False)[groups]


def _score_columns(flow: Flow) -> list[str]:
    return [*(f"polarity {name}".strip() for name in flow.scores), "attention"]


def _alignment(model: FlatClassifier) -> Iterator[dict[str, Any]]:
    if model.settings.control == "uniform" or model.context_vector is None:
        return
    if model.settings.attention in ("dot", "scaled-dot", "general", "additive"):
        names = ("",) if model.head.out_features == 1 else model.classes
        for name, value in zip(names, model.alignment().tolist(), strict=True):
            yield {"quantity": "alignment", "group": name, "mean": value}


def _told(
    quantities: list[str], group: str, found: Mapping[str, np.ndarray], count: int
) -> Iterator[dict[str, Any]]:
    if not count:
        return
    parts = {name: values.tolist() for name, values in found.items()}
    for place, quantity in enumerate(quantities):
        row = {name: values[place] for name, values in parts.items()}
        yield {"quantity": quantity, "group": group, **row, "count": count}
