"""Numbers as a person reads them."""

import pytest

from heedful.records.wording import lasting, signed


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (7.4, "7 s"), (89.4, "89 s"), (90, "2 min"), (5390, "90 min"), (5400, "1.5 h")],
)
def test_a_time_is_said_in_the_unit_that_a_person_would_take(seconds, said):
    assert lasting(seconds) == said


@pytest.mark.parametrize(
    ("value", "said"), [(0.046, "+0.05"), (-0.046, "−0.05"), (-0.004, "0.00"), (0.004, "0.00"), (0, "0.00")]
)
def test_a_difference_has_a_sign_unless_it_rounds_to_nothing(value, said):
    assert signed(value, 2) == said
