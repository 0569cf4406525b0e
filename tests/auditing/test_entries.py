"""What is shown of a text: also of a black box, which has nothing inside that could be painted."""

import numpy as np
import pytest
import torch

from heedful.auditing.browsing import entries_of
from heedful.auditing.reading import maps_of
from heedful.models.black_box import BlackBox


def deciding(texts):
    """The probability of the second class: 0.9 where a text has "good", else 0.2."""
    return np.array([0.9 if "good" in text.split() else 0.2 for text in texts])


@pytest.fixture
def box():
    return BlackBox(deciding, classes=("bad", "fine"))


def test_a_black_box_is_painted_by_leaving_out_and_has_no_attention(box):
    (entry,) = entries_of(box, box.encode(["a good film"]))
    assert entry["weights"] is None
    assert entry["paths"] is None
    assert entry["smallest"] is None
    assert list(entry["rankings"]) == ["leave-one-out"]
    scores = entry["rankings"]["leave-one-out"]
    assert np.argmax(scores) == 1
    assert scores[0] == scores[2] == 0


def test_no_map_is_promised_that_a_black_box_cannot_give(box):
    assert set(maps_of(box, shown="leave-one-out").names) == {"leave-one-out", "random"}


def test_a_text_is_not_painted_by_scores_that_are_not_numbers(box):
    batch = box.encode(["a good film", "a film"])
    scores = torch.tensor([[0.1, 0.7, 0.2], [torch.nan, torch.nan, 0.0]])
    whole = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 0.0]])
    first, second = entries_of(box, batch, painted={"dear": scores, "cheap": whole})
    assert set(first["rankings"]) == {"dear", "cheap"}
    assert second["rankings"] == {"cheap": [4.0, 5.0]}
