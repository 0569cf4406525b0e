"""A disk that fails at every single write, sync and rename in turn: one sentence, nothing half, nothing lost.

The table of docs/survival.md is printed by `pytest -s tests/cli/test_faults.py`. A flush is a write here:
what is watched is what reaches the system.
"""

import errno
import json
import math
import os
import random
import resource
import shutil
import stat
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from safetensors import safe_open
from typer.testing import CliRunner

from heedful import files
from heedful.cli import app
from heedful.drawing import save_figure
from heedful.errors import UserError
from heedful.records import read_rows
from heedful.settings import to_toml

run = CliRunner().invoke
FOLDER = "fsync of a folder"  # when the file is already whole under its name
KINDS = ("write", "fsync", "replace", FOLDER)
FULL = OSError(errno.ENOSPC, "No space left on device")


def write_reviews(path: Path) -> Path:
    """A hundred texts of four words, of which the first says the class; enough of them for a reading."""
    some, others = "abcdefghijk", "lmnopqrstu"
    lines = [
        f"{'good' if n % 2 else 'bad'} film {some[n % 11]}ee {others[n // 11]}oo,{n % 2}" for n in range(100)
    ]
    path.write_text("\n".join(["text,label", *lines]) + "\n")
    return path


class Disk:
    """Counts what is asked of the disk, and fails one of it."""

    def __init__(self, monkeypatch, fails: int | None = None) -> None:
        self.asked: list[str] = []
        self.fails = fails
        for owner, name in ((files._Watched, "write"), (os, "fsync"), (os, "replace")):
            monkeypatch.setattr(owner, name, self.watched(name, getattr(owner, name)))

    def watched(self, name, do):
        def ask(*arguments, **options):
            of_folder = name == "fsync" and stat.S_ISDIR(os.fstat(arguments[0]).st_mode)
            self.asked.append(FOLDER if of_folder else name)
            if len(self.asked) - 1 == self.fails:
                if name == "write":
                    arguments[0].fault = FULL  # as the real one remembers it
                raise FULL
            return do(*arguments, **options)

        return ask


def inline(work, job, cells, *, workers=None, done=None):
    """Cells in this process, where the disk is watched."""
    for cell in cells:
        try:
            record = work(job, cell)
        except UserError as fault:
            yield cell, str(fault)
            record = None
        if done is not None:
            done(cell, record)


def drawn_once(monkeypatch) -> None:
    """An audit's figures are drawn once, then written as they were: `erase` draws on a full disk."""
    kept: dict[str, dict[str, bytes]] = {}

    def save(figure, stem: Path):
        if stem.name not in kept:
            kept[stem.name] = {path.suffix: path.read_bytes() for path in save_figure(figure, stem)}
            return
        for suffix, content in kept[stem.name].items():
            with files.write_atomically(stem.with_suffix(suffix), "wb") as file:
                file.write(content)

    for user in ("whole", "forecast"):
        monkeypatch.setattr(f"heedful.auditing.{user}.save_figure", save)


def check_whole(folder: Path) -> None:
    """Every file that is there can be read from its first to its last byte, and nothing is half written."""
    for path in folder.rglob("*"):
        if path.is_dir() or path.name.startswith(".lock"):
            continue
        assert not path.name.endswith(".part"), path
        match path.suffix:
            case ".json":
                json.loads(path.read_text())
            case ".toml":
                tomllib.loads(path.read_text())
            case ".parquet":
                pd.read_parquet(path)
            case ".safetensors":
                with safe_open(path, framework="pt") as weights:
                    assert len(list(weights.keys()))
            case ".png":
                assert path.read_bytes().rstrip().endswith(b"IEND\xaeB`\x82")
            case ".svg" | ".html":
                assert path.read_text().rstrip().endswith(">")


def result_of(folder: Path):
    """What must be the same whether or not a disk failed on the way: everything but times and part names."""
    found = {}
    for path in sorted(folder.rglob("*.safetensors")):
        found[str(path.relative_to(folder))] = path.read_bytes()
    for path in sorted([*folder.rglob("result.json"), *folder.rglob("audit.json")]):
        content = json.loads(path.read_text())
        found[str(path.relative_to(folder))] = {
            k: v for k, v in content.items() if k not in ("seconds", "made")
        }
    for path in sorted(folder.glob("*.parquet")):  # of an audit: findings, rows and words
        frame = pd.read_parquet(path).drop(columns="seconds", errors="ignore")
        found[path.name] = frame.astype(str).to_dict("list")
    for place in sorted({path.parent for path in folder.rglob("part-*.parquet")}):
        frame = read_rows(place).drop(columns=["seconds", "batch"], errors="ignore")
        frame = frame.sort_values(list(frame.columns[:1])).reset_index(drop=True)
        found[str(place.relative_to(folder))] = frame.astype(str).to_dict("list")
    for path in sorted(folder.rglob("*.png")):
        found[str(path.relative_to(folder))] = path.read_bytes()
    return found


LEARNT = {"epochs": 2, "embedding": 5, "rate": 2}


def commands(tmp_path: Path, name: str) -> list[str]:
    texts = write_reviews(tmp_path / "reviews.csv")
    train = [
        "train",
        str(texts),
        *(part for key, value in LEARNT.items() for part in (f"--{key}", str(value))),
    ]
    if name == "train":
        return train
    if name in ("erase", "audit"):
        run(app, [*train, "--out", str(tmp_path / "run")])
        return [name, str(tmp_path / "run")]
    study = tmp_path / "study.toml"
    study.write_text(
        'corpora = ["reviews.csv"]\nseeds = [0, 1]\nkeep_runs = true\n' + to_toml({"settings": LEARNT})
    )
    return ["sweep", str(study), "--workers", "1"]


def fail_at(place: int, command: list[str], out: Path, wanted, monkeypatch) -> str:
    """Fail what is asked of the disk at this place, check all that is promised, and say what it was."""
    with monkeypatch.context() as patch:
        disk = Disk(patch, place)
        failed = run(app, [*command, "--out", str(out)])
    assert len(disk.asked) > place, "the fault was never met"
    if disk.asked[place] == FOLDER:
        assert failed.exit_code == 0, (place, failed.output)
    else:
        assert failed.exit_code == 2, (place, failed.exit_code, failed.exception)
        said = [line for line in failed.stderr.splitlines() if "No space left on device" in line]
        assert len(said) == 1, failed.stderr
        assert "make room, and give the same command again" in said[0]
        assert "Traceback" not in failed.output
        if out.exists():
            check_whole(out)
        again = run(app, [*command, "--out", str(out)])
        assert again.exit_code == 0, (place, again.output)
    check_whole(out)
    assert result_of(out) == wanted, place
    shutil.rmtree(out)
    return disk.asked[place]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "tried"),
    [
        *(pytest.param(name, slice(None), id=name) for name in ("train", "erase", "sweep")),
        pytest.param("audit", 12, id="audit, some"),
        *(
            # Some hundred writes, and seconds for each.
            pytest.param(
                "audit", slice(part, None, 8), id=f"audit, part {part + 1} of 8", marks=pytest.mark.nightly
            )
            for part in range(8)
        ),
    ],
)
def test_a_disk_that_fails_anywhere_is_said_and_the_same_command_goes_on(tmp_path, monkeypatch, name, tried):
    monkeypatch.setattr("heedful.study.engines.in_processes", inline)
    # Every checkpoint is written, however long that takes: so places are the same each time.
    monkeypatch.setattr("heedful.training.from_corpus.SHARE_FOR_CHECKPOINTS", math.inf)
    drawn_once(monkeypatch)
    command = commands(tmp_path, name)
    whole = run(app, [*command, "--out", str(tmp_path / "whole")])
    assert whole.exit_code == 0, whole.output
    wanted = result_of(tmp_path / "whole")
    with monkeypatch.context() as patch:
        disk = Disk(patch)
        run(app, [*command, "--out", str(tmp_path / "counted")])
    assert set(KINDS) == set(disk.asked)
    assert result_of(tmp_path / "counted") == wanted
    places = range(len(disk.asked))
    chosen = places[tried] if isinstance(tried, slice) else random.Random(20).sample(places, tried)
    failed = Counter(
        fail_at(place, command, tmp_path / f"out-{place}", wanted, monkeypatch) for place in chosen
    )
    counts = [f"{failed[kind]} of {disk.asked.count(kind)}" for kind in KINDS]
    sys.stdout.write(f"\n| `{name}` | {' | '.join(counts)} | all: one sentence, whole, identical |\n")


def test_a_limit_of_the_system_is_said_too(tmp_path):
    """Not a pretended fault: the system itself refuses to let a file grow beyond some bytes."""
    texts = write_reviews(tmp_path / "reviews.csv")
    program = "from heedful.cli import main; main()"
    command = [
        "train",
        str(texts),
        "--epochs",
        "1",
        "--embedding",
        "500",
        "--no-compiled",
        "--out",
        str(tmp_path / "run"),
    ]

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = subprocess.run(
        [sys.executable, "-c", program, *command],
        capture_output=True,
        text=True,
        preexec_fn=limit,
    )
    assert done.returncode == 2, done.stderr
    assert "cannot be written (File too large)" in done.stderr
    assert "Traceback" not in done.stderr
    check_whole(tmp_path / "run")


def test_a_full_terminal_file_is_said(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from heedful.cli import main; main()", "data", "list", "--json"],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.strip() == "heedful: the output cannot be written (No space left on device)."


def without(*numbers):
    """List the corpora in a process for which these standard streams are closed."""
    return subprocess.run(
        [sys.executable, "-m", "heedful", "-v", "data", "list", "--json"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: [os.close(number) for number in numbers],
    )


def test_a_closed_output_is_said_and_closed_remarks_are_not_missed():
    assert json.loads(without(0, 2).stdout)
    done = without(0, 1)
    assert done.returncode == 2
    assert done.stderr == "heedful: the output cannot be written (Bad file descriptor).\n"
    assert without(0, 1, 2).returncode == 2


def test_what_is_said_where_nothing_can_be_said_is_no_other_end():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "heedful", "data", "show", "none"], stdout=full, stderr=full, check=False
        )
    assert done.returncode == 2


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    inside = tmp_path / "run" / "deep"
    inside.mkdir(parents=True)
    theirs = tmp_path / "run" / "theirs"  # somebody else writes there, under a lock of his own
    theirs.mkdir()
    (theirs / ".lock").touch()
    for left in (
        tmp_path / "run" / ".weights.0a1b2c3d.part",
        inside / ".a.0a1b2c3d.part",
        theirs / ".b.0a1b2c3d.part",
    ):
        left.write_text("half")
    (tmp_path / "run" / ".encoder.0a1b2c3d.part").mkdir()
    (tmp_path / "run" / ".encoder.0a1b2c3d.part" / "network").write_text("half")
    with files.locked(tmp_path / "run" / ".lock"):
        assert [path.name for path in (tmp_path / "run").rglob("*.part")] == [".b.0a1b2c3d.part"]
