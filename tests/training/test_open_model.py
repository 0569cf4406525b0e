"""A model by its name: a run's folder, or hf: and a classifier's."""

from pathlib import Path

import pytest

from heedful.errors import UserError
from heedful.training import load_run, train
from heedful.training.opening import is_of_hub, open_model


@pytest.mark.parametrize(
    ("name", "so"),
    [("hf:a/b", True), (Path("hf:a"), True), ("runs/hf:a", False), (Path("runs"), False), (object(), False)],
)
def test_a_classifier_of_the_hub_is_known_by_how_its_name_begins(name, so):
    assert is_of_hub(name) is so


def test_a_folder_names_the_model_of_its_run(tmp_path, small_corpus):
    train(small_corpus, out=tmp_path / "run", epochs=1)
    words = load_run(tmp_path / "run").vocabulary.words
    assert open_model(str(tmp_path / "run")).vocabulary.words == words


def test_a_device_that_is_not_here_is_refused_before_anything_is_loaded(tmp_path):
    with pytest.raises(UserError, match="no-such-device"):
        open_model(f"hf:{tmp_path}", device="no-such-device")


def test_a_classifier_that_is_not_there_is_refused(tmp_path):
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    with pytest.raises(UserError, match="No classifier could be loaded"):
        open_model(f"hf:{tmp_path / 'nowhere'}")
