"""A small corpus, runs on it, and a workbench whose cells are worked on in this process."""

from pathlib import Path

import numpy as np
import pandas as pd

from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.papers.debate.trainings import Trainings
from heedful.study.workbench import Bench

CORPUS = make_synthetic(Synthetic(neutral=23, polar=5, per_class=60, held_out=23), name="small")
SMALL = {"embedding": 11, "hidden": 6, "batch": 17, "epochs": 5, "rate": 0.02}
MODEL = "jain-wallace-average-tanh"


def write_corpus(folder: Path) -> Path:
    """The corpus as a CSV that commands can read, with its splits."""
    path = folder / "small.csv"
    frame = pd.DataFrame(
        {
            "text": list(CORPUS.texts),
            "label": [CORPUS.label_names[label] for label in CORPUS.labels],
            "split": list(CORPUS.splits),
        }
    )
    frame.to_csv(path, index=False)
    return path


def trainings(folder: Path, *, models=(MODEL,), seeds=(0, 1), **changes) -> Trainings:
    return Trainings(
        (str(write_corpus(folder)),), tuple(models), tuple(seeds), {**SMALL, **changes}, limit=13
    )


def work_here(monkeypatch) -> None:
    """Do a workbench's cells in this process: a new one takes seconds to start."""

    def here(work, job, cells, *, workers=None, done=None):
        for cell in cells:
            found = work(job, cell)
            if done is not None:
                done(cell, found)
        return iter(())

    monkeypatch.setattr("heedful.study.engines.in_processes", here)


def bench_in(folder: Path, *, quick: bool = True) -> Bench:
    return Bench(folder / "bench", quick=quick)


def instances(values, *, corpus="made", model="m", seed=0, **columns) -> pd.DataFrame:
    """A made-up table of texts, with one column of numbers called value."""
    numbers = np.asarray(values, dtype=float)
    about = {"corpus": corpus, "model": model, "seed": seed, "instance": np.arange(len(numbers))}
    return pd.DataFrame({**about, **columns, "value": numbers})
