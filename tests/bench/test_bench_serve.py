"""`heedful bench serve`: a server of its own, asked over loopback, bounded in count and time."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.data.named import load_data
from heedful.training.from_corpus import train


@pytest.mark.slow
def test_a_served_run_answers_and_refuses_nobody_by_breaking(tmp_path):
    corpus = load_data("data-2")
    train(corpus.take(np.arange(0, len(corpus), 17)), out=tmp_path / "run", epochs=1, embedding=5)
    command = ["bench", "serve", str(tmp_path / "run"), "--connections", "2,70", "--seconds", "4", "--json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    few, many = json.loads(result.stdout)["loads"]
    assert few["answers_a_second"] > 0
    assert many["answers_a_second"] > 0 or many["refused"] > 0  # a starved server still refuses
    assert few["broken"] == many["broken"] == 0
    assert few["refused"] == 0


@pytest.mark.parametrize("wrong", [["--connections", "0"], ["--seconds", "9999"]])
def test_a_load_without_bounds_is_refused(tmp_path, wrong):
    result = CliRunner().invoke(app, ["bench", "serve", str(tmp_path), *wrong])
    assert result.exit_code == 2
    assert "A server is asked by 1 to 1024 connections for at most 900 s" in result.output


@pytest.mark.slow
def test_what_cannot_be_served_is_said_and_not_waited_for(tmp_path):
    result = CliRunner().invoke(app, ["bench", "serve", str(tmp_path), "--seconds", "1"])
    assert result.exit_code == 2
    assert f"{tmp_path} cannot be served: heedful serve {tmp_path} says why." in result.stderr
