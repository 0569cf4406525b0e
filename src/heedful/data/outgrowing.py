"""Texts and numbers that outgrow memory: what is more than some megabytes lies in a temporary file.

The file has no name (where the system allows that), so even a killed process leaves none behind. Texts are
read one by one, and only their places are held; numbers are mapped. The file is where the system keeps its
temporary ones, which TMPDIR says.
"""

import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import overload

import numpy as np

from heedful.errors import UserError

IN_MEMORY = 1 << 24  # bytes of text, or of one array, that are held
CHUNK = 1 << 22  # characters of text that are worked on at a time


class NamelessFile:
    """A temporary file without a name, which is gone with the last that knows it. Bytes are only added."""

    def __init__(self) -> None:
        with _said(), tempfile.TemporaryFile(prefix="heedful-") as file:
            self.handle = os.dup(file.fileno())

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            os.close(self.handle)

    def append(self, content: bytes | bytearray | memoryview) -> None:
        """Add bytes at the end."""
        left = memoryview(content)
        with _said():
            while left.nbytes:
                left = left[os.write(self.handle, left) :]

    def read(self, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`."""
        # Not seek and read: a forked process shares the place in the file, but not what is asked.
        return os.pread(self.handle, end - start, start)

    def mapped(self, dtype: str, length: int) -> np.ndarray:
        """All of it as numbers, which are read when they are looked at; the map outlives this object."""
        with open(os.dup(self.handle), "rb") as file:
            # A private map: torch warns of arrays that cannot be written, and nobody writes into the file.
            return np.asarray(np.memmap(file, dtype, mode="c", shape=(length,)))


class StoredTexts(Sequence[str]):
    """Texts in a file of UTF-8, text i from `starts[i]` to `ends[i]`; taking some of them copies none."""

    def __init__(self, file: NamelessFile, starts: np.ndarray, ends: np.ndarray) -> None:
        self.file, self.starts, self.ends = file, starts, ends

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return list(self.take(np.arange(*row.indices(len(self)))))
        return self._read(int(self.starts[row]), int(self.ends[row]))

    def __iter__(self) -> Iterator[str]:
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            yield self._read(start, end)

    def __reduce__(self) -> tuple[object, tuple[list[str]]]:
        return stored, (list(self),)

    def take(self, rows: np.ndarray) -> "StoredTexts":
        """The texts with these numbers, in this order."""
        return StoredTexts(self.file, self.starts[rows], self.ends[rows])

    def _read(self, start: int, end: int) -> str:
        return self.file.read(start, end).decode("utf-8", "surrogatepass")


class GrowingTexts:
    """Texts as they come: a list, until they are too many, and then a file."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self.size = 0  # bytes, of what is held or of what is in the file
        self.file: NamelessFile | None = None
        self.offsets = array("q", [0])

    def __len__(self) -> int:
        return len(self.offsets) - 1 + len(self.held)

    def append(self, text: str) -> None:
        """Add a text at the end."""
        self.held.append(text)
        self.size += len(text)
        if self.size > IN_MEMORY:
            self._store()

    def finish(self) -> Sequence[str]:
        """All texts."""
        if self.file is None:
            return self.held
        self._store()
        places = np.frombuffer(self.offsets, np.int64)
        return StoredTexts(self.file, places[:-1], places[1:])

    def _store(self) -> None:
        end = self.offsets[-1]
        content = bytearray()
        for text in self.held:
            content += text.encode("utf-8", "surrogatepass")
            self.offsets.append(end + len(content))
        self.file = self.file or NamelessFile()
        self.file.append(content)
        self.held, self.size = [], 0


class GrowingArray:
    """Numbers as they come, of one type: in memory, until they are too many, and then mapped from a file."""

    def __init__(self, dtype: str) -> None:
        self.dtype, self.held, self.size = dtype, list[np.ndarray](), 0
        self.file: NamelessFile | None = None
        self.length = 0

    def append(self, numbers: np.ndarray) -> None:
        """Add these at the end."""
        self.held.append(np.ascontiguousarray(numbers, self.dtype))
        self.size += self.held[-1].nbytes
        self.length += len(numbers)
        if self.size > IN_MEMORY:
            self._store()

    def finish(self) -> np.ndarray:
        """All numbers (N,)."""
        if self.file is None:
            return np.concatenate(self.held)
        self._store()
        return self.file.mapped(self.dtype, self.length)

    def _store(self) -> None:
        self.file = self.file or NamelessFile()
        for numbers in self.held:
            self.file.append(numbers.data.cast("B"))
        self.held, self.size = [], 0


def stored(texts: Sequence[str]) -> Sequence[str]:
    """The same texts, in a file if they are many."""
    grown = GrowingTexts()
    for text in texts:
        grown.append(text)
    return grown.finish()


def take_texts(texts: Sequence[str], rows: np.ndarray) -> Sequence[str]:
    """The texts with these numbers, in this order."""
    return texts.take(rows) if isinstance(texts, StoredTexts) else [texts[row] for row in rows]


def text_chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in their order, some megabytes of them at a time."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


@contextmanager
def _said() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = f", {tempfile.tempdir}" if tempfile.tempdir else ""  # there may be none
        raise UserError(
            f"The texts do not fit into the folder for temporary files{where} ({error.strerror or error}): "
            "make room there, or name another folder with TMPDIR."
        ) from error
