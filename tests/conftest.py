"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the real corpora; tests that need it are skipped, and counted, where there is none."""
    folder = os.environ.get("HEEDFUL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("no data folder: set HEEDFUL_DATA to the folder with the corpora")
    return Path(folder)
