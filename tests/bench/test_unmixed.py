"""`heedful bench train --part unmixed`: models that do not mix words, beside dp."""

import json

import pytest
from typer.testing import CliRunner

from heedful.cli import app


def test_each_model_is_timed_both_ways_and_beside_dp(tmp_path):
    pytest.importorskip("numba", reason="the extra fast is not installed")
    path = tmp_path / "reviews.csv"
    path.write_text(
        "text,label\n" + "".join(f"{'good' if n % 2 else 'bad'} film {n},{n % 2}\n" for n in range(60))
    )
    arguments = ["bench", "train", "--part", "unmixed", "--short", str(path), "--long", str(path)]
    result = CliRunner().invoke(app, [*arguments, "--rounds", "1", "--json"])
    (speeds,) = json.loads(result.stdout)["unmixed"].values()
    assert [one["model"] for one in speeds] == ["dp", "dp-a", "ad"]
    assert speeds[0]["beside_dp"] == 1
    for one in speeds:
        assert one["beside_dp"] == pytest.approx(one["compiled"] / speeds[0]["compiled"])
        assert one["gain"] == pytest.approx(one["autograd"] / one["compiled"])
        assert one["autograd"] > 0
