"""Highlights to ship: for every text the words that decide, each with what taking it out does.

`heedful.highlight` does everything; `choosing` decides by which map words are painted, `strength` measures
what each does, `page` writes them for a browser.
"""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.highlights.making import highlight as highlight
    from heedful.highlights.result import Highlight as Highlight
    from heedful.highlights.result import Highlights as Highlights
    from heedful.highlights.result import Mark as Mark

__getattr__, __dir__, __all__ = lazily(__name__)
