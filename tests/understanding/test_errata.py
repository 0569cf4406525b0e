"""Every corrected form is exact, and every printed one visibly off; docs/errata.md shows the same numbers."""

from pathlib import Path

import pytest

from heedful.understanding.errata import check_errata

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"
EXACT = {"44", "45, 46", "64", "71", "82", "after 82", "83"}


@pytest.fixture(scope="module", params=[0, 5])
def found(request):
    return {one.equation: one for one in check_errata(seed=request.param)}


def test_corrected_forms_are_exact_and_printed_ones_are_not(found):
    for equation in EXACT:
        assert found[equation].corrected_value < 1e-12, equation
        assert found[equation].printed_value > 0.05, equation


def test_without_the_missing_factor_eq_45_is_off_by_the_number_of_texts(found):
    assert found["45, 46"].printed_value == pytest.approx(23 - 1)


def test_gamma_of_one_must_count_or_no_word_of_one_class_is_polar(found):
    assert found["28"].printed_value == 0
    assert found["28"].corrected_value == 1


def test_mirrored_words_have_opposite_polarity_and_not_opposite_attention(found):
    assert found["before 54"].printed_value < 0.2
    assert found["before 54"].corrected_value == 1


def test_the_page_lists_every_erratum():
    text = PAGE.read_text(encoding="utf-8")
    errata = check_errata()
    assert len(errata) == 9
    for one in errata:
        assert f"| {one.equation} |" in text
