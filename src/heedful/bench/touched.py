"""How many of our files an audit of a CSV runs through: what a reader must open to follow it.

A file counts when a function of it is called; what happens while modules are imported does not.
"""

import inspect
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from heedful.bench.found import Found

AIM = 70
COMPREHENSIONS = (
    "<listcomp>",
    "<dictcomp>",
    "<setcomp>",
    "<genexpr>",
)  # a function around them is called too
ROWS = 600  # to train on, of the CSV that is made where none is given


def measure_touched(source: str | None = None) -> dict[str, Any]:
    """The files of heedful in which an audit of this CSV calls a function, part by part."""
    import heedful

    root = Path(heedful.__file__).parent
    seen: set[str] = set()

    def called(frame: FrameType, event: str, argument: Any) -> None:
        # Bodies of modules and classes are run once, when they are imported, and so may be comprehensions.
        code, caller = frame.f_code, frame.f_back
        if caller is not None and caller.f_code.co_name == "<module>":
            return
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in COMPREHENSIONS:
            seen.add(code.co_filename)

    with tempfile.TemporaryDirectory() as folder:
        path = source or str(_made(Path(folder) / "reviews.csv"))
        sys.setprofile(called)
        try:
            heedful.audit(path, out=Path(folder) / "audit", seeds=3)
        finally:
            sys.setprofile(None)
    files = sorted(str(Path(name).relative_to(root)) for name in seen if Path(name).is_relative_to(root))
    parts = Counter(name.split("/")[0] if "/" in name else "(leaves)" for name in files)
    return {"files": files, "count": len(files), "of": len(list(root.rglob("*.py"))), "parts": dict(parts)}


def touched(source: str | None = None) -> Found:
    """The count, beside the aim."""
    found = measure_touched(source)
    lines = [f"{part:<16}{count:4}" for part, count in sorted(found["parts"].items())]
    whole = f"{found['count']} of {found['of']} files (aim: at most {AIM})"
    return Found(found, (*lines, f"An audit of a CSV runs through {whole}"))


def _made(path: Path) -> Path:
    from heedful.data.synthetic import Synthetic, make_synthetic

    corpus = make_synthetic(Synthetic(per_class=ROWS // 2, held_out=ROWS // 6))
    rows = zip(corpus.texts, corpus.labels, strict=True)
    lines = [f'"{text}",{corpus.label_names[label]}' for text, label in rows]
    path.write_text("\n".join(["text,label", *lines]) + "\n", encoding="utf-8")
    return path
