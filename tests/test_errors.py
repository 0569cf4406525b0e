"""What a user can fix is said in one sentence, with the nearest right name."""

import pickle

import pytest

from heedful.errors import MissingExtra, UserError, choose_from, listed, nearest


def test_a_known_name_is_given_back():
    assert choose_from("model", "dp", ["ad", "dp"]) == "dp"


def test_an_unknown_name_is_refused_with_the_nearest_one_whatever_its_case():
    with pytest.raises(UserError, match=r"^There is no column 'TXT'; the nearest is 'Text'\.$"):
        choose_from("column", "TXT", ["Label", "Text"])


def test_a_name_that_is_near_to_none_is_answered_with_all_of_them():
    with pytest.raises(UserError, match=r"^There is no split 'quux'; there are: train, dev, test\.$"):
        choose_from("split", "quux", ["train", "dev", "test"])


def test_without_choices_nothing_is_listed():
    assert nearest("anything", []) == ""


def test_a_long_list_is_cut_and_the_rest_counted():
    assert listed(str(number) for number in range(12)).endswith("10, 11")
    assert listed(str(number) for number in range(17)).endswith("10, 11 and 5 more")


def test_a_missing_extra_says_what_to_install_and_is_a_user_error():
    error = MissingExtra("Reading from the hub", "hf")
    assert isinstance(error, UserError)
    assert str(error) == "Reading from the hub needs an optional package: run pip install 'heedful[hf]'."


def test_a_missing_extra_survives_the_way_out_of_a_worker_process():
    error = pickle.loads(pickle.dumps(MissingExtra("Serving", "web")))  # noqa: S301  (our own bytes)
    assert isinstance(error, MissingExtra)
    assert "heedful[web]" in str(error)
