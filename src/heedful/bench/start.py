"""How long `heedful --help` takes, beside `import torch`: start-up is judged as a ratio."""

import subprocess
import sys

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
