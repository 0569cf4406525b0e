"""What the truth bench publishes, from the rows of its models: a function a table."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta

from heedful.auditing.rule import FAITHFUL, NOT_SHOWN, READINGS, UNKNOWN
from heedful.bench.truth.catalogue import BUILT
from heedful.bench.truth.covering import REGRESSED
from heedful.bench.truth.labels import LABELS, MOSTLY, PART, RIGHT, SELDOM, WRONG

LEVEL = 0.95  # of one-sided ends
ENOUGH = 0.95  # precision@1 of a ranking that finds the planted words
INTERVALS = {"skill": "skill", "paint": "paint", "strongest": "strongest word"}
RECOMMENDED = "what is recommended"


@dataclass(frozen=True)
class Rate:
    """How many of how many, with the one-sided end on the side that matters, and what was to be reached."""

    name: str
    hits: int
    of: int
    end: float  # upper for what should be rare, lower for what should be frequent
    aim: float
    rare: bool
    counted: str = ""  # what is counted, where that is not models

    @property
    def share(self) -> float:
        """The share itself; not a number of none."""
        return self.hits / self.of if self.of else float("nan")

    @property
    def share_reaches(self) -> bool | None:
        """Whether the share is as good as the aim; None of no models."""
        return self._reaches(self.share)

    @property
    def end_reaches(self) -> bool | None:
        """Whether that is sure: the end is as good as the aim. None too where none at all is the aim."""
        return None if self.rare and not self.aim else self._reaches(self.end)

    def _reaches(self, number: float) -> bool | None:
        if not self.of:
            return None
        return number <= self.aim if self.rare else number >= self.aim


def upper_end(hits: int, of: int, *, level: float = LEVEL) -> float:
    """The one-sided upper end of a share (Clopper & Pearson, 1934)."""
    return 1.0 if hits >= of else float(beta.ppf(level, hits + 1, of - hits))


def lower_end(hits: int, of: int, *, level: float = LEVEL) -> float:
    """The one-sided lower end of a share."""
    return 0.0 if hits <= 0 else float(beta.ppf(1 - level, hits, of - hits + 1))


def audited(results: pd.DataFrame) -> pd.DataFrame:
    """The models that could be made."""
    return results[results["made"].astype(bool)]


def confusion(results: pd.DataFrame, by: str | None = None) -> pd.DataFrame:
    """How many models of each label got each reading; by a column of the rows where one is named."""
    found = audited(results)
    keys = [found["label"]] if by is None else [found[by], found["label"]]
    table = pd.crosstab(keys, found["reading"])
    return table.reindex(columns=list(READINGS), fill_value=0).sort_index()


def rates(results: pd.DataFrame) -> list[Rate]:
    """The error rates, each beside what was to be reached."""
    found = audited(results)
    told = {label: found[found["label"] == label] for label in LABELS}
    blind = told[PART][told[PART]["first"] < 0.5]
    listed = [
        _rate("wrong → faithful", told[WRONG]["reading"] == FAITHFUL, 0.01, rare=True),
        _rate("part → faithful", told[PART]["reading"] == FAITHFUL, 0.05, rare=True),
        _rate("part, top word right in under half → faithful", blind["reading"] == FAITHFUL, 0.0, rare=True),
        _rate("right → faithful", told[RIGHT]["reading"] == FAITHFUL, 0.9),
        _rate("wrong → do not show", told[WRONG]["reading"] == NOT_SHOWN, 0.95),
        _rate("right → do not show", told[RIGHT]["reading"] == NOT_SHOWN, 0.01, rare=True),
        _rate("cannot say", found["reading"] == UNKNOWN, 0.1, rare=True),
    ]
    return [*listed, *_repeated(found), *coverage(found), *_recommended(found)]


def auc(results: pd.DataFrame, column: str = "skill") -> float:
    """The chance that a right model has more of a number than a wrong one (area under the ROC curve)."""
    return _above(*_right_and_wrong(results, column))


def _above(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> float:
    if not (len(right) and len(wrong)):
        return float("nan")
    above = (right[:, None] > wrong).mean() + 0.5 * (right[:, None] == wrong).mean()
    return float(above)


def roc(results: pd.DataFrame, column: str = "skill") -> pd.DataFrame:
    """For each threshold the share of right and of wrong models at or above it."""
    right, wrong = _right_and_wrong(results, column)
    cuts = np.unique(np.concatenate([right, wrong]))[::-1]
    return pd.DataFrame(
        {
            "threshold": cuts,
            "right": [(right >= cut).mean() for cut in cuts],
            "wrong": [(wrong >= cut).mean() for cut in cuts],
        }
    )


def rankings(results: pd.DataFrame) -> pd.DataFrame:
    """Of every map: models that have it, precision@1 and @k against the planted words, and median skill.

    Also how well its skill tells models in which this map is right from those in which it is wrong. Of where
    it aims only precision is in the rows, so that precision@1 alone says which those are. The last row is
    what is recommended, where something is.
    """
    found = audited(results)
    rows = [_ranking(found, name) for name in _maps(found)]
    table = pd.DataFrame(rows).sort_values("precision@1", ascending=False, ignore_index=True)
    if "instead_first" not in found:
        return table
    one = found[found["instead_first"].notna()]
    at_k = [row.get(f"k_{row['instead']}", np.nan) for row in one.to_dict("records")]
    last = {
        "ranking": RECOMMENDED,
        "models": len(one),
        "precision@1": one["instead_first"].mean(),
        "precision@k": pd.Series(at_k, dtype=float).mean(),
        "finds": (one["instead_first"] >= ENOUGH).mean(),
    }
    return pd.concat([table, pd.DataFrame([last])], ignore_index=True)


def _maps(found: pd.DataFrame) -> list[str]:
    """The maps that all models have that can have them."""
    names = [name.removeprefix("first_") for name in found if name.startswith("first_")]
    return [name for name in names if name not in REGRESSED]


def _ranking(found: pd.DataFrame, name: str) -> dict[str, str | float]:
    first = found[f"first_{name}"]
    skill = found.get(f"skill_{name}", pd.Series(np.nan, found.index))
    right, wrong = ((skill[where].dropna()) for where in (first >= MOSTLY, first < SELDOM))
    return {
        "ranking": name,
        "models": int(first.count()),
        "precision@1": first.mean(),
        "precision@k": found[f"k_{name}"].mean(),
        "finds": (first.dropna() >= ENOUGH).mean(),
        "skill": skill.median(),
        "right": len(right),
        "wrong": len(wrong),
        "auc": _above(right.to_numpy(), wrong.to_numpy()),
    }


def regressions(results: pd.DataFrame) -> pd.DataFrame:
    """Regressions on an audit's deletions beside the other maps, all on the models that have them.

    Judged by where they aim, and by their median skill when words are hidden: they have not seen these.
    """
    found = audited(results)
    if f"first_{REGRESSED[0]}" not in found:
        return pd.DataFrame()
    found = found[found[f"first_{REGRESSED[0]}"].notna()]
    rows = [
        {
            "ranking": name,
            "models": int(found[f"first_{name}"].count()),
            "precision@1": found[f"first_{name}"].mean(),
            "precision@k": found[f"k_{name}"].mean(),
            "hiding": found[f"hiding_{name}"].median(),
        }
        for name in [*_maps(found), *REGRESSED]
    ]
    table = pd.DataFrame(rows)
    return table[table["models"] > 0].sort_values("precision@k", ascending=False, ignore_index=True)


def costs(results: pd.DataFrame) -> pd.DataFrame:
    """What making and auditing took, by kind and architecture."""
    found = audited(results)
    columns = ["seconds_made", "seconds_audited", "evaluations", "texts"]
    table = found.groupby(["kind", "architecture"])[columns].mean()
    return table.assign(models=found.groupby(["kind", "architecture"]).size())


def left_out(results: pd.DataFrame) -> pd.DataFrame:
    """The models that could not be made, counted by why."""
    found = results[~results["made"].astype(bool)]
    return found.groupby("fault").size().rename("models").reset_index()


def _rate(name: str, hits: "pd.Series[bool]", aim: float, *, rare: bool = False) -> Rate:
    count, of = int(hits.sum()), len(hits)
    end = upper_end(count, of) if rare else lower_end(count, of)
    return Rate(name, count, of, end, aim, rare)


def _repeated(found: pd.DataFrame) -> Iterator[Rate]:
    if "second_reading" in found:
        twice = found[found["second_reading"].notna()]
        yield _rate("same reading on other texts", twice["reading"] == twice["second_reading"], 0.95)


def coverage(results: pd.DataFrame, *, kind: str = "covered") -> list[Rate]:
    """How many audits have an interval that covers, by how deletions are read; or those of 95 % (`at_95`)."""
    found = audited(results)
    if f"{kind}_skill" not in found:
        return []
    found = found[found[f"{kind}_skill"].notna()]
    listed = []
    for how, part in (
        ("products", found[found["kind"] == BUILT]),
        ("texts read again", found[found["kind"] != BUILT]),
    ):
        of = int(part["covered_audits"].sum())
        for name, called in INTERVALS.items() if of else ():
            hits = int(part[f"{kind}_{name}"].sum())
            said = f"interval of {called} covers, deletions are {how}"
            counted = f"audits of {len(part)} models"
            listed.append(Rate(said, hits, of, lower_end(hits, of), 0.93, rare=False, counted=counted))
    return listed


def _recommended(found: pd.DataFrame) -> Iterator[Rate]:
    """Where some map finds the planted words, the one that is recommended finds them too."""
    if "instead_first" in found:
        some = found[(found["best_first"] >= ENOUGH) & found["instead_first"].notna()]
        yield _rate("what is recommended finds the words", some["instead_first"] >= ENOUGH, 0.95)


def _right_and_wrong(results: pd.DataFrame, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    found = audited(results)
    right, wrong = (
        found.loc[found["label"] == label, column].dropna().to_numpy() for label in (RIGHT, WRONG)
    )
    return right, wrong
