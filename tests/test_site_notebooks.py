"""The notebooks of the site run as they stand, hold their outputs, and stay small.

Two run with the docs; the one that trains two models of a paper takes minutes, and runs at night.
"""

import json
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"
MARKS = {
    "own-csv": pytest.mark.docs,
    "hugging-face": pytest.mark.docs,
    "one-figure": pytest.mark.nightly,  # trains two models of the paper
}


def cells(name: str) -> list[dict]:
    content = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("name", [pytest.param(name, marks=mark) for name, mark in MARKS.items()])
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name == "hugging-face":
        pytest.importorskip("transformers", reason="the extra hf is not installed")
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells(name)):
        exec(compile("".join(cell["source"]), f"{name}.ipynb, code cell {number}", "exec"), names)


def test_each_notebook_is_tried_and_holds_its_outputs():
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == sorted(MARKS)
    for name in MARKS:
        assert (NOTEBOOKS / f"{name}.ipynb").stat().st_size < 300_000
        kinds = [output["output_type"] for cell in cells(name) for output in cell["outputs"]]
        assert "error" not in kinds
        assert cells(name)[-1]["outputs"], "it ends with something to see"
        assert all(cell["execution_count"] for cell in cells(name))


def test_no_notebook_tells_of_the_machine_it_ran_on():
    for path in NOTEBOOKS.glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert "/tmp/" not in text
        assert "site-packages" not in text
