"""How long an audit takes beside one plain evaluation pass over the same texts, and how much memory.

A fresh process trains a model for one epoch (an audit of it costs what one of a better model does), runs an
evaluation pass, then an audit with all closed-form trials and its page, without training anything again. The
texts are the whole of IMDB unless said: 25,000 to train on and 25,000 to audit, long ones too, where the
corpus `imdb` is the papers' selection. Seconds are measured twice: by the clock, which counts, and of the
processor, which tells how much of that was waiting for a turn on a busy machine.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from heedful.bench.found import Found, Table, numbers_of
from heedful.data.named import data_folder
from heedful.errors import UserError

WHOLE_IMDB = "imdb.csv.gz"  # in the data folder
ALLOWED_PASSES, ALLOWED_SECONDS, ALLOWED_BYTES = 5, 90, 3 * 2**30

_OURS = "heedful.errors.UserError: "  # how a sentence for the user begins where it ends the process

_CHILD = """
import json, sys, tempfile, time
from pathlib import Path
import torch
torch.set_num_threads(1)
from heedful.auditing.whole import audit
from heedful.data.named import load_data
from heedful.training import train
from heedful.training.evaluation import evaluate
from heedful.training.texts_of_run import encode_for
source, data_dir, model, limit = json.loads(sys.argv[1])
corpus = load_data(source, data_dir=data_dir)
run = train(corpus, model=model, epochs=1)
encoded = encode_for(run.model, corpus.split("test"))
begun = time.perf_counter()
evaluate(run.model, encoded)
plain = time.perf_counter() - begun
begun, processor = time.perf_counter(), time.process_time()
with tempfile.TemporaryDirectory() as folder:
    found = audit(run, corpus, out=Path(folder) / "audit", seeds=1, uniform=False, limit=limit)
whole, processor = time.perf_counter() - begun, time.process_time() - processor
with open("/proc/self/status") as status:
    peak = next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps({
    "texts": len(encoded), "audited": found.content["data"]["instances"], "plain": plain, "whole": whole,
    "processor": processor, "peak_bytes": peak, "stages": found.content["seconds"],
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


def measure_audit(
    source: str | None = None,
    *,
    model: str = "dp",
    limit: int | None = None,
    data_dir: str | Path | None = None,
) -> AuditTimes:
    """Time an audit of a model trained for one epoch, in a fresh process with one thread.

    `source` is a corpus by name or a file; all of IMDB, from the data folder, unless said.
    """
    if source is None:
        folder = data_folder(data_dir)
        if folder is None or not (folder / WHOLE_IMDB).exists():
            raise UserError(
                f"This is measured on all of IMDB, {WHOLE_IMDB} in the data folder, which is not there: name "
                "the folder with --data-dir, or other texts with --corpus."
            )
        source = str(folder / WHOLE_IMDB)
    if not Path("/proc/self/status").exists():
        raise UserError("Peak memory is measured on Linux only.")
    given = [source, None if data_dir is None else str(data_dir), model, limit]
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, json.dumps(given)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(f"The audit that was to be measured failed: {reason.removeprefix(_OURS)}")
    return AuditTimes(source, model, **json.loads(done.stdout.splitlines()[-1]))


def audit(source: str | None, *, model: str, limit: int | None, data_dir: str | Path | None = None) -> Found:
    """An audit, page included, beside one evaluation pass."""
    found = measure_audit(source, model=model, limit=limit, data_dir=data_dir)
    rows = [[name, f"{seconds:.1f} s"] for name, seconds in found.stages.items()]
    rows += [["the whole audit", f"{found.whole:.1f} s"], ["one evaluation pass", f"{found.plain:.2f} s"]]
    rows += [["the whole audit, of the processor", f"{found.processor:.1f} s"]]
    rows += [["peak memory", f"{found.peak_bytes / 2**30:.2f} GB"]]
    title = f"{found.audited:,} of {found.texts:,} texts of {Path(found.source).name}"
    told = f"allowed: {found.allowed:.0f} s and 3 GB: {'kept' if found.within else 'NOT kept'}"
    return Found(numbers_of(found, "allowed", "within"), (Table(title, ["stage", "taken"], rows), told))
