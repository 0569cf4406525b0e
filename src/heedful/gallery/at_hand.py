"""Which task an entry has here: the real one where its data are, else the generated one, and that is said."""

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from heedful import __version__
from heedful.data.named import data_folder
from heedful.gallery.entry import Entry, Outcome, RealTask, Size
from heedful.store import digest_of

FOLDER = "gallery"  # inside the data folder


@dataclass(frozen=True)
class AtHand:
    """An entry with the task that it has here, and a sentence about its data."""

    entry: Entry
    data: str
    is_real: bool = False
    fingerprint: str = ""  # of the data, the code and the device, by which a trained seed is known again


def at_hand(entry: Entry, *, size: Size, data_dir: str | Path | None = None, device: str = "cpu") -> AtHand:
    """The entry on its real data if all files are there, else on its generated task."""
    real = entry.real
    if real is None:
        return AtHand(entry, "Generated data: this entry has no real task yet.")
    above = data_folder(data_dir)
    folder = above / FOLDER if above is not None else None
    if folder is None or not all((folder / name).is_file() for name in real.files):
        return AtHand(entry, f"Generated data: the real task needs {' and '.join(real.files)}. {real.obtain}")
    chosen = replace(
        entry,
        task=real.task,
        without=real.without,
        measure=real.measure,
        better=real.better,
        train=partial(_train, real=real, folder=folder, device=device),
        aim=None,
    )
    asked = [_digest(folder / name) for name in real.files] + [_code(), __version__, device, size]
    return AtHand(chosen, f"Real data: {' and '.join(real.files)}. {real.obtain}", True, digest_of(asked))


def _train(seed: int, size: Size, *, real: RealTask, folder: Path, device: str) -> Outcome:
    return real.train(seed, size, folder, device)


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()


def _code() -> str:
    """Stands for the code that trains: a seed that another version trained is trained again."""
    here = Path(__file__).parent
    sources = sorted([*here.glob("*.py"), *(here.parent / "attention").glob("*.py")])
    return digest_of([_digest(path) for path in sources])
