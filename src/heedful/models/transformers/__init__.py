"""Anybody's transformer as a `Subject`: two ways into its attention, probed before either is trusted.

`TransformerSubject(network, tokenizer)` takes a classifier that is in memory, `load_transformer` one from a
folder. What was found about it stands in `subject.way`, `subject.position` and `subject.cannot`.

Axes, in every file: B texts, T words, L pieces (sub-words and marks), R heads, D width of a head, H width of
the states, E width of the input embeddings, K classes.
"""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.models.transformers.loading import load_transformer as load_transformer
    from heedful.models.transformers.subject import TransformerSubject as TransformerSubject

__getattr__, __dir__, __all__ = lazily(__name__)
