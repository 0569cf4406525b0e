"""Two audits side by side: who reads better, paired or not; and the card of one."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import heedful
from heedful.comparing import Comparison, compare, model_card
from heedful.comparing.card import rates, yaml_of
from heedful.comparing.comparison import Difference, Side, _sentence
from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.records import Estimate, Interval
from heedful.records.manifest import file_digest, write_manifest
from heedful.records.ratios import difference_of_ratios

sys.path.insert(0, str(Path(__file__).parents[1] / "highlights"))
from small_model import CLASSES, WORTH, small_model, texts_of

OPTIONS = {"seeds": 1, "uniform": False}


def corpus_of(rows=150, *, seed=0, name="made"):
    texts = texts_of(rows, seed=seed)
    labels = [int(any(WORTH.get(word, 0) > 0 for word in text.split())) for text in texts]
    return Corpus(name, texts, np.array(labels), np.array(["test"] * rows), CLASSES)


def right(reader, *, seed=0):
    """Paints the deciding words."""
    return np.vectorize(lambda word: abs(WORTH.get(word, 0.0)))(words_of(reader))


def wrong(reader, *, seed=0):
    """Paints the others."""
    return np.vectorize(lambda word: float(word not in WORTH))(words_of(reader))


def words_of(reader):
    return np.array(reader.subject.vocabulary.words)[reader.batch.ids.numpy()]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Audits of a right and a wrong map on the same texts, of the right one on others, and without texts."""
    place = tmp_path_factory.mktemp("audits")

    def make(name, ranking, corpus, **more):
        heedful.audit(
            small_model(),
            corpus,
            out=place / name,
            shown="mine",
            rankings={"mine": ranking},
            **OPTIONS,
            **more,
        )
        return place / name

    return {
        "right": make("right", right, corpus_of()),
        "wrong": make("wrong", wrong, corpus_of()),
        "others": make("others", right, corpus_of(160, seed=9)),
        "bare": make("bare", wrong, corpus_of(), keep_texts=False),
    }


def test_the_better_map_is_told_from_the_worse_on_the_same_texts(folders):
    found = compare(folders["wrong"], folders["right"])
    skill = found.differences[0]
    assert found.paired
    assert found.shared == len(set(texts_of(150)))
    assert skill.better == "second"
    assert skill.difference.value == pytest.approx(skill.second.value - skill.first.value)
    assert skill.second.value > 0.8 > skill.first.value
    assert found.sentence.startswith("The highlights of right are better")


def test_the_other_way_round_the_signs_turn(folders):
    one, other = compare(folders["wrong"], folders["right"]), compare(folders["right"], folders["wrong"])
    assert other.differences[0].better == "first"
    assert other.differences[0].difference.value == pytest.approx(-one.differences[0].difference.value)
    for found in (one, other):  # the better one and its reading stand first
        assert found.sentence.startswith("The highlights of right are better (“faithful” against “do not")


def test_an_audit_beside_itself_has_no_difference_and_no_width(folders):
    found = compare(folders["right"], folders["right"])
    for one in found.differences:
        ends = one.difference.interval
        assert one.difference.value == 0
        assert (ends.low, ends.high) == (0, 0)  # paired: what is hard about a text cancels out
        assert one.better == ""
    assert "No difference" in found.sentence


def test_audits_of_different_texts_are_unpaired_and_this_is_said(folders):
    found = compare(folders["right"], folders["others"])
    assert not found.paired
    assert any("independent samples" in note for note in found.notes)
    ends = found.differences[0].difference.interval
    assert ends.low < 0 < ends.high or ends.high - ends.low > 0


def test_audits_without_texts_are_matched_by_their_numbers(folders):
    found = compare(folders["bare"], folders["right"])
    assert found.paired
    assert found.differences[0].better == "second"
    assert found.moved == ()


def test_words_can_be_left_out(folders, tmp_path):
    found, bare = (compare(folders["wrong"], folders["right"], keep_texts=keep) for keep in (True, False))
    assert found.moved
    assert bare.moved == ()
    assert bare.differences == found.differences
    said = bare.save(tmp_path / "bare.html").read_text(encoding="utf-8")
    assert "This page holds numbers, and no word of the texts" in said
    assert f"This page holds {len(found.moved)} words" in found.save(tmp_path / "c.html").read_text("utf-8")


def test_a_comparison_is_saved_loaded_and_shown(folders, tmp_path):
    found = compare(folders["wrong"], folders["right"])
    assert Comparison.load(found.save(tmp_path / "c.json")) == found
    page = found.save(tmp_path / "c.html").read_text(encoding="utf-8")
    assert found.differences[0].name in page
    assert "<script" not in page
    assert len(found.to_frame()) == len(found.differences)
    assert list(found.to_frame(words=True)) == ["word", "first", "second", "count"]
    with pytest.raises(UserError, match=r"\.html or \.json"):
        found.save(tmp_path / "c.txt")
    assert "<table>" in found._repr_html_()


def test_an_old_audit_says_that_it_cannot_be_compared(folders, tmp_path):
    import shutil

    shutil.copytree(folders["right"], tmp_path / "old")
    (tmp_path / "old" / "pool.parquet").unlink()
    with pytest.raises(UserError, match="is missing"):
        compare(tmp_path / "old", folders["right"])


def test_a_paired_interval_covers_the_difference_as_often_as_it_says():
    draw, inside, narrow = np.random.default_rng(2), 0, []
    for trial in range(200):
        hard = draw.normal(size=60)
        first = np.stack([1 + hard + 0.3 * draw.normal(size=60), np.ones(60)], 1)
        second = np.stack([1.5 + hard + 0.3 * draw.normal(size=60), np.ones(60)], 1)
        keys = np.arange(60)
        tables = np.concatenate([first, 0 * second]), np.concatenate([0 * first, second])
        paired = difference_of_ratios(*tables, texts=np.tile(keys, 2), resamples=400, seed=trial)[2]
        loose = difference_of_ratios(*tables, texts=np.arange(120), resamples=400, seed=trial)[2]
        inside += paired.interval.low <= 0.5 <= paired.interval.high
        narrow.append(
            (paired.interval.high - paired.interval.low) / (loose.interval.high - loose.interval.low)
        )
    assert 178 <= inside <= 200
    assert np.mean(narrow) < 0.5


def test_the_sentence_weighs_what_is_told_and_nothing_else():
    ends = {
        "first": Interval(-0.3, -0.1, 0.95, ""),
        "second": Interval(0.1, 0.3, 0.95, ""),
        "": Interval(-1, 1, 0.95, ""),
    }

    def said(reading="use with care", **better):
        names = {"skill": "skill of attention", "paint": "paint on words that matter", "accuracy": "accuracy"}
        found = [
            Difference(names[name], "", Estimate(0), Estimate(0), Estimate(0.0, ends[side]), (1, 1, 1), side)
            for name, side in better.items()
        ]
        readings = {"a": "use with care", "b": reading}
        return _sentence([Side(x, x, readings[x], "", "attention", "attention", 1) for x in "ab"], found)

    assert "No difference" in said(skill="", paint="", accuracy="second")
    assert said(skill="", paint="second").startswith("The highlights of b are better")
    assert said(skill="first", paint="first").startswith("The highlights of a are better")
    assert said(skill="first", paint="second").startswith("Neither")
    assert "cannot be told" in said(accuracy="first")
    assert "“cannot say” vouches for no number" in said(reading="cannot say", skill="first")


def test_an_end_near_0_keeps_its_sign_and_an_end_that_is_missing_has_its_reason():
    def said(interval):
        return Difference("", "", Estimate(0), Estimate(0), Estimate(0.05, interval), (1, 1, 1), "").apart(2)

    assert said(Interval(-0.004, 0.1, 0.95, "")) == "+0.050 [−0.004, +0.100]"
    assert said(Interval(0.0, 0.1, 0.95, "")) == "+0.05 [0.00, +0.10]"
    assert said(Interval(-np.inf, np.inf, 0.95, "too few")) == "+0.05 [too few]"


# The card


def test_a_card_has_the_reading_its_error_rates_and_results_that_a_hub_can_read(folders):
    repocard = pytest.importorskip("huggingface_hub.repocard")
    card = repocard.ModelCard(model_card(folders["right"]), ignore_metadata_errors=False)
    results = {(one.metric_type, one.metric_name): one.metric_value for one in card.data.eval_results}
    audit = heedful.Audit.load(folders["right"])
    assert results["accuracy", "Accuracy"] == pytest.approx(
        audit.content["data"]["accuracy"]["value"], abs=1e-4
    )
    assert results["heat_map_skill", "Heat-map skill of mine"] == pytest.approx(
        audit.verdict.skill.value, abs=1e-4
    )
    assert audit.reading in card.text.lower()
    assert "wrong highlights were read “faithful”" in card.text


def test_a_hostile_name_stays_a_name(folders, tmp_path):
    import shutil

    import yaml

    shutil.copytree(folders["right"], tmp_path / "hostile")
    path = tmp_path / "hostile" / "audit.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    name = 'x"\n---\n- evil: <script>alert(1)</script> | `a` **b**'
    content["data"]["name"] = content["subject"]["model"] = name
    path.write_text(json.dumps(content), encoding="utf-8")
    write_manifest(path.parent, {path.name: file_digest(path)})  # without it, a changed audit is refused
    front = yaml_of(heedful.Audit.load(path.parent)).strip()
    read = yaml.safe_load(front.removeprefix("---").removesuffix("---"))
    assert read["model-index"][0]["name"] == name
    assert read["model-index"][0]["results"][0]["dataset"]["name"] == name
    section = model_card(path.parent, front_matter=False)
    assert "<script>" not in section


def test_the_published_rates_are_no_better_than_the_bench_has_them():
    import pandas as pd

    rows = pd.read_csv(Path(__file__).parents[2] / "docs" / "results" / "truth" / "held-out.csv")
    rows = rows[rows["reading"].notna()]
    known = rates()
    wrong, right = rows[rows["label"] == "wrong"], rows[rows["label"] == "right"]
    assert known["wrong_faithful"] / known["wrong"] >= (wrong["reading"] == "faithful").mean() - 0.03
    assert known["right_faithful"] / known["right"] <= (right["reading"] == "faithful").mean() + 0.1
