"""Many trainings as one study: a grid, resumable, one record a cell."""

from heedful.study.grid import Cell, Study, load_study
from heedful.study.sweep import Sweep, run_study

__all__ = ["Cell", "Study", "Sweep", "load_study", "run_study"]
