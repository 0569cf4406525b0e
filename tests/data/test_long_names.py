"""Names of thousands of characters: what is said of them stays a sentence."""

import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.cli.output import say
from heedful.data.named import load_data
from heedful.errors import KEPT

LONG = 9000
MOST = sum(KEPT) + 3


def write(path, names, rows):
    path.write_text(",".join(names) + "\n" + "".join(",".join(row) + "\n" for row in rows))
    return path


def columns(path):
    rows = [(f"a film about {n}", "bad" if n % 2 else "good") for n in range(100)]
    return write(path, ("t" * LONG, "l" * LONG), rows), "say otherwise with --text, --label"


def labels(path):
    rows = [(f"a film about {n // 2}", "xy"[n % 2] * LONG) for n in range(100)]
    return write(
        path, ("text", "label"), rows
    ), "more than one label, such as 'a film about 0', which is 'xxxx"


def classes(path):
    rows = [(f"a film about {n}", f"{n % 9}" * LONG, "test" if n < 9 else "train") for n in range(90)]
    rows += [(f"a last film {n}", "only here" * LONG, "train") for n in range(2)]
    return write(path, ("text", "label", "split"), rows), "is in test."


def splits(path):
    rows = [(f"a film about {n}", "bad" if n % 2 else "good", "s" * LONG) for n in range(100)]
    return write(path, ("text", "label", "split"), rows), "it has 'ssss"


@pytest.mark.parametrize("make", [columns, labels, classes, splits])
def test_notes_stay_sentences(tmp_path, make):
    path, said = make(tmp_path / "a.csv")
    notes = load_data(path).notes
    assert any(said in note for note in notes)
    assert max(map(len, notes)) < 700
    shown = CliRunner().invoke(app, ["data", "show", str(path)])
    assert shown.exit_code == 0
    assert max(map(len, shown.stderr.splitlines())) <= MOST


def test_a_remark_is_cut_in_its_middle(capsys):
    say("This is so: " + "x" * LONG + ", so do that.")
    line = capsys.readouterr().err.strip()
    assert len(line) == MOST
    assert line.startswith("This is so: x")
    assert line.endswith("x, so do that.")
