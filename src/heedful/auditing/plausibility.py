"""Would a person give the same reasons? Rankings beside words that people marked (DeYoung et al., 2020).

For each text with some but not all words marked: the area under precision and recall (average precision), and
token F1 and IoU of the ranking's top k with k as many as were marked. What convinces people need not be what
the model used: plausibility never enters the verdict.

Axes: B texts, T words.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from heedful.auditing.asking import Asking
from heedful.auditing.maps import paint, read_only
from heedful.auditing.names import RANDOM, SHUFFLED
from heedful.auditing.reading import PLACES
from heedful.data.pairs import paired
from heedful.data.tables import table_rows
from heedful.data.words import split_words
from heedful.errors import UserError
from heedful.records import Finding
from heedful.trials.groups import mean_findings
from heedful.trials.rankings.word_rankings import word_order
from heedful.trials.stream import walk

MEASURES = {
    "AUPRC": "average precision of the ranking for the marked words",
    "token F1": "F1 of the ranking's top k words and the k marked ones",
    "IoU": "words in both ÷ words in either, of the ranking's top k and the k marked ones",
}
NULLS = ("random", "shuffled")


def plausibility(asking: Asking, rationales: Sequence[Any]) -> list[Finding]:
    """AUPRC, token F1 and IoU of every ranking, beside random and shuffled weights.

    `rationales` has for every text of the split 0 and 1 for each word, or its marked words as a text.
    """
    plan, seed = asking.plan, asking.seed
    texts = list(plan.audited.corpus.split(plan.settings.split).texts)
    check_rationales(rationales, len(texts))
    subject, rows = plan.audited.subject, asking.rows
    maps = replace(plan.maps, names=(*plan.maps.cheap, RANDOM, SHUFFLED), dear=frozenset())
    parts = []
    for whole in walk(subject, texts, rows, places=PLACES):
        reader, read = read_only(subject, whole)
        assert whole.words is not None
        marks = [
            marked(rationales[row], words.forms, unread=words.unread)[read[place, : len(words)].cpu().numpy()]
            for place, (row, words) in enumerate(zip(whole.rows, whole.words, strict=True))
        ]
        for name, values in paint(reader, maps, seed=seed).items():
            order = word_order(values, reader.batch, seed=seed).cpu().numpy()
            parts.append(agreement(name, order, marks))
    frame = pd.concat(parts, ignore_index=True)
    if not len(frame):
        raise UserError("No audited text has some words marked and some not: there is nothing to compare.")
    return _findings(frame, seed=seed)


def check_rationales(rationales: Sequence[Any], texts: int) -> None:
    """Refuse more or fewer rationales than there are texts."""
    if len(rationales) != texts:
        raise UserError(f"There are {texts:,} texts, but {len(rationales):,} rationales: give one for each.")


def marked(rationale: Any, forms: Sequence[str], *, unread: int = 0) -> NDArray[np.bool_]:
    """Which words (n,) a rationale marks: it has 0 and 1 for each word, or is a text of the marked words.

    It may go on over the `unread` words that follow these in the text.
    """
    if isinstance(rationale, str):
        chosen = {form.lower() for form in split_words(rationale).forms}
        return np.array([form.lower() in chosen for form in forms], dtype=bool)
    given = np.asarray(torch.as_tensor(rationale))
    if given.ndim != 1 or not np.isin(given, (0, 1)).all():
        raise UserError(
            "A rationale has 0 and 1 for each word of its text, or is a text of the marked words."
        )
    if len(given) not in (len(forms), len(forms) + unread):
        raise UserError(
            f"A rationale marks {len(given)} words, but its text has {len(forms) + unread} as the model "
            f"splits it (“{' '.join(forms)[:60]}”): give 0 or 1 for each of those."
        )
    return given[: len(forms)].astype(bool)


def read_column(
    path: str | Path, texts: Sequence[str], *, text: str, column: str, text_pair: str | None = None
) -> list[str | list[int]]:
    """A cell of each text, from a column of the file it came from; "" for a text without one.

    The cell of a rationale is a text of the marked words, or (JSON Lines, Parquet) a list: of words, or of 0
    and 1.
    """
    names = [text, column] if text_pair is None else [text, column, text_pair]
    known = {_text_of(cells): _rationale(cells[1]) for _, cells in table_rows(Path(path), names)}
    for one in texts:
        if one not in known:
            raise UserError(f"{path} has no row with the text “{one[:60]}”, so its {column} is unknown.")
    return [known[one] for one in texts]


def _text_of(cells: Sequence[Any]) -> str:
    return str(cells[0]) if len(cells) < 3 else paired(str(cells[0]), str(cells[2]))


def _rationale(cell: Any) -> str | list[int]:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return ""
    if not isinstance(cell, list | tuple | np.ndarray):
        return str(cell)
    parts = list(cell)
    if any(isinstance(part, str) for part in parts):
        return " ".join(map(str, parts))
    return [int(part) for part in parts] if len(parts) else ""


def agreement(name: str, order: NDArray, marks: Sequence[NDArray[np.bool_]]) -> pd.DataFrame:
    """AUPRC, token F1 and IoU of an order of words (B,T), a row a text that has words marked and others not.

    k is the number marked, so precision, recall and F1 of the top k are the same.
    """
    found = []
    for row, mark in enumerate(marks):
        count = int(mark.sum())
        if not 0 < count < len(mark):
            continue
        hits = mark[order[row, : len(mark)]]
        both = int(hits[:count].sum())
        precision = hits.cumsum() / np.arange(1, len(hits) + 1)
        found.append((name, float(precision[hits].mean()), both / count, both / (2 * count - both)))
    return pd.DataFrame(found, columns=["ranking", *MEASURES])


def _findings(frame: pd.DataFrame, *, seed: int) -> list[Finding]:
    by_name = dict(tuple(frame.groupby("ranking", sort=False)))
    found = []
    for measure, measured in MEASURES.items():
        nulls = {name: by_name[name][measure].to_numpy() for name in NULLS}
        for name, part in by_name.items():
            if name not in NULLS:
                found += mean_findings(
                    part[measure].to_numpy(),
                    name=measure,
                    measured=f"mean over texts of the {measured}",
                    baselines=nulls,
                    better="higher",
                    coordinates={"ranking": str(name)},
                    seed=seed,
                )
    return found
