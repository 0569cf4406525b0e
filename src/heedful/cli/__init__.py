"""The command line: each command parses, calls one library function and shows what came back.

Heavy imports happen inside the commands, so that `heedful --help` answers at once.
"""

from heedful.cli.app import app, main

__all__ = ["app", "main"]
