"""How long an audit takes beside one plain evaluation pass over the same texts, and how much memory.

A fresh process trains a model for one epoch (an audit of it costs what one of a better model does), runs an
evaluation pass, then an audit with all closed-form trials and its page, without training anything again. The
texts are by default the whole of IMDB: 25,000 to train on and 25,000 to audit, long ones too, where the
corpus `imdb` is the papers' selection. `minilm` is the real encoder with a head that learnt the corpus.

What the audit announces before it begins stands beside what it took. Seconds are measured twice: by the
clock, which counts, and of the processor, which tells how much of that was waiting for a turn on a busy
machine.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from heedful.bench.child import run_child
from heedful.bench.found import Found, Table, numbers_of
from heedful.data.named import data_folder
from heedful.errors import UserError

WHOLE_IMDB = "imdb.csv.gz"  # in the data folder
ALLOWED_PASSES, ALLOWED_SECONDS, ALLOWED_BYTES = 5, 90, 3 * 2**30
KEPT = 1.5  # times what was announced, that an audit may take

_CHILD = """
import json, sys, tempfile, time
from pathlib import Path
import torch
torch.set_num_threads(1)
from heedful.auditing.forecast import ANNOUNCED
from heedful.auditing.reading import decide_all
from heedful.auditing.whole import audit
from heedful.bench.child import peak_bytes
from heedful.bench.minilm import learnt_minilm
from heedful.data.named import load_data
from heedful.training import train
from heedful.training.evaluation import evaluate
from heedful.training.evaluation import encode_for
source, data_dir, model, limit = json.loads(sys.argv[1])
corpus = load_data(source, data_dir=data_dir)
if model == "minilm":
    run = learnt_minilm(corpus)
    encoded = list(corpus.split("test").texts)
    evaluation = lambda: decide_all(run, encoded)
else:
    run = train(corpus, model=model, epochs=1)
    encoded = encode_for(run.model, corpus.split("test"))
    evaluation = lambda: evaluate(run.model, encoded)
begun = time.perf_counter()
evaluation()
plain = time.perf_counter() - begun
begun, processor = time.perf_counter(), time.process_time()
with tempfile.TemporaryDirectory() as folder:
    found = audit(run, corpus, out=Path(folder) / "audit", seeds=1, uniform=False, limit=limit)
whole, processor = time.perf_counter() - begun, time.process_time() - processor
peak = peak_bytes()
stages = found.content["seconds"]
print(json.dumps({
    "announced": stages.pop(ANNOUNCED), "reading": found.reading,
    "texts": len(encoded), "audited": found.content["data"]["instances"], "plain": plain, "whole": whole,
    "processor": processor, "peak_bytes": peak, "stages": stages,
}))
"""


@dataclass(frozen=True)
class AuditTimes:
    """Seconds and bytes of one audit, and of one evaluation pass."""

    source: str
    model: str
    texts: int
    audited: int
    plain: float  # seconds of one evaluation pass
    whole: float  # seconds of the audit, page included
    processor: float  # of these, seconds of the processor
    announced: float  # seconds, at most, before it began
    reading: str
    stages: dict[str, float]
    peak_bytes: int

    @property
    def allowed(self) -> float:
        """The seconds an audit may take."""
        return ALLOWED_PASSES * self.plain + ALLOWED_SECONDS

    @property
    def within(self) -> bool:
        """Whether it keeps to its time and its memory."""
        return self.whole <= self.allowed and self.peak_bytes <= ALLOWED_BYTES

    @property
    def kept(self) -> bool:
        """Whether it took no longer than it had announced, but for half as much again."""
        return self.whole <= KEPT * self.announced


def measure_audit(
    source: str | None = None,
    *,
    model: str = "dp",
    limit: int | None = None,
    data_dir: str | Path | None = None,
) -> AuditTimes:
    """Time an audit of a model trained for one epoch, in a fresh process with one thread.

    `source` is a corpus by name or a file; by default all of IMDB, from the data folder.
    """
    if source is None:
        folder = data_folder(data_dir)
        if folder is None or not (folder / WHOLE_IMDB).exists():
            raise UserError(
                f"This is measured on all of IMDB, {WHOLE_IMDB} in the data folder, which is not there: name "
                "the folder with --data-dir, or other texts with --corpus."
            )
        source = str(folder / WHOLE_IMDB)
    given = [source, None if data_dir is None else str(data_dir), model, limit]
    return AuditTimes(source, model, **run_child(_CHILD, json.dumps(given), what="The audit"))


def audit(source: str | None, *, model: str, limit: int | None, data_dir: str | Path | None = None) -> Found:
    """An audit, page included, beside one evaluation pass."""
    found = measure_audit(source, model=model, limit=limit, data_dir=data_dir)
    rows = [[name, f"{seconds:.1f} s"] for name, seconds in found.stages.items()]
    rows += [["the whole audit", f"{found.whole:.1f} s"], ["one evaluation pass", f"{found.plain:.2f} s"]]
    rows += [["announced, at most", f"{found.announced:.1f} s"]]
    rows += [["the whole audit, of the processor", f"{found.processor:.1f} s"]]
    rows += [["peak memory", f"{found.peak_bytes / 2**30:.2f} GB"]]
    title = f"{found.audited:,} of {found.texts:,} texts of {Path(found.source).name}"
    told = f"allowed: {found.allowed:.0f} s and 3 GB: {'kept' if found.within else 'NOT kept'}"
    took = (
        f"It took {found.whole / found.announced:.2f} times what it had announced: "
        f"{'kept' if found.kept else 'NOT kept'} (aim: at most {KEPT}); it reads “{found.reading}”."
    )
    numbers = numbers_of(found, "allowed", "within", "kept")
    return Found(numbers, (Table(title, ["stage", "taken"], rows), told, took))
