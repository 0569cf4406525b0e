"""The lines of a text file, decoded, walked and bounded: no line is longer than any text is."""

import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

from heedful.data.tables.encodings import Encoding, find_encoding
from heedful.data.tables.unpacking import blocks, check_there, opened
from heedful.errors import UserError

# Characters of a line, and of a field: five times War and Peace. More is a quote that was never closed, or a
# file without line ends.
LONGEST = 2**24
_MOST_BYTES = 4  # of a character


def encoding_of(path: Path, said: str | None) -> Encoding:
    """The encoding of a file, as `said` or as recognised."""
    return find_encoding(partial(blocks, path), path, said)


def lines(path: Path, encoding: Encoding) -> Iterator[str]:
    """The lines of a file with their ends, a byte order mark left out."""
    number = 0
    with opened(path) as file:
        try:
            with io.TextIOWrapper(file, encoding=encoding.name, newline="") as text:
                for number, line in numbered_lines(text, path):
                    if "\0" in line:
                        refuse_nul(path, number)
                    yield line
        except UnicodeError:
            refuse_encoding(path, encoding, number + 1)


def numbered_lines(text: io.TextIOWrapper, path: Path) -> Iterator[tuple[int, str]]:
    """The lines of an open file with their numbers; one that is longer than any text is refused."""
    for number, line in enumerate(iter(partial(text.readline, LONGEST + 1), ""), start=1):
        if len(line) > LONGEST:
            raise UserError(
                f"{path} has more than {LONGEST:,} characters in line {number:,}: is it a file of texts, one "
                "row a line?"
            )
        yield number, line


def whole_text(path: Path, said: str | None = None) -> tuple[str, Encoding]:
    """A file that is one text, as a string without NUL, and the encoding it was read in."""
    check_there(path)
    if path.stat().st_size > _MOST_BYTES * LONGEST:
        _refuse_long(path)
    with opened(path) as file:
        content = file.read()
    encoding = find_encoding(lambda: [content], path, said)
    try:
        text = content.decode(encoding.name)
    except UnicodeDecodeError as error:
        refuse_encoding(path, encoding, content.count(b"\n", 0, error.start) + 1)
    except UnicodeError:
        refuse_encoding(path, encoding, 1)
    if len(text) > LONGEST:
        _refuse_long(path)
    if "\0" in text:
        refuse_nul(path, text.count("\n", 0, text.index("\0")) + 1)
    return text, encoding


def _refuse_long(path: Path) -> NoReturn:
    raise UserError(f"{path} has more than {LONGEST:,} characters, as no text has: a file here is one text.")


def refuse_encoding(path: Path, encoding: Encoding, line: int) -> NoReturn:
    raise UserError(
        f"{path} is not {encoding.shown} in line {line:,} or soon after: mend it, or name another encoding "
        "with --encoding."
    ) from None


def refuse_nul(path: Path, line: int) -> NoReturn:
    raise UserError(f"{path} has a NUL byte in line {line:,}, which no text has: take it out.")
