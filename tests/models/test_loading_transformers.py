"""Loading that cannot lie: what does not belong together is refused, in one sentence, within a time."""

import json
import time

import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

from damaged_folders import damaged
from safetensors.torch import load_file, save_file
from tiny_transformers import classifier, save, stirred, wordpiece

from heedful.errors import UserError
from heedful.models.transformers import load_transformer, loading

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds
TEXTS = ["The wonderful film", "a plot of two"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    tokenizer = wordpiece()
    return save(stirred(classifier("bert", tokenizer)), tokenizer, tmp_path_factory.mktemp("sound") / "model")


@pytest.fixture
def folder(sound, tmp_path):
    import shutil

    return shutil.copytree(sound, tmp_path / "model")


def change_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def change_weights(folder, change):
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def refused(folder, said, **options):
    with pytest.raises(UserError, match=said) as caught:
        load_transformer(folder, **options)
    assert "\n" not in str(caught.value)


def test_a_sound_folder_is_loaded(folder):
    subject = load_transformer(folder)
    assert subject.classes == ("bad", "good")
    assert subject.logits(subject.encode(TEXTS)).shape == (2, 2)


def test_a_checkpoint_without_its_head_is_refused_and_not_given_a_random_one(folder):
    change_weights(folder, lambda tensors: [tensors.pop(key) for key in list(tensors) if "classifier" in key])
    refused(folder, "not a trained classifier.*lack classifier.bias, classifier.weight")


def test_weights_of_another_shape_are_refused(folder):
    change_weights(folder, lambda tensors: tensors.update({"classifier.weight": torch.zeros(5, 33)}))
    refused(folder, "have another shape in classifier.weight")


def test_weights_that_the_network_does_not_know_are_refused(folder):
    change_weights(folder, lambda tensors: tensors.update({"bert.adapter.weight": torch.zeros(5)}))
    refused(folder, "does not know: bert.adapter.weight")


def test_weights_that_are_no_numbers_are_refused(folder):
    change_weights(folder, lambda tensors: tensors["classifier.bias"].fill_(float("nan")))
    refused(folder, "classifier.bias has values that are not numbers")


def test_a_folder_without_a_tokenizer_is_refused(folder):
    for file in folder.glob("tokenizer*"):
        file.unlink()
    refused(folder, "no tokenizer")


def test_a_tokenizer_of_another_vocabulary_is_refused(folder):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    for number in range(40):
        tokenizer["model"]["vocab"][f"more{number}"] = len(tokenizer["model"]["vocab"])
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    refused(folder, "do not belong together")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"0": "bad", "2": "good"}, "without a gap"),
        ({"0": "bad", "1": "bad"}, "names of their own"),
        ({"0": "bad", "1": " "}, "names of their own"),
    ],
)
def test_classes_with_gaps_or_without_names_are_refused(folder, names, said):
    change_config(folder, id2label=names)
    refused(folder, said)


def test_pickles_are_refused_and_never_opened(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    refused(folder, "only safetensors are read")


def test_a_file_that_is_cut_off_is_refused(folder):
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:-5])
    refused(folder, "model.safetensors is cut off")


def test_quantised_weights_are_refused(folder):
    change_config(folder, quantization_config={"quant_method": "gptq", "bits": 4})
    refused(folder, "quantised.*black box")


def test_a_folder_with_an_adapter_is_refused_and_not_read_without_it(folder):
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    refused(folder, "holds an adapter.*merge it")


def test_a_task_that_transformers_does_not_know_is_refused(folder):
    change_config(folder, problem_type="multi_label")
    refused(folder, "problem_type.*'multi_label'.*multi_label_classification")


def test_a_model_that_labels_words_is_refused(folder):
    change_config(folder, architectures=["BertForTokenClassification"])
    refused(folder, "labels single words")


def test_code_of_the_folder_is_not_run(folder):
    (folder / "code.py").write_text("from pathlib import Path\nPath(__file__).with_name('run').touch()\n")
    change_config(folder, model_type="mine", auto_map={"AutoConfig": "code.Config"})
    refused(folder, "No classifier could be loaded")
    assert not (folder / "run").exists()


def test_half_precision_is_read_into_float32_and_said(folder):
    change_weights(
        folder, lambda tensors: tensors.update({key: value.half() for key, value in tensors.items()})
    )
    subject = load_transformer(folder)
    assert {value.dtype for value in subject.network.parameters()} == {torch.float32}
    assert any("float16" in note and "float32" in note for note in subject.notes)


def test_loading_ends_within_its_time(folder, monkeypatch):
    monkeypatch.setattr(loading, "_load", lambda *_: time.sleep(5))
    refused(folder, "did not end within 0 seconds", seconds=0.05)


def test_sizes_that_no_model_has_are_refused_before_they_fill_the_memory(folder):
    change_config(folder, max_position_embeddings=10**11)
    refused(folder, "max_position_embeddings = 100000000000")
    change_config(folder, max_position_embeddings=31, num_hidden_layers=10**6)
    refused(folder, "num_hidden_layers")


def check_damaged(sound, target, number):
    """A damaged folder is refused in one sentence, or loads and answers; anything else is a fault."""
    done = damaged(sound, target, number)
    begun = time.perf_counter()
    said = ""
    try:
        subject = load_transformer(target, seconds=30)
        assert subject.logits(subject.encode(TEXTS)).isfinite().all(), done
    except UserError as refusal:
        said = str(refusal)
    assert "\n" not in said, done
    assert "did not end" not in said, done
    assert time.perf_counter() - begun < 30, done


@pytest.mark.parametrize("part", range(5))
def test_damaged_folders_give_one_sentence(sound, tmp_path, part):
    for number in range(8 * part, 8 * part + 8):
        check_damaged(sound, tmp_path / str(number), number)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(20))
def test_a_thousand_damaged_folders_give_one_sentence_each(sound, tmp_path, part):
    for number in range(1000 + 50 * part, 1050 + 50 * part):
        check_damaged(sound, tmp_path / str(number), number)
