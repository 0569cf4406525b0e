"""Which task an entry has here: the real one where its data are, else the generated one, and that is said."""

import ast
import hashlib
import re
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from heedful import __version__
from heedful.data.named import data_folder
from heedful.gallery.entry import Entry, Outcome, RealTask, Size
from heedful.lazy import homes_in
from heedful.store import digest_of

FOLDER = "gallery"  # inside the data folder


@dataclass(frozen=True)
class AtHand:
    """An entry with the task that it has here, and a sentence about its data."""

    entry: Entry
    data: str
    is_real: bool = False
    fingerprint: str = ""  # of the data, the code and the device, by which a trained seed is known again

    @property
    def kind(self) -> str:
        """What the data are, in a word or two."""
        if not self.is_real:
            return "generated"
        return "real" if self.entry.real is not None and self.entry.real.files else "the paper's own"


def at_hand(entry: Entry, *, size: Size, data_dir: str | Path | None = None, device: str = "cpu") -> AtHand:
    """The entry on its real data if all files are there, else on its generated task."""
    real = entry.real
    if real is None:
        return AtHand(entry, "Generated data: this entry has no real task yet.")
    above = data_folder(data_dir)
    files = [_found(name, above) for name in real.files] if above is not None else []
    if len(files) < len(real.files) or not all(file.is_file() for file in files):
        return AtHand(entry, f"Generated data: the real task needs {' and '.join(real.files)}. {real.obtain}")
    chosen = replace(
        entry,
        task=real.task,
        without=real.without,
        measure=real.measure,
        better=real.better,
        train=partial(_train, real=real, folder=(above or Path()) / FOLDER, device=device),
        aim=None,
    )
    asked = [*map(_digest, files), code_of(real.train.__module__), __version__, device, size]
    said = f"Real data: {' and '.join(real.files)}." if files else "Data made by the paper's own rules."
    return AtHand(chosen, f"{said} {real.obtain}", True, digest_of(asked))


def _found(name: str, above: Path) -> Path:
    """Where a file is, or would be: in the gallery's folder, or beside it with the corpora."""
    inside = above / FOLDER / name
    return inside if inside.is_file() else above / name


def _train(seed: int, size: Size, *, real: RealTask, folder: Path, device: str) -> Outcome:
    return real.train(seed, size, folder, device)


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()


def code_of(module: str) -> dict[str, str]:
    """Digests of the module that trains and of all it imports from the gallery and from attention, by name.

    A seed that other code trained is trained again; one is kept while code that it never ran is changed.
    """
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            path = _path(name)
            found[name] = _digest(path)
            waiting += _imported(path.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def _imported(source: str) -> set[str]:
    """The modules of the gallery and of attention that a source names, also inside functions."""
    homes = homes_in(_path("heedful.attention").read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "heedful.attention":
            names |= {homes.get(alias.name, f"{node.module}.{alias.name}") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            module, _, inside = node.value.partition(":")  # as `Choices` name what is imported when chosen
            names.add(module if inside else "")
    return {name for name in names if re.fullmatch(r"heedful\.(gallery|attention)(\.\w+)+", name)}


def _path(module: str) -> Path:
    found = find_spec(module)
    assert found is not None, module  # it was imported, or an import names it
    assert found.origin is not None, module
    return Path(found.origin)
