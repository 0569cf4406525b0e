"""Parts of the user's own: trained, saved by name, found again only if the caller says so."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

import heedful
from heedful.attention.choices import SCORES
from heedful.errors import Unvouched, UserError
from heedful.models.own_parts import take_part
from heedful.models.settings import ENCODERS
from heedful.training import load_run, train
from heedful.trials.erasure.rereading import deletion_is_erasure


class Bilinear(nn.Module):
    """A score of one word at a time."""

    mixes_tokens = False

    def __init__(self, hidden):
        super().__init__()
        self.first, self.second = nn.Linear(hidden, 1), nn.Linear(hidden, 1)

    def forward(self, states):
        return (self.first(states) * self.second(states))[..., 0]


class Centred(nn.Module):
    """A score beside the text's mean: it needs the mask, and mixes words."""

    def __init__(self, hidden):
        super().__init__()
        self.look = nn.Linear(hidden, 1)

    def forward(self, states, mask):
        scores = self.look(states)[..., 0]
        return scores - (scores * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True)


class Halves(nn.Module):
    """An encoder of half the width."""

    def __init__(self, embedding):
        super().__init__()
        self.project = nn.Linear(embedding, embedding // 2)

    def forward(self, embedded, mask):
        return self.project(embedded).relu()


@pytest.fixture(scope="module")
def folder(small_corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("own") / "run"
    train(small_corpus, attention=Bilinear, encoder=Halves, out=out, epochs=2)
    return out


@pytest.fixture
def forgotten(monkeypatch):
    """A process that has not met the classes."""
    for choices in (SCORES, ENCODERS):
        for name in [name for name in choices if ":" in name]:
            monkeypatch.delitem(choices, name)


def test_a_folder_holds_their_names_and_never_their_code(folder):
    settings = (folder / "settings.toml").read_text()
    assert f'attention = "{__name__}:Bilinear"' in settings
    assert f'encoder = "{__name__}:Halves"' in settings


def test_a_folder_that_names_a_class_does_not_make_it_run(folder, forgotten):
    with pytest.raises(UserError, match=r"\(parts=\[Halves\]\), or allow its module to be imported"):
        load_run(folder)


def test_a_name_that_is_importable_is_not_imported(folder, forgotten, tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text("raise SystemExit('it ran')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match="--allow-module trap"):
        train("nowhere.csv", attention="trap:Score")
    assert "trap" not in sys.modules


def test_handed_over_it_reads_as_before(folder, small_corpus, forgotten):
    text = small_corpus.texts[0]
    run = load_run(folder, parts=[Bilinear, Halves])
    weights = torch.tensor([word.attention for word in heedful.explain(run, text).words])
    assert weights.sum() == pytest.approx(1, abs=1e-5)
    again = load_run(folder, parts=[Bilinear, Halves])
    assert heedful.explain(again, text) == heedful.explain(run, text)


def test_a_class_that_has_moved_is_known_by_its_own_name(folder, tmp_path, forgotten):
    import shutil

    moved = tmp_path / "moved"
    shutil.copytree(folder, moved)
    settings = moved / "settings.toml"
    settings.write_text(settings.read_text().replace(f"{__name__}:", "__main__:"))
    (moved / "manifest.json").unlink()  # what was changed by hand is another's
    with pytest.warns(Unvouched):
        assert load_run(moved, parts=[Bilinear, Halves]).recipe.model.attention == "__main__:Bilinear"


@pytest.mark.parametrize("score", [Bilinear, Centred])
def test_padding_changes_nothing(score, small_corpus):
    run = train(small_corpus, attention=score, epochs=1)
    texts = [small_corpus.texts[0], " ".join(small_corpus.texts[1:4])]
    together = run.model.logits(run.model.encode(texts))
    alone = run.model.logits(run.model.encode(texts[:1]))
    torch.testing.assert_close(together[:1], alone)


def test_closed_forms_are_taken_only_where_a_score_says_that_it_sees_one_word(small_corpus):
    assert deletion_is_erasure(train(small_corpus, attention=Bilinear, epochs=1).model)
    assert not deletion_is_erasure(train(small_corpus, attention=Centred, epochs=1).model)


@pytest.mark.slow
def test_a_new_mechanism_gets_every_question_asked(small_corpus, tmp_path):
    run = train(small_corpus, attention=Centred, epochs=2)
    found = heedful.audit(run, small_corpus, out=tmp_path / "audit", limit=20, deletions=1, seeds=3)
    asked = {answer.id: answer.outcome for answer in found.answers}
    assert "not asked" not in {asked[name] for name in ("foretells", "top", "agreement", "needed", "stable")}


class Wrong(Bilinear):
    def forward(self, states):
        return states


class Strange(Bilinear):
    def __init__(self, hidden, more):
        super().__init__(hidden)


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (Wrong, r"Wrong must give scores \(B,T\) of the shape"),
        (Strange, "must be made from one width"),
        (dict, "a class of torch.nn.Module"),
        (Bilinear(3), "a class of torch.nn.Module"),
    ],
)
def test_what_is_no_part_gets_one_sentence(part, says, small_corpus):
    with pytest.raises(UserError, match=says):
        train(small_corpus, attention=part, epochs=1)


def test_a_name_is_given_for_the_settings():
    assert take_part(Centred) == f"{__name__}:Centred"


@pytest.mark.slow
def test_the_command_line_takes_them_from_a_module_that_is_allowed(tmp_path, small_corpus):
    import pandas

    names = np.array(small_corpus.label_names)[small_corpus.labels]
    pandas.DataFrame({"text": small_corpus.texts, "label": names}).to_csv(tmp_path / "texts.csv", index=False)
    (tmp_path / "mine.py").write_text(
        "from torch import nn\n\n\nclass Score(nn.Module):\n    def __init__(self, hidden):\n"
        "        super().__init__()\n        self.look = nn.Linear(hidden, 1)\n\n"
        "    def forward(self, states):\n        return self.look(states)[..., 0]\n"
    )

    def heedful_says(*words):
        command = [sys.executable, "-m", "heedful", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    train_it = ("train", "texts.csv", "--attention", "mine:Score", "--epochs", "1", "--out", "run")
    refused = heedful_says(*train_it)
    assert refused.returncode == 2
    assert "--allow-module mine" in refused.stderr
    done = heedful_says(*train_it, "--allow-module", "mine")
    assert done.returncode == 0, done.stderr
    assert heedful_says("explain", "run", "a text").returncode == 2
    assert heedful_says("--allow-module=mine", "explain", "run", "a text").returncode == 0
    erased = heedful_says("erase", "run", "--limit", "10", "--out", "erased", "--allow-module", "mine")
    assert erased.returncode == 0, erased.stderr
