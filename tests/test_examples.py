"""The examples run as they stand, each in an empty folder of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, *arguments: str, folder: Path) -> str:
    """What an example prints."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.docs
@pytest.mark.parametrize("name", ["your_csv.py", "new_mechanism.py"])
def test_an_example_ends_with_a_verdict_and_its_page(name, tmp_path):
    said = run(name, folder=tmp_path)
    pages = list(tmp_path.glob("audit-of-*/index.html"))
    assert len(pages) == 1
    assert any(reading in said for reading in ("faithful", "use with care", "do not show", "cannot say"))


@pytest.mark.slow
def test_a_trainer_run_ends_with_an_audit_and_a_card(tmp_path):
    said = run("trainer_callback.py", folder=tmp_path)
    assert (tmp_path / "audit-of-training" / "index.html").exists()
    assert "model-index:" in (tmp_path / "CARD.md").read_text(encoding="utf-8")
    assert any(reading in said for reading in ("faithful", "use with care", "do not show", "cannot say"))
