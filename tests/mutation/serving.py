"""Tests collected once, then run again and again in forked processes: traced, or with a mutant in them.

A mutant inside a function is put into the imported module by giving the function the mutated code: whoever
holds the function holds the mutant, and nothing is imported again. What stands outside of functions (numbers
with a name, fields of a class) is only read when a module is imported: `from_the_start` does so.
"""

import gc
import importlib
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType

from mutants import Mutant

# Imported before pytest could rewrite them, on purpose: which it warns of, and a warning is an error here.
PYTEST = ("-qq", "-s", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
SECONDS = 10  # of computing beyond what its tests take: a mutant that needs more does not end, and is caught
SLOW = (
    "hypothesis",
    "matplotlib.figure",
    "pandas",
    "pyarrow.parquet",
    "pytest",
    "scipy.special",
    "scipy.stats",
    "torch",
)


def import_what_is_slow() -> None:
    """Before the forks, so that each has it; nothing of heedful, which a mutant changes."""
    for name in SLOW:
        importlib.import_module(name)
    from hypothesis import settings

    settings.register_profile("mutants", database=None, derandomize=True, deadline=None)
    settings.load_profile("mutants")


def forked(work: Callable[[], int], seconds: float) -> bool:
    """Whether the work ends with 0 in a process of its own, within so many seconds of computing."""
    child = os.fork()
    if not child:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
            signal.alarm(20 * int(seconds))  # one that sleeps for ever
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            code = work()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0


class Served:
    """A plugin of pytest that collects, and then does `work` with itself instead of running the tests."""

    def __init__(self, root: Path, files: list[str], work: "Callable[[Served], None]") -> None:
        self.root, self.files, self.work = root, files, work

    def pytest_runtestloop(self, session) -> bool:
        if session.testsfailed:
            raise SystemExit("The tests cannot be collected: run them.")
        self.items = {item.nodeid: item for item in session.items}
        for file in self.files:
            importlib.import_module(_module(file))
        places = {str(self.root / file): file for file in self.files}
        self.functions: dict[tuple[str, str], list[FunctionType]] = defaultdict(list)
        for one in gc.get_objects():
            if type(one) is FunctionType and one.__code__.co_filename in places:
                self.functions[places[one.__code__.co_filename], one.__code__.co_qualname].append(one)
        gc.freeze()
        self.work(self)
        return True

    def run(self, tests: list[str]) -> int:
        """0 if all pass; stops at the first that does not."""
        from _pytest.runner import runtestprotocol

        items = [self.items[test] for test in tests]
        for item, after in zip(items, [*items[1:], None], strict=True):
            if any(report.failed for report in runtestprotocol(item, log=False, nextitem=after)):
                return 1
        return 0

    def put_in(self, mutant: Mutant) -> bool:
        """Give the mutated function its code; False where there is no such function to be found."""
        code = dict(_functions(compile(mutant.source, str(self.root / mutant.file), "exec")))
        there = self.functions.get((mutant.file, mutant.function), [])
        for function in there:
            function.__code__ = code[mutant.function]
        return bool(there)

    def trace(self, tests: list[str]) -> dict:
        """Which lines of the files each test runs, which lines fixtures run, and how long each test takes."""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            code = 1
            try:
                os.close(reading)
                found = _Traced(self.root, set(self.files)).of([self.items[test] for test in tests])
                with os.fdopen(writing, "w") as pipe:
                    json.dump(found, pipe)
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            text = pipe.read()
        _, status = os.waitpid(child, 0)
        if status:
            raise SystemExit("The traced tests ended in an error: see above.")
        return json.loads(text)


class _Traced:
    def __init__(self, root: Path, files: set[str]) -> None:
        self.places = {str(root / file): file for file in files}
        self.now: set[str] = set()

    def _trace(self, frame, event, argument):
        file = self.places.get(frame.f_code.co_filename)
        if file is None:
            return None
        self.now.add(f"{file}:{frame.f_lineno}")
        return self._trace

    def of(self, items: list) -> dict:
        from _pytest.runner import call_and_report

        lines: dict[str, list[str]] = {}  # of each test
        fixtures: dict[str, set[str]] = defaultdict(set)  # of each file of tests
        seconds: dict[str, float] = {}
        shared: dict[str, float] = defaultdict(float)  # seconds of fixtures that several tests share
        failed = []
        for item, after in zip(items, [*items[1:], None], strict=True):
            for when in ("setup", "call", "teardown"):
                self.now, begun = set(), time.process_time()
                sys.settrace(self._trace)
                more = {"nextitem": after} if when == "teardown" else {}
                report = call_and_report(item, when, log=False, **more)
                sys.settrace(None)
                if report.failed:
                    failed.append(item.nodeid)
                took = time.process_time() - begun
                if when == "call":
                    lines[item.nodeid] = sorted(self.now)
                    seconds[item.nodeid] = took
                else:
                    fixtures[item.nodeid.split("::")[0]] |= self.now
                if when == "setup":
                    for name in _shared(item):
                        shared[name] = max(took, shared[name])
                if when == "setup" and not report.passed:
                    call_and_report(item, "teardown", log=False, nextitem=after)
                    break
        # Each test alone must make the fixtures that it shares with others.
        for item in items:
            if item.nodeid in seconds:
                seconds[item.nodeid] += max((shared[name] for name in _shared(item)), default=0.0)
        prepared = {file: sorted(found) for file, found in fixtures.items()}
        return {"lines": lines, "fixtures": prepared, "seconds": seconds, "failed": failed}


def _shared(item) -> list[str]:
    found = item._fixtureinfo.name2fixturedefs
    return [name for name, made in found.items() if made[-1].scope != "function"]


def from_the_start(root: Path, mutant: Mutant, tests: list[str]) -> int:
    """The tests in this process, which has not imported heedful, with the mutant in place of its module."""
    import pytest

    sys.meta_path.insert(0, _Instead(root, mutant))
    return int(pytest.main([*PYTEST, "-x", "--no-header", "--tb=no", *tests]))


class _Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module the mutant's source; all others are found as ever."""

    def __init__(self, root: Path, mutant: Mutant) -> None:
        self.name, self.source, self.path = _module(mutant.file), mutant.source, str(root / mutant.file)

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name == self.name else None

    def exec_module(self, module):
        module.__file__ = self.path
        exec(compile(self.source, self.path, "exec"), module.__dict__)


def _module(file: str) -> str:
    return ".".join(Path(file).with_suffix("").parts[1:])


def _functions(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    """The functions of a module and of its classes, by name."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & 1:  # CO_OPTIMIZED: a function, not the body of a class
                yield one.co_qualname, one
            else:
                yield from _functions(one)
