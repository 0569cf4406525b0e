"""A study file: every combination once, and every mistake refused by name before anything happens."""

from pathlib import Path

import pytest

from heedful.errors import UserError
from heedful.study import Cell, Study, load_study


def read(folder: Path, content: str) -> Study:
    path = folder / "study.toml"
    path.write_text(content, encoding="utf-8")
    return load_study(path)


def test_cells_are_every_combination_with_the_seeds_innermost(tmp_path):
    study = read(
        tmp_path,
        'corpora = ["data-1", "data-2"]\nmodels = ["dp", "ad"]\nseeds = [3, 5]\n[settings]\nepochs = 7\n'
        "[grid]\nscale = [1, 10]\nrate = [0.1, 0.2, 0.3]\n",
    )
    assert len(study.cells) == 2 * 2 * 2 * 3 * 2
    assert len({cell.key for cell in study.cells}) == len(study.cells)
    first, second = study.cells[:2]
    assert first == Cell("data-1", "dp", {"epochs": 7, "scale": 1, "rate": 0.1, "seed": 3})
    assert second.settings["seed"] == 5
    model, training = study.cells[-1].prepared
    assert (model.attention, model.scale, training.rate, training.epochs) == ("additive", 10.0, 0.3, 7)


def test_what_is_left_out_takes_its_default(tmp_path):
    study = read(tmp_path, 'corpora = ["data-1"]\n')
    assert (study.name, study.models, study.seeds, study.grid) == ("study", ("dp",), (0,), {})
    assert len(study.cells) == 1


def test_a_key_stands_for_the_training_and_not_for_its_spelling():
    def key(corpus="sst", model="dp", **settings):
        return Cell(corpus, model, settings).key

    assert key(scale=10) == key(scale=10.0) == key()  # 10 is dp's own
    assert key(widths=[3, 5]) == key(widths=(3, 5))
    assert len({key(), key(scale=1), key(seed=1), key(corpus="imdb"), key(model="sun-lu-sst-dp")}) == 5
    assert len(key()) == 12


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "'corpora' is missing"),
        ("corpora = []", "list of values"),
        ('corpora = "data-1"', "must be a list"),
        ("corpora = [3]", "must be texts"),
        ('corpora = ["data-1", "data-1"]', "twice"),
        ('corpora = ["data-1"]\nmodel = ["dp"]', "nearest is 'models'"),
        ('corpora = ["data-1"]\nseeds = [0.5]', "whole numbers"),
        ('corpora = ["data-1"]\nseeds = [true]', "whole numbers"),
        ('corpora = ["data-1"]\nseeds = [1, 1]', "twice"),
        ('corpora = ["data-1"]\nbase = "elsewhere"', "no setting 'base'"),
        ('corpora = ["data-1"]\nsettings = 3', "must be a table"),
        ('corpora = ["data-1"]\n[grid]\nscale = 3', "grid.scale must be a list"),
        ('corpora = ["data-1"]\n[grid]\nscale = []', "grid.scale must be a list"),
        ('corpora = ["data-1"]\n[grid]\nscale = [1, 1.0]', "twice"),
        ('corpora = ["data-1"]\n[grid]\nseed = [1, 2]', "seeds"),
        ('corpora = ["data-1"]\n[settings]\nscale = 1\n[grid]\nscale = [2]', "given twice"),
        ('corpora = ["data-1"]\n[columns]\ntekst = "body"', "nearest is 'text'"),
        ("corpora = [", "not valid TOML"),
    ],
)
def test_a_mistake_in_the_file_is_refused_when_it_is_read(tmp_path, content, sentence):
    with pytest.raises(UserError, match=sentence) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('corpora = ["data-1", "data-9"]', "data-9"),
        ('corpora = ["data-1", "nowhere.csv"]', "nowhere.csv"),
        ('corpora = ["data-1"]\nmodels = ["dp", "flan-rmn"]', "nearest is 'flan-rnn'"),
        ('corpora = ["data-1"]\n[settings]\nscala = 3', "nearest is 'scale'"),
        ('corpora = ["data-1"]\n[grid]\nrate = [0.1, -1]', "rate must be above 0"),
        ('corpora = ["data-1"]\n[grid]\nscale = [1, "ten"]', "scale"),
        ('corpora = ["data-1"]\n[grid]\nscale = [2026-01-01]', "scale"),
        ('corpora = ["data-1"]\nmodels = ["dp", "han-noenc"]\n[settings]\npenalty = 0.1', "penalty"),
        ('corpora = ["data-1"]\n[settings]\nattention = "cosine"\n[grid]\npenalty = [0, 1]', "penalty"),
        ('corpora = ["three.csv"]\n[settings]\nhead = "score"', "exactly two classes"),
        ('corpora = ["odd.csv"]', "column"),
        ('corpora = ["data-1"]\n[settings]\nembedding_source = "file"\nvectors_file = "v.txt"', "v.txt"),
    ],
)
def test_what_would_fail_later_is_refused_by_the_check(tmp_path, content, sentence):
    three = [f"word{row} here,{'abc'[row % 3]}" for row in range(30)]
    (tmp_path / "three.csv").write_text("\n".join(["text,label", *three]) + "\n")
    odd = [f"{row},some words {row},more words {row}" for row in range(30)]
    (tmp_path / "odd.csv").write_text("\n".join(["a,b,c", *odd]) + "\n")
    with pytest.raises(UserError, match=sentence):
        read(tmp_path, content).check()


def test_paths_begin_in_the_folder_of_the_study_file(study_file, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    study = load_study(study_file)
    assert study.check()["reviews.csv"].label_names == ("disliked", "liked")
    assert study.cells[0].corpus == "reviews.csv"  # as written: a record does not name a machine's folders
    (tmp_path / "vectors.txt").write_text("good 1 2\n")
    model = study.cells[0].prepared[0]
    assert study.place(type(model)(vectors_file="vectors.txt")).vectors_file == str(tmp_path / "vectors.txt")
    named = type(model)(encoder="pretrained", pretrained="some/name")
    assert study.place(named) == named


def test_columns_are_for_files_and_not_for_named_corpora(tmp_path):
    rows = [f"{row},{'good' if row % 2 else 'bad'} film,{row % 2}" for row in range(30)]
    (tmp_path / "odd.csv").write_text("\n".join(["number,body,stars", *rows]) + "\n")
    study = read(tmp_path, 'corpora = ["odd.csv", "data-1"]\n[columns]\ntext = "body"\nlabel = "stars"\n')
    assert study.check()["odd.csv"].label_names == ("0", "1")
