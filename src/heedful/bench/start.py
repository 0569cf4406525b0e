"""How long `heedful --help` takes, beside `import torch`: start-up is judged as a ratio."""

import subprocess
import sys

from heedful.bench.found import Found
from heedful.bench.timing import take_turns


def measure_start(*, rounds: int = 5) -> dict[str, float]:
    """Seconds of `heedful --help` and of `import torch`, each in a new process, and their ratio."""
    least = take_turns(
        {
            "heedful --help": lambda: _run("import heedful.cli; heedful.cli.main(['--help'])"),
            "import torch": lambda: _run("import torch"),
        },
        rounds=rounds,
    )
    return {**least, "ratio": least["heedful --help"] / least["import torch"]}


def _run(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)


def start() -> Found:
    """Start-up beside `import torch`; the aim is at most a quarter."""
    least = measure_start()
    lines = [f"{name:<16}{least[name]:8.3f} s" for name in ("heedful --help", "import torch")]
    return Found(least, (*lines, f"{'ratio':<16}{least['ratio']:8.3f}   (aim: at most 0.25)"))
