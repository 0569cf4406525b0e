"""`heedful serve`: it says where it listens, answers there, and refuses what cannot be served."""

import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

from heedful.cli import app
from small_reviews import SETTINGS, write_reviews


def test_help_has_an_example():
    result = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"})
    assert "Example: heedful serve runs/sst-dp" in result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["serve", "nowhere"], "not a run"), (["serve", "nowhere", "--audit", "gone"], "holds no audit")],
)
def test_a_mistake_gets_one_sentence_and_exit_code_two(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_the_server_answers_at_the_address_it_says_and_stops_on_an_interrupt(tmp_path):
    from heedful.training import train

    train(
        str(write_reviews(tmp_path / "reviews.csv", 61)), model="dp", out=tmp_path / "run", seed=0, **SETTINGS
    )
    command = [sys.executable, "-m", "heedful", "serve", str(tmp_path / "run"), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = json.loads(server.stdout.readline())["address"]
            question = json.dumps({"text": "a gorgeous film"}).encode()
            request = urllib.request.Request(
                f"{address}api/read", question, headers={"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=30) as answer:
                assert json.load(answer)["text"]["words"] == ["a", "gorgeous", "film"]
        finally:
            os.kill(server.pid, signal.SIGINT)
        server.wait(20)
        remarks = server.stderr.read()
    assert "Traceback" not in remarks
    assert address in remarks
