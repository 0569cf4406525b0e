"""Where results go when no place is named: a folder under `runs`, with a name that every system takes."""

import re
from pathlib import Path


def default_folder(*names: str) -> Path:
    """`runs/` and these names with hyphens between; what a file system may refuse becomes a hyphen too."""
    safe = [re.sub(r"[^\w.-]+", "-", name).strip("-.") for name in names]
    return Path("runs") / ("-".join(filter(None, safe)) or "run")
