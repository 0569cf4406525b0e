"""The lines of a text file, in the encoding that its owner said, or that is recognised, and then said.

UTF-8 and UTF-16 with or without a byte order mark are told with certainty. What is neither, and has the few
accented letters of a Western language, is Windows-1252, which holds all that Latin-1 can write; what has many
is of another alphabet, and nobody's guess. No line is longer than any text is.
"""

import codecs
import io
import string
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from heedful.data.tables.unpacking import blocks, check_there, opened
from heedful.errors import UserError

UTF8, WESTERN, LATIN = "utf-8-sig", "cp1252", "latin-1"

# Of the letters of French or Finnish one in ten is outside ASCII; of Russian or Japanese nearly all.
MOST_ACCENTED, FEW = 0.3, 8  # a share of the letters, and so many of them that a share means something

_HEAD = 4096

_MARKS = {codecs.BOM_UTF8: UTF8, codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

_HIGH = bytes(range(128, 256))

_NOT_LETTERS = bytes(set(range(256)) - set(string.ascii_letters.encode()))

_NOT_WESTERN = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))  # bytes that Windows-1252 has no sign for

_SHOWN = {UTF8: "UTF-8", WESTERN: "Windows-1252", LATIN: "Latin-1", "utf-16": "UTF-16"}

Blocks = Callable[[], Iterable[bytes]]


@dataclass(frozen=True)
class Encoding:
    """An encoding as Python calls it, and whether it was taken without being told."""

    name: str
    guessed: bool = False

    @property
    def shown(self) -> str:
        return _SHOWN.get(self.name, self.name)

    @property
    def note(self) -> str:
        """What there is to say of a guess."""
        said = f"Read as {self.shown}, not UTF-8 (say otherwise with --encoding)."
        return said if self.guessed and self.name != UTF8 else ""


def find_encoding(blocks: Blocks, path: Path, said: str | None = None) -> Encoding:
    """The encoding of a file whose bytes `blocks` gives anew at each call; `said` is its owner's word."""
    if said is not None:
        return Encoding(checked_encoding(said))
    head = b"".join(_first(blocks(), _HEAD))[:_HEAD]
    if head.startswith(b"\x1f\x8b"):
        raise UserError(f"{path} is gzipped, but its name does not say so: add .gz to its name.")
    marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    if marked is not None:
        return Encoding(marked, guessed=True)
    wide = _wide(head)
    if wide is not None:
        return Encoding(wide, guessed=True)
    line = _line_that_is_not_utf8(blocks())
    return Encoding(UTF8, guessed=True) if line is None else Encoding(_western(blocks, path, line), True)


def checked_encoding(name: str) -> str:
    """The encoding of this name as Python calls it; refuses a name that is none of a text."""
    try:
        "a".encode(name)
        found = codecs.lookup(name).name
    except (LookupError, UnicodeError, ValueError):
        raise UserError(
            f"There is no encoding {name!r}: name one such as utf-8, utf-16, windows-1252, latin-1, "
            "gb18030, shift_jis or windows-1251."
        ) from None
    return UTF8 if found == "utf-8" else found


def _first(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    for block in blocks:
        yield block
        size -= len(block)
        if size <= 0:
            return


def _wide(head: bytes) -> str | None:
    """UTF-16 without a mark: of the two bytes of each Western letter one is nothing, always the same."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    most = len(head) // 4
    if len(head) >= 4 and max(even, odd) > most and min(even, odd) == 0:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def _line_that_is_not_utf8(blocks: Iterable[bytes]) -> int | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    try:
        for block in blocks:
            decoder.decode(block)
            line += block.count(b"\n")
        decoder.decode(b"", True)
    except UnicodeDecodeError as error:
        return line + error.object.count(b"\n", 0, error.start)
    return None


def _western(blocks: Blocks, path: Path, line: int) -> str:
    """The Western encoding of a file that is not UTF-8 in this line; refuses where it is none."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    foreign = broken = high = letters = impossible = 0
    for block in blocks():
        text = decoder.decode(block)
        broken += text.count("\ufffd")
        foreign += len(text) - len(text.encode("ascii", "ignore"))
        high += len(block) - len(block.translate(None, _HIGH))
        letters += len(block.translate(None, _NOT_LETTERS))
        impossible += len(block) - len(block.translate(None, _NOT_WESTERN))
    if foreign - broken > broken:  # most of what is not ASCII is good UTF-8: this is a damaged file
        raise UserError(
            f"{path} is not UTF-8 in line {line:,}, and is elsewhere: mend that line, or name another "
            "encoding with --encoding."
        )
    if high > FEW and high > MOST_ACCENTED * (high + letters):
        raise UserError(
            f"{path} is not UTF-8 in line {line:,}, and no Western encoding either: name its encoding with "
            "--encoding, such as gb18030, shift_jis or windows-1251."
        )
    return LATIN if impossible else WESTERN


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
