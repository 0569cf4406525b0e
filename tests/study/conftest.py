"""A small CSV that a model learns in a moment, and a study over it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import Cluster

HEADING = 'corpora = ["reviews.csv"]\n'
QUICK = "[settings]\nepochs = 2\nembedding = 13\nbatch = 7\nrate = 0.1\n"


def write_reviews(path: Path, rows: int = 60) -> Path:
    words = ("film", "plot", "cast", "scene", "music")
    lines = [
        f"{'good' if row % 2 else 'bad'} {words[row % 5]} number {row},{'liked' if row % 2 else 'disliked'}"
        for row in range(rows)
    ]
    path.write_text("\n".join(["text,label", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    """Two scales × two seeds over `reviews.csv`, which lies beside it."""
    write_reviews(tmp_path / "reviews.csv")
    path = tmp_path / "small.toml"
    path.write_text(f"{HEADING}seeds = [3, 5]\n{QUICK}[grid]\nscale = [1, 10]\n", encoding="utf-8")
    return path


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler and two workers, processes of their own."""
    made = Cluster(tmp_path)
    yield made.start()
    made.stop()
