"""The door to the command line: `python -m heedful` is `heedful`."""

import os
import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback also while it is being loaded."""
    _fill_closed()
    try:
        from heedful.cli.app import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _fill_closed() -> None:
    """Take the numbers of standard streams that were closed: the next files to be opened would get them.

    Results then cannot be written, and it is said; remarks lead nowhere.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)  # the lowest that is free
            setattr(sys, name, open(number, "r" if name == "stdin" else "w", closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    main()
