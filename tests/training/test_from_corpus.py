"""Training takes a corpus as it is: what belongs to a file is refused, not ignored."""

import pytest

from heedful.errors import UserError
from heedful.training.from_corpus import train


@pytest.mark.parametrize("column", ["text", "label", "split"])
def test_naming_a_column_of_a_loaded_corpus_is_refused(small_corpus, column):
    with pytest.raises(UserError, match=f"is a corpus.*leave out {column}"):
        train(small_corpus, epochs=1, **{column: "body"})
