"""What an audit's folder holds already: how much of each stage is left, and which models to train."""

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from heedful.training.run import RESULT

if TYPE_CHECKING:
    from heedful.study.auditing.plan import AuditSettings

ROWS, RECORDS, RUNS = "rows", "records", "runs"


def share_left(folder: Path, stage: str, *, texts: int) -> float:
    """The share of a stage's texts that must still be measured: 0 of a finished stage."""
    if _finished(folder, stage):
        return 0.0
    done = 0
    for part in (folder / ROWS / stage).glob("part-*.parquet"):
        with suppress(pa.ArrowException, OSError):  # a damaged one is named when the stage reads it
            done += pq.read_metadata(part).num_rows
    return max(0.0, 1 - done / max(1, texts))


def models_left(folder: Path, settings: "AuditSettings", *, seed: int, control: str = "none") -> list[str]:
    """The models that must still be trained again, as their runs are named; `seed` is the audited one's."""
    names = []
    if settings.uniform and control == "none" and not (folder / RECORDS / "uniform.json").exists():
        names.append("uniform")
    # With their texts kept the models themselves are needed too, for the stability of each word.
    if settings.keep_texts or not _finished(folder, "seeds"):
        names += [f"seed-{other}" for other in other_seeds(seed, settings.seeds)]
    return [name for name in names if not is_kept(folder, name)]


def is_kept(folder: Path, name: str) -> bool:
    """Whether this model was trained again before, and kept."""
    return (folder / RUNS / name / RESULT).exists()


def other_seeds(seed: int, models: int) -> list[int]:
    """The seeds of the other models, the next ones; after the last seed comes 0."""
    return [(seed + step) % 2**63 for step in range(1, models)]


def _finished(folder: Path, stage: str) -> bool:
    """Whether its time was noted, which is done when a stage ends."""
    try:
        return stage in json.loads((folder / RECORDS / "seconds.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # none, or a damaged one, which is named when it is read
        return False
