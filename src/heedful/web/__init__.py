"""The page live: a small server that reads a text when asked, on this machine unless said otherwise.

No part of a request ever becomes a path: models are chosen by number among those opened at the start, and the
pages it serves are made in memory.
"""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.web.limits import Limits as Limits
    from heedful.web.models import ServedModel as ServedModel
    from heedful.web.models import open_models as open_models
    from heedful.web.server import create_app as create_app
    from heedful.web.server import serve as serve

__getattr__, __dir__, __all__ = lazily(__name__)
