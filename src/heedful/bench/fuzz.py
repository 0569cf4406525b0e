"""Bad input by the thousand: good files and traces, damaged by a seeded chance, handed to whoever reads them.

What is damaged is either read, or refused in one short sentence. A traceback, a hang, or another number than
before without a word is a fault, and is told with the case that makes it again.
"""

import gzip
import io
import json
import os
import shutil
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heedful.auditing.erasing import erase_split
from heedful.auditing.result import Audit
from heedful.auditing.whole import audit
from heedful.bench.found import Found, Table
from heedful.bench.fuzz_requests import requests_to
from heedful.data.named import load_data
from heedful.data.vocabulary import Vocabulary
from heedful.errors import Unvouched, UserError, choose_from
from heedful.models.embeddings import read_vectors
from heedful.models.trace import Trace
from heedful.records.manifest import MANIFEST
from heedful.study.grid import Study, load_study
from heedful.study.sweep import run_study
from heedful.training.from_corpus import train
from heedful.training.run import load_run
from heedful.trials import flip_sizes, smallest_flips

SLOW = 20.0  # seconds of the processor, beyond which a small file counts as a hang
LONGEST_SENTENCE = 1100
OUTCOMES = ("read", "refused", "fault")
# Pieces that readers stumble over: quotes, separators, marks, numbers, half characters, deep nesting.
PIECES = tuple(
    piece.encode("utf-8", "surrogatepass")
    for piece in (
        '"', '""', ",", ";", "\t", "|", "\n", "\r", "\r\n", "\0", " ", "\ufeff", "\ud800", "é", "😀", "电影",
        "-1", "1e999", "nan", "null", "true", "[" * 300, "[" * 20_000, '{"a":' * 20_000, "9" * 5000, "0x",
        "'", "\\", "\\u0000", "=", "[[", "]]", "NaN", "Infinity", "-Infinity", "../", "%00", "1" * 30, "#",
    )
) + (b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"\x80", b"\xed\xa0\x80", b"PAR1", b"PK\x03\x04")  # fmt: skip

Case = Callable[[np.random.Generator, Path], str]  # gives "read"; what is refused raises UserError


@dataclass
class Fuzzed:
    """How many damaged inputs of each kind were read or refused, and what went wrong."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def of(self, kind: str, outcome: str) -> int:
        """How many of this kind came to this."""
        return self.counts[kind, outcome]

    @property
    def found(self) -> Found:
        """The counts of each kind, and the faults."""
        what = {kind: {one: self.of(kind, one) for one in OUTCOMES} for kind, _ in sorted(self.counts)}
        table = Table(
            f"{self.counts.total():,} damaged inputs in {self.seconds:.0f} s",
            ["kind", "read", "refused", "faults"],
            [[kind, *(f"{count:,}" for count in own.values())] for kind, own in what.items()],
        )
        kinds = [{"kind": kind, **own} for kind, own in what.items()]
        numbers = {"seconds": self.seconds, "kinds": kinds, "faults": self.faults}
        return Found(numbers, (table, *self.faults[:20]))


def fuzz(
    cases: int,
    *,
    seed: int = 0,
    kinds: Sequence[str] = (),
    first: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Fuzzed:
    """Try so many damaged inputs, from number `first` on; kinds come in turn, the slow ones seldom.

    One seed and number is one input, whatever else was tried.
    """
    found = Fuzzed()
    begun = time.perf_counter()
    with _at_work(kinds) as (folder, known):
        chosen = {choose_from("kind of input", kind, known): known[kind] for kind in (kinds or known)}
        turns = [kind for kind in chosen for _ in range(1 if kind in SELDOM else 12)]
        for number in range(first, first + cases):
            kind = turns[number % len(turns)]
            outcome, fault = _try(chosen[kind], np.random.default_rng([seed, number]), folder)
            found.counts[kind, outcome] += 1
            if fault:
                found.faults.append(f"{kind}, seed {seed}, case {number}: {fault}")
            if progress is not None:
                progress(1)
    found.seconds = time.perf_counter() - begun
    return found


def damage(content: bytes, chance: np.random.Generator) -> bytes:
    """The same bytes with one to four faults: changed, cut, doubled, moved, or with a piece put in."""
    for _ in range(int(chance.integers(1, 5))):
        at, to = np.sort(chance.integers(0, len(content) + 1, 2)).tolist()
        match int(chance.integers(0, 7)):
            case 0 if content:
                place = min(at, len(content) - 1)
                content = content[:place] + bytes([int(chance.integers(256))]) + content[place + 1 :]
            case 1:
                content = content[:at] + content[min(to, at + int(chance.integers(1, 40))) :]
            case 2:
                content = content[:at] + content[at:to][:200] * int(chance.integers(1, 20)) + content[at:]
            case 3:
                content = content[:at]
            case 4:
                content = content[to:] + content[:at]
            case _:
                content = content[:at] + PIECES[int(chance.integers(len(PIECES)))] + content[at:]
    return content


def _try(case: Case, chance: np.random.Generator, folder: Path) -> tuple[str, str]:
    """What came of one case, and what was wrong with that."""
    begun = _spent()
    try:
        outcome = case(chance, folder)
    except UserError as error:
        outcome = "refused"
        if len(str(error)) > LONGEST_SENTENCE or "\n" in str(error).strip():
            return "fault", f"refused in more than a sentence: {str(error)[:200]!r}"
    except AssertionError as error:
        return "fault", str(error)
    except Exception as error:  # noqa: BLE001  (that nothing else is raised is what is tried here)
        return "fault", f"{type(error).__name__}: {str(error)[:200]}"
    took = _spent() - begun
    return ("fault", f"took {took:.0f} s") if took > SLOW else (outcome, "")


def _spent() -> float:
    """Seconds of the processor, also of processes that have ended: other work on the machine is no hang."""
    return sum(os.times()[:4])


@contextmanager
def _at_work(asked: Sequence[str]) -> Iterator[tuple[Path, dict[str, Case]]]:
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        known: dict[str, Case] = {
            **{f"{ending} file": _file(ending, content) for ending, content in _files().items()},
            "study": _study,
            "vectors": _vectors,
            "trace": _trace,
        }
        if not asked or FOLDERS & set(asked):  # they take a while to make
            run, audited, erased, swept = _folders(folder)
            known |= {"run folder": _run(run), "audit folder": _audit(audited)}
            known |= {"erase folder": _erase(run, erased), "sweep folder": _sweep(folder, swept)}
            known["request"] = stack.enter_context(requests_to(run, damage))
        yield folder, known


FOLDERS = {"run folder", "audit folder", "erase folder", "sweep folder", "request"}
SELDOM = {*FOLDERS, "xlsx file", "parquet file"}


# Files of texts


def _files() -> dict[str, bytes]:
    rows = [(f'a film, number {n}, "good" é', ["bad", "good"][n % 2]) for n in range(8)]
    table = "text,label\n" + "".join('"{}",{}\n'.format(t.replace('"', '""'), k) for t, k in rows)
    lines = "".join(json.dumps({"text": t, "label": k}) + "\n" for t, k in rows)
    return {
        "csv": table.encode(),
        "tsv": table.replace(",", "\t").encode("utf-16"),
        "jsonl": lines.encode(),
        "csv.gz": gzip.compress(table.encode(), mtime=0),
        "parquet": _parquet(rows),
        "xlsx": _workbook(rows),
    }


def _parquet(rows: Sequence[tuple[str, str]]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    buffer = io.BytesIO()
    columns = {"text": [text for text, _ in rows], "label": [label for _, label in rows]}
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def _workbook(rows: Sequence[tuple[str, str]]) -> bytes:
    import openpyxl

    book, buffer = openpyxl.Workbook(), io.BytesIO()
    for row in [("text", "label"), *rows]:
        book.active.append(row)
    book.save(buffer)
    return buffer.getvalue()


def _file(ending: str, content: bytes) -> Case:
    def case(chance: np.random.Generator, folder: Path) -> str:
        path = folder / f"a.{ending}"
        bad = damage(content, chance)
        if ending == "csv.gz" and chance.random() < 0.5:  # whole gzip around bad bytes
            bad = gzip.compress(damage(gzip.decompress(content), chance), mtime=0)
        path.write_bytes(bad)
        corpus = load_data(path)
        assert len(corpus) == len(corpus.labels), "a corpus of several lengths"
        return "read"

    return case


# Studies and vectors

_STUDY = b"""name = "a study"
corpora = ["data-1", "reviews.csv"]
models = ["dp", "flan-rnn"]
seeds = [0, 1, 2]
keep_runs = true

[settings]
epochs = 3
hidden = 20

[grid]
scale = [1.0, 10.0]

[columns]
text = "body"
"""


def _study(chance: np.random.Generator, folder: Path) -> str:
    path = folder / "study.toml"
    path.write_bytes(damage(_STUDY, chance))
    for cell in load_study(path).cells[:20]:
        _ = cell.key
    return "read"


_VECTORS = b"3 2\nfilm 0.5 -1\ngood 1 2\nthe end 3 4\n"


def _vectors(chance: np.random.Generator, folder: Path) -> str:
    path = folder / ("vectors.txt.gz" if chance.random() < 0.3 else "vectors.txt")
    content = damage(_VECTORS, chance)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    table = read_vectors(path, Vocabulary.build(["film", "good", "the end"])).table
    assert bool(table.isfinite().all()), "vectors that are not finite were taken"
    return "read"


# Traces

_SIZES = (0, 1, 2, 3, 5, 7)
_ODD = (0.0, -0.0, 1.0, -1.0, 1e-45, 1e38, float("inf"), float("-inf"), float("nan"), 0.5)


def _trace(chance: np.random.Generator, folder: Path) -> str:
    """A trace of odd shapes and values, and what the trials at it then find."""
    batch, slots, width, classes = chance.choice(_SIZES, 4).tolist()
    mask = chance.random((batch, slots)) < 0.8
    weights = chance.random((batch, slots)) * mask
    weights /= np.maximum(weights.sum(-1, keepdims=True), 1e-9)
    parts: dict[str, Any] = {
        "weights": weights.astype(np.float32),
        "values": chance.normal(size=(batch, slots, width)).astype(np.float32),
        "mask": mask,
        "items": np.where(mask, np.arange(slots), -1),
    }
    head = torch.nn.Linear(width or 1, classes or 1)
    kind = int(chance.integers(0, 8))
    if kind < 4:
        _spoil(parts[("weights", "values", "mask", "items")[kind]], chance)
    elif kind == 4:
        with torch.no_grad():
            head.weight.view(-1)[int(chance.integers(head.weight.numel()))] = chance.choice(_ODD)
    elif kind == 5:
        parts["items"] = parts["items"] * int(chance.choice([-1, 2, 10**6, 10**12]))
    elif kind == 6:
        parts["values"] = parts["values"].swapaxes(0, -1)
    trace = Trace(**parts, head=head)
    order = torch.from_numpy(np.argsort(-weights, -1))
    sizes, smallest = flip_sizes(trace, order), smallest_flips(trace).sizes
    logits = trace.logits()
    assert bool(logits.isfinite().all()), "logits that are not finite were taken"
    assert bool(((sizes >= -1) & (sizes <= slots)).all()), "a flip of more items than there are"
    flips = (sizes > 0) & (smallest > 0)
    assert bool((smallest[flips] <= sizes[flips]).all()), "a smallest set that is larger than another"
    return "read"


def _spoil(values: np.ndarray, chance: np.random.Generator) -> None:
    if values.size:
        place = int(chance.integers(values.size))
        odd = chance.choice(_ODD)
        values.flat[place] = (
            odd if values.dtype.kind == "f" else (1 if not np.isfinite(odd) else int(odd) % 2**40)
        )


# Folders of runs, audits, erasures and sweeps

_SMALL: dict[str, Any] = {"epochs": 1, "embedding": 3, "compiled": False}


def _folders(folder: Path) -> tuple[Path, Path, Path, Path]:
    """A run and its audit; and where it is erased and swept."""
    path = folder / "run-texts.csv"
    rows = [f"a {['bad', 'good'][n % 2]} film, number {n}" for n in range(60)]
    path.write_text("text,label\n" + "".join(f'"{row}",{n % 2}\n' for n, row in enumerate(rows)))
    train(path, out=folder / "run", **_SMALL)
    audit(folder / "run", out=folder / "audit", seeds=1, uniform=False)
    return folder / "run", folder / "audit", folder / "erase", folder / "sweep"


def _spoilt(
    good: Path, chance: np.random.Generator, folder: Path, *, without: str = "", below: bool = False
) -> tuple[Path, str]:
    """A copy of a folder with one of its own files damaged, or gone, and which; one may be left out before.

    With `below` the files of its folders are its own too.
    """
    places = sorted(place for place in good.glob("**/*" if below else "*") if place.is_file())
    names = [str(place.relative_to(good)) for place in places if place.name[0] != "."]
    bad = folder / "bad"
    shutil.rmtree(bad, ignore_errors=True)
    shutil.copytree(good, bad)
    if without:
        (bad / without).unlink()
        names.remove(without)
    name = names[int(chance.integers(len(names)))]
    if chance.random() < 0.1:
        (bad / name).unlink()
    else:
        (bad / name).write_bytes(damage((bad / name).read_bytes(), chance))
    return bad, name


def _run(good: Path) -> Case:
    """A run folder, damaged: opened, it decides as before, or is refused."""
    run = load_run(good)
    with torch.inference_mode():
        before = run.model.logits(run.model.encode(["a good film", "number 3"]))

    def case(chance: np.random.Generator, folder: Path) -> str:
        # Half of them without what vouches for the other files: then those must speak for themselves.
        bad, name = _spoilt(good, chance, folder, without=MANIFEST if chance.random() < 0.5 else "")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", Unvouched)
            opened = load_run(bad)
        with torch.inference_mode():
            now = opened.model.logits(opened.model.encode(["a good film", "number 3"]))
        if not (bad / MANIFEST).exists():
            assert said, "a folder that nobody can vouch for was opened without a word"
            return "read"
        assert torch.equal(now, before), f"another {name} was believed"
        assert opened.result == run.result, f"another {name} was believed"
        return "read"

    return case


def _audit(good: Path) -> Case:
    """An audit's folder, damaged: opened, it says what it said, or is refused."""
    before = Audit.load(good)

    def case(chance: np.random.Generator, folder: Path) -> str:
        bad, name = _spoilt(good, chance, folder)
        opened = Audit.load(bad)
        assert opened.content == before.content, f"another {name} was believed"
        return "read"

    return case


def _erase(run: Path, good: Path) -> Case:
    """The folder of an erasure, damaged: gone on with, it has the rows that it had, or is refused."""
    opened = load_run(run)
    before = erase_split(opened, out=good).rows

    def case(chance: np.random.Generator, folder: Path) -> str:
        bad, name = _spoilt(good, chance, folder, below=True)
        assert erase_split(opened, out=bad).rows.equals(before), f"another {name} was believed"
        return "read"

    return case


def _sweep(made: Path, good: Path) -> Case:
    """The folder of a sweep, damaged: gone on with, it has the records that it had, or is refused."""
    corpus, measures = str(made / "run-texts.csv"), ("accuracy", "tau-gradient")
    study = Study("fuzzed", (corpus,), seeds=(0, 1), measures=measures, settings=_SMALL)
    before = _records(study, good)

    def case(chance: np.random.Generator, folder: Path) -> str:
        bad, name = _spoilt(good, chance, folder, below=True)
        assert _records(study, bad) == before, f"another {name} was believed"
        return "read"

    return case


def _records(study: Study, folder: Path) -> list[Any]:
    """What a sweep says, but for the seconds that it took."""
    swept = run_study(study, folder, workers=1)
    told = [name for name in swept.records if "seconds" not in name]
    findings = [one.finding and one.finding.to_dict() for one in swept.entries]
    return [swept.records[told].to_json(orient="records"), findings]
