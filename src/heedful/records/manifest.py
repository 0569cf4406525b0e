"""What belongs to a folder of results: a digest of every file, and the versions that made them.

A folder is believed only if each file is still, byte for byte, the one that was written: what merely parses
may be another vocabulary, or another λ.
"""

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from heedful.errors import UserError
from heedful.files import regular, write_atomically
from heedful.records.stored import read_json

MANIFEST = "manifest.json"
_SCHEMA = 1
_PACKAGES = ("torch", "numpy")  # whose versions can move a result


@dataclass(frozen=True)
class Manifest:
    """The digests of a folder's files by their names, and what made them: versions, threads."""

    files: Mapping[str, str]
    made: Mapping[str, Any]


def write_manifest(folder: Path, files: Mapping[str, str], **made: Any) -> Manifest:
    """Write the folder's manifest; `made` is added to the versions of what runs now."""
    manifest = Manifest(dict(files), {**versions(), **made})
    with write_atomically(folder / MANIFEST) as file:
        json.dump({"schema": _SCHEMA, "made": manifest.made, "files": manifest.files}, file, indent=1)
    return manifest


def checked_manifest(folder: Path) -> Manifest | None:
    """The folder's manifest, if it has one; refuses a file that is missing or is not as it was written."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        with _readable(path):
            content = read_json(path)
        schema, files, made = content["schema"], dict(content["files"]), dict(content["made"])
    except UserError:
        raise
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path} is damaged: so it cannot be checked whether {folder} was changed.") from None
    if schema != _SCHEMA:
        raise UserError(f"{path} was written by another version of heedful, which may read it.")
    for name, digest in files.items():
        if not _stays_inside(name):
            raise UserError(f"{path} is damaged: {name[:100]!r} is no file of the folder.")
        try:
            with _readable(folder / name):
                now = file_digest(folder / name)
        except FileNotFoundError:
            raise UserError(f"{folder} is not whole: {name} is missing.") from None
        if now != digest:
            raise UserError(
                f"{folder / name} is not as it was written (its digest is {now}, and was {digest}): bring "
                "that back, or make the folder again."
            )
    return Manifest(files, made)


def versions() -> dict[str, str]:
    """Of heedful, Python and the packages whose version can move a result."""
    from heedful import __version__

    found = {"heedful": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def digest(content: bytes) -> str:
    """Thirty-two hexadecimal digits of a file's content."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def file_digest(path: Path) -> str:
    """The same of a file on disk."""
    with open(regular(path), "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def digests_below(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """The names, from `folder` on, and the digests of all files in its part `name`, if it is there."""
    for place, _, names in sorted(os.walk(folder / name)):
        for file in sorted(names):
            path = Path(place) / file
            yield path.relative_to(folder).as_posix(), file_digest(path)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What is there and cannot be read is neither missing nor damaged."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}).") from None


def _stays_inside(name: str) -> bool:
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and name != "" and "\0" not in name
