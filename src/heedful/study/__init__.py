"""Many trainings as one study: a grid, resumable, one record a cell."""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.study.grid import Cell as Cell
    from heedful.study.grid import Study as Study
    from heedful.study.grid import load_study as load_study
    from heedful.study.sweep import Sweep as Sweep
    from heedful.study.sweep import run_study as run_study

__getattr__, __dir__, __all__ = lazily(__name__)
