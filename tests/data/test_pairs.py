"""Pairs of texts from two columns: one text with a sign between the two."""

import pytest

from heedful.data.named import load_data
from heedful.data.pairs import PAIR, paired
from heedful.errors import UserError


def write(path):
    rows = [f"premise {n} holds,what {n} follows,{'yes' if n % 2 else 'no'}" for n in range(60)]
    path.write_text("\n".join(["one,two,label", *rows]))
    return path


def test_two_columns_are_one_text_with_the_sign_between_them(tmp_path):
    corpus = load_data(write(tmp_path / "nli.csv"), text="one", text_pair="two")
    assert sorted(corpus.texts)[0] == f"premise 0 holds{PAIR}what 0 follows"
    assert corpus.label_names == ("no", "yes")


def test_a_second_column_that_is_not_there_or_is_the_first_is_refused(tmp_path):
    path = write(tmp_path / "nli.csv")
    with pytest.raises(UserError, match="no column 'three' for the text_pair"):
        load_data(path, text="one", text_pair="three")
    with pytest.raises(UserError, match="cannot be both"):
        load_data(path, text="one", text_pair="one")
    with pytest.raises(UserError, match="leave out --text-pair"):
        load_data("sst", text_pair="two")


def test_the_sign_is_taken_out_of_the_texts_themselves():
    assert paired(f"a{PAIR}b", "c").count(PAIR) == 1
