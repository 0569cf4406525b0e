"""`write_page`: from a folder with `audit.json` and `figures` to its `index.html`, at most 5 MB.

The page carries as few digits as it needs. Rankings are painted in six steps, so three digits do. Weights and
token logits decide when words are erased in the page: where six digits would decide otherwise than all of
them, the text keeps all of them. Axes: T words, K classes (1 for one score).
"""

import base64
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.auditing.names import NAMES, named
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


PAINTED, LISTED, COMPUTED = 3, 4, 6  # significant digits
LONGEST = 200  # characters of a word in the table of words


def pack_text(text: Mapping[str, Any]) -> dict[str, Any]:
    """One text of `audit.json` (`instances`), shorter."""
    packed = {key: value for key, value in text.items() if key not in ("read", "known", "paths")}
    for key in ("read", "known"):
        packed[f"not_{key}"] = [place for place, yes in enumerate(text[key]) if not yes]
    packed["rankings"] = {name: rounded(scores, PAINTED) for name, scores in text["rankings"].items()}
    packed["errors"] = {name: rounded(errors, 2) for name, errors in text.get("errors", {}).items()}
    packed["probabilities"] = rounded(text["probabilities"], COMPUTED)
    if text.get("adversary"):
        packed["adversary"] = {
            **text["adversary"],
            "weights": rounded(text["adversary"]["weights"], PAINTED),
        }
    if text.get("token_logits") is None:
        packed["weights"] = rounded(text["weights"], PAINTED)
        if text.get("paths"):
            packed["paths"] = {name: rounded(path, 4) for name, path in text["paths"].items() if path}
        return packed
    short = {key: rounded(text[key], COMPUTED) for key in ("weights", "token_logits", "bias")}
    return packed | (short if _decide_alike(text, short) else {})


def pack_word(word: Mapping[str, Any]) -> dict[str, Any]:
    """One row of the table of words, shorter."""
    packed = {key: rounded(value, LISTED) for key, value in word.items()}
    if len(word["word"]) > LONGEST:
        packed["word"] = f"{word['word'][:LONGEST]}…"
    return packed


def rounded(value: Any, digits: int) -> Any:
    """Numbers, also in lists of lists, to so many significant digits; whole ones lose their `.0`."""
    if isinstance(value, list):
        return [rounded(item, digits) for item in value]
    if not isinstance(value, float):
        return value
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 2**53 else short


def logits_without(text: Mapping[str, Any], erased: Collection[int]) -> NDArray[np.float64]:
    """The logits (K,), (0, s) for one score s, when these words are erased: as `closed_form.js` has it."""
    kept = np.array([place not in erased for place in range(len(text["words"]))])
    weights = np.asarray(text["weights"], dtype=np.float64) * kept
    bias, mass = np.asarray(text["bias"], dtype=np.float64), weights.sum()
    logits = bias if mass == 0 else weights @ np.asarray(text["token_logits"], dtype=np.float64) / mass + bias
    return np.array([0.0, logits[0]]) if len(logits) == 1 else logits


def _decide_alike(text: Mapping[str, Any], short: Mapping[str, Any]) -> bool:
    sets: list[Collection[int]] = [()]
    if text.get("smallest"):
        sets.append(set(text["smallest"]["words"]))
    brief = {"words": text["words"], **short}
    return all(
        logits_without(text, erased).argmax() == logits_without(brief, erased).argmax() for erased in sets
    )
