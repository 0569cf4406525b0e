"""The dates: every text names its day, and the test's days are its own."""

import datetime

import pytest
import torch

from heedful.gallery.alignments import DAY
from heedful.gallery.dates import (
    BEFORE,
    CASES,
    FIRST,
    FORMATS,
    KEPT,
    LAST,
    LENGTH,
    ORDINALS,
    PADDING,
    as_text,
    encode_dates,
    ordinal,
    write_dates,
)


def test_a_day_is_written_as_people_do():
    written = [form(datetime.date(1998, 5, 3)) for form in FORMATS]
    assert written == [
        "3 May 1998",
        "May 3, 1998",
        "Sunday, 3 May 1998",
        "Sun 3 May 98",
        "3rd of May 1998",
        "May the 3rd, 1998",
        "May. 3rd '98",
        "third May 1998",
        "May third, 1998",
        "3.5.1998",
        "03.05.98",
        "5/3/1998",
        "05/03/98",
        "3-May-1998",
        "3. V. 1998",
        "1998 May 3",
        "1998, Sunday 3.5.",
        "19980503",
    ]


@pytest.mark.parametrize(
    ("day", "figures", "words"),
    [
        (1, "1st", "first"),
        (2, "2nd", "second"),
        (11, "11th", "eleventh"),
        (13, "13th", "thirteenth"),
        (20, "20th", "twentieth"),
        (23, "23rd", "twenty-third"),
        (31, "31st", "thirty-first"),
    ],
)
def test_ordinals_end_as_they_should(day, figures, words):
    assert (ordinal(day), ORDINALS[day - 1]) == (figures, words)


def test_no_two_days_are_written_alike():
    every = [FIRST + datetime.timedelta(days=day) for day in range(0, (LAST - FIRST).days + 1, 5)]
    seen = {}
    for date in every:
        for form in FORMATS:
            assert seen.setdefault(form(date).lower(), date) == date


def test_the_test_speaks_of_days_that_no_training_text_speaks_of():
    train, test = (write_dates(3000, test=test, seed=5) for test in (False, True))
    assert not set(train.isos) & set(test.isos)
    weekdays = {datetime.date.fromisoformat(iso).weekday() for iso in test.isos}
    assert weekdays == set(range(7))
    assert (DAY - FIRST).days % KEPT == 0


def test_the_same_seed_writes_the_same_dates():
    one, two, other = (write_dates(31, test=False, seed=seed) for seed in (1, 1, 2))
    assert one.texts == two.texts
    assert one.sources.equal(two.sources)
    assert one.texts != other.texts


def test_ids_say_what_the_texts_say():
    dates = encode_dates(["3.5.98", "on MAY 3, 1998"], ["1998-05-03"] * 2)
    assert dates.sources.shape == (2, 14)
    assert (dates.sources[0] != PADDING).sum() == 6
    assert dates.targets.shape == (2, LENGTH)
    assert as_text(dates.targets[1]) == "1998-05-03"


def test_rows_are_no_longer_than_their_longest():
    dates = encode_dates(["3.5.98", "13.5.1998", "the third of May 1998"], ["1998-05-03"] * 3)
    sources, targets = dates.rows(torch.tensor([1, 0]))
    assert sources.shape == (2, 9)
    assert targets.shape == (2, LENGTH)


def test_every_way_of_writing_occurs():
    dates = write_dates(2000, test=False, seed=0)
    assert {text.split()[0] + " " for text in dates.texts} >= {before for before in BEFORE if before}
    assert len(CASES) == 3
    assert any(text.isupper() for text in dates.texts)
    assert any(text.islower() for text in dates.texts)
