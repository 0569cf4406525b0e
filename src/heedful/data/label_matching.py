"""The labels of a file as the classes of a model: by name, as somebody says, or by how the model decides.

A file says 0 and 1, the model ham and spam. What belongs together is told by the model itself: the matching
under which its decisions agree best with the labels, if no other comes near. Axes: N texts, L labels of the
corpus, K classes of the model.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from heedful.data.corpus import Corpus
from heedful.errors import UserError, listed, nearest
from heedful.records.wording import in_percent

Decide = Callable[[Sequence[str]], Sequence[int] | np.ndarray]

ASKED = 300  # texts whose decisions are looked at
SURE = 3.0  # standard errors between the best matching and the next


def match_labels(
    corpus: Corpus,
    classes: Sequence[str],
    *,
    label_map: Mapping[str, str] | None = None,
    decide: Decide | None = None,
) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus with its labels numbered as the model numbers its classes, and what had to be assumed.

    Names are compared without upper and lower case. `label_map` is label → class, as `read_label_map` reads
    it. Otherwise `decide` is asked for the class numbers that the model gives to some texts.
    """
    classes = tuple(classes)
    if label_map is not None:
        return _numbered(corpus, classes, _as_said(corpus, classes, label_map)), ()
    if corpus.label_names == classes:
        return corpus, ()
    place = {_plain(name): number for number, name in enumerate(classes)}
    if all(_plain(label) in place for label in corpus.label_names):
        return _numbered(corpus, classes, [place[_plain(label)] for label in corpus.label_names]), ()
    if len(corpus.label_names) > len(classes) or decide is None:
        raise _refusal(corpus, classes, "what belongs together cannot be told")
    order, agreement, asked = _by_decisions(corpus, classes, decide)
    pairs = ",".join(f"{label}={classes[k]}" for label, k in zip(corpus.label_names, order, strict=True))
    note = (
        f"Matched labels to the model's classes by its decisions, which agree in {in_percent(agreement)} of "
        f"{asked:,} texts: {pairs} (say otherwise with --label-map)."
    )
    return _numbered(corpus, classes, order), (note,)


def read_label_map(said: str) -> dict[str, str]:
    """Read "0=ham,1=spam" as label → class."""
    pairs = [part.partition("=") for part in said.split(",")]
    if not all(label.strip() and equals and name.strip() for label, equals, name in pairs):
        raise UserError(f"A label map is written LABEL=CLASS,LABEL=CLASS, but it is {said[:200]!r}.")
    found = {label.strip(): name.strip() for label, _, name in pairs}
    if len(found) < len(pairs):
        raise UserError(f"A label map names each label once, but it is {said[:200]!r}.")
    return found


def _as_said(corpus: Corpus, classes: tuple[str, ...], label_map: Mapping[str, str]) -> list[int]:
    place = {_plain(name): number for number, name in enumerate(classes)}
    for label, name in label_map.items():
        if label not in corpus.label_names:
            raise UserError(
                f"{corpus.name} has no label {label!r}, which the label map names"
                f"{nearest(label, corpus.label_names)}."
            )
        if _plain(name) not in place:
            raise UserError(
                f"The model has no class {name!r}, which the label map names{nearest(name, classes)}."
            )
    missing = [label for label in corpus.label_names if label not in label_map]
    if missing:
        raise UserError(f"The label map must name every label, but {listed(missing)} is missing.")
    return [place[_plain(label_map[label])] for label in corpus.label_names]


def _by_decisions(corpus: Corpus, classes: tuple[str, ...], decide: Decide) -> tuple[list[int], float, int]:
    """The class of each label (L), how many of the texts agree with that, and how many were asked."""
    rows = _some_of_each(corpus.labels, ASKED)
    decided = np.asarray(decide([corpus.texts[row] for row in rows]), np.int64)
    labels = corpus.labels[rows]
    counts = np.zeros((len(corpus.label_names), len(classes)))
    np.add.at(counts, (labels, decided), 1)
    # Each label counts alike: a model that always says the same would otherwise "agree" with the commonest.
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    best = _assign(shares)
    if not _is_clear(shares, counts.sum(1), best):
        numbers = _by_number(corpus.label_names, classes)
        if numbers is None:
            raise _refusal(corpus, classes, "its decisions do not tell what belongs together")
        best = np.array(numbers)
    return best.tolist(), float((decided == best[labels]).mean()), len(rows)


def _is_clear(shares: np.ndarray, sizes: np.ndarray, best: np.ndarray) -> bool:
    """Whether the best matching is better than every other by more than chance could make it."""
    every = np.arange(len(best))
    for label, chosen in enumerate(best):
        barred = shares.copy()
        barred[label, chosen] = -np.inf
        if not np.isfinite(barred[label]).any():
            continue
        other = _assign(np.where(np.isfinite(barred), barred, -1e6))
        moved = every[other != best]
        own, theirs = shares[moved, best[moved]], shares[moved, other[moved]]
        margin = float((own - theirs).sum())
        variance = float(((own + theirs - (own - theirs) ** 2) / np.maximum(sizes[moved], 1)).sum())
        if margin <= SURE * max(variance, 1 / sizes.sum() ** 2) ** 0.5:
            return False
    return True


def _assign(shares: np.ndarray) -> np.ndarray:
    columns: np.ndarray = linear_sum_assignment(shares, maximize=True)[1]
    return columns


def _some_of_each(labels: np.ndarray, most: int) -> np.ndarray:
    """At most so many rows, as many of each label as there are, drawn by chance."""
    order = np.random.default_rng(0).permutation(len(labels))
    kinds = np.unique(labels)
    each = max(1, most // max(len(kinds), 1))
    return np.sort(np.concatenate([order[labels[order] == kind][:each] for kind in kinds]))


def _by_number(labels: Sequence[str], classes: Sequence[str]) -> list[int] | None:
    """LABEL_1 for 1: the classes whose names end in the numbers that the labels are, if all are."""
    place = {match[0]: number for number, name in enumerate(classes) if (match := re.search(r"\d+$", name))}
    found = [place.get(label) for label in labels]
    return None if None in found else [int(number) for number in found if number is not None]


def _numbered(corpus: Corpus, classes: tuple[str, ...], order: Sequence[int]) -> Corpus:
    """The corpus in the model's numbers; a model whose classes have no names takes those of the file."""
    names = classes
    if len(order) == len(classes) == len(set(order)) and all(map(_says_nothing, classes)):
        names = tuple(corpus.label_names[list(order).index(number)] for number in range(len(classes)))
    labels = np.array(order, dtype=np.int64)[corpus.labels]
    return replace(corpus, labels=labels, label_names=names)


def _refusal(corpus: Corpus, classes: Sequence[str], why: str) -> UserError:
    example = ",".join(
        f"{label}={name}" for label, name in zip(corpus.label_names[:3], classes[:3], strict=False)
    )
    return UserError(
        f"The model knows the classes {listed(classes)}, but the labels of {corpus.name} are "
        f"{listed(corpus.label_names)}, and {why}: say it with --label-map, such as {example}."
    )


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", " ").replace("-", " ")


def _says_nothing(name: str) -> bool:
    return name.lower().removeprefix("label").strip("_ ").isdigit()
