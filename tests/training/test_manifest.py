"""A run folder is believed only if every file is the one that was written."""

import errno
import json
import os
import platform

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from heedful import __version__
from heedful.cli import app
from heedful.data.corpus import Corpus
from heedful.errors import Unvouched, UserError
from heedful.files import regular
from heedful.records.manifest import MANIFEST, checked_manifest, file_digest, write_manifest
from heedful.training import load_run
from heedful.training.from_corpus import train
from heedful.training.loop import EXPLODED, refuse_divergence

ROWS = 60


@pytest.fixture(scope="module")
def corpus():
    texts = [f"{'good' if n % 2 else 'bad'} film number {n}" for n in range(ROWS)]
    splits = np.array(["train"] * 40 + ["dev"] * 10 + ["test"] * 10)
    return Corpus("films", texts, np.arange(ROWS) % 2, splits, ("bad", "good"))


@pytest.fixture
def folder(corpus, tmp_path):
    train(corpus, out=tmp_path / "run", epochs=2, embedding=5, scale=10.0)
    return tmp_path / "run"


def test_the_manifest_has_every_file_and_what_made_it(folder):
    content = json.loads((folder / MANIFEST).read_text())
    files = {"settings.toml", "vocabulary.json", "weights.safetensors", "history.parquet", "result.json"}
    assert content["files"].keys() == files
    made = load_run(folder).made
    assert made["heedful"] == __version__
    assert made["python"] == platform.python_version()
    assert made["torch"] == torch.__version__.partition("+")[0] or made["torch"] == torch.__version__
    assert made["threads"] == torch.get_num_threads()
    assert load_run(folder).notes == ()


def test_two_words_that_changed_places_are_noticed(folder):
    path = folder / "vocabulary.json"
    content = json.loads(path.read_text())
    words = content["words"]
    first, second = words.index("good"), words.index("bad")
    words[first], words[second] = words[second], words[first]
    path.write_text(json.dumps(content, separators=(",", ":")))
    with pytest.raises(UserError, match=r"vocabulary\.json is not as it was written"):
        load_run(folder)


def test_another_scale_is_noticed(folder):
    path = folder / "settings.toml"
    path.write_text(path.read_text().replace("scale = 10.0", "scale = 11.0"))
    with pytest.raises(UserError, match=r"settings\.toml is not as it was written"):
        load_run(folder)


@pytest.mark.parametrize("name", ["weights.safetensors", "history.parquet", "result.json"])
def test_one_bit_is_noticed_in_every_file(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(UserError, match="is not as it was written"):
        load_run(folder)


def test_a_run_without_a_manifest_is_opened_and_it_is_said(folder):
    (folder / MANIFEST).unlink()
    with pytest.warns(Unvouched, match="it cannot be checked whether its files were changed"):
        assert "it cannot be checked" in load_run(folder).notes[0]
    told = CliRunner().invoke(app, ["scores", str(folder), "--quiet"])
    assert told.stderr.startswith(f"Warning: {folder} has no {MANIFEST}: it cannot be checked")


@pytest.mark.parametrize(
    ("name", "value"),
    [("test_accuracy", "high"), ("dev_accuracy", None), ("seconds", [1]), ("epoch", float("nan"))],
)
def test_a_result_that_is_no_number_is_refused(folder, name, value):
    (folder / MANIFEST).unlink()
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps({**result, name: value}))
    with pytest.raises(UserError, match=f"{name} must be a number"):
        load_run(folder)


@pytest.mark.parametrize("name", [MANIFEST, "weights.safetensors", "result.json"])
def test_what_may_not_be_read_is_not_called_missing_or_damaged(folder, monkeypatch, name):
    def shut(path, *others, **options):
        if path == folder / name:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return regular(path)

    for module in ("manifest", "stored"):
        monkeypatch.setattr(f"heedful.records.{module}.regular", shut)
    with pytest.raises(UserError, match=f"{name} cannot be read .Permission denied"):
        load_run(folder)


def test_a_pipe_or_a_folder_in_the_place_of_a_file_is_not_called_missing(folder):
    (folder / "weights.safetensors").unlink()
    os.mkfifo(folder / "weights.safetensors")
    with pytest.raises(UserError, match=r"weights\.safetensors is no regular file"):
        load_run(folder)
    (folder / "weights.safetensors").unlink()
    (folder / "weights.safetensors").mkdir()
    with pytest.raises(UserError, match=r"weights\.safetensors cannot be read \(Is a directory"):
        load_run(folder)


@pytest.mark.parametrize("name", ["/etc/passwd", "../other", "", "a\0b"])
def test_a_manifest_that_names_foreign_files_is_refused(folder, name):
    write_manifest(folder, {name: file_digest(folder / "result.json")})
    with pytest.raises(UserError, match="is no file of the folder"):
        checked_manifest(folder)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema": 1, "files": 3, "made": {}}', "[" * 9999])
def test_a_damaged_manifest_is_refused(folder, content):
    (folder / MANIFEST).write_text(content)
    with pytest.raises(UserError, match=r"manifest\.json is damaged"):
        load_run(folder)


def test_a_loss_that_explodes_is_said_and_no_run_is_left_as_if_it_were_good(corpus, tmp_path):
    with pytest.raises(UserError, match=r"The loss (has grown to|is no longer a number)"):
        train(corpus, out=tmp_path / "run", epochs=5, embedding=5, rate=1e12, optimiser="sgd", compiled=False)
    with pytest.raises(UserError, match="unfinished training"):
        load_run(tmp_path / "run")
    with pytest.raises(UserError, match=r"has grown to 1e\+18 in epoch 3"):
        refuse_divergence(1e18, 3)
    refuse_divergence(EXPLODED / 2, 3)


def test_one_thread_gives_the_same_bits_on_any_number_of_cores(corpus):
    before = torch.get_num_threads()
    options = {"model": "flan-rnn", "epochs": 1, "embedding": 7, "hidden": 6, "embedding_source": "uniform"}
    weights, said = [], []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            run = train(corpus, deterministic=True, say=said.append, **options)
            weights.append(run.model.state_dict())
            assert torch.get_num_threads() == threads
        assert not any("threads" in sentence for sentence in said)
        train(corpus, say=said.append, **options)
        assert "Training on 2 threads" in said[-1]
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, weights[1][name]) for name, one in weights[0].items())


@pytest.mark.parametrize("changes", [{"hidden": 10**30}, {"embedding": 10**9}, {"scale": 10**400}])
def test_absurd_sizes_are_refused_before_anything_is_made(corpus, changes):
    with pytest.raises(UserError) as caught:
        train(corpus, model="flan-rnn", **changes)
    assert len(str(caught.value)) < 1100


def test_a_model_that_no_machine_holds_is_refused(corpus):
    with pytest.raises(UserError, match=r"would learn about [\d,]+ numbers"):
        train(corpus, model="flan-rnn", hidden=2**16, embedding=2**16, embedding_source="uniform")
