"""Named corpora: found in the data folder or on a hub, prepared alike, the same for everybody."""

import csv
import gzip

import datasets
import numpy as np
import pytest

from heedful.data import named
from heedful.data.catalogue import CATALOGUE, MadeCorpus, NamedCorpus
from heedful.data.named import load_data
from heedful.errors import MissingExtra, UserError

GROUPS = ("rec.motorcycles", "sci.med", "talk.politics.guns", "rec.autos")


def write_table(path, rows, header=("text", "label", "split")):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def review(words, ending="good"):
    return f"{'so ' * (words - 1)}{ending}"


@pytest.fixture(autouse=True)
def _no_folder_of_the_machine(request, monkeypatch):
    if "data_dir" not in request.fixturenames:
        monkeypatch.delenv(named.DATA_VARIABLE, raising=False)


@pytest.fixture
def offline(monkeypatch):
    def unreachable(name):
        raise UserError(f"hf:{name} cannot be reached.")

    monkeypatch.setattr(named, "from_hub", unreachable)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Give a dataset to the hub, by way of the disk."""

    def publish(tables, labels=None):
        features = None
        if labels is not None:
            first = next(iter(tables.values()))
            features = datasets.Features(
                {
                    key: datasets.ClassLabel(names=labels)
                    if key in ("label", "topic")
                    else datasets.Value("string")
                    for key in first
                }
            )
        whole = datasets.DatasetDict(
            {key: datasets.Dataset.from_dict(table, features=features) for key, table in tables.items()}
        )
        whole.save_to_disk(str(tmp_path / "hub"))
        monkeypatch.setattr(named, "from_hub", lambda name: datasets.load_from_disk(str(tmp_path / "hub")))

    return publish


# Finding


@pytest.mark.usefixtures("offline")
def test_the_folder_is_the_argument_and_else_the_variable(tmp_path, monkeypatch):
    for folder, text in (("one", "a film"), ("two", "the film")):
        write_table(tmp_path / folder / "sst.csv.gz", [(text, "positive", "train")])
    monkeypatch.setenv(named.DATA_VARIABLE, str(tmp_path / "two"))
    assert load_data("sst", data_dir=tmp_path / "one").texts == ["a film"]
    assert load_data("sst").texts == ["the film"]


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    "name", [name for name, entry in CATALOGUE.items() if isinstance(entry, NamedCorpus)]
)
def test_a_corpus_that_is_nowhere_says_how_to_get_it_in_one_sentence(name, tmp_path):
    with pytest.raises(UserError) as caught:
        load_data(name, data_dir=tmp_path)
    message = str(caught.value)
    assert CATALOGUE[name].file in message
    assert "--data-dir" in message
    assert message.endswith(".")
    assert "\n" not in message


def test_a_missing_library_is_said_with_what_else_helps(monkeypatch):
    def absent(name):
        raise MissingExtra("Reading from Hugging Face", "hf")

    monkeypatch.setattr(named, "from_hub", absent)
    with pytest.raises(UserError, match=r"heedful\[hf\].*sst\.csv\.gz"):
        load_data("sst")


def test_a_folder_that_is_not_there_is_refused(tmp_path, monkeypatch):
    with pytest.raises(UserError, match="--data-dir"):
        load_data("sst", data_dir=tmp_path / "nowhere")
    monkeypatch.setenv(named.DATA_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match=named.DATA_VARIABLE):
        load_data("sst")


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(UserError, match="'20news-1'"):
        load_data("20news1")


def test_a_path_that_is_not_there_is_not_taken_for_a_name(tmp_path):
    with pytest.raises(UserError, match="There is no file"):
        load_data(tmp_path / "sst")


def test_a_path_is_read_as_a_file(tmp_path):
    rows = [(f"text {number} is here", "yes" if number % 2 else "no", "") for number in range(46)]
    write_table(tmp_path / "mine.csv.gz", rows)
    corpus = load_data(tmp_path / "mine.csv.gz", text="text", label="label", seed=3)
    assert len(corpus) == 46
    assert load_data(str(tmp_path / "mine.csv.gz"), seed=3).fingerprint == corpus.fingerprint


def test_columns_of_a_named_corpus_cannot_be_chosen():
    with pytest.raises(UserError, match="leave out --label"):
        load_data("data-1", label="stars")


def test_a_label_that_the_corpus_does_not_have_is_refused(tmp_path):
    write_table(tmp_path / "sst.csv.gz", [("a film", "splendid", "train")])
    with pytest.raises(UserError, match="splendid"):
        load_data("sst", data_dir=tmp_path)


# Preparing


def test_the_seed_does_not_move_a_named_split(tmp_path):
    rows = [(f"place number {number} was fine", "positive", "") for number in range(31)]
    write_table(tmp_path / "yelp_full_sample.csv.gz", rows)
    first, second = (load_data("yelp", data_dir=tmp_path, seed=seed) for seed in (0, 1))
    assert first.fingerprint == second.fingerprint
    assert any("fixed seed" in note for note in first.notes)
    assert first.class_sizes("dev")["positive"] == first.class_sizes("test")["positive"] == 3


def test_a_test_split_that_is_there_is_kept(tmp_path):
    rows = [(f"item number {number} broke", "negative", "train") for number in range(29)]
    rows += [(f"item number {number} held", "positive", "test") for number in range(7)]
    write_table(tmp_path / "amazon_full_sample.csv.gz", rows)
    corpus = load_data("amazon", data_dir=tmp_path)
    assert [(corpus.splits == split).sum() for split in ("train", "dev", "test")] == [26, 3, 7]
    assert all(text.endswith("held") for text in corpus.split("test").texts)


def test_imdb_keeps_reviews_under_400_words_and_a_fifth_of_test(tmp_path):
    rows = [(review(399, f"end{number}"), "positive", "train") for number in range(20)]
    rows += [(review(400, "end0"), "positive", "train")]
    rows += [(f"test {number} so so", "negative", "test") for number in range(15)]
    write_table(tmp_path / "imdb.csv.gz", rows)
    corpus = load_data("imdb", data_dir=tmp_path)
    assert [(corpus.splits == split).sum() for split in ("train", "dev", "test")] == [16, 4, 3]
    assert "Dropped 1 reviews of 400 words or more." in corpus.notes


def test_imdb_counts_words_as_the_published_word_index_does(tmp_path):
    apostrophes = review(398, "don't") + " <br />"  # don't is one word and br another: 399
    rows = [(apostrophes, "positive", "train"), (apostrophes + " so", "positive", "train")]
    rows += [(review(398) + f" unheard of {number}", "positive", "test") for number in range(5)]
    rows += [("unheard of numbers are words of train only", "negative", "test")] * 3
    rows += [("good", "negative", "train")]
    write_table(tmp_path / "imdb.csv.gz", rows)
    corpus = load_data("imdb", data_dir=tmp_path)
    assert corpus.split("train").texts == [review(398, "don't"), "good"]
    assert corpus.class_sizes("test")["positive"] == 1, (
        "words that train has not are not counted, so all five are short"
    )


def test_imdb_ratings_are_joined_row_by_row(tmp_path):
    rows = [(f"film {number}", "positive" if number > 3 else "negative", "train") for number in range(8)]
    rows += [("film again", "negative", "test")]
    write_table(tmp_path / "imdb.csv.gz", rows)
    side = tmp_path / "extra" / "imdb_ratings.csv.gz"
    ratings = [
        (row, rows[row][2], f"id{row}", rating) for row, rating in enumerate((1, 2, 3, 4, 7, 8, 9, 10, 1))
    ]
    write_table(side, ratings, ("row", "split", "id", "rating"))
    corpus = load_data("imdb-ratings", data_dir=tmp_path)
    assert [corpus.label_names[label] for label in corpus.labels] == [
        "1",
        "2",
        "3",
        "4",
        "7",
        "8",
        "9",
        "10",
        "1",
    ]
    write_table(side, ratings[:-1], ("row", "split", "id", "rating"))
    with pytest.raises(UserError, match="does not belong"):
        load_data("imdb-ratings", data_dir=tmp_path)


def newsgroup_rows(count):
    return [
        (f"Lines: 1\n\n{group} is my subject {number}\n\nBye", group, ("train", "test")[number % 2])
        for group in GROUPS
        for number in range(count)
    ]  # fmt: skip


def test_20news_2_strips_pools_and_deals_three_groups(tmp_path):
    rows = [*newsgroup_rows(31), ("From: b\n\n> quote\n", "sci.med", "train")]
    write_table(tmp_path / "20news_bydate.csv.gz", rows)
    corpus = load_data("20news-2", data_dir=tmp_path)
    assert len(corpus) == 93
    assert corpus.texts[0] == "rec.motorcycles is my subject 0"
    assert corpus.class_sizes("dev") == {"rec.motorcycles": 3, "sci.med": 2, "talk.politics.guns": 3}
    assert "Dropped 1 texts without a word." in corpus.notes


def test_20news_keeps_the_halves_of_the_source(tmp_path):
    write_table(tmp_path / "20news_bydate.csv.gz", newsgroup_rows(22))
    corpus = load_data("20news", data_dir=tmp_path)
    assert [(corpus.splits == split).sum() for split in ("train", "dev", "test")] == [40, 4, 44]


def yahoo_files(folder):
    folder.mkdir()
    train = [f'"{number % 10 + 1}","Why {number}?","","So\\n{number}, ""they"" say"' for number in range(40)]
    (folder / "train.csv").write_text("\n".join(train) + "\n", encoding="utf-8")
    (folder / "test.csv").write_text('"10","Who?","Tell me","You"\n', encoding="utf-8")


def test_yahoo_is_read_from_the_published_files(tmp_path):
    yahoo_files(tmp_path / "yahoo_answers_csv")
    corpus = load_data("yahoo", data_dir=tmp_path)
    assert corpus.texts[3] == 'Why 3?\nSo\n3, "they" say'
    assert corpus.label_names[corpus.labels[3]] == "Education & Reference"
    assert corpus.split("test").texts == ["Who?\nTell me\nYou"]
    assert set(corpus.class_sizes("dev").values()) == {1}


def test_a_class_number_that_yahoo_does_not_have_is_refused_with_its_line(tmp_path):
    yahoo_files(tmp_path / "yahoo_answers_csv")
    (tmp_path / "yahoo_answers_csv" / "test.csv").write_text('"1","a","b","c"\n"11","a","b","c"\n')
    with pytest.raises(UserError, match=r"1 to 10.*line 2.*'11'"):
        load_data("yahoo", data_dir=tmp_path)


# Hugging Face


def test_the_hub_and_the_file_give_one_and_the_same_corpus(tmp_path, hub):
    rows = [
        (f"Film {number}<br />was so so", "negative" if number < 20 else "positive", "train")
        for number in range(40)
    ]
    rows += [(f"Test {number} was so so", "positive", "test") for number in range(10)]
    write_table(tmp_path / "imdb.csv.gz", rows)
    from_file = load_data("imdb", data_dir=tmp_path)

    def table(split):
        chosen = [row for row in rows if row[2] == split]
        return {"text": [row[0] for row in chosen], "label": [int(row[1] == "positive") for row in chosen]}

    hub(
        {"train": table("train"), "test": table("test"), "unsupervised": {"text": ["?"], "label": [0]}},
        ["neg", "pos"],
    )
    from_hub = load_data("imdb")
    assert from_hub.fingerprint == from_file.fingerprint
    assert "Read from Hugging Face (stanfordnlp/imdb)." in from_hub.notes


def test_sst_of_the_hub_is_cleaned_to_words(hub):
    table = {
        "text": ["No movement , -LRB- no yuks -RRB- , not much of anything ."],
        "label": [0],
        "label_text": ["negative"],
    }
    hub({"train": table, "validation": table})
    corpus = load_data("sst")
    assert corpus.texts[0] == "no movement no yuks not much of anything"
    assert list(corpus.splits) == ["train", "dev"]
    assert "1 texts are in more than one split, as they are in the source." in corpus.notes


def test_messages_of_the_hub_are_not_stripped_a_second_time(hub):
    text = "First paragraph\n\nsecond paragraph"
    hub({"train": {"text": [text], "label": [8], "label_text": ["rec.motorcycles"]}})
    assert load_data("20news-2").texts == [text]


def test_yahoo_of_the_hub_joins_its_columns(hub):
    table = {
        "id": ["0"],
        "topic": [2],
        "question_title": ["Why?"],
        "question_content": [""],
        "best_answer": ["Because\\nso"],
    }
    hub({"train": table}, list(CATALOGUE["yahoo"].labels))
    corpus = load_data("yahoo")
    assert corpus.texts == ["Why?\nBecause\nso"]
    assert corpus.label_names[corpus.labels[0]] == "Health"


@pytest.mark.parametrize(
    ("name", "column", "values", "expected"),
    [
        ("sst5", "label", [0, 4], ["very negative", "very positive"]),
        ("agnews", "label", [0, 3], ["World", "Sci/Tech"]),
        ("amazon", "class_index", [1, 5], ["very negative", "very positive"]),
        ("yelp", "label", ["1 star", "5 stars"], ["very negative", "very positive"]),
    ],
)
def test_labels_of_the_hub_get_our_names(name, column, values, expected, hub):
    texts = {key: ["first", "second"] for key in CATALOGUE[name].hub.text}
    hub({"train": {**texts, column: values}})
    corpus = load_data(name)
    assert [corpus.label_names[label] for label in corpus.labels] == expected


def test_a_label_that_the_hub_holds_back_is_refused_and_not_guessed(hub):
    hub({"train": {"text": ["a film", "no film"], "label": [-1, 1]}}, ["negative", "positive"])
    with pytest.raises(UserError, match="'-1'"):
        load_data("sst")


# The catalogue


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_entry_says_what_it_is_and_how_it_is_prepared(name):
    entry = CATALOGUE[name]
    assert entry.description
    assert entry.preparation
    assert "\n" not in entry.description + entry.preparation


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if isinstance(entry, MadeCorpus)])
def test_synthetic_corpora_follow_the_seed(name):
    assert load_data(name, seed=2).fingerprint == load_data(name, seed=2).fingerprint
    assert load_data(name, seed=2).fingerprint != load_data(name, seed=3).fingerprint
    assert load_data(name).name == name


# The real files


@pytest.mark.corpora
def test_sst_is_the_papers(data_dir):
    corpus = load_data("sst", data_dir=data_dir)
    assert corpus.class_sizes("train") == {"negative": 3310, "positive": 3610}
    assert corpus.class_sizes("dev") == {"negative": 428, "positive": 444}
    assert corpus.class_sizes("test") == {"negative": 912, "positive": 909}


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("agnews", (12114, 1347, 7600)), ("amazon", (4501, 499, 7600)), ("yelp", (3998, 501, 501))],
)
def test_samples_get_the_splits_they_lack(name, sizes, data_dir):
    corpus = load_data(name, data_dir=data_dir)
    assert tuple(np.sum(corpus.splits == split) for split in ("train", "dev", "test")) == sizes
    assert all(min(corpus.class_sizes(split).values()) > 0 for split in ("train", "dev", "test"))


@pytest.mark.corpora
@pytest.mark.slow
def test_sst_cleaned_from_the_treebank_is_the_papers_sst(data_dir):
    from heedful.data.preparing import Rows, clean_words

    fine = load_data("sst5", data_dir=data_dir)
    polar = fine.take(np.flatnonzero(fine.labels != fine.label_names.index("neutral")))
    cleaned = clean_words(Rows(polar.texts, ["?"] * len(polar), list(polar.splits))).texts
    published = load_data("sst", data_dir=data_dir).texts
    # Their splitter parts "gonna" and "28K", which the treebank does not.
    assert sum(ours != theirs for ours, theirs in zip(cleaned, published, strict=True)) == 2


@pytest.mark.corpora
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("imdb", {"train": (8673, 8539), "dev": (2191, 2113), "test": (2191, 2172)}),
        ("20news-1", {"train": (611, 623), "dev": (154, 156), "test": (192, 195)}),
        ("20news-2", {"train": (794, 790, 716), "dev": (91, 70, 79), "test": (84, 100, 90)}),
        ("imdb-ratings", {"test": (5022, 2302, 2541, 2635, 2307, 2850, 2344, 4999)}),
    ],
)
def test_the_larger_corpora_have_the_sizes_we_publish(name, sizes, data_dir):
    corpus = load_data(name, data_dir=data_dir)
    assert {split: tuple(corpus.class_sizes(split).values()) for split in sizes} == sizes
