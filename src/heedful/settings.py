"""Settings: flat frozen dataclasses that a Python caller, a TOML file and the command line fill in alike.

A field is declared once with its default and its explanation; reading refuses unknown keys by name, and wrong
kinds of value, before any work starts.
"""

import json
import math
import re
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from heedful.errors import UserError, nearest
from heedful.files import regular

Settings = TypeVar("Settings")

# The most that any count or size may be; those that cost more each have bounds of their own.
MOST, MOST_SEEDS, MOST_WORKERS = 2**31 - 1, 1000, 1024
MOST_PARTS = 64  # of a key of a TOML file; ours have two
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}{_PART}")


def setting(default: Any, explanation: str, *, most: int = MOST) -> Any:
    """A field of a settings dataclass: its default, one line of help, and what a whole number may be."""
    return field(default=default, metadata={"help": explanation, "most": most})


def check_sizes(settings: Any) -> None:
    """Refuse a whole number beyond what its field may be, before anything of that size is made.

    A number that is not finite is refused, too.
    """
    for item in fields(settings):
        value, most = getattr(settings, item.name), item.metadata.get("most", MOST)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int) and number > most:
                raise UserError(f"{item.name} must be at most {most:,}, but it is {number:,}.")
            if isinstance(number, float) and not math.isfinite(number):
                raise UserError(f"{item.name} must be a finite number, but it is {number}.")


@dataclass(frozen=True)
class Choice:
    """One field as the command line needs it."""

    name: str
    kind: Any  # the type annotation
    default: Any
    help: str


def choices(cls: type) -> Iterator[Choice]:
    """The fields of a settings dataclass, in order."""
    kinds = typing.get_type_hints(cls)
    for item in fields(cls):
        yield Choice(item.name, kinds[item.name], item.default, item.metadata.get("help", ""))


def settings_from(cls: type[Settings], values: Mapping[str, Any], *, where: str = "the settings") -> Settings:
    """Fill in settings from plain values, such as a TOML file has; what is left out keeps its default."""
    known = {choice.name: choice for choice in choices(cls)}
    for name in values:
        if name not in known:
            raise UserError(f"There is no setting {name!r} in {where}{nearest(name, known)}.")
    for choice in known.values():
        if choice.default is MISSING and choice.name not in values:
            raise UserError(f"The setting {choice.name!r} is missing in {where}.")
    return cls(**{name: _fitted(known[name], value, where) for name, value in values.items()})


def read_toml(path: Path, what: str = "file") -> dict[str, Any]:
    """What is in a TOML file; one that is not there or cannot be read is refused."""
    try:
        text = regular(path).read_text(encoding="utf-8")
        # Python's reader takes time and memory by the square of a key's parts: 50,000 took 80 s and 10 GB.
        if _LONG_KEY.search(text):
            raise UserError(f"{path} is not valid TOML: it has a key of more than {MOST_PARTS} parts.")
        return tomllib.loads(text)
    except UserError:
        raise
    except FileNotFoundError:
        raise UserError(f"There is no {what} {path}.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder: give the TOML {what}.") from None
    except RecursionError:
        raise UserError(f"{path} is not valid TOML: it is nested too deep.") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror or error}).") from None
    except ValueError as error:  # of TOML, of its encoding, or of a number with thousands of digits
        if "int_max_str_digits" in str(error):
            raise UserError(f"{path} is not valid TOML: it has a number of thousands of digits.") from None
        raise UserError(f"{path} is not valid TOML: {error}.") from None


def to_toml(content: Mapping[str, Any]) -> str:
    """The TOML text of a mapping with one level of tables; None is left out, as TOML has no word for it."""
    lines = [
        f"{key} = {_toml_value(value)}"
        for key, value in content.items()
        if value is not None and not isinstance(value, Mapping)
    ]
    for key, value in content.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{key}]", to_toml(value).rstrip()]
    return "\n".join(lines).lstrip() + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # A JSON string is a TOML basic string, but for the delete character, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml_value(item) for item in value)}]"
    raise TypeError(
        f"settings hold texts, numbers, truth values and lists of them, not {type(value).__name__}"
    )


def _fitted(choice: Choice, value: Any, where: str) -> Any:
    """The value as the field's type wants it: a list as a tuple, a whole number as a float, or refused."""
    for kind in _alternatives(choice.kind):
        if kind is float and isinstance(value, int) and not isinstance(value, bool) and _fits(value):
            return float(value)
        if typing.get_origin(kind) is tuple and isinstance(value, list | tuple):
            return tuple(value)
        if typing.get_origin(kind) is typing.Literal and value in typing.get_args(kind):
            return value
        if (
            isinstance(kind, type)
            and isinstance(value, kind)
            and not (kind is int and isinstance(value, bool))
        ):
            return value
    wanted = " or ".join(_said(kind) for kind in _alternatives(choice.kind))
    raise UserError(f"{choice.name} in {where} must be {wanted}, but it is {value!r}.")


def _fits(whole: int) -> bool:
    return abs(whole) < 10**300  # beyond, a float has no number for it


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)


def _said(kind: Any) -> str:
    if typing.get_origin(kind) is tuple:
        return "a list"
    if typing.get_origin(kind) is typing.Literal:
        return " or ".join(repr(option) for option in typing.get_args(kind))
    names = {
        str: "a text",
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        type(None): "left out",
    }
    return names.get(kind, getattr(kind, "__name__", str(kind)))
