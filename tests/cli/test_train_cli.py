"""`heedful train`, then `explain`, through the real command line: what is said, kept and left behind."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.training import load_run
from promises import hear_ctrl_c

run = CliRunner().invoke
SMALL = ["--embedding", "13", "--batch", "7", "--rate", "0.1"]
QUICK = [*SMALL, "--epochs", "3"]


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    words = ("film", "plot", "cast", "scene", "music")
    lines = [
        f"{'good' if row % 2 else 'bad'} {words[row % 5]} number {row},{'liked' if row % 2 else 'disliked'}"
        for row in range(60)
    ]
    path = tmp_path / "reviews.csv"
    path.write_text("\n".join(["body,verdict", *lines]) + "\n", encoding="utf-8")
    return path


def test_the_time_left_does_not_count_what_compiling_took(monkeypatch, capfd):
    from types import SimpleNamespace

    from heedful.cli import watching

    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(watching, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    monkeypatch.setattr(watching, "_say_beginning", lambda training: None)
    training = SimpleNamespace(epoch=1, step=0, steps_per_epoch=11, settings=SimpleNamespace(epochs=3))
    with watching.shown_progress() as lines:
        lines.begin(training)
        for seconds in (100, *[2] * 10):  # the first step compiles
            clock.now += seconds
            training.step += 1
            lines.step_ends(training)
        lines.epoch_ends(training, {"train_loss": 0.5, "dev_accuracy": 0.5})
    assert "44 s left" in capfd.readouterr().err  # two epochs of 11 steps, 2 seconds each


def columns(reviews: Path) -> list[str]:
    return [str(reviews), "--text", "body", "--label", "verdict"]


@pytest.fixture
def trained(reviews: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    result = run(app, ["train", *columns(reviews), "--out", str(folder), *QUICK, "--max-length", "4"])
    assert result.exit_code == 0, result.stderr
    return folder


def begin(*arguments: object, **more) -> subprocess.Popen:
    command = [sys.executable, "-m", "heedful", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, preexec_fn=hear_ctrl_c, **pipes, **more)


def test_json_ends_with_one_object_that_holds_what_came_of_it(reviews, tmp_path):
    folder = tmp_path / "run"
    result = run(app, ["train", *columns(reviews), "--out", str(folder), *QUICK, "--json"])
    assert result.exit_code == 0, result.stderr
    (line,) = result.stdout.splitlines()
    came = json.loads(line)
    assert came["schema"] == 1
    assert came["out"] == str(folder)
    again = load_run(folder)
    for name in ("test_accuracy", "dev_accuracy", "epoch", "seconds"):
        assert came[name] == again.result[name]


def test_plain_lines_with_loss_dev_accuracy_and_time_left_where_there_is_no_terminal(reviews, tmp_path):
    result = run(app, ["train", *columns(reviews), "--out", str(tmp_path / "run"), *QUICK])
    lines = [line for line in result.stderr.splitlines() if line.startswith("epoch")]
    assert [line.split(":")[0] for line in lines] == [f"epoch {number} of 3" for number in (1, 2, 3)]
    for line in lines:
        assert "loss" in line
        assert "dev accuracy" in line
        assert line.endswith("s left")
    assert "\x1b" not in result.output
    assert "test accuracy" in result.stdout
    assert f"heedful explain {tmp_path / 'run'}" in result.stdout


def test_many_short_epochs_do_not_fill_a_log(reviews, tmp_path):
    quick = [*SMALL, "--epochs", "200"]
    result = run(app, ["train", *columns(reviews), "--out", str(tmp_path / "run"), *quick])
    lines = [line for line in result.stderr.splitlines() if line.startswith("epoch")]
    assert 10 < len(lines) < 30
    assert lines[0].startswith("epoch 1 of 200")
    assert lines[-1].startswith("epoch 200 of 200")


def test_flags_made_from_the_settings_reach_the_run(reviews, tmp_path):
    given = "--encoder conv --widths 1 --widths 3 --hidden 14 --attention additive --scale 5 --optimiser adam"
    more = "--no-compiled --l2-head 0.25 --halve-on-plateau --patience 2 --seed 7 --head logits --head-bias"
    folder = tmp_path / "run"
    arguments = ["train", *columns(reviews), "--out", str(folder), *QUICK, *given.split(), *more.split()]
    result = run(app, arguments)
    assert result.exit_code == 0, result.stderr
    recipe = load_run(folder).recipe
    model, training = recipe.model, recipe.training
    assert (model.encoder, model.widths, model.hidden, model.scale) == ("conv", (1, 3), 14, 5.0)
    assert (model.attention, model.head, model.head_bias, model.embedding) == ("additive", "logits", True, 13)
    assert (training.optimiser, training.compiled, training.l2_head, training.seed) == (
        "adam",
        False,
        0.25,
        7,
    )
    assert (training.halve_on_plateau, training.patience, training.epochs) == (True, 2, 3)
    assert training.rate_decay == 0.001  # what is not said stays as the preset has it


def test_every_setting_has_a_flag():
    from heedful.models.settings import ModelSettings
    from heedful.settings import choices
    from heedful.training.settings import TrainingSettings

    shown = run(app, ["train", "--help"], env={"COLUMNS": "200"}).output
    for choice in (*choices(ModelSettings), *choices(TrainingSettings)):
        assert f"--{choice.name.replace('_', '-')}" in shown


def test_the_seed_changes_the_training_and_not_the_splits(reviews, tmp_path):
    for seed in ("1", "2"):
        run(app, ["train", *columns(reviews), "--out", str(tmp_path / seed), *QUICK, "--seed", seed])
    first, second = (load_run(tmp_path / seed) for seed in ("1", "2"))
    assert first.recipe.corpus == second.recipe.corpus  # with its fingerprint, which knows the splits
    assert not first.model.head.weight.equal(second.model.head.weight)


@pytest.mark.parametrize(
    ("source", "folder"), [("reviews.csv", "reviews-dp"), ("my: reviews?.v2.csv", "my-reviews-dp")]
)
def test_without_out_the_run_is_named_after_the_corpus_and_never_written_over(
    reviews, tmp_path, monkeypatch, source, folder
):
    monkeypatch.chdir(tmp_path)
    reviews.rename(tmp_path / source)
    arguments = ["train", source, "--text", "body", "--label", "verdict", *QUICK]
    assert run(app, arguments).exit_code == 0
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [folder]
    before = load_run(tmp_path / "runs" / folder).result
    again = run(app, [*arguments, "--seed", "5"])
    assert again.exit_code == 2
    assert "holds a finished run" in again.stderr
    assert load_run(tmp_path / "runs" / folder).result == before


def test_a_device_that_is_not_there_is_one_sentence(reviews, tmp_path, trained):
    for arguments in (
        ["train", *columns(reviews), "--out", str(tmp_path / "other")],
        ["explain", str(trained), "a film"],
    ):
        result = run(app, [*arguments, "--device", "no-such-device"])
        assert result.exit_code == 2
        assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "other").exists()


def test_explaining_paints_the_text_and_says_it_in_words(trained):
    text = "Good, unheard [bold]film[/bold] number 3"
    result = run(app, ["explain", str(trained), text], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split()[0] in ("liked", "disliked")
    assert lines[1] == f"attention  {text}"
    assert lines[2] == f"polarity   {text}"
    assert any(line.startswith("most attended: ") for line in lines)
    assert "unknown to the model (underlined): unheard, bold" in lines
    assert "not read (struck out): the last 3 words" in lines  # of seven, four are read


def test_explaining_is_json_for_machines(trained):
    came = json.loads(run(app, ["explain", str(trained), "a good film", "--json"]).stdout)
    assert came["schema"] == 2
    assert [word["word"] for word in came["words"]] == ["a", "good", "film"]
    assert came["by"] == "attention"
    assert came["scores"] == [word["attention"] for word in came["words"]]
    assert sum(word["attention"] for word in came["words"]) == pytest.approx(1, abs=1e-5)
    assert came["probabilities"][came["decision"]] == came["probability"]


def test_explaining_nothing_is_refused(trained):
    result = run(app, ["explain", str(trained), "  "])
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


def test_a_text_without_a_word_is_refused_without_talk_of_rows(trained):
    result = run(app, ["explain", str(trained), "???"])
    assert result.exit_code == 2
    assert result.stderr == "heedful: The text has no word ('???'): give one with at least one word.\n"


def test_rankings_left_to_chance_follow_the_seed_of_explain(trained):
    def drawn(seed: str) -> list[float]:
        asked = ["explain", str(trained), "a good film", "--by", "random", "--seed", seed, "--json"]
        return json.loads(run(app, asked).stdout)["scores"]

    assert drawn("3") == drawn("3") != drawn("4")


def test_a_file_is_no_run_and_the_advice_can_be_followed(reviews, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = run(app, ["explain", "reviews.csv", "a film"])
    assert result.exit_code == 2
    assert "`heedful train reviews.csv --out runs/reviews` makes one" in result.stderr


@pytest.mark.parametrize("name", ["weights.safetensors", "vocabulary.json", "history.parquet"])
def test_a_run_that_is_not_whole_names_the_missing_file(trained, name):
    (trained / name).unlink()
    result = run(app, ["explain", str(trained), "a film"])
    assert result.exit_code == 2
    assert result.stderr == f"heedful: {trained} is not whole: {name} is missing.\n"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["good fun,1", "bad fun,0", "good film,1", "bad film,0"], "too few rows (4 different texts)"),
        (
            [f"{'?' * row if row % 2 else f'film {row}'},{row % 2}" for row in range(40)],
            "has only one class",
        ),
    ],
    ids=["too few", "no word in one class"],
)
def test_texts_that_cannot_be_learnt_from_leave_no_folder(tmp_path, rows, sentence):
    (tmp_path / "tiny.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    result = run(app, ["train", str(tmp_path / "tiny.csv"), "--out", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.csv"]


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_python_refuses_a_seed_that_no_generator_takes(reviews, seed):
    from heedful.data import load_data
    from heedful.errors import UserError
    from heedful.papers.debate.preparing import debate_on
    from heedful.training import train

    for call in (train, load_data, debate_on):
        with pytest.raises(UserError, match="A seed must be"):
            call(reviews, seed=seed)


def test_models_and_presets_are_listed():
    came = json.loads(run(app, ["models", "--json"]).stdout)["presets"]
    assert {"dp", "han-rnn", "serrano-smith-yelp-han-noenc", "jain-wallace-bilstm-tanh"} <= came.keys()
    assert came["dp"]["model"]["scale"] == 10.0
    assert came["dp"]["training"]["optimiser"] == "adagrad"
    assert "flan-rnn" in run(app, ["models"], env={"COLUMNS": "200"}).stdout


# Real processes: a kill, Ctrl-C, a terminal


@pytest.mark.slow
def test_the_same_command_after_a_kill_goes_on_and_ends_as_if_nothing_had_happened(reviews, tmp_path):
    quick = [
        *SMALL,
        "--model",
        "dp-l",
        "--hidden",
        "14",
        "--epochs",
        "12",
    ]  # epochs long enough to be killed in
    killed = begin("train", *columns(reviews), "--out", tmp_path / "killed", *quick)
    for line in killed.stderr:
        if line.startswith("epoch 3 of 12"):
            os.kill(killed.pid, signal.SIGKILL)
            break
    killed.communicate()
    assert not (tmp_path / "killed" / "result.json").exists()
    assert run(app, ["explain", str(tmp_path / "killed"), "a film"]).exit_code == 2  # unfinished
    again = begin("train", *columns(reviews), "--out", tmp_path / "killed", *quick, "--json")
    out, errors = again.communicate(timeout=60)
    assert again.returncode == 0, errors
    assert "Going on after epoch " in errors
    whole = run(app, ["train", *columns(reviews), "--out", str(tmp_path / "whole"), *quick])
    assert whole.exit_code == 0
    first, second = load_run(tmp_path / "killed"), load_run(tmp_path / "whole")
    assert json.loads(out)["test_accuracy"] == second.result["test_accuracy"]
    assert len(first.history) == len(second.history) == 12
    for name, value in first.model.state_dict().items():
        assert value.equal(second.model.state_dict()[name])


@pytest.mark.slow
def test_ctrl_c_is_answered_with_a_sentence_and_130(reviews, tmp_path):
    quick = [*SMALL, "--epochs", "1000000"]
    started = begin("train", *columns(reviews), "--out", tmp_path / "run", *quick)
    for line in started.stderr:
        if line.startswith("epoch 1 of"):
            break
    time.sleep(0.2)
    started.send_signal(signal.SIGINT)
    out, errors = started.communicate(timeout=120)
    assert started.returncode == 130
    assert errors.strip().splitlines()[-1].startswith("heedful: stopped. ")
    assert "Traceback" not in errors
    assert out == ""
    left = {path.name for path in (tmp_path / "run").iterdir() if not path.name.startswith(".")}
    assert left == {"settings.toml", "vocabulary.json", "checkpoint.safetensors"}
    assert not list((tmp_path / "run").glob("*.part"))


def on_a_terminal(arguments: list[str], *, interrupt_at: str = "") -> tuple[int, str, str]:
    """Run heedful with standard error on a terminal: exit code, standard output, what was shown."""
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "heedful", *arguments],
        stdout=subprocess.PIPE,
        stderr=theirs,
        preexec_fn=hear_ctrl_c,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how a terminal says that nobody writes any more
            break
        if not piece:
            break
        shown += piece
        if interrupt_at and interrupt_at in shown.decode(errors="replace"):
            process.send_signal(signal.SIGINT)
            interrupt_at = ""
    os.close(terminal)
    out, _ = process.communicate(timeout=120)
    return process.returncode, out.decode(), shown.decode(errors="replace")


@pytest.mark.slow
def test_a_terminal_shows_a_bar_with_loss_dev_accuracy_and_time_left(reviews, tmp_path):
    arguments = [
        "train",
        *columns(reviews),
        "--out",
        str(tmp_path / "run"),
        *SMALL,
        "--epochs",
        "400",
        "--json",
    ]
    code, out, shown = on_a_terminal(arguments)
    assert code == 0
    assert json.loads(out)["epochs"] == 400
    assert "of 400" in shown
    assert "loss 0." in shown
    assert re.search(r"dev \d+\.\d %", shown)
    assert re.search(r"\d:\d\d", shown)
    assert "left" in shown
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1  # the cursor hidden, and shown again


@pytest.mark.slow
def test_ctrl_c_on_a_terminal_gives_the_cursor_back(reviews, tmp_path):
    arguments = ["train", *columns(reviews), "--out", str(tmp_path / "run"), *SMALL, "--epochs", "1000000"]
    code, _, shown = on_a_terminal(arguments, interrupt_at="loss 0.")
    assert code == 130
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l") >= 0
    assert "heedful: stopped. " in shown.rstrip().splitlines()[-1]
