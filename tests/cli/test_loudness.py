"""-h, -V, --quiet and --verbose, before or after the command's name."""

import pytest
from typer.testing import CliRunner

from heedful import __version__
from heedful.cli import app

run = CliRunner().invoke


def test_short_ways_to_help_and_version():
    assert "Usage" in run(app, ["-h"]).output
    assert "Example" in run(app, ["train", "-h"]).output
    assert "Example" in run(app, ["data", "show", "-h"]).output
    assert run(app, ["-V"]).output.strip() == f"heedful {__version__}"


@pytest.mark.parametrize("place", [0, 2, 3])
def test_quiet_leaves_results_warnings_and_errors(tmp_path, place):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "".join(f"a film {n},{n % 2}\n" for n in range(60)) + "a film 3,0\n")
    command = ["train", str(path), "--epochs", "1", "--embedding", "3", "--out"]
    loud = run(app, [*command, str(tmp_path / "loud")])
    assert "Guessed" in loud.stderr
    assert "Warning" in loud.stderr
    for flag in ("--quiet", "-q"):
        arguments = [*command, str(tmp_path / f"{flag}{place}")]
        arguments.insert(place if place < 3 else len(arguments), flag)
        still = run(app, arguments)
        assert still.exit_code == 0, still.output
        assert still.stderr.splitlines() == [
            line for line in loud.stderr.splitlines() if line.startswith("Warning")
        ]
        assert "test accuracy" in still.stdout
    assert "Guessed" in run(app, [*command, str(tmp_path / "again")]).stderr  # it is not remembered


def test_verbose_says_where_an_error_came_from():
    plain, aloud = run(app, ["train", "nowhere"]), run(app, ["train", "nowhere", "--verbose"])
    assert "Traceback" not in plain.stderr
    assert "Traceback" in aloud.stderr
    assert aloud.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
    assert plain.exit_code == aloud.exit_code == 2


def test_what_follows_two_dashes_belongs_to_the_command(tmp_path):
    assert "There is no corpus or file '--quiet'" in run(app, ["train", "--", "--quiet"]).stderr
