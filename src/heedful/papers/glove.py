"""GloVe's vectors (6B, 100 wide), where the data folder has them, for experiments that start from them."""

import shutil
from pathlib import Path

from heedful.data.named import data_folder
from heedful.files import write_atomically
from heedful.study.workbench import Bench

VECTORS, WIDTH = "glove.6B.100d", 100
PLACE = f"vectors/{VECTORS}.txt"  # in the data folder, and packed or cut to some words as well


def glove(bench: Bench) -> str | None:
    """Where they lie in the bench's folder, so that a run's settings name no path of this machine."""
    folder = data_folder(bench.data_dir)
    found = sorted(folder.glob(f"vectors/{VECTORS}*.txt*")) if folder else []
    if not found:
        return None
    inside = Path("vectors") / f"{VECTORS}{'.txt.gz' if found[0].suffix == '.gz' else '.txt'}"
    if not (bench.folder / inside).exists():
        with found[0].open("rb") as theirs, write_atomically(bench.folder / inside, "wb") as ours:
            shutil.copyfileobj(theirs, ours)
    return str(inside)
