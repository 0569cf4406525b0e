"""The index of the papers' experiments: each name has one file, which is imported alone and without torch."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import heedful.papers as papers
from heedful.cli.app import app
from heedful.errors import UserError
from heedful.papers import FILES, PAPERS, experiment, find_experiments

FOLDER = Path(papers.__file__).parent


def told(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def experiments_of(file):
    module = import_module(f"heedful.papers.{file}")
    return list(getattr(module, "EXPERIMENTS", None) or [module.EXPERIMENT.name])


def test_every_experiment_is_listed_with_the_file_that_has_it():
    for file in set(FILES.values()):
        assert sorted(experiments_of(file)) == sorted(name for name in FILES if FILES[name] == file)
    assert [experiment(name).name for name in FILES] == list(FILES)
    for paper, names in PAPERS.items():
        assert all(name.startswith(f"{paper}-") for name in names)
        assert [one.name for one in find_experiments(paper)] == list(names)


def test_no_file_with_an_experiment_is_forgotten():
    files = {
        ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        for path in FOLDER.rglob("*.py")
        if path.read_text(encoding="utf-8").count("\nEXPERIMENT")
    }
    assert files == set(FILES.values())


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("jain-wallace-permutation", ["agreement", "adversary", "sun_lu", "serrano_smith", "uniform"]),
        ("serrano-smith-table3", ["flips", "removed", "sun_lu", "jain_wallace"]),
        ("sun-lu-table1", ["synthetic", "accuracies", "serrano_smith", "jain_wallace"]),
        ("wiegreffe-pinter-uniform", ["adversarial", "diagnostic", "jain_wallace", "sun_lu"]),
    ],
)
def test_an_experiment_imports_its_own_file_and_no_other_experiments(name, others):
    code = f"import sys\nfrom heedful.papers import experiment\nexperiment({name!r})\nprint(*sys.modules)"
    loaded = [part for part in told(code).split() if part.startswith("heedful.papers.")]
    assert f"heedful.papers.{FILES[name]}" in loaded
    assert not [part for part in loaded if set(part.split(".")) & set(others)]


def test_all_claims_and_figures_can_be_had_without_torch():
    code = (
        "import sys, pandas as pd\nfrom heedful.drawing import styled\n"
        "from heedful.papers import FILES, experiment\n"
        "from heedful.papers.debate import sanity\n"
        "found = [experiment(name) for name in FILES]\n"
        "sizes = {'corpus': 'sst', 'figure': ['vocabulary', 'train no'], 'ours': 7.0, 'printed': 5.0}\n"
        "table = pd.DataFrame({**sizes, 'difference %': 40.0})\n"
        "one = experiment('sun-lu-table1')\n"
        "with styled():\n    (figure,) = [draw({'summary': table}) for draw in one.figures.values()]\n"
        "print(len(figure.axes), len(list(one.claims({'summary': table}))), 'torch' in sys.modules)"
    )
    assert told(code).split() == ["1", "1", "False"]


def test_an_unknown_experiment_is_refused_with_the_nearest_name():
    with pytest.raises(UserError, match=r"'sun-lu-fig22'.*'sun-lu-fig2'"):
        find_experiments("sun-lu-fig22")
    with pytest.raises(UserError, match="sun-luu"):
        find_experiments("sun-luu")


def test_the_list_has_every_name_whole_on_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = CliRunner().invoke(app, ["reproduce"]).stdout.splitlines()
    words = {word for line in lines for word in line.split()}
    assert set(FILES) <= words
    assert max(map(len, lines)) <= 80
