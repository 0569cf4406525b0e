"""A file's bytes, plain or gzipped, with a bound on what a small packed file may unpack to."""

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from heedful.data.outgrowing import NamelessFile
from heedful.errors import UserError, nearest, shortened

# Texts are packed to a fifth or a tenth. A file that unpacks to a hundred times its size is made to exhaust,
# or is nothing but one line over and over; small ones harm nobody.
MOST_EXPANSION, HARMLESS = 100, 2**27
BLOCK = 2**20  # bytes at a time
_GZIP_DAMAGE = (gzip.BadGzipFile, EOFError, zlib.error)


def is_there(path: Path) -> bool:
    """Whether there is a file or folder; a name that no file system takes is refused."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError as error:
        raise UserError(f"{path} may not be looked at: change the permissions of its folder.") from error
    except (OSError, ValueError) as error:  # too long, or with a NUL in it
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"{shortened(path)} cannot be the name of a file ({reason}).") from None
    return True


def check_there(path: Path) -> None:
    """Refuse a path that is no file, naming the nearest one beside it."""
    if is_there(path):
        if path.is_dir():
            raise UserError(f"{path} is a folder, where a file was needed.")
        if not path.is_file():  # a pipe or a device: whoever opens it may wait for ever
            raise UserError(f"{path} is no regular file, and texts are read more than once: save them first.")
        return
    if not path.parent.is_dir():
        raise UserError(f"There is no file {path}: its folder {path.parent} is not there either.")
    beside = sorted(entry.name for entry in path.parent.iterdir() if not entry.name.startswith("."))
    raise UserError(f"There is no file {path}{nearest(path.name, beside)}.")


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked if its name ends in .gz."""
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(path) as packed, io.BufferedReader(_Unpacked(path, packed), BLOCK) as file:
                yield file
        else:
            with open(path, "rb") as plain:
                yield plain
    except _GZIP_DAMAGE as error:
        raise UserError(
            f"{path} is not a whole gzip file ({error}): fetch it again, or drop .gz if it is not packed."
        ) from error
    except PermissionError as error:
        raise UserError(f"{path} may not be read: change its permissions.") from error


@contextmanager
def seekable(path: Path) -> Iterator[BinaryIO]:
    """The same where it must be read from its end, which gzip can only reach by unpacking."""
    with opened(path) as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        unpacked = NamelessFile()
        while block := file.read(BLOCK):
            unpacked.append(block)
        with open(os.dup(unpacked.handle), "rb") as whole:
            whole.seek(0)
            yield whole


def blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, some at a time."""
    with opened(path) as file:
        while block := file.read(BLOCK):
            yield block


def refuse_expansion(path: Path, packed: int, unpacked: int) -> None:
    """Refuse a file of `packed` bytes that unpacks to so many times its size that no texts can be in it."""
    if unpacked > HARMLESS and unpacked > MOST_EXPANSION * packed:
        raise UserError(
            f"{path} unpacks to more than {MOST_EXPANSION} times its size, as texts never do: if it is meant "
            "so, write it as plain CSV."
        )


class _Unpacked(io.RawIOBase):
    """What a packed file unpacks to, refused where it has no end."""

    def __init__(self, path: Path, packed: gzip.GzipFile) -> None:
        self.path, self.packed, self.size, self.total = path, packed, path.stat().st_size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self.packed.readinto(buffer)
        self.total += found
        refuse_expansion(self.path, self.size, self.total)
        return found
