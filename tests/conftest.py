"""Fixtures that every test may use, and a last word about what could not be run here."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None)  # on a busy machine a first example may take any time

NO_DATA = "no data folder: set HEEDFUL_DATA to the folder with the corpora"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the real corpora; tests that need it are skipped, and counted, where there is none."""
    folder = os.environ.get("HEEDFUL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip(NO_DATA)
    return Path(folder)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in the last lines which tests did not run and why, so that a skip never hides a gap."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"not run here: {count} test{'s' * (count != 1)}, {reason}", yellow=True)
