"""Two audits side by side, and one audit as the section of a model card. No torch."""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.comparing.card import model_card as model_card
    from heedful.comparing.comparison import Comparison as Comparison
    from heedful.comparing.comparison import compare as compare

__getattr__, __dir__, __all__ = lazily(__name__)
