"""`heedful bench watch`, `erasure`, `words` and `debate` run at any size, and say what they should."""

import json

import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.data import load_data

run = CliRunner().invoke
SMALL_TRACE = "--instances 11 --shortest 5 --longest 17 --width 7 --classes 3 --rounds 1 --loop-rounds 1"


@pytest.fixture
def reviews(tmp_path):
    lines = ["text,label"] + [
        f"{'good' if row % 2 else 'bad'} film number {row},{row % 2}" for row in range(60)
    ]
    path = tmp_path / "reviews.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def found_by(command: str) -> dict:
    result = run(app, ["bench", *command.split(), "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found.pop("schema") == 1
    return found


def shown_by(command: str) -> str:
    result = run(app, ["bench", *command.split()], env={"COLUMNS": "140"})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_erasure_bench_checks_that_all_ways_agree_and_gives_their_ratios():
    found = found_by(f"erasure --part flips {SMALL_TRACE}")
    assert set(found) == {"shape", "flips"}
    flips = found["flips"]
    assert flips["differing"] == 0
    assert flips["instances"] == 11
    assert flips["times_lean"] == pytest.approx(flips["lean"] / flips["ours"])
    assert flips["times_usual"] == pytest.approx(flips["usual"] / flips["ours"])
    assert flips["whole_to_one"] == pytest.approx(flips["five_and_minimum"] / flips["one_ranking"])


@pytest.mark.slow
def test_growth_is_said_at_each_doubling():
    growth = found_by("erasure --part growth --first-length 8 --doublings 2 --rounds 1")["growth"]
    assert growth["lengths"] == [8, 16, 32]
    assert growth["ratio"] == pytest.approx(growth["seconds"][2] / growth["seconds"][0])
    shown = shown_by("erasure --part growth --first-length 8 --doublings 2 --rounds 1")
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("│")] == ["8", "16", "32"]


def test_leaving_out_is_compared_with_captum():
    pytest.importorskip("captum")
    found = found_by(f"erasure --part leave-one-out {SMALL_TRACE}")["leave-one-out"]
    assert found["ratio"] == pytest.approx(found["captum"] / found["ours"])
    assert found["largest_difference"] < 1e-5


def test_the_erasure_bench_tells_a_person_what_was_aimed_at():
    shown = shown_by(f"erasure --part flips {SMALL_TRACE}")
    for expected in ("usual loop", "without numba", "at least 120", "differ: 0", "at most 5"):
        assert expected in shown


def test_the_bench_of_words_names_each_model():
    command = "words --model dp --model flan-conv --texts 3 --longest 7 --plain 1 --rounds 1"
    dp, conv = found_by(command)["models"]
    assert (dp["model"], conv["model"]) == ("dp", "flan-conv")
    assert dp["closed"] is not None
    assert conv["closed"] is None
    assert dp["times_by_text"] == pytest.approx(dp["by_text"] / dp["ours"])
    assert "flan-conv" in shown_by(command)


def test_the_debate_bench_measures_tau_at_each_length():
    command = "debate --part tau --length 7 --length 13 --instances 5 --rounds 1"
    taus = found_by(command)["tau"]
    assert [one["tokens"] for one in taus] == [7, 13]
    assert all(one["largest_difference"] < 1e-12 for one in taus)
    assert all(one["ratio"] == pytest.approx(one["loop_seconds"] / one["seconds"]) for one in taus)
    assert "kendalltau" in shown_by(command)


def test_the_exact_adversary_is_never_behind_the_ascent():
    command = "debate --part adversary --made --texts 5 --restarts 1 --steps 3 --rounds 1"
    found = found_by(command)["adversary"]
    assert found["made"]
    assert found["least_gain"] > -1e-6
    assert found["behind"] == 0
    assert found["ratio"] == pytest.approx(found["ascent_seconds"] / found["seconds"])
    assert "nats farther" in shown_by(command)


def test_the_adversary_is_not_timed_on_made_up_texts_unless_asked(monkeypatch):
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    result = run(app, ["bench", "debate", "--part", "adversary", "--texts", "5"])
    assert result.exit_code == 2
    assert "reviews of imdb, which are not at hand" in result.stderr
    assert "--made" in result.stderr


@pytest.mark.corpora
@pytest.mark.slow
def test_the_adversary_is_timed_on_test_reviews_under_a_trained_model(data_dir):
    from heedful.bench.debate import review_trace
    from heedful.data.named import load_data

    trace = review_trace(5, epochs=1, data_dir=data_dir)
    longest = max(len(text.split()) for text in load_data("imdb", data_dir=data_dir).split("test").texts)
    assert len(trace) == 5
    assert trace.linear.out_features == 1
    assert 50 < int(trace.mask.sum(1).max()) <= longest
    even = trace.mask / trace.mask.sum(1, keepdim=True)
    assert float((trace.weights - even).abs().sum(1).mean()) > 0.1  # it has learnt where to look


def test_the_watch_is_measured_beside_its_training_and_the_flow_beside_an_evaluation(reviews):
    found = found_by(f"watch --short {reviews} --long {reviews} --epochs 3 --records 5 --rounds 1")
    watch, flow = found["watch"], found["flow"]
    assert watch["records"] >= 3
    assert watch["ratio"] == pytest.approx(watch["watched_seconds"] / watch["plain_seconds"])
    texts = len(load_data(reviews).split("train"))
    assert flow["texts"] == texts
    assert flow["occurrences"] == texts * 4
    assert flow["ratio"] == pytest.approx(flow["flow_seconds"] / flow["evaluation_seconds"])
    shown = shown_by(f"watch --part flow --long {reviews} --rounds 1")
    assert "evaluation pass" in shown
    assert "without a watch" not in shown


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("erasure --part grwth", "nearest is 'growth'"),
        ("erasure --shortest 9 --longest 5", "shortest text has 9"),
        ("words --model flan-rmn", "nearest is 'flan-rnn'"),
        ("debate --part taus", "nearest is 'tau'"),
        ("watch --part flo", "nearest is 'flow'"),
        ("watch --part flow --long nowhere.csv", "nowhere.csv"),
    ],
)
def test_a_mistake_is_said_in_a_sentence(command, sentence):
    result = run(app, ["bench", *command.split()])
    assert result.exit_code == 2
    assert sentence in result.stderr
