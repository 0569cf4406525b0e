"""What can be chosen by name stands in literal dictionaries; an unknown name builds nothing."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

import heedful
from heedful.attention import NORMALISERS, SCORES, FrozenAttention, ShuffledAttention, UniformAttention
from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.lazy import Choices
from heedful.models import ENCODERS, ModelSettings, build_model
from heedful.models import encoders as kinds
from heedful.models.level import build_level
from heedful.models.self_attention import SelfAttentionEncoder
from heedful.models.settings import CONTROLS
from heedful.training.settings import OPTIMISERS, TrainingSettings

CORPUS = make_synthetic(Synthetic(neutral=23, polar=5, per_class=40, held_out=13), name="small")
VOCABULARY = Vocabulary.build(["one", "two", "three"])


def built(**settings):
    return build_model(ModelSettings(embedding=5, hidden=12, **settings), VOCABULARY, ("no", "yes"))


@pytest.mark.parametrize(
    ("name", "kind", "cell", "passes"),
    [
        ("none", kinds.NoEncoder, None, 0),
        ("affine", kinds.AffineEncoder, None, 0),
        ("average", kinds.AverageEncoder, None, 0),
        ("lstm", kinds.RecurrentEncoder, nn.LSTM, 1),
        ("bilstm", kinds.RecurrentEncoder, nn.LSTM, 2),
        ("gru", kinds.RecurrentEncoder, nn.GRU, 1),
        ("bigru", kinds.RecurrentEncoder, nn.GRU, 2),
        ("conv", kinds.ConvolutionEncoder, None, 0),
        ("self-attention", SelfAttentionEncoder, None, 0),
    ],
)
def test_every_encoder_is_the_one_that_is_named(name, kind, cell, passes):
    encoder = built(encoder=name).words.encoder
    assert type(encoder) is kind
    cells = list(getattr(encoder, "passes", {}).values())
    assert [type(one) for one in cells] == [cell] * passes


def test_no_encoder_is_left_out_above():
    tested = {mark for mark in ENCODERS if mark != "pretrained"}  # which has tests of its own
    assert tested == {"none", "affine", "average", "lstm", "bilstm", "gru", "bigru", "conv", "self-attention"}


def test_every_control_and_normaliser_is_the_one_that_is_named():
    found = {name: built(control=name).words.attention for name in CONTROLS}
    assert type(found["uniform"]) is UniformAttention
    assert type(found["frozen"]) is FrozenAttention
    assert type(found["shuffled"]) is ShuffledAttention
    assert type(found["none"]) is type(found["shuffled"].mechanism)
    for name in NORMALISERS:
        assert built(normaliser=name).words.attention.normalise is NORMALISERS[name]


@pytest.mark.parametrize(
    ("setting", "wrong", "right"),
    [
        ("encoder", "bi-lstm", "bilstm"),
        ("control", "uniforn", "uniform"),
        ("attention", "aditive", "additive"),
    ],
)
def test_an_unknown_name_is_refused_by_settings_and_by_what_builds(setting, wrong, right):
    with pytest.raises(UserError, match=f"nearest is '{right}'"):
        ModelSettings(**{setting: wrong})
    settings = ModelSettings()
    object.__setattr__(settings, setting, wrong)  # as if a name were forgotten in the dictionary
    with pytest.raises(UserError, match=f"nearest is '{right}'"):
        build_level(settings, 5, dropout=0.0)


def test_every_optimiser_is_the_one_that_is_named():
    parameter = nn.Parameter(torch.zeros(3))
    kinds = {"sgd": "SGD", "adagrad": "Adagrad", "adam": "Adam", "adamw": "AdamW"}
    for name in OPTIMISERS:
        made = OPTIMISERS[name]([{"params": [parameter]}], TrainingSettings(optimiser=name, rate=0.5))
        assert (type(made).__name__, made.param_groups[0]["lr"]) == (kinds[name], 0.5)
    with pytest.raises(UserError, match="nearest is 'adagrad'"):
        TrainingSettings(optimiser="adagrat")


def test_choices_are_known_before_anything_is_imported():
    probe = (
        "import sys\nfrom heedful.models.settings import CONTROLS, ENCODERS, NORMALISERS, SCORES\n"
        "from heedful.training.settings import OPTIMISERS\n"
        "print(len(ENCODERS), len(SCORES), len(OPTIMISERS), 'torch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["10", "6", "4", "False"]


def test_a_choice_is_imported_when_it_is_chosen():
    choices = Choices({"tau": "math:tau", "three": 3})
    assert dict.__getitem__(choices, "tau") == "math:tau"
    assert choices["tau"] == pytest.approx(6.283, abs=1e-3)
    assert choices.items() == [("tau", choices["tau"]), ("three", 3)]
    assert choices.values() == [choices["tau"], 3]
    with pytest.raises(KeyError):
        choices["pi"]


class MiddleEncoder(nn.Module):
    """Each word less the mean of its text: a user's own."""

    mixes_tokens = True

    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, embedded, mask):
        real = mask[..., None].to(embedded.dtype)
        return embedded - (embedded * real).sum(1, keepdim=True) / real.sum(1, keepdim=True).clamp(min=1)


class LengthScore(nn.Module):
    """How long a state is, times a number that is learnt: a user's own."""

    def __init__(self, hidden, *, scale=1.0, init=None):
        super().__init__()
        self.factor, self.scale = nn.Parameter(torch.ones(1)), scale

    def forward(self, states, query=None):
        return self.factor * states.norm(dim=-1) / self.scale


def test_a_users_encoder_and_score_are_named_and_trained_like_ours(monkeypatch, tmp_path):
    monkeypatch.setitem(ENCODERS, "less-mean", lambda settings, width: MiddleEncoder(width))
    monkeypatch.setitem(SCORES, "length", LengthScore)
    mine = {"encoder": "less-mean", "attention": "length", "embedding": 7, "epochs": 8, "rate": 0.1}
    run = heedful.train(CORPUS, model="dp", scale=2.0, out=tmp_path / "mine", **mine)
    assert isinstance(run.model.words.encoder, MiddleEncoder)
    assert run.model.words.attention.score.scale == 2.0
    assert run.model.words.attention.score.factor.item() != 1.0
    assert run.result["dev_accuracy"] > 0.7
    again = heedful.load_run(tmp_path / "mine")
    batch = again.model.encode(["pos1 n1 n2", "neg1 n3"])
    assert torch.equal(again.model.logits(batch), run.model.logits(batch))
    assert again.model.trace(batch).weights.shape == (2, 3)
    monkeypatch.delitem(ENCODERS, "less-mean")
    with pytest.raises(UserError, match="'less-mean'"):
        heedful.load_run(tmp_path / "mine")


def test_other_settings_stay_when_one_choice_changes():
    settings = replace(ModelSettings(encoder="conv", widths=(3,)), encoder="bigru")
    assert settings.widths == (3,)
