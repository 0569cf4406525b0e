"""Where results go when no place is named: a folder under `runs`, with a name that every system takes."""

import os
import re
import shutil
import sys
from pathlib import Path


def default_folder(*names: str) -> Path:
    """`runs/` and these names with hyphens between; what a file system may refuse becomes a hyphen too."""
    safe = [re.sub(r"[^\w.-]+", "-", name).strip("-.") for name in names]
    return Path("runs") / ("-".join(filter(None, safe)) or "run")


def program() -> str:
    """How this program can be called from here: by its name, or by its path where the name is not found."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return "python -m heedful"
    found = shutil.which(called.name)
    if called.name != "heedful" or (found is not None and Path(found).resolve() == called.resolve()):
        return "heedful"
    return min(os.path.relpath(called), str(called), key=len)
