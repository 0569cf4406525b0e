"""JSON on disk, with what it is and which version: an old or damaged file says so in one sentence.

All JSON that somebody may have changed is read here: brackets without end are a damage as any other.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.errors import UserError
from heedful.files import regular, write_atomically

DEEPEST = 100  # brackets within brackets


def save_json(path: str | Path, content: Mapping[str, Any]) -> Path:
    """Write strict JSON (no NaN) in place of `path`, whole or not at all."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    with write_atomically(path) as file:
        file.write(text + "\n")
    return Path(path)


def parse_json(text: str | bytes) -> Any:
    """What JSON says; a ValueError where it is none, or is nested deeper than anything that was written."""
    text = text.decode("utf-8") if isinstance(text, bytes) else text
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(found):
        raise ValueError("it is nested too deep")
    return found


def read_json(path: str | Path) -> Any:
    """What a file of JSON says, or a ValueError."""
    return parse_json(regular(path).read_text(encoding="utf-8"))


def _is_deep(found: Any) -> bool:
    level = [found]
    for _ in range(DEEPEST):
        within = (value.values() if isinstance(value, dict) else value for value in level)
        level = [own for values in within for own in values if isinstance(own, list | dict)]
        if not level:
            return False
    return True


def load_json(path: str | Path) -> dict[str, Any]:
    """Read what `save_json` wrote."""
    try:
        content = read_json(path)
    except FileNotFoundError:
        raise UserError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder; a JSON file was expected.") from None
    except UserError:
        raise
    except ValueError as error:  # not JSON, or not even UTF-8
        raise UserError(f"{path} is not readable JSON ({error}): it is damaged, or something else.") from None
    if not isinstance(content, dict):
        raise UserError(f"{path} holds a JSON {type(content).__name__} where an object was expected.")
    return content


def check_stamp(content: Mapping[str, Any], kind: str, version: int) -> None:
    """Refuse an object of another kind or another schema version."""
    if content.get("kind_of_record") != kind:
        raise UserError(
            f"This is not a heedful {kind}: its kind_of_record is {content.get('kind_of_record')!r}."
        )
    if content.get("schema_version") != version:
        raise UserError(
            f"This {kind} has schema version {content.get('schema_version')!r} and {version} is read here: "
            "use the heedful that wrote it, or make it again."
        )


def stamp(kind: str, version: int) -> dict[str, Any]:
    """What every stored object begins with."""
    return {"kind_of_record": kind, "schema_version": version}


def check_keys(content: Mapping[str, Any], expected: set[str], kind: str) -> None:
    """Refuse an object that lacks a key or has one too many."""
    for key in sorted(expected - set(content)):
        raise UserError(f"This {kind} lacks {key!r}: it is damaged, or made by hand.")
    for key in sorted(set(content) - expected):
        raise UserError(
            f"This {kind} has the key {key!r}, which no {kind} has: it is damaged, or made by hand."
        )
