"""An audit as the page carries it: the same content with as few digits as a page needs.

Rankings are painted in six steps, so three digits do. Weights and token logits decide when words are erased
in the page: where six digits would decide otherwise than all of them, the text keeps all of them.
Axes: T words, K classes (1 for one score).
"""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
