"""The audit from end to end: its folder, its verdict on models built to be each, and that it goes on."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from audit_corpora import QUICK, graded

import heedful
from heedful.errors import UserError
from heedful.study.auditing import measuring
from heedful.study.auditing.controls import MixedAttention, control_evidence, evidence_table
from heedful.study.auditing.measuring import measure
from heedful.study.auditing.plan import AuditSettings, make_plan
from heedful.study.auditing.subjects import open_subject, with_classes
from heedful.training import train
from heedful.training.adversarial import train_adversary
from heedful.verdict import Evidence, judge

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus():
    return graded()


@pytest.fixture(scope="module")
def run(corpus):
    return train(corpus, **QUICK)


@pytest.fixture(scope="module")
def audit(run, corpus, tmp_path_factory):
    return heedful.audit(run, corpus, out=tmp_path_factory.mktemp("audits") / "whole", seeds=3)


def read(subject, corpus, folder, **changes):
    """The evidence and the reading, without figures and a page."""
    settings = AuditSettings(**{"seeds": 1, "uniform": False, "keep_texts": False, **changes})
    plan = make_plan(open_subject(subject, corpus), settings)
    evidence = Evidence(**measure(plan, folder).evidence)
    return evidence, judge(evidence)


def test_a_model_whose_attention_decides_reads_faithful(audit):
    assert audit.reading == "faithful"
    assert audit.evidence.skill.interval.low > 0.5
    assert audit.evidence.skill.baselines["shuffled"].value < 0.2
    assert [answer.id for answer in audit.answers if answer.outcome == "not asked"] == []


def test_the_folder_has_the_page_the_numbers_the_tables_and_the_figures(audit):
    folder = audit.folder
    content = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    assert content["schema"] == 1
    assert content["verdict"]["reading"] == "faithful"
    assert content["data"]["instances"] == 400
    assert content["data"]["class_counts"] == {"negative": 200, "positive": 200}
    assert (folder / "index.html").stat().st_size < 5_000_000
    for entry in content["questions"]:
        for stem in entry["figures"]:
            assert (folder / "figures" / f"{stem}.png").exists()
            assert (folder / "figures" / f"{stem}.svg").exists()
    assert len(pd.read_parquet(folder / "rows.parquet")) == 400
    words = pd.read_parquet(folder / "words.parquet")
    assert {"lively5a", "plain3"} <= set(words["word"])
    assert set(words.loc[words["word"] == "lively5a", "type"]) == {"positive"}
    assert (words["stability"] >= 0).all()
    findings = pd.read_parquet(folder / "findings.parquet")
    assert set(findings["question"]) == {
        "decides", "top", "agreement", "adversary", "needed", "stable", "labels",
    }  # fmt: skip


def test_every_figure_says_what_it_shows_of_how_many_texts_and_how(audit):
    about = audit.content["figures"]
    named = {stem for entry in audit.content["questions"] for stem in entry["figures"]}
    drawn = {path.stem for path in (audit.folder / "figures").glob("*.png")}
    assert set(about) == named == drawn
    assert len(drawn) >= 4
    for stem, one in about.items():
        finding = getattr(audit.evidence, stem)
        assert one["title"]
        assert one["count"] == finding.count > 0
        assert one["measured"] == finding.measured
    assert len({one["title"] for one in about.values()}) == len(about)


def test_every_question_has_a_random_and_a_shuffled_baseline(audit):
    for answer in audit.answers:
        assert {"random", "shuffled"} <= set(answer.finding.baselines), answer.id
        assert answer.finding.interval is not None, answer.id
        assert answer.scale.random is not None, answer.id
        assert answer.scale.shuffled is not None, answer.id


def test_an_audit_read_again_is_judged_alike(audit):
    again = heedful.Audit.load(audit.folder)
    assert again.verdict == audit.verdict
    assert again.to_frame()["value"].tolist() == audit.to_frame()["value"].tolist()
    assert "faithful" in again._repr_html_()


def test_erasing_the_smallest_set_by_the_stored_numbers_flips_the_decision(audit):
    """What the page does live: the closed form on stored token logits."""
    shown = audit.content["instances"]
    assert 100 < len(shown) <= 300
    flipped = 0
    for entry in shown:
        weights, logits = np.array(entry["weights"]), np.array(entry["token_logits"])[:, 0]
        assert weights.sum() == pytest.approx(1, abs=1e-5)
        whole = (weights * logits).sum() + entry["bias"][0]
        assert int(whole > 0) == entry["decided"]
        if entry["smallest"] is None:
            continue
        kept = np.ones(len(weights), bool)
        kept[entry["smallest"]["words"]] = False
        left = (weights * logits)[kept].sum() / weights[kept].sum() if kept.any() else 0.0
        assert int(left + entry["bias"][0] > 0) == entry["smallest"]["to"] != entry["decided"]
        flipped += 1
    assert flipped > 100


def test_the_texts_to_browse_are_whole_and_tagged(audit, corpus):
    texts = corpus.split("test").texts
    tags = set()
    for entry in audit.content["instances"]:
        pairs = zip(entry["gaps"], [*entry["words"], ""], strict=True)
        assert "".join(gap + word for gap, word in pairs) == texts[entry["id"]]
        assert len(entry["rankings"]["leave-one-out"]) == len(entry["words"])
        tags |= set(entry["tags"])
    assert tags == {"best", "worst", "typical", "wrong"}


def test_a_restart_does_no_stage_again(audit, run, corpus, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("this was done before")

    for name in ("words_trial", "layer_trial", "weights_trial", "seeds_trial"):
        monkeypatch.setattr(measuring, name, lambda *_, **__: refuse)
    plan = make_plan(open_subject(run, corpus), AuditSettings(seeds=3))
    found = measure(plan, audit.folder)
    assert judge(Evidence(**found.evidence)) == audit.verdict


def test_a_finished_audit_given_again_announces_no_work(audit, run, corpus):
    said = []
    again = heedful.audit(run, corpus, out=audit.folder, seeds=3, say=said.append)
    assert again.verdict == audit.verdict
    assert any("at hand" in line for line in said)
    assert not any(line.startswith(("About", "Training again")) for line in said)


def test_an_audit_that_lacks_one_model_announces_that_alone(audit, run, corpus, tmp_path):
    shutil.copytree(audit.folder, tmp_path / "cut")
    shutil.rmtree(tmp_path / "cut" / "runs" / "uniform")
    (tmp_path / "cut" / "records" / "uniform.json").unlink()
    assert list(make_plan(open_subject(run, corpus), AuditSettings(seeds=3)).estimate(tmp_path / "cut")) == [
        "training again"
    ]
    said = []
    heedful.audit(run, corpus, out=tmp_path / "cut", seeds=3, say=said.append)
    assert [line for line in said if line.startswith("Training again")] == ["Training again: uniform …"]
    assert any("what is left" in line for line in said)


def test_a_folder_of_another_audit_is_refused(audit, run, corpus):
    with pytest.raises(UserError, match="another audit"):
        heedful.audit(run, corpus, out=audit.folder, seeds=3, seed=1)


def test_other_scores_of_the_same_name_are_not_taken_for_these(tmp_path, run, corpus):
    counts = [len(text.split()) for text in corpus.split("test").texts]
    asked = {"out": tmp_path / "own", "seeds": 1, "uniform": False, "keep_texts": False}
    heedful.audit(run, corpus, **asked, rankings={"mine": [np.arange(count) for count in counts]})
    with pytest.raises(UserError, match="another audit"):
        heedful.audit(run, corpus, **asked, rankings={"mine": [-np.arange(count) for count in counts]})


def test_a_module_is_known_by_what_it_answers(run, corpus):
    """What is hidden in a function has no parameters to compare."""
    same = [open_subject(MixedAttention(run.model, share), corpus).digest for share in (0.0, 0.0, 0.5)]
    assert same[0] == same[1] != same[2]


def test_a_folder_with_other_files_is_refused(tmp_path, run, corpus):
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(UserError, match="other files"):
        heedful.audit(run, corpus, out=tmp_path)


def test_no_word_of_the_data_is_written_where_texts_are_kept_out(tmp_path, run, corpus):
    found = heedful.audit(run, corpus, out=tmp_path / "private", seeds=3, keep_texts=False)
    assert found.reading == "faithful"
    assert found.content["instances"] == found.content["words"] == []
    words = {word.encode() for text in corpus.texts for word in text.split()}
    for path in (tmp_path / "private").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert [word for word in words if word in content] == [], path


def test_a_restart_trains_nothing_again_though_no_model_was_kept(tmp_path, run, corpus, monkeypatch):
    asked = {"out": tmp_path / "private", "seeds": 3, "uniform": False, "keep_texts": False}
    first = heedful.audit(run, corpus, **asked)

    def refuse(*_, **__):
        raise AssertionError("this was trained before")

    monkeypatch.setattr(measuring, "train_again", refuse)
    assert heedful.audit(run, corpus, **asked).verdict == first.verdict


def test_uniform_attention_is_not_shown(tmp_path, corpus):
    _, verdict = read(train(corpus, **QUICK, control="uniform"), corpus, tmp_path / "uniform")
    assert verdict.reading == "do not show as an explanation"
    assert "same for every word" in verdict.reasons[0]


def test_shuffled_attention_is_not_shown(tmp_path, corpus):
    evidence, verdict = read(train(corpus, **QUICK, control="shuffled"), corpus, tmp_path / "shuffled")
    assert verdict.reading == "do not show as an explanation"
    assert evidence.skill.interval.high < 0.25


def test_a_model_trained_to_attend_elsewhere_is_not_shown(tmp_path, corpus):
    """It decides as its base does (Wiegreffe & Pinter, 2019): its encoder tells every word of the others."""
    mixing = {"encoder": "bigru", "hidden": 20, "optimiser": "adam", "rate": 0.01, "batch": 32}
    base = train(corpus, **{**QUICK, **mixing})
    other = train_adversary(base, corpus, strength=0.1, epochs=10)
    assert other.result["test_change"] < 0.1
    before, _ = read(base, corpus, tmp_path / "base", limit=210)
    after, verdict = read(other, corpus, tmp_path / "other", limit=210)
    assert verdict.reading == "do not show as an explanation"
    assert after.accuracy.value > 0.85
    assert before.skill.interval.low > 0.3


@pytest.mark.parametrize("decides", [True, False])
def test_mixing_in_shuffled_weights_never_improves_the_reading(tmp_path, run, corpus, decides):
    ranks, skills = [], []
    for share in (0.0, 0.5, 1.0):
        subject = MixedAttention(run.model, share, decides=decides)
        evidence, verdict = read(subject, corpus, tmp_path / f"mixed-{share}", limit=210)
        ranks.append(verdict.rank)
        skills.append(evidence.skill.value)
    assert ranks == sorted(ranks)
    assert skills == sorted(skills, reverse=True)
    # Weights that are only shown must end as noise; those that decide are, each time, part of what decides.
    assert decides or ranks[0] < ranks[-1]


def test_controls_are_read_side_by_side_and_a_restart_goes_on(tmp_path, corpus):
    asked = {name: QUICK[name] for name in ("embedding", "epochs", "rate", "scale")}
    told = []

    def found():
        return control_evidence(
            corpus, tmp_path, limit=200, shares=(1.0,), adversary_epochs=2, report=told.append, **asked
        )

    first = found()
    assert list(first) == [
        "base", "uniform", "shuffled", "adversary", "100% dealt anew, deciding", "100% dealt anew, shown",
    ]  # fmt: skip
    assert told == list(first)
    table = evidence_table(first).set_index("subject")
    assert table.loc["base", "low"] > 0.5
    for name in ("uniform", "shuffled", "100% dealt anew, shown"):
        assert table.loc[name, "high"] < 0.25, name
        assert judge(Evidence(**first[name])).reading == "do not show as an explanation"
    trained = (tmp_path / "base" / "weights.safetensors").stat().st_mtime_ns
    assert evidence_table(found()).set_index("subject").equals(table)
    assert (tmp_path / "base" / "weights.safetensors").stat().st_mtime_ns == trained


def test_few_texts_and_useless_models_are_not_judged(tmp_path, run, corpus):
    _, few = read(run, corpus, tmp_path / "few", limit=199)
    assert few.reading == "cannot say"
    untrained = train(corpus, **{**QUICK, "epochs": 1, "rate": 1e-9})
    evidence, useless = read(untrained, corpus, tmp_path / "useless")
    assert useless.reading == "cannot say"
    assert any("largest class" in reason for reason in useless.reasons), evidence.accuracy


def test_texts_train_the_default_model_first(tmp_path, corpus, monkeypatch):
    from audit_corpora import write_csv

    monkeypatch.chdir(tmp_path)
    small = corpus.take(np.arange(240))
    write_csv(small, tmp_path / "reviews.csv")
    said = []
    found = heedful.audit("reviews.csv", seeds=1, uniform=False, say=said.append)
    assert found.folder.name == "reviews"
    assert (tmp_path / "audits" / "reviews-run" / "settings.toml").exists()
    page = found.folder / "index.html"
    first = said.index(f"reviews: train dp on 120 texts, audit it on 80 test texts, write {page}.")
    assert said[first + 1].startswith("About ")
    assert "in all" in said[first + 1]
    assert not any(sentence.startswith("Auditing") for sentence in said[:first])
    assert found.content["verdict"]["reading"] == "cannot say"  # 80 texts
    write_csv(corpus.take(np.arange(239)), tmp_path / "reviews.csv")
    with pytest.raises(UserError, match="other texts"):
        heedful.audit("reviews.csv", seeds=1, uniform=False)
    write_csv(small, tmp_path / "reviews.csv")
    again = heedful.audit(tmp_path / "audits" / "reviews-run", out=tmp_path / "again", seeds=1, uniform=False)
    assert again.to_frame()["value"].tolist() == found.to_frame()["value"].tolist()


def test_texts_that_are_all_for_testing_can_be_audited_on(tmp_path, run, corpus):
    from audit_corpora import write_csv

    write_csv(corpus.split("test"), tmp_path / "test.csv")
    found = heedful.audit(run, tmp_path / "test.csv", out=tmp_path / "out")
    assert found.content["data"]["instances"] == 400
    outcomes = {answer.id: answer.outcome for answer in found.answers}
    assert outcomes["needed"] == outcomes["stable"] == outcomes["labels"] == "not asked"
    with pytest.raises(UserError, match="no row in train"):
        heedful.audit(tmp_path / "test.csv", out=tmp_path / "other")


def test_own_scores_and_human_rationales_stand_beside_attention(tmp_path, run, corpus):
    test = corpus.split("test")
    strength = [[int(word[-2]) if word[-1] in "abc" else 0 for word in text.split()] for text in test.texts]
    marks = [[value >= 4 for value in row] for row in strength]
    found = heedful.audit(
        run,
        corpus,
        out=tmp_path / "own",
        seeds=1,
        uniform=False,
        rankings={"by-design": strength},
        rationales=marks,
    )
    skills = {part.coordinates["ranking"]: part.value for part in found.evidence.rankings}
    assert skills["by-design"] > 0.3
    measured = {
        (part["name"], part["coordinates"]["ranking"]): part for part in found.content["plausibility"]
    }
    assert measured["AUPRC", "by-design"]["value"] == pytest.approx(1)
    assert measured["IoU", "by-design"]["value"] == pytest.approx(1)
    own = measured["token F1", "attention"]
    assert own["value"] > own["baselines"]["shuffled"]["value"]


def test_labels_are_matched_by_name_or_in_their_order_and_said(corpus):
    other, notes = with_classes(corpus, ("POSITIVE", "Negative"))
    assert (other.labels == 1 - corpus.labels).all()
    assert notes == ()
    same, notes = with_classes(corpus, ("LABEL_0", "LABEL_1"))
    assert (same.labels == corpus.labels).all()
    assert "LABEL_0 = negative" in notes[0]
    with pytest.raises(UserError, match="rename the labels"):
        with_classes(corpus, ("joy", "anger"))


def test_a_subject_of_somebody_else_needs_texts(run):
    with pytest.raises(UserError, match="labelled texts"):
        open_subject(MixedAttention(run.model, 0.0))


def test_settings_that_mean_nothing_are_refused(run, corpus):
    with pytest.raises(UserError, match="limitt"):
        heedful.audit(run, corpus, limitt=3)
    with pytest.raises(UserError, match="at least one"):
        replace(AuditSettings(), seeds=0)
