"""Mutation testing of the arithmetic that decides: does a test go red for each small mistake?

    make mutate                                   # or: python tests/mutation
    python tests/mutation --minutes 5             # goes on where it stopped
    python tests/mutation --again                 # survivors once more, after tests were added

Each mutant is tried in a forked process, on the tests that run its line (found by tracing them once), the
quickest first, until one fails. Results are kept in .mutation, by the mutated file's text.
"""

import argparse
import hashlib
import json
import os
import random
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from mutants import Mutant, mutants_of
from serving import PYTEST, SECONDS, Served, forked, from_the_start, import_what_is_slow

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".mutation"
RESULTS = KEPT / "results.jsonl"
LONG = 1.0  # seconds of a test, from which it is asked only where no quicker one runs the line
CLAIMED = r"Claim|Estimate|Finding|Interval"  # papers: functions that give these are their claims' arithmetic

TARGETS: dict[str, str] = {
    **{f"auditing/{name}.py": "" for name in ("rule", "skill", "instead", "sampling")},
    "auditing/steady.py": r"Answer|Finding|dict",
    **{
        f"auditing/questions/{name}.py": ""
        for name in (
            "adversary", "agreement", "answer", "dropout", "foretells", "halves", "head", "labels", "needed",
            "noise", "stable", "top",
        )
    },
    **{
        f"records/{name}.py": ""
        for name in (
            "claim", "crossed", "finding", "interval", "ratios", "resampling",
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
# Which tests may catch a mutant, by the part that its file is in: those that train no model.
TESTS: dict[str, tuple[str, ...]] = {
    "auditing": tuple(
        f"tests/auditing/test_{name}.py"
        for name in (
            "rule",
            "thresholds",
            "heat_map_skill",
            "questions",
            "answers_of_others",
            "questions_of_others",
            "pinned_answers",
            "sampling",
        )
    ),
    "records": ("tests/records",),
    "study": (
        *(f"tests/study/test_{name}.py" for name in ("controls", "seeds", "pooling")),
        "tests/papers/test_pinned_claims.py",
    ),
    "papers": tuple(f"tests/papers/test_{name}.py" for name in ("pinned_claims", "sun_lu", "serrano_smith")),
}


def mutants(files: str, sample: int, seed: int) -> list[Mutant]:
    """Of all targets whose path has `files` in it; with a sample, so many of each file."""
    found = []
    for name, functions in TARGETS.items():
        every = mutants_of(ROOT, f"src/heedful/{name}", functions)
        if sample:
            every = random.Random(f"{seed} {name}").sample(every, min(sample, len(every)))
        found += [one for one in every if files in one.file]
    return found


def part_of(file: str) -> str:
    return file.split("/")[2]


def name_of(mutant: Mutant) -> str:
    return f"{mutant.file}-{mutant.key}"


def kept_results() -> dict[str, dict]:
    if not RESULTS.exists():
        return {}
    entries = map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines())
    return {f"{entry['file']}-{entry['key']}": entry for entry in entries}


def keep(mutant: Mutant, came: str) -> None:
    entry = {"file": mutant.file, "key": mutant.key, "line": mutant.line, "what": mutant.what, "came": came}
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def coverage(served: Served, part: str) -> dict:
    """Which tests run each line; only files of tests that have changed, or whose targets have, are traced."""
    path = KEPT / f"coverage-{part}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    made = sorted(path for path in (ROOT / "tests").rglob("*.py") if not path.name.startswith("test_"))
    sources = "".join(
        path.read_text(encoding="utf-8") for path in [*made, *(ROOT / one for one in served.files)]
    )
    known: dict = {"seconds": {}, "lines": defaultdict(list), "fixtures": defaultdict(list)}
    for file in dict.fromkeys(test.split("::")[0] for test in served.items):
        text = (ROOT / file).read_text(encoding="utf-8") + sources
        stamp = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        if kept.get(file, {}).get("stamp") != stamp:
            print(f"tracing {file}", flush=True)
            found = served.trace([test for test in served.items if test.split("::")[0] == file])
            if found["failed"]:
                raise SystemExit(f"Fails without any mutant, so mend it first: {', '.join(found['failed'])}")
            kept[file] = {"stamp": stamp, **found}
            path.write_text(json.dumps(kept), encoding="utf-8")
        known["seconds"] |= kept[file]["seconds"]
        for test, lines in kept[file]["lines"].items():
            for line in lines:
                known["lines"][line].append(test)
        for line in kept[file]["fixtures"].get(file, ()):
            known["fixtures"][line].append(file)
    return known


def tests_for(mutant: Mutant, known: dict) -> list[str]:
    """The tests that run the mutant's line, quickest first; for lines of a module, all that run the file."""
    seconds, places = known["seconds"], [f"{mutant.file}:{line}" for line in mutant.lines]
    chosen = {test for place in places for test in known["lines"].get(place, ())}
    prepared = {file for place in places for file in known["fixtures"].get(place, ())}
    chosen |= {test for test in seconds if test.split("::")[0] in prepared}
    if not chosen and not mutant.function:
        lines = [line for line in known["lines"] if line.startswith(f"{mutant.file}:")]
        files = {test.split("::")[0] for line in lines for test in known["lines"][line]}
        name = re.compile(rf"\b{Path(mutant.file).stem}\b")
        chosen = {
            test
            for test in seconds
            if (file := test.split("::")[0]) in files
            or name.search((ROOT / file).read_text(encoding="utf-8"))
        }
    quick = {test for test in chosen if seconds[test] < LONG}
    return sorted(quick or chosen, key=lambda test: (seconds[test], test))


def try_all(part: str, waiting: list[Mutant], until: float) -> None:
    """Each mutant of a part: inside functions from one collection of the tests, others from the start."""
    files = [f"src/heedful/{name}" for name in TARGETS if name.startswith(f"{part}/")]

    def serve(served: Served) -> None:
        known = coverage(served, part)
        chosen = {name_of(one): tests_for(one, known) for one in waiting}
        (KEPT / f"chosen-{part}.json").write_text(json.dumps([chosen, known["seconds"]]), encoding="utf-8")
        for mutant in waiting:
            tests = chosen[name_of(mutant)]
            if not mutant.function or time.monotonic() > until:
                continue
            if not tests:
                keep(mutant, "not run")
                continue

            def work(mutant: Mutant = mutant, tests: list[str] = tests) -> int:
                return served.run(tests) if served.put_in(mutant) else 0

            survived = forked(work, SECONDS + 3 * sum(known["seconds"][test] for test in tests))
            keep(mutant, "survived" if survived else "killed")

    child = os.fork()
    if not child:
        import pytest

        code = 1
        try:
            where = [test for test in TESTS[part] if (ROOT / test).exists()]
            code = pytest.main(
                [*PYTEST, "-m", "not slow and not nightly", *where], plugins=[Served(ROOT, files, serve)]
            )
        finally:
            sys.stdout.flush()
            os._exit(0 if code in (0, 5) else 1)
    _, status = os.waitpid(child, 0)
    if status:
        raise SystemExit(f"The tests of {part} could not be tried.")
    chosen, seconds = json.loads((KEPT / f"chosen-{part}.json").read_text(encoding="utf-8"))
    for mutant in waiting:
        tests = chosen[name_of(mutant)]
        if mutant.function or time.monotonic() > until:
            continue

        def afresh(mutant: Mutant = mutant, tests: list[str] = tests) -> int:
            return from_the_start(ROOT, mutant, tests)

        survived = not tests or forked(afresh, 2 * SECONDS + 3 * sum(seconds[test] for test in tests))
        keep(mutant, "not run" if not tests else "survived" if survived else "killed")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--minutes", type=float, default=1e9, help="stop after so long; the next call goes on")
    asked.add_argument("--files", default="", help="only files whose path has this in it")
    asked.add_argument("--sample", type=int, default=0, help="so many of each file's mutants; 0: all")
    asked.add_argument("--seed", type=int, default=0, help="of the sample")
    asked.add_argument("--again", action="store_true", help="try survivors again")
    asked.add_argument("--list", action="store_true", help="only say what is known")
    options = asked.parse_args()
    os.chdir(ROOT)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    sys.path.insert(0, str(ROOT / "src"))
    chosen = mutants(options.files, options.sample, options.seed)
    results = kept_results()
    done = {name for name, entry in results.items() if entry["came"] == "killed" or not options.again}
    waiting: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in chosen:
        if name_of(mutant) not in done:
            waiting[part_of(mutant.file)].append(mutant)
    if waiting and not options.list:
        KEPT.mkdir(exist_ok=True)
        until = time.monotonic() + 60 * options.minutes
        import_what_is_slow()
        for part, some in waiting.items():
            if time.monotonic() < until:
                try_all(part, some, until)
    report(chosen, kept_results())


def report(chosen: list[Mutant], results: dict[str, dict]) -> None:
    """A line for each file, the whole, and each survivor with its line of code."""
    found = [(one, results.get(name_of(one))) for one in chosen]
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
