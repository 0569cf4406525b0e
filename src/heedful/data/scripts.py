"""Scripts that put no spaces between words, and where ICU's dictionaries find the words in them.

Chinese and Japanese, Thai, Lao, Khmer and Burmese. Needs the extra `icu`, which brings the library that
browsers cut such texts by.
"""

import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from heedful.errors import MissingExtra

SPACELESS = "Chinese, Japanese, Thai"
MANY = 0.2  # of the letters, from which on texts are of such a script
LOOKED_AT = 2000  # first texts
# First and last code points: Thai and Lao, Burmese, Khmer, signs and kana, Han and its extensions.
_RANGES = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x30FF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x20000, 0x3FFFF),
)  # fmt: skip
_SPACELESS = re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in _RANGES)}]")
_LETTER = re.compile(r"\w")
_EDGES = np.array(_RANGES) + (0, 1)  # half open


def is_spaceless(texts: Sequence[str]) -> bool:
    """Whether a good part of these texts is in a script without spaces between words."""
    together = "".join(text[:1000] for text in texts[:LOOKED_AT])
    if together.isascii():
        return False
    return len(_SPACELESS.findall(together)) > MANY * len(_LETTER.findall(together))


def can_segment() -> bool:
    """Whether the library that finds words without spaces is installed."""
    return find_spec("icu4py") is not None


def word_cuts(points: np.ndarray) -> np.ndarray:
    """Where, in these code points, one word ends and the next begins without a space between them.

    Only places beside a letter of such a script are given, so other words stay as they are.
    """
    spaceless = (np.searchsorted(_EDGES.ravel(), points, side="right") % 2).astype(bool)
    if not spaceless.any():
        return np.zeros(0, np.int64)
    whole = np.where((points >= 0xD800) & (points < 0xE000), 0xFFFD, points)  # ICU takes no half characters
    text = whole.astype("<u4").tobytes().decode("utf-32-le")
    cuts = np.fromiter((end for _, end in _breaker()(text, "und").segments()), np.int64)
    cuts = cuts[(cuts > 0) & (cuts < len(points))]
    near: np.ndarray = cuts[spaceless[cuts] | spaceless[cuts - 1]]
    return near


def _breaker() -> Any:
    try:
        from icu4py.breakers import WordBreaker
    except ImportError:
        raise MissingExtra(f"Finding words where no spaces are between them ({SPACELESS})", "icu") from None
    return WordBreaker
