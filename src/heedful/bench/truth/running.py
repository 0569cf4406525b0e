"""Make and audit the models of the catalogue, in processes, model by model, so that a restart goes on.

A folder gets `models/KEY.json`, one row per model, and `rows/KEY.parquet`, one row per audited text, from
which another rule can judge the model again; and, in the end, `results.csv` with all rows of the models.
"""

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from heedful.auditing.asking import Progress, Say
from heedful.bench.truth.catalogue import Recipe, recipes
from heedful.bench.truth.measuring import ROWS, Job, about, add, lacks, measure
from heedful.bench.truth.planting import GENERATED
from heedful.data.named import DATA_VARIABLE, check_source
from heedful.errors import UserError
from heedful.files import check_folder, write_atomically
from heedful.records.stored import load_json
from heedful.study.processes import in_processes

RESULTS, MODELS = "results.csv", "models"
DIGITS = 4  # of the numbers in a row
QUICK_TEXTS = 100


def run_part(
    part: str,
    out: Path,
    *,
    quick: bool,
    seed: int,
    processes: int,
    known: Path | None,
    data_dir: Path | None,
    say: Say,
    progress: Progress,
) -> pd.DataFrame:
    """Make and audit the models of a part of the catalogue, but for those whose rows are `known`."""
    chosen = recipes(part, quick=quick, seed=seed)
    check_folder(out, marks=(RESULTS,), parts=(MODELS, ROWS, RESULTS))
    job = Job(out, texts=QUICK_TEXTS, again=False, covered=False) if quick else Job(out)
    if data_dir is not None:
        os.environ[DATA_VARIABLE] = str(data_dir)  # the processes that make models read it too
    if known is not None:
        say(f"{take_over(out, chosen, known):,} models are taken from {known}.")
    with progress("models", len(chosen)) as advance:
        return run(chosen, job, processes=processes, done=lambda: advance(1))


def run(
    chosen: Sequence[Recipe],
    job: Job,
    *,
    processes: int = 2,
    done: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Make and audit these models, those that the folder has not yet, and return the rows of all.

    Of a model whose row is there only what its row lacks is measured (`measuring.lacks`).
    """
    for corpus in sorted({one.task.corpus for one in chosen} - {GENERATED}):
        check_source(corpus)
    for name in (MODELS, ROWS):
        (job.folder / name).mkdir(parents=True, exist_ok=True)
    waiting = []
    for one in chosen:
        row = read_row(job.folder, one)
        if row is None or lacks(one, job, row):
            waiting.append(one)
        else:
            done()
    failed = [
        {**about(recipe), "made": False, "fault": fault}  # tried again at the next start
        for recipe, fault in in_processes(_work, job, waiting, workers=processes, done=lambda *_: done())
    ]
    found = pd.concat([gather(job.folder, chosen), pd.DataFrame(failed)], ignore_index=True)
    with write_atomically(job.folder / RESULTS) as file:
        found.to_csv(file, index=False)
    return found


def gather(folder: Path, chosen: Iterable[Recipe]) -> pd.DataFrame:
    """The rows of these models that the folder has."""
    rows = [read_row(folder, recipe) for recipe in chosen]
    return pd.DataFrame([row for row in rows if row is not None])


def read_results(path: Path) -> pd.DataFrame:
    """The rows of models that a run left: its folder, or a file of rows."""
    file = path / RESULTS if path.is_dir() else path
    if not file.is_file():
        raise UserError(f"There are no rows of models at {file}: `heedful bench truth --out …` makes them.")
    found = pd.read_csv(file)
    missing = {"made", "label", "reading", "architecture"} - set(found.columns)
    if missing:
        raise UserError(f"{file} has no rows of the truth bench: the column {min(missing)} is missing.")
    return found


def read_row(folder: Path, recipe: Recipe) -> dict[str, Any] | None:
    """The row of a model, if it was made by the same recipe."""
    path = folder / MODELS / f"{recipe.key}.json"
    if not path.exists():
        return None
    row = load_json(path)
    return row if row["digest"] == recipe.digest else None


def take_over(folder: Path, chosen: Iterable[Recipe], published: Path) -> int:
    """Take rows that were published for rows of this run, where the recipe is the same; return how many."""
    known = read_results(published).set_index("key")
    count = 0
    for recipe in chosen:
        if recipe.key not in known.index or read_row(folder, recipe) is not None:
            continue
        row = known.loc[recipe.key]
        if row["digest"] == recipe.digest:
            _write(folder, recipe, {"key": recipe.key, **row.dropna().to_dict()})
            count += 1
    return count


def _work(job: Job, recipe: Recipe) -> None:
    row = read_row(job.folder, recipe)
    _write(job.folder, recipe, measure(recipe, job) if row is None else add(recipe, job, row))


def _write(folder: Path, recipe: Recipe, row: dict[str, Any]) -> None:
    (folder / MODELS).mkdir(parents=True, exist_ok=True)
    with write_atomically(folder / MODELS / f"{recipe.key}.json") as file:
        json.dump({key: _plain(value) for key, value in row.items()}, file)


def _plain(value: Any) -> Any:
    """A value that JSON has, numbers with as many digits as matter."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return round(float(value), DIGITS) if math.isfinite(value) else None
    return str(value)
