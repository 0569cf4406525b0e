"""Mutation testing of the arithmetic that decides: does a test go red for each small mistake?

    make mutate                                   # or: python tests/mutation
    python tests/mutation --minutes 5             # goes on where it stopped
    python tests/mutation --again                 # survivors once more, after tests were added

Each mutant is tried in a process of its own, forked after the slow imports, on the tests that run its line
(found by tracing them once), the quickest first. Results are kept in .mutation, by the mutated file's text.
"""

import argparse
import importlib.abc
import importlib.util
import io
import json
import os
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from mutants import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".mutation"
# Imported before pytest could rewrite them, on purpose: which it warns of, and a warning is an error here.
PYTEST = ("-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
SECONDS = 60.0  # a mutant that takes longer is caught: it does not end
CLAIMED = r"Claim|Estimate|Finding|Interval"  # papers: functions that give these are their claims' arithmetic

TARGETS: dict[str, str] = {
    **{f"auditing/{name}.py": "" for name in ("rule", "skill", "instead", "sampling")},
    **{
        f"auditing/questions/{name}.py": ""
        for name in ("adversary", "agreement", "answer", "foretells", "labels", "needed", "stable", "top")
    },
    **{
        f"records/{name}.py": ""
        for name in (
            "claim", "closed_form", "crossed", "crossed_means", "finding", "interval", "ratios", "resampling",
        )
    },
    **{f"study/{name}.py": CLAIMED for name in ("controls", "pooling", "seeds")},
    **{f"papers/debate/{name}.py": CLAIMED for name in ("sanity",)},
    **{
        f"papers/jain_wallace/{name}.py": CLAIMED
        for name in ("adversary", "agreement", "moved_weights", "permutation")
    },
    **{
        f"papers/wiegreffe_pinter/{name}.py": CLAIMED
        for name in ("adversarial", "diagnostic", "seeds", "uniform")
    },
    **{
        f"papers/serrano_smith/{name}.py": CLAIMED
        for name in ("flips", "js_gap", "over_models", "removed", "single_items", "smallest_sets")
    },
    **{
        f"papers/sun_lu/{name}.py": CLAIMED
        for name in (
            "accuracies", "contextual", "effects", "human", "inequalities", "stability", "terms", "vectors",
            "weights", "word_scores",
        )
    },
}  # fmt: skip
# Which tests may catch a mutant, by the part that its file is in.
TESTS: dict[str, tuple[str, ...]] = {
    "auditing": tuple(
        f"tests/auditing/test_{name}.py" for name in ("rule", "heat_map_skill", "questions", "sampling")
    ),
    "records": ("tests/records",),
    "study": tuple(f"tests/study/test_{name}.py" for name in ("controls", "seeds", "pooling")),
    "papers": tuple(
        f"tests/papers/test_{name}.py"
        for name in ("jain_wallace", "wiegreffe_pinter", "sanity", "sun_lu", "serrano_smith")
    ),
}


class Traced:
    """A plugin of pytest: which lines of the targets each test runs, and how long it takes."""

    def __init__(self, files: set[str]) -> None:
        self.files, self.now = files, ""
        self.lines: dict[str, set[str]] = defaultdict(set)  # "file:line" -> tests
        self.seconds: dict[str, float] = {}
        self.prepared: dict[str, set[str]] = defaultdict(set)  # lines that the fixtures of a test file run

    def trace(self, frame, event, argument):
        name = frame.f_code.co_filename
        if name not in self.files:
            return None
        place = f"{os.path.relpath(name, ROOT)}:{frame.f_lineno}"
        if self.phase == "call":
            self.lines[place].add(self.now)
        else:
            self.prepared[self.now.split("::")[0]].add(place)
        return self.trace

    def pytest_runtest_logstart(self, nodeid):
        self.now, self.phase = nodeid, "setup"
        sys.settrace(self.trace)

    def pytest_runtest_call(self, item):
        self.phase, self.begun = "call", time.perf_counter()

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.seconds[report.nodeid] = report.duration
            self.phase = "teardown"
            if report.failed:
                raise SystemExit(f"{report.nodeid} fails without any mutant: mend it first.")

    def pytest_runtest_logfinish(self, nodeid):
        sys.settrace(None)


class Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module the mutant's source; all others are found as ever."""

    def __init__(self, mutant: Mutant) -> None:
        parts = Path(mutant.file).with_suffix("").parts[1:]
        self.name, self.source, self.path = ".".join(parts), mutant.source, str(ROOT / mutant.file)

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name == self.name else None

    def exec_module(self, module):
        module.__file__ = self.path
        exec(compile(self.source, self.path, "exec"), module.__dict__)


def coverage(part: str, files: list[str]) -> dict:
    """Which tests run each line of a part, from .mutation if neither they nor the sources have changed."""
    there = [test for test in TESTS[part] if (ROOT / test).exists()]
    known = [*files, *(str(path.relative_to(ROOT)) for test in there for path in _python(ROOT / test))]
    stamp = {file: (ROOT / file).stat().st_mtime for file in known}
    path = KEPT / f"coverage-{part}.json"
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["stamp"] == stamp:
            return kept
    print(f"tracing the tests of {part} …", flush=True)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        plugin = Traced({str(ROOT / file) for file in files})
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            import pytest

            pytest.main(["-q", *PYTEST, "-m", "not nightly", *there], plugins=[plugin])
        found = {place: sorted(tests) for place, tests in plugin.lines.items()}
        prepared = {file: sorted(lines) for file, lines in plugin.prepared.items()}
        with os.fdopen(writing, "w") as pipe:
            json.dump({"stamp": stamp, "lines": found, "prepared": prepared, "seconds": plugin.seconds}, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    KEPT.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return json.loads(text)


def _python(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(path.glob("*.py"))


def tests_for(mutant: Mutant, known: dict) -> list[str]:
    """The tests that run the mutant's line, quickest first; for lines of a module, all that run the file."""
    place = f"{mutant.file}:{mutant.line}"
    chosen = set(known["lines"].get(place, ()))
    files = {file for file, lines in known["prepared"].items() if place in lines}
    chosen |= {test for test in known["seconds"] if test.split("::")[0] in files}
    if not chosen:
        chosen = {
            test
            for line, tests in known["lines"].items()
            if line.split(":")[0] == mutant.file
            for test in tests
        }
    return sorted(chosen, key=lambda test: (known["seconds"].get(test, 0.0), test))


def tried(mutant: Mutant, tests: list[str]) -> str:
    """ "killed", "survived", or "not run", in a forked process."""
    if not tests:
        return "not run"
    child = os.fork()
    if not child:
        os.setsid()
        signal.alarm(int(SECONDS))
        sys.meta_path.insert(0, Instead(mutant))
        code = 1
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1), os.dup2(null, 2)
            import pytest

            code = int(pytest.main(["-q", "-x", *PYTEST, "--no-header", "--tb=no", *tests]))
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return "survived" if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else "killed"


def _import_what_is_slow() -> None:
    """Before the forks, so that each has it; nothing of heedful, which a mutant changes."""
    for name in (
        "hypothesis",
        "matplotlib.figure",
        "pandas",
        "pyarrow.parquet",
        "pytest",
        "scipy.special",
        "torch",
    ):
        importlib.import_module(name)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--minutes", type=float, default=1e9, help="stop after so long; the next call goes on")
    asked.add_argument("--files", default="", help="only files whose path has this in it")
    asked.add_argument(
        "--sample", type=int, default=0, help="so many of each file's mutants, drawn by a seed; 0: all"
    )
    asked.add_argument("--again", action="store_true", help="try survivors again")
    asked.add_argument("--list", action="store_true", help="only say what is known")
    options = asked.parse_args()
    os.chdir(ROOT)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.path.insert(0, str(ROOT / "src"))
    files = {f"src/heedful/{name}": functions for name, functions in TARGETS.items()}
    chosen = []
    for file, functions in files.items():
        every = mutants_of(ROOT, file, functions)
        if options.sample:
            every = random.Random(0).sample(every, min(options.sample, len(every)))
        chosen += [one for one in every if options.files in one.file]
    path = KEPT / "results.jsonl"
    results: dict[str, dict] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            results[f"{entry['file']}-{entry['key']}"] = entry
    if not options.list:
        KEPT.mkdir(exist_ok=True)
        _import_what_is_slow()
        begun, known = time.monotonic(), {}
        for mutant in chosen:
            entry = results.get(f"{mutant.file}-{mutant.key}")
            if entry is not None and not (options.again and entry["came"] != "killed"):
                continue
            if time.monotonic() - begun > 60 * options.minutes:
                print("The time is over: the same command goes on.")
                break
            part = mutant.file.split("/")[2]
            if part not in known:
                known[part] = coverage(part, [file for file in files if file.split("/")[2] == part])
            entry = {"file": mutant.file, "key": mutant.key, "line": mutant.line, "what": mutant.what}
            entry["came"] = tried(mutant, tests_for(mutant, known[part]))
            results[f"{mutant.file}-{mutant.key}"] = entry
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
    report(chosen, results)


def report(chosen: list[Mutant], results: dict[str, dict]) -> None:
    """A line for each file, the whole, and each survivor with its line of code."""
    found = [(one, results.get(f"{one.file}-{one.key}")) for one in chosen]
    came: dict[str, Counter] = defaultdict(Counter)
    for mutant, entry in found:
        came[mutant.file]["waiting" if entry is None else entry["came"]] += 1
    total: Counter = Counter()
    for file, counts in came.items():
        total += counts
        tried_here = counts["killed"] + counts["survived"] + counts["not run"]
        print(
            f"{file:55} {counts['killed']:4} of {tried_here:4} killed"
            + (f", {counts['waiting']} waiting" if counts["waiting"] else "")
        )
    whole = total["killed"] + total["survived"] + total["not run"]
    share = total["killed"] / max(1, whole)
    print(f"{total['killed']} of {whole} mutants killed ({share:.1%}), {total['waiting']} waiting")
    for mutant, entry in found:
        if entry is not None and entry["came"] != "killed":
            code = (ROOT / mutant.file).read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()
            print(f"{entry['came']}: {mutant.file}:{mutant.line}: {mutant.what}: {code}")


if __name__ == "__main__":
    main()
