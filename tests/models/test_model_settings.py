"""Settings are refused at once, by name, and survive TOML."""

import tomllib
from dataclasses import replace

import pytest

from heedful.errors import UserError
from heedful.models import MODELS, ModelSettings
from heedful.settings import choices, to_toml


@pytest.mark.parametrize("name", MODELS)
def test_the_papers_settings_survive_toml(name: str) -> None:
    settings = replace(MODELS[name], widths=(1, 3, 5, 7, 9), max_length=31)
    assert ModelSettings.from_dict(tomllib.loads(to_toml(settings.to_dict()))) == settings


def test_what_is_left_out_takes_its_default() -> None:
    assert ModelSettings.from_dict({}) == ModelSettings()
    assert "scale" not in ModelSettings().to_dict()


def test_a_whole_number_may_stand_for_a_fraction() -> None:
    assert isinstance(ModelSettings(scale=10).scale, float)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("encoder", "bilstn", "'bilstm'"),
        ("levels", "hierarchial", "'hierarchical'"),
        ("attention", "additiv", "'additive'"),
        ("normaliser", "softmaxx", "'softmax'"),
        ("control", "shufled", "'shuffled'"),
        ("head", "logit", "'logits'"),
        ("embedding_source", "word2vek", "'word2vec'"),
        ("initialisation", "sunlu", "'sun-lu'"),
        ("pooling", "means", "'mean'"),
    ],
)
def test_a_misspelt_choice_is_refused_with_the_nearest(name: str, value: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        ModelSettings(**{name: value})


def test_an_unknown_setting_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"'dropout_word' .*the nearest is 'dropout_words'"):
        ModelSettings.from_dict({"dropout_word": 0.5})


@pytest.mark.parametrize(
    "wrong",
    [
        {"hidden": 0},
        {"hidden": 10.5},
        {"hidden": True},
        {"embedding": "100"},
        {"scale": 0},
        {"scale": -1.0},
        {"scale": float("nan")},
        {"scale": float("inf")},
        {"embedding_range": -0.1},
        {"attention_width": 0},
        {"max_length": 0},
        {"dropout_words": 1.0},
        {"dropout_head": -0.1},
        {"dropout_sentences": float("nan")},
        {"head_bias": 1},
        {"widths": (3, 2.5)},
        {"encoder": None},
    ],
)
def test_an_impossible_value_is_refused_by_the_name_of_its_setting(wrong: dict) -> None:
    (name,) = wrong
    with pytest.raises(UserError, match=name):
        ModelSettings(**wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"encoder": "bigru", "hidden": 7}, "even"),
        ({"encoder": "conv", "widths": (3, 4)}, "odd"),
        ({"encoder": "conv", "widths": ()}, "odd"),
        ({"encoder": "conv", "widths": (1, 3, 5), "hidden": 100}, "3 convolutions"),
        ({"encoder": "pretrained"}, "set pretrained"),
        ({"encoder": "pretrained", "pretrained": "x", "levels": "hierarchical"}, "flat"),
        ({"control": "frozen", "levels": "hierarchical"}, "flat"),
        ({"attention": "location"}, "max_length"),
        ({"embedding_source": "file"}, "vectors_file"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(wrong: dict, said: str) -> None:
    with pytest.raises(UserError, match=said):
        ModelSettings(**wrong)


def test_every_setting_is_explained() -> None:
    for choice in choices(ModelSettings):
        assert len(choice.help) > 10, choice.name
