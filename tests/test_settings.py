"""Settings come from Python, TOML and the command line, and mistakes are named before any work starts."""

import tomllib
from dataclasses import asdict, dataclass
from typing import Literal

import pytest

from heedful.errors import UserError
from heedful.settings import MOST_PARTS, choices, read_toml, setting, settings_from, to_toml


@dataclass(frozen=True)
class Oven:
    degrees: float = setting(180.0, "how hot")
    minutes: int = setting(30, "how long")
    racks: tuple[int, ...] = setting((1, 3), "which racks")
    mode: Literal["fan", "grill"] = setting("fan", "how the heat comes")
    timer: int | None = setting(None, "when to ring")
    door: bool = setting(False, "open or not")


def test_what_is_left_out_keeps_its_default():
    assert settings_from(Oven, {"minutes": 7}) == Oven(minutes=7)


def test_whole_numbers_become_floats_and_lists_tuples():
    oven = settings_from(Oven, {"degrees": 200, "racks": [2, 5]})
    assert (oven.degrees, type(oven.degrees), oven.racks) == (200.0, float, (2, 5))


def test_an_unknown_setting_is_refused_with_the_nearest_one():
    with pytest.raises(UserError, match=r"no setting 'minuts' in the recipe; the nearest is 'minutes'"):
        settings_from(Oven, {"minuts": 3}, where="the recipe")


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("minutes", "ten", "a whole number"),
        ("minutes", True, "a whole number"),
        ("minutes", 1.5, "a whole number"),
        ("door", 1, "true or false"),
        ("mode", "steam", "'fan' or 'grill'"),
        ("timer", "soon", "a whole number or left out"),
        ("racks", 3, "a list"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_name(name, value, wanted):
    with pytest.raises(UserError, match=f"{name} in the settings must be {wanted}, but it is {value!r}"):
        settings_from(Oven, {name: value})


def test_settings_survive_toml():
    oven = Oven(degrees=1e-05, racks=(), timer=None, mode="grill", door=True)
    assert settings_from(Oven, tomllib.loads(to_toml(asdict(oven)))) == oven


def test_awkward_texts_survive_toml():
    content = {"title": 'quotes " and \\ and \n\t\x7f ünï 🙂', "table": {"key": "value", "list": ["a", "b"]}}
    assert tomllib.loads(to_toml(content)) == content


def test_choices_carry_the_help_of_each_field():
    assert [(choice.name, choice.help) for choice in choices(Oven)][:2] == [
        ("degrees", "how hot"),
        ("minutes", "how long"),
    ]


@pytest.mark.parametrize("part", ["a", '"a.b"', "'a'"])
@pytest.mark.parametrize("line", ["{} = 1", "[{}]", "[[{}]]", "x = {{{} = 1}}", "x = 1\n{} = 1"])
def test_a_key_of_thousands_of_parts_is_refused_before_it_takes_the_memory(tmp_path, part, line):
    path = tmp_path / "study.toml"
    for between in (".", " . "):
        path.write_text(line.format(between.join([part] * 50_000)))
        with pytest.raises(UserError, match=f"a key of more than {MOST_PARTS} parts"):
            read_toml(path)
        path.write_text(line.format(between.join([part] * MOST_PARTS)))
        assert read_toml(path)


def test_many_numbers_and_long_texts_are_no_key(tmp_path):
    path = tmp_path / "study.toml"
    content = {"rates": [0.5] * 5000, "text": "A sentence. " * 5000 + "x" * 500_000}
    path.write_text(to_toml(content))
    assert read_toml(path) == content
