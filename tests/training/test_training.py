"""A training learns, repeats itself bit by bit, goes on after a kill, and tests once."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from heedful.errors import UserError
from heedful.models.settings import ModelSettings
from heedful.training import run as files
from heedful.training.callbacks import Callback
from heedful.training.checkpoint import FORMAT as CHECKPOINT_FORMAT
from heedful.training.checkpoint import Checkpoint
from heedful.training.evaluation import evaluate, macro_f1, predict, roc_auc
from heedful.training.from_corpus import encode_splits, train, train_run
from heedful.training.loop import fit
from heedful.training.presets import PRESETS, prepare
from heedful.training.run import Recipe, load_run

FAST = {"embedding": 13, "epochs": 4, "batch": 17, "rate": 0.1}


def weights_of(run):
    return {name: value.clone() for name, value in run.model.state_dict().items()}


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("name", ["dp", "dp-a", "ad"])
def test_a_model_learns_what_decides(small_corpus, name):
    run = train(small_corpus, model=name, **{**FAST, "epochs": 20, "hidden": 13, "dropout_words": 0.0})
    assert run.result["test_accuracy"] > 0.9


@pytest.mark.parametrize("optimiser", ["sgd", "adagrad", "adam", "adamw"])
@pytest.mark.parametrize("compiled", [True, False])
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(small_corpus, optimiser, compiled):
    def trained(seed):
        return weights_of(train(small_corpus, optimiser=optimiser, compiled=compiled, seed=seed, **FAST))

    assert same(trained(3), trained(3))
    assert not same(trained(3), trained(5))


def test_training_leaves_torchs_own_generator_alone(small_corpus):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    train(small_corpus, compiled=False, **FAST)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("optimiser", ["sgd", "adagrad", "adam"])
def test_a_resumed_training_ends_as_if_it_had_never_stopped(small_corpus, tmp_path, compiled, optimiser):
    model, training = prepare(
        "dp", {**FAST, "compiled": compiled, "optimiser": optimiser, "halve_on_plateau": True}
    )
    recipe = Recipe(
        model, training, words=_rules(), corpus={"name": "small"}, classes=small_corpus.label_names
    )
    vocabulary, sets = encode_splits(small_corpus, recipe)

    def fresh():
        from heedful.models.building import build_model

        return build_model(model, vocabulary, recipe.classes, seed=1)

    kept = []
    whole = fresh()
    expected = fit(whole, sets["train"], sets["dev"], settings=training)
    cut = fresh()
    short = replace(training, epochs=2)
    fit(
        cut,
        sets["train"],
        sets["dev"],
        settings=short,
        keep=lambda checkpoint: kept.append(checkpoint.save(tmp_path / "c")),
    )
    resumed = fresh()
    history = fit(
        resumed, sets["train"], sets["dev"], settings=training, resume=Checkpoint.load(tmp_path / "c")
    )
    assert same(dict(resumed.state_dict()), dict(whole.state_dict()))
    drop = lambda rows: [{key: value for key, value in row.items() if key != "seconds"} for row in rows]  # noqa: E731
    assert drop(history) == drop(expected)


def _rules():
    from heedful.data.words import WordRules

    return WordRules()


def test_the_best_dev_epoch_is_kept(small_corpus):
    run = train(small_corpus, **{**FAST, "epochs": 6})
    _, sets = encode_splits(small_corpus, run.recipe)
    best = run.history.loc[run.history["dev_accuracy"].idxmax()]
    assert run.result["epoch"] == best["epoch"]
    assert evaluate(run.model, sets["dev"]).accuracy == best["dev_accuracy"]


def test_the_epoch_is_chosen_by_roc_auc_and_never_before_the_earliest(small_corpus):
    run = train(small_corpus, **{**FAST, "epochs": 6}, choose="roc-auc", earliest=4)
    _, sets = encode_splits(small_corpus, run.recipe)
    late = run.history[run.history["epoch"] >= 4]
    best = late.loc[late["dev_roc_auc"].idxmax()]
    judged = evaluate(run.model, sets["dev"])
    assert run.result["epoch"] == best["epoch"] >= 4
    assert run.result["dev_accuracy"] == best["dev_accuracy"] == judged.accuracy
    assert roc_auc(judged.logits, judged.labels) == best["dev_roc_auc"]


def test_an_earliest_epoch_beyond_the_last_keeps_the_last_and_patience_waits_for_it(small_corpus):
    assert train(small_corpus, **{**FAST, "epochs": 2}, earliest=5).result["epoch"] == 2
    run = train(small_corpus, **{**FAST, "epochs": 6, "rate": 1e-9}, earliest=4, patience=1)
    assert (run.result["epoch"], run.history["epoch"].max()) == (4, 5)


def test_roc_auc_counts_ordered_pairs_and_has_no_value_for_one_class():
    scores = torch.tensor([[0.1], [0.4], [0.35], [0.4], [-1.0]])
    labels = torch.tensor([0, 0, 1, 1, 0])  # 6 pairs: of 0.35 two won, one lost; of 0.4 two won, one tied
    assert roc_auc(scores, labels) == pytest.approx(4.5 / 6)
    assert roc_auc(torch.cat([-scores, scores], 1), labels) == pytest.approx(4.5 / 6)
    three = torch.tensor([[3.0, 0, 0], [0, 3.0, 0], [0, 3.0, 1], [2.0, 0, 1]])
    assert roc_auc(three, torch.tensor([0, 1, 2, 0])) == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert np.isnan(roc_auc(scores, torch.zeros(5, dtype=torch.long)))


def test_a_dev_split_of_one_class_cannot_choose_by_roc_auc(small_corpus):
    dev, first = small_corpus.splits == "dev", small_corpus.labels == 0
    one = small_corpus.take(np.flatnonzero(~dev | first))
    with pytest.raises(UserError, match="one class"):
        train(one, **FAST, choose="roc-auc")


def test_a_balanced_training_decides_more_often_for_the_smaller_class(small_corpus):
    keep = (small_corpus.splits != "train") | (small_corpus.labels == 0)
    keep[np.flatnonzero(~keep)[:6]] = True
    few = small_corpus.take(np.flatnonzero(keep))
    settings = {**FAST, "epochs": 1, "rate": 0.01, "dropout_words": 0.0, "dropout_head": 0.0}
    plain, balanced = (train(few, **settings, balance=how, earliest=1) for how in (False, True))
    texts = few.split("test").texts
    assert (predict(balanced.model, texts) > predict(plain.model, texts)).all()


def test_the_test_split_is_touched_once_and_only_after_training(small_corpus, monkeypatch):
    from heedful.training import from_corpus, loop

    seen = []

    def spying(where, real):
        def spy(model, encoded, **rest):
            seen.append((where, len(encoded)))
            return real(model, encoded, **rest)

        return spy

    # Three different sizes, so that the split is known by its size.
    corpus = small_corpus.take(
        np.flatnonzero((small_corpus.splits != "test") | (np.arange(len(small_corpus)) % 2 == 0))
    )
    sizes = {name: len(corpus.split(name)) for name in ("train", "dev", "test")}
    assert len(set(sizes.values())) == 3
    monkeypatch.setattr(loop, "evaluate", spying("loop", loop.evaluate))
    monkeypatch.setattr(from_corpus, "evaluate", spying("train", from_corpus.evaluate))
    train_run(corpus, model=prepare("dp", FAST)[0], training=prepare("dp", FAST)[1])
    assert seen == [("loop", sizes["dev"])] * FAST["epochs"] + [("train", sizes["test"])]


def test_evaluation_switches_dropout_off_and_the_mode_back(small_corpus):
    run = train(small_corpus, **FAST)
    _, sets = encode_splits(small_corpus, run.recipe)
    run.model.train()
    first, second = (evaluate(run.model, sets["test"]).logits for _ in range(2))
    assert torch.equal(first, second)
    assert run.model.training


def test_predictions_come_in_the_order_of_the_texts(small_corpus):
    run = train(small_corpus, **FAST)
    texts = [*small_corpus.split("test").texts[:5], "neg1", "pos3 pos5 neg2 n1 n2 n3"]
    together = predict(run.model, texts)
    alone = torch.cat([predict(run.model, [text]) for text in texts])
    assert torch.allclose(together, alone, atol=1e-6)


def test_macro_f1_by_hand():
    decided, labels = torch.tensor([0, 0, 1, 1, 2]), torch.tensor([0, 1, 1, 1, 0])
    # class 0: 1 hit, 2 decided, 2 labelled; class 1: 2 hits of 2 and 3; class 2: no hit
    assert abs(macro_f1(decided, labels) - (0.5 + 0.8 + 0.0) / 3) < 1e-12


def test_patience_ends_a_training_that_no_longer_improves(small_corpus):
    run = train(small_corpus, **{**FAST, "epochs": 40, "patience": 2})
    epochs = run.history["epoch"].max()
    assert epochs == run.result["epoch"] + 2 < 40


def test_the_rate_is_halved_when_dev_accuracy_does_not_rise(small_corpus):
    history = train(small_corpus, **{**FAST, "epochs": 8, "halve_on_plateau": True}).history
    best, rate = -1.0, FAST["rate"]
    for row in history.itertuples():
        assert row.rate == rate
        rate, best = (rate / 2, best) if row.dev_accuracy <= best else (rate, row.dev_accuracy)
    assert rate < FAST["rate"]


def test_callbacks_see_every_moment_in_order(small_corpus):
    seen = []

    class Watch(Callback):
        def begin(self, training):
            seen.append("begin")

        def epoch_begins(self, training):
            seen.append(f"epoch {training.epoch}")

        def step_ends(self, training):
            assert np.isfinite(training.loss)
            seen.append(training.step)

        def epoch_ends(self, training, row):
            training.history.append({"kind": "watched", "epoch": row["epoch"]})

        def end(self, training):
            seen.append("end")

    run = train(small_corpus, callbacks=[Watch()], **{**FAST, "epochs": 2, "batch": 60})
    assert seen == ["begin", "epoch 1", 1, 2, "epoch 2", 3, 4, "end"]
    assert list(run.history["kind"]) == ["epoch", "watched", "epoch", "watched"]


def test_the_penalty_shrinks_the_alignment(small_corpus):
    free, held = (
        train(small_corpus, penalty=penalty, **FAST).model.alignment().abs().item() for penalty in (0.0, 1.0)
    )
    assert held < free / 2


@pytest.mark.parametrize("name", ["dp", "dp-a", "ad"])
def test_l2_by_part_shrinks_that_part_alone(small_corpus, name):
    def norm(part, **changes):
        run = train(small_corpus, model=name, compiled=False, hidden=13, optimiser="sgd", **FAST, **changes)
        return sum(float(parameter.detach().norm()) for parameter in run.model.parts()[part])

    assert norm("head", l2_head=0.5) < 0.8 * norm("head")
    assert norm("attention", l2_attention=0.5) < 0.8 * norm("attention")


# A run folder


def test_a_run_folder_explains_itself_and_loads_the_same_model(small_corpus, tmp_path):
    run = train(small_corpus, out=tmp_path / "run", **FAST)
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names >= {
        "settings.toml",
        "vocabulary.json",
        "weights.safetensors",
        "history.parquet",
        "result.json",
    }
    assert "checkpoint.safetensors" not in names
    again = load_run(tmp_path / "run")
    assert same(weights_of(run), weights_of(again))
    assert again.recipe == run.recipe
    assert again.result == run.result
    texts = list(small_corpus.split("test").texts)
    assert torch.equal(predict(run.model, texts), predict(again.model, texts))


def test_a_finished_run_is_not_written_over(small_corpus, tmp_path):
    train(small_corpus, out=tmp_path / "run", **FAST)
    with pytest.raises(UserError, match="finished run"):
        train(small_corpus, out=tmp_path / "run", **FAST)


def test_other_peoples_files_are_not_mixed_with_a_run(small_corpus, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match="other files"):
        train(small_corpus, out=tmp_path, **FAST)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_an_unfinished_run_with_other_settings_is_refused(small_corpus, tmp_path):
    train(small_corpus, out=tmp_path / "run", **FAST)
    (tmp_path / "run" / "result.json").unlink()
    with pytest.raises(UserError, match="other settings"):
        train(small_corpus, out=tmp_path / "run", **{**FAST, "rate": 0.2})


@pytest.mark.parametrize(
    ("name", "harm", "sentence"),
    [
        ("weights.safetensors", lambda data: data[:-100], "damaged"),
        ("weights.safetensors", lambda data: b"", "damaged"),
        ("settings.toml", lambda data: data.replace(b"format = 1", b"format = 99"), "format 99"),
        ("settings.toml", lambda data: b"format = [", "damaged"),
        ("settings.toml", lambda data: data.replace(b"dropout_words", b"dropout_wards"), "dropout_words"),
        ("vocabulary.json", lambda data: data[:50], "damaged"),
        ("history.parquet", lambda data: data[:50], "damaged"),
        ("result.json", lambda data: b"{", "damaged"),
        ("result.json", lambda data: b"[]", "damaged"),
        ("result.json", lambda data: b"{}", "damaged"),
        ("settings.toml", lambda data: data.replace(b"[model]", b"[[model]]"), "damaged"),
    ],
)
def test_a_damaged_or_foreign_run_is_refused_in_one_sentence(small_corpus, tmp_path, name, harm, sentence):
    train(small_corpus, out=tmp_path / "run", **FAST)
    path = tmp_path / "run" / name
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(UserError, match=sentence) as caught:
        load_run(tmp_path / "run")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("facts", [None, "{}", "{", '{"best": 1}'])
def test_a_checkpoint_with_other_facts_is_refused_in_one_sentence(tmp_path, facts):
    metadata = {"format": CHECKPOINT_FORMAT, **({} if facts is None else {"facts": facts})}
    save_file({"weights/head": torch.ones(3)}, tmp_path / "checkpoint", metadata=metadata)
    with pytest.raises(UserError, match="checkpoint is damaged"):
        Checkpoint.load(tmp_path / "checkpoint")


def test_a_checkpoint_of_another_version_is_not_called_damaged(tmp_path):
    save_file({"weights/head": torch.ones(3)}, tmp_path / "checkpoint", metadata={"format": "other"})
    with pytest.raises(UserError, match="checkpoint was written by another version") as caught:
        Checkpoint.load(tmp_path / "checkpoint")
    assert "damaged" not in str(caught.value)


@pytest.mark.slow
def test_a_killed_training_goes_on_from_its_last_epoch(tmp_path):
    """A real process, a real kill, and the result equal to that of an undisturbed run."""
    program = """
import sys
from heedful.data.synthetic import Synthetic, make_synthetic
import heedful.training.from_corpus as module
from heedful.training.callbacks import Callback
module.SHARE_FOR_CHECKPOINTS = 1e9
class Killed(Callback):
    def epoch_ends(self, training, row):
        if training.epoch == int(sys.argv[2]) + 1:
            import os, signal
            os.kill(os.getpid(), signal.SIGKILL)
corpus = make_synthetic(Synthetic(neutral=23, polar=11, per_class=60, held_out=20), name="small")
module.train(corpus, out=sys.argv[1], embedding=13, epochs=6, batch=17, rate=0.1, callbacks=[Killed()])
"""

    def start(folder, die_after):
        return subprocess.run(
            [sys.executable, "-c", program, str(folder), str(die_after)], check=False
        ).returncode

    assert start(tmp_path / "undisturbed", 99) == 0
    assert start(tmp_path / "killed", 3) < 0
    assert not (tmp_path / "killed" / "result.json").exists()
    with pytest.raises(UserError, match="unfinished"):
        load_run(tmp_path / "killed")
    assert start(tmp_path / "killed", 99) == 0
    first, second = (load_run(tmp_path / name) for name in ("undisturbed", "killed"))
    assert same(weights_of(first), weights_of(second))
    facts = [{key: value for key, value in run.result.items() if key != "seconds"} for run in (first, second)]
    assert facts[0] == facts[1]
    assert json.loads((tmp_path / "killed" / "result.json").read_text())["schema"] == 1


def test_two_writers_do_not_share_a_folder(small_corpus, tmp_path):
    from heedful.files import locked

    with locked(tmp_path / "run" / files.LOCK), pytest.raises(UserError, match="being written"):
        train(small_corpus, out=tmp_path / "run", **FAST)


# Presets


def test_all_presets_of_the_papers_are_there():
    serrano_smith = [name for name in PRESETS if name.startswith("serrano-smith-")]
    assert len(serrano_smith) == 24
    assert len([name for name in PRESETS if name.startswith("jain-wallace-")]) == 6
    yelp = PRESETS["serrano-smith-yelp-han-noenc"]
    assert (yelp.model.dropout_words, yelp.model.dropout_sentences, yelp.model.dropout_head) == (
        0.7,
        0.1,
        0.7,
    )
    assert (yelp.training.rate, yelp.training.patience, yelp.training.clip) == (0.0001, 10, 10.0)
    assert PRESETS["serrano-smith-imdb-flan-rnn"].training.epochs == 15
    assert PRESETS["serrano-smith-yahoo-flan-conv"].model.dropout_head == 0.4457


def test_changes_go_to_the_settings_they_belong_to():
    model, training = prepare("dp", {"scale": 50, "epochs": 3})
    assert (model.scale, training.epochs) == (50.0, 3)
    assert model == replace(PRESETS["dp"].model, scale=50.0)


def test_a_misspelt_change_is_refused_with_the_nearest():
    with pytest.raises(UserError, match="nearest is 'scale'"):
        prepare("dp", {"scala": 3})


def test_model_and_training_settings_share_no_name():
    from dataclasses import fields

    from heedful.training.settings import TrainingSettings

    assert not {item.name for item in fields(ModelSettings)} & {
        item.name for item in fields(TrainingSettings)
    }
