"""How long `heedful --help` takes, beside `import torch`: start-up is judged as a ratio."""

import subprocess
import sys

from heedful.bench.found import Found
from heedful.bench.timing import take_turns


def start() -> Found:
    """Seconds of `heedful --help` beside `import torch`, in new processes; the aim is at most a quarter."""
    least = take_turns(
        {
            "heedful --help": lambda: _run("import heedful.cli; heedful.cli.main(['--help'])"),
            "import torch": lambda: _run("import torch"),
        },
        rounds=5,
    )
    ratio = least["heedful --help"] / least["import torch"]
    lines = [f"{name:<16}{seconds:8.3f} s" for name, seconds in least.items()]
    return Found({**least, "ratio": ratio}, (*lines, f"{'ratio':<16}{ratio:8.3f}   (aim: at most 0.25)"))


def _run(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
