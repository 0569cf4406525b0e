"""`write_page`: from a folder with `audit.json` and `figures` to its `index.html`, at most 5 MB."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.auditing.names import NAMES, named
from heedful.auditing.page.packing import pack_text, pack_word
from heedful.auditing.page.rendering import in_script, render_page
from heedful.auditing.result import AUDIT, FIGURES, PAGE, read_audit
from heedful.files import write_atomically

MOST_BYTES = 5_000_000


def write_page(folder: str | Path) -> Path:
    """Make the page of the audit in this folder, anew if there is one, and give its path."""
    folder = Path(folder)
    audit = read_audit(folder)
    page = render_page(page_content(audit, folder / FIGURES), title=page_title(audit))
    with write_atomically(folder / PAGE) as file:
        file.write(page)
    return folder / PAGE


def page_title(audit: Mapping[str, Any]) -> str:
    """What a browser's tab says."""
    return f"{audit['verdict']['reading']}: {audit['subject']['name']}"


def page_content(audit: Mapping[str, Any], figures: Path, *, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """All that the page shows, with the texts and figures it has room for; what is left out is said."""
    notes: list[str] = []
    content: dict[str, Any] = {
        "audit": {
            **audit,
            "words": [pack_word(word) for word in audit["words"]],
            "instances": [],
        },
        "names": _names(audit),
        "figures": _embedded(audit, figures, notes),
        "notes": notes,
        "live": None,
    }
    room = most_bytes - _size(render_page(content, title=page_title(audit))) - 1000  # for the notes
    if room < 0 and content["figures"]:
        notes.append(f"The figures are too large for one page: they lie beside it, in {FIGURES}.")
        room += sum(_size(uri) for uri in content["figures"].values())
        content["figures"] = {}
    if room < 0:
        room = _shorten(content["audit"]["words"], room, notes)
    texts = []
    for text in map(pack_text, audit["instances"]):
        size = _size(in_script(text)) + 1
        if size <= room:  # one that is too large does not keep the others out
            room -= size
            texts.append(text)
    if len(texts) < len(audit["instances"]):
        notes.append(
            f"This page has room for {len(texts)} of the {len(audit['instances'])} texts in {AUDIT}: "
            "those that still fitted, in their order."
        )
    content["audit"]["instances"] = texts
    return content


def _names(audit: Mapping[str, Any]) -> dict[str, str]:
    """The names for people of every ranking that the page speaks of."""
    painted = {name for text in audit["instances"] for name in text["rankings"]}
    return {name: named(name) for name in sorted({*NAMES, *painted, *audit["methods"].get("maps", ())})}


def _shorten(words: list[dict[str, Any]], room: int, notes: list[str]) -> int:
    """Drop words from the end of the table until there is room, say so, and give the room that is left."""
    of = len(words)
    while words and room < 0:
        room += _size(in_script(words.pop())) + 1
    if len(words) < of:
        notes.append(f"This page has room for the first {len(words):,} of the {of:,} words in {AUDIT}.")
    return room


def _embedded(audit: Mapping[str, Any], folder: Path, notes: list[str]) -> dict[str, str]:
    """The figures that the questions name, as data URIs; only plain file names are looked for."""
    stems = [stem for question in audit["questions"] for stem in question.get("figures") or []]
    found = {}
    for stem in dict.fromkeys(stems):
        path = folder / f"{stem}.png"
        if Path(stem).name != stem or not path.is_file():
            notes.append(f"The figure {stem!r} is missing.")
            continue
        found[stem] = f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
    return found


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
