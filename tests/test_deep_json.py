"""Brackets without end in a file of JSON, or a pipe in its place: one sentence with the file's name."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file

from heedful.auditing.plan import PLAN, begun_in
from heedful.bench.fuzz_requests import _means
from heedful.data.label_rules import labels_in
from heedful.data.named import load_data
from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.highlights.choosing import _check_same
from heedful.models.transformers.loading import check_folder, read_header
from heedful.records.manifest import checked_manifest
from heedful.records.stored import DEEPEST, load_json, parse_json, read_json
from heedful.settings import read_toml
from heedful.store import Store
from heedful.study.experiment import Reproduction
from heedful.study.published import read_published
from heedful.training.checkpoint import FORMAT, Checkpoint
from heedful.training.from_corpus import train
from heedful.training.run import load_run
from heedful.trials.rankings.own_scores import read_scores
from promises import at_most

READERS = {
    "recipe.json": lambda path: Store(path.parent, {"a": 1}).check(),
    "key.json": lambda path: Store(path.parent).stage().value("key"),
    "vocabulary.json": Vocabulary.load,
    "manifest.json": lambda path: checked_manifest(path.parent),
    PLAN: lambda path: begun_in(path.parent, {}),
    "plan.json": lambda path: _check_same(SimpleNamespace(folder=path.parent), None),
    "scores.json": lambda path: read_scores("mine", path, texts=1),
    "experiment.json": lambda path: Reproduction.load(path.parent),
    "PART/about.json": lambda path: read_published(path.parent.parent),
    "any.json": load_json,
    "texts.jsonl": load_data,
    "config.json": lambda path: check_folder(path.parent),
}
DEPTHS = (DEEPEST + 1, 980, 20_000)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", READERS)
def test_brackets_without_end_are_one_sentence(tmp_path, name, depth):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    for content in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "[" * depth):
        path.write_text(content)
        with pytest.raises(UserError) as refused:
            READERS[name](path)
        assert len(str(refused.value)) < 500


@pytest.mark.parametrize("name", [*READERS, "study.toml", "scores.npy", "weights.safetensors"])
def test_a_pipe_is_not_waited_for(tmp_path, name):
    readers = {
        "study.toml": read_toml,
        "scores.npy": lambda path: read_scores("mine", path, texts=1),
        "weights.safetensors": Checkpoint.load,
    }
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    with at_most(20), pytest.raises(UserError) as refused:
        (READERS | readers)[name](path)
    assert len(str(refused.value)) < 500


def test_a_device_without_end_is_not_read():
    for read in (read_toml, load_json):
        with at_most(20), pytest.raises(UserError, match="/dev/zero is no regular file"):
            read(Path("/dev/zero"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deep")
    (folder / "texts.csv").write_text("text,label\n" + "".join(f"a film {n},{n % 2}\n" for n in range(20)))
    train(folder / "texts.csv", out=folder / "run", epochs=1, embedding=3, compiled=False)
    (folder / "run" / "manifest.json").unlink()
    return folder / "run"


@pytest.mark.parametrize("name", ["result.json", "vocabulary.json"])
def test_a_run_blames_the_file_that_is_damaged(run, name):
    whole = (run / name).read_text()
    for depth in DEPTHS:
        (run / name).write_text("[" * depth)
        with pytest.raises(UserError, match=name):
            load_run(run)
    (run / name).write_text(whole)


@pytest.mark.parametrize("depth", DEPTHS)
def test_what_has_json_within_it_is_refused_too(tmp_path, depth):
    path = tmp_path / "checkpoint.safetensors"
    save_file(
        {"weights/a": torch.zeros(1)}, path, metadata={"format": FORMAT, "facts": "[" * depth + "]" * depth}
    )
    with pytest.raises(UserError, match="nested too deep"):
        Checkpoint.load(path)
    header = b"[" * depth
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(UserError, match="no safetensors file"):
        read_header(path)
    assert _means(header) is None
    assert labels_in("[" * depth + "good") == ["good"]  # words in brackets, and no list


def test_only_what_is_deep_is_refused(tmp_path):
    wide = [[1]] * 500
    assert parse_json(json.dumps(wide)) == wide
    assert parse_json(json.dumps("[" * 500)) == "[" * 500
    deep = "[" * DEEPEST + "]" * DEEPEST
    assert parse_json(deep.encode()) == json.loads(deep)
    with pytest.raises(ValueError, match="nested too deep"):
        parse_json(f"[{deep}]")
    (tmp_path / "a.json").write_text('{"a": NaN}')
    assert str(read_json(tmp_path / "a.json")) == "{'a': nan}"
