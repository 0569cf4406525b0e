"""An audit from beginning to end on a black box with known truth: its folder, and that it goes on."""

import json
import shutil
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from planted import CLASSES, WORTH, corpus_of, right, subject, wrong

import heedful
from heedful.auditing import asking as asking_module
from heedful.auditing import whole
from heedful.auditing.asking import Asking, other_seeds
from heedful.auditing.names import NOBODY, no_word_decides
from heedful.auditing.plan import PLAN, SCHEMA, AuditSettings, begun_in, claim_folder
from heedful.auditing.questions import QUESTIONS
from heedful.auditing.questions.answer import Question, mean_finding
from heedful.auditing.result import AUDIT, load_audit
from heedful.errors import UserError
from heedful.models.black_box import BlackBox
from heedful.records.manifest import MANIFEST, file_digest, write_manifest

QUICK = {"seeds": 1, "uniform": False}


@pytest.fixture(scope="module")
def corpus():
    return corpus_of()


def run(corpus, out, **more):
    asked = {"rankings": {"planted": right(corpus), "elsewhere": wrong(corpus)}, **QUICK, **more}
    return heedful.audit(subject(), corpus, out=out, **asked)


@pytest.fixture(scope="module")
def audit(corpus, tmp_path_factory):
    return run(corpus, tmp_path_factory.mktemp("audits") / "right", shown="planted", by=["a", "b"] * 45)


def without_times(folder):
    content = json.loads((folder / AUDIT).read_text(encoding="utf-8"))
    return {key: value for key, value in content.items() if key not in ("made", "seconds")}


def test_paint_on_the_words_that_decide_reads_faithful(audit):
    assert audit.reading == "faithful", audit.verdict.reasons
    assert audit.verdict.shown == "planted"
    assert audit.verdict.instead is None  # a faithful reading is not followed by another map
    assert audit.verdict.first.value == audit.verdict.paint.value == 1
    assert audit.verdict.sentence == (
        "You may show highlights by planted as an explanation: it points to the words that decide."
    )
    # Without any word it decides “bad”, so no word decides that.
    assert [(one.name, one.default) for one in audit.verdict.classes] == [("bad", True), ("good", False)]


def test_a_text_that_no_word_decides_says_so(audit, tmp_path):
    said = {text["decided"]: text["said"] for text in audit.content["instances"]}
    assert said == {0: no_word_decides("bad"), 1: ""}
    # Of forty calm words any three suffice: no single one does anything, nor says it alone.
    plain, calm = "film story scene plot music camera", " ".join(["calm quiet still soft"] * 10)
    texts = [[plain, f"gorgeous {plain}", calm][row % 3] + f" page{row}" for row in range(90)]

    def decide(texts):
        words = [text.split() for text in texts]
        many = [sum(word in calm for word in one) > 2 or "gorgeous" in one for one in words]
        return np.where(many, 0.9, 0.2)

    found = heedful.audit(
        BlackBox(decide, classes=CLASSES),
        {"text": texts, "label": ["bad", "good", "good"] * 30},
        out=tmp_path / "calm",
        **QUICK,
    )
    said = {(text["decided"], text["words"][0]): text["said"] for text in found.content["instances"]}
    assert said == {(0, "film"): no_word_decides("bad"), (1, "gorgeous"): "", (1, "calm"): NOBODY}


def test_paint_on_other_words_is_not_shown_and_a_better_map_is_named(corpus, tmp_path):
    found = run(corpus, tmp_path / "wrong", shown="elsewhere")
    assert found.reading == "do not show as an explanation"
    assert found.verdict.first.value == 0
    assert found.verdict.instead.ranking in ("planted", "leave-one-out")
    assert found.verdict.instead.reading == "faithful"
    assert found.verdict.instead.better_by.interval.low >= 0.05
    assert 0 < found.verdict.instead.signed.value <= 1
    assert heedful.Audit.load(found.folder).verdict == found.verdict
    signed = {
        one.coordinates["ranking"] for one in found.answers[0].evidence if one.name.startswith("signed")
    }
    assert signed == {"elsewhere", "planted", "leave-one-out", "lime", "shapley"}
    assert found.verdict.operator.value < 0.25


def test_a_black_box_is_judged_by_leaving_out_unless_told_otherwise(corpus, tmp_path):
    found = heedful.audit(subject(), corpus, out=tmp_path / "plain", **QUICK)
    assert found.verdict.shown == "leave-one-out"
    assert found.reading == "faithful"
    outcomes = {answer.id: answer.outcome for answer in found.answers}
    assert outcomes["foretells"] == "yes"
    layer = ("top", "agreement", "adversary", "needed", "stable")
    assert {outcomes[name] for name in layer} == {"not asked"}
    assert "black box" in found.answers[1].answer


def test_the_folder_has_the_page_the_numbers_the_tables_and_the_figures(audit):
    folder = audit.folder
    content = json.loads((folder / AUDIT).read_text(encoding="utf-8"))
    assert content["verdict"]["reading"] == "faithful"
    assert content["data"]["instances"] == 90
    assert content["data"]["class_counts"] == {"bad": 46, "good": 44}
    assert content["data"]["accuracy"]["value"] == 1
    assert content["data"]["confusion"] == [[46, 0], [0, 44]]
    assert (folder / "index.html").stat().st_size > 10_000
    named = {stem for entry in content["questions"] for stem in entry["figures"]}
    assert set(content["figures"]) == named == {path.stem for path in (folder / "figures").glob("*.png")}
    assert named == {path.stem for path in (folder / "figures").glob("*.svg")}
    rows = pd.read_parquet(folder / "rows.parquet")
    methods = content["methods"]
    assert len(rows) == methods["texts_read_many_times"] <= 90
    assert methods["deletions"] == "4 for each word of a text, at most 640"
    assert methods["measure"].startswith("heat-map skill")
    assert "hidden behind the unknown word" in methods["words_are"]
    assert rows["instance"].is_unique
    findings = pd.read_parquet(folder / "findings.parquet")
    assert set(findings["question"]) == {"foretells", "halves"}
    assert [one["number"] for one in content["questions"]] == list(range(1, len(QUESTIONS) + 1))
    assert [one["decides"] for one in content["questions"]] == [one.decides for one in QUESTIONS]


def test_an_audit_read_again_is_the_same(audit):
    again = heedful.Audit.load(audit.folder)
    assert again.verdict == audit.verdict
    assert again.answers == audit.answers
    assert again.to_frame().equals(audit.to_frame())
    assert again.reading in again._repr_html_()
    assert str(again).startswith("BlackBox on planted: faithful.")


def test_every_group_of_texts_has_a_reading(audit):
    assert [(one.name, one.texts) for one in audit.verdict.groups] == [
        (name, audit.verdict.groups[place].texts) for place, name in enumerate("ab")
    ]
    assert sum(one.texts for one in audit.verdict.groups) == len(
        pd.read_parquet(audit.folder / "rows.parquet")
    )
    assert all(one.why for one in audit.verdict.groups)


def test_groups_need_one_name_for_each_text(corpus, tmp_path):
    with pytest.raises(UserError, match="90 texts, but groups for 3"):
        run(corpus, tmp_path / "few", by=["a", "b", "c"])


@pytest.mark.parametrize("stopped", ["deletions-1", "hidden"])
def test_an_audit_that_was_killed_goes_on_to_the_same_result(corpus, tmp_path, monkeypatch, stopped):
    asked = {"shown": "elsewhere", "looks": False}
    straight = run(corpus, tmp_path / "straight", **asked)
    stream = Asking.stream

    def killed(self, name, trial, rows):
        done = stream(self, name, trial, rows)
        if name == stopped:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(Asking, "stream", killed)
    with pytest.raises(KeyboardInterrupt):
        run(corpus, tmp_path / "killed", **asked)
    assert not (tmp_path / "killed" / AUDIT).exists()
    monkeypatch.setattr(Asking, "stream", stream)
    again = run(corpus, tmp_path / "killed", **asked)
    assert without_times(tmp_path / "killed") == without_times(tmp_path / "straight")
    assert again.verdict == straight.verdict


def test_a_finished_audit_given_again_measures_nothing(audit, corpus, monkeypatch):
    def refuse(*_, **__):
        def trial(batch, first):
            raise AssertionError("this was measured before")

        return trial

    before = without_times(audit.folder)
    monkeypatch.setattr(asking_module, "maps_trial", refuse)
    said = []
    run(corpus, audit.folder, shown="planted", by=["a", "b"] * 45, say=said.append)
    assert without_times(audit.folder) == before
    assert "What was measured before is taken from the folder." in said


def test_dear_maps_are_tried_on_the_texts_that_were_drawn_for_them(corpus, tmp_path, monkeypatch):
    """With a limit, numbers in the pool and in the split differ."""
    monkeypatch.setattr("heedful.auditing.reading.DEAR_TEXTS", 11)
    maps_of = whole.make_plan.__globals__["maps_of"]

    def dearly(*given, **more):
        from dataclasses import replace

        return replace(maps_of(*given, **more), dear=frozenset({"elsewhere"}))

    monkeypatch.setattr("heedful.auditing.plan.maps_of", dearly)
    found = run(corpus, tmp_path / "some", shown="planted", limit=61, looks=False)
    rows = pd.read_parquet(found.folder / "rows.parquet")
    assert found.content["data"]["instances"] == 61
    assert rows["told_elsewhere"].notna().sum() == 11
    assert rows["told_planted"].notna().all()


def test_scores_of_ones_own_stand_at_the_place_in_the_split(corpus, tmp_path):
    found = run(corpus, tmp_path / "own", shown="planted", limit=79)
    assert found.content["data"]["instances"] == 79
    assert found.verdict.first.value == 1


@pytest.mark.parametrize("change", [{"seed": 1}, {"deletions": 3}, {"shown": "leave-one-out"}])
def test_a_folder_of_another_audit_is_refused(audit, corpus, change):
    with pytest.raises(UserError, match="an audit with other settings"):
        run(corpus, audit.folder, **{"shown": "planted", **change})


def test_other_scores_of_the_same_name_are_not_taken_for_these(audit, corpus):
    with pytest.raises(UserError, match="an audit with other settings"):
        run(
            corpus,
            audit.folder,
            shown="planted",
            rankings={"planted": wrong(corpus), "elsewhere": right(corpus)},
        )


def test_another_function_is_another_model(audit, corpus):
    other = BlackBox(lambda texts: np.full(len(texts), 0.25), classes=("bad", "good"))
    with pytest.raises(UserError, match="an audit with other settings"):
        heedful.audit(
            other, corpus, out=audit.folder, shown="planted",
            rankings={"planted": right(corpus), "elsewhere": wrong(corpus)}, **QUICK,
        )  # fmt: skip


def test_an_audit_of_another_version_is_refused_in_one_sentence(audit, tmp_path, corpus):
    shutil.copytree(audit.folder, tmp_path / "old")
    for schema in (1, SCHEMA + 1):
        (tmp_path / "old" / PLAN).write_text(json.dumps({"schema": schema}))
        with pytest.raises(UserError) as why:
            run(corpus, tmp_path / "old", shown="planted")
        assert f"another version of heedful (schema {schema}" in str(why.value)
    content = load_audit(audit.folder)
    old = tmp_path / "old"
    (old / AUDIT).write_text(json.dumps({**content, "schema": 1}))
    with pytest.raises(UserError, match="is not as it was written"):
        heedful.Audit.load(old)
    damaged = {**content, "verdict": {k: v for k, v in content["verdict"].items() if k != "skill"}}
    for changed, told in (
        ({**content, "schema": 1}, "has schema 1 and"),
        ({k: v for k, v in content.items() if k != "verdict"}, "lacks 'verdict'"),
        (damaged, "damaged"),
    ):
        (old / AUDIT).write_text(json.dumps(changed))
        write_manifest(old, {AUDIT: file_digest(old / AUDIT)})
        with pytest.raises(UserError, match=told):
            heedful.Audit.load(old)
    with pytest.raises(UserError, match="holds no audit"):
        heedful.Audit.load(tmp_path / "nowhere")


def test_an_audit_without_its_manifest_is_not_believed_and_the_same_command_brings_it_back(tmp_path, corpus):
    folder = tmp_path / "again"
    found = run(corpus, folder, shown="planted")
    (folder / MANIFEST).unlink()
    path = folder / AUDIT
    path.write_text(path.read_text().replace('"faithful"', '"cannot say"'))
    with pytest.raises(UserError, match="give the same `heedful audit` again"):
        heedful.Audit.load(folder)
    run(corpus, folder, shown="planted")
    assert heedful.Audit.load(folder).reading == found.reading


def test_no_word_of_the_texts_is_written_where_texts_are_kept_out(tmp_path, corpus):
    found = run(corpus, tmp_path / "private", shown="planted", keep_texts=False)
    assert found.reading == "faithful"
    assert found.content["instances"] == found.content["words"] == []
    words = {word.encode() for text in corpus.texts for word in text.split()}
    # Words that the page itself has are the same in every audit.
    words -= {b"story", b"letter", b"plot", b"scene", b"film", b"music", b"street", b"camera", b"evening"}
    assert {name.encode() for name in WORTH} <= words
    for path in (tmp_path / "private").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert [word for word in words if word in content] == [], path


def test_a_folder_with_other_files_is_refused(tmp_path, corpus):
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(UserError, match="other files"):
        run(corpus, tmp_path)


def test_a_map_that_there_is_not_is_refused_before_any_work(tmp_path, corpus):
    with pytest.raises(UserError, match="no ranking of words 'plantd'; the nearest is 'planted'"):
        run(corpus, tmp_path / "typo", shown="plantd")
    with pytest.raises(UserError, match="no ranking to judge 'attention'"):
        run(corpus, tmp_path / "typo", shown="attention")
    assert not (tmp_path / "typo").exists()


def test_settings_that_mean_nothing_are_refused(corpus, tmp_path):
    with pytest.raises(UserError, match="limitt"):
        run(corpus, tmp_path / "x", limitt=3)
    for name in ("seeds", "deletions", "limit"):
        with pytest.raises(UserError, match=f"{name} must be at least 1, not 0"):
            AuditSettings(**{name: 0})
        AuditSettings(**{name: 1})
    with pytest.raises(UserError, match="from 0 to"):
        AuditSettings(seed=-1)
    with pytest.raises(UserError, match="split"):
        AuditSettings(split="tset")


def test_somebodys_model_needs_labelled_texts():
    with pytest.raises(UserError, match="labelled texts"):
        heedful.audit(subject())


def test_texts_to_learn_from_take_no_other_texts_beside_them(tmp_path):
    train, other = tmp_path / "train.csv", tmp_path / "test.csv"
    for path in (train, other):
        path.write_text("text,label\ngood,1\nbad,0\n")
    with pytest.raises(UserError, match="leave --data out"):
        heedful.audit(str(train), str(other), out=tmp_path / "audit")
    assert not (tmp_path / "audit").exists()


def test_checking_a_place_writes_nothing_and_claiming_it_does(tmp_path):
    place = tmp_path / "new" / "audit"
    recipe = {"schema": SCHEMA, "seed": 5}
    assert begun_in(place, {}) is None
    assert not place.parent.exists()
    claim_folder(place, recipe)
    assert begun_in(place, {"seed": 5}) == recipe
    claim_folder(place, recipe)
    with pytest.raises(UserError, match=r"an audit with other settings \(seed was 5, and is 6\)"):
        claim_folder(place, {**recipe, "seed": 6})
    with pytest.raises(UserError, match=r"an audit with other settings \(seed was 5, and is None\)"):
        claim_folder(place, {"schema": SCHEMA})
    (place / PLAN).write_text("{")
    with pytest.raises(UserError, match="damaged"):
        begun_in(place, {})


def test_an_audit_with_other_settings_is_refused_before_its_texts_are_read(tmp_path):
    claim_folder(tmp_path / "audit", {"schema": SCHEMA, "subject": "x", **asdict(AuditSettings(seed=3))})
    with pytest.raises(UserError, match=r"an audit with other settings \(seed was 3, and is 0\)"):
        heedful.audit(tmp_path / "no-such-file.csv", out=tmp_path / "audit")


def test_after_the_last_seed_comes_the_first():
    assert other_seeds(2**63 - 2, 3) == [2**63 - 1, 0]
    assert other_seeds(7, 1) == []


def test_a_question_is_added_in_one_file(corpus, tmp_path, monkeypatch):
    """As docs/audit.md shows it: what it measures of a batch, and its answer from the rows."""

    def measure(asking):
        def trial(batch, first):
            return pd.DataFrame({"words": batch.mask.sum(1).numpy()})

        return asking.stream("lengths", trial, asking.rows)

    def answer(rows, asking):
        long = mean_finding("words", rows["words"].to_numpy(dtype=float), "mean over texts", seed=asking.seed)
        said = "yes" if long.interval.low > 8 else "no"
        return LONG.said(
            said, f"Texts have {long.value:.1f} words.", "Words are counted.", finding=long, good=None
        )

    LONG = Question("long", "Are these texts long?", measure, answer)  # as in a module
    monkeypatch.setattr(whole, "QUESTIONS", (*QUESTIONS, LONG))
    found = run(corpus, tmp_path / "asked", shown="planted")
    last = found.answers[-1]
    assert (last.number, last.id, last.outcome, last.decides) == (len(QUESTIONS) + 1, "long", "yes", False)
    assert last.answer == f"Texts have {last.finding.value:.1f} words."
    assert 8 < last.finding.value < 9
    assert heedful.Audit.load(found.folder).answers[-1] == last
    assert "long" in set(found.to_frame()["question"])
