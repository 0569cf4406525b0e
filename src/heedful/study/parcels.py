"""Files on their way between two machines that share no disk: names below a folder, with their content."""

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from heedful.errors import UserError
from heedful.files import write_atomically
from heedful.records.manifest import digest
from heedful.store import digest_of

Parcel = Mapping[str, bytes]
ENDED = "result.json"  # of a run: who finds it takes the run for whole


def pack(folder: Path, paths: Iterable[Path] | None = None) -> dict[str, bytes]:
    """All files below a folder, or below these of its entries; hidden ones, such as locks, stay behind."""
    found: dict[str, bytes] = {}
    for start in [folder] if paths is None else paths:
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            inside = path.relative_to(folder)
            if path.is_file() and not any(part.startswith(".") for part in inside.parts):
                found[inside.as_posix()] = path.read_bytes()
    return found


def unpack(parcel: Parcel, folder: Path) -> None:
    """Write the files below a folder, each whole or not at all; what vouches for others comes after them."""
    for name in sorted(parcel, key=_vouches):
        inside = PurePosixPath(name)
        if inside.is_absolute() or ".." in inside.parts:
            raise UserError(
                f"A worker sent a file called {name!r}, which lies outside the folder of results."
            )
        with write_atomically(folder / inside, "wb") as file:
            file.write(parcel[name])


def fingerprint(parcel: Parcel) -> str:
    """Sixteen hexadecimal digits that change with any name or content."""
    return digest_of({name: digest(content) for name, content in parcel.items()}, size=8)


def _vouches(name: str) -> int:
    """A run's result says that its files are there, and the rows of a cell that all is: so they come last."""
    last = PurePosixPath(name).name
    return 2 if last.startswith("part-") else int(last == ENDED)
