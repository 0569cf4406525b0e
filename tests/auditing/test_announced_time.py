"""What an audit announces: every question that reads texts is tried, and trying leaves no trace."""

from functools import partial

import pytest

from heedful.auditing import forecast
from heedful.auditing.asking import Asking
from heedful.auditing.audited import open_subject
from heedful.auditing.plan import AuditSettings, make_plan
from heedful.data import load_data
from heedful.study.forecast import Probe
from heedful.training import train


@pytest.fixture(scope="module")
def corpus():
    return load_data("data-2")


@pytest.fixture(scope="module")
def audited(corpus):
    return open_subject(train(corpus, model="dp", epochs=1), corpus)


def test_the_questions_that_read_texts_are_tried_and_nothing_is_trained_or_written(
    audited, tmp_path, monkeypatch
):
    def trained(*asked, **change):
        raise AssertionError("A trial must not train.")

    monkeypatch.setattr(Asking, "train_again", trained)
    asking = Asking(make_plan(audited, AuditSettings(seeds=3)), tmp_path / "audit")
    tried = {}

    class Seen(forecast.Trying):
        def stream(self, name, trial, rows):
            tried[name] = len(rows)
            return super().stream(name, trial, rows)

    monkeypatch.setattr(forecast, "Trying", Seen)
    asking.label_words  # noqa: B018, of the training texts: the audit's own work
    before = sorted(tmp_path.rglob("*"))
    assert forecast.question_seconds(asking) > 0
    assert {"top", "agreement", "adversary", "labels"} <= set(tried)
    assert tried["top"] == len(asking.plan.pool)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_question_is_scaled_by_the_words_of_all_its_texts(audited, tmp_path, monkeypatch):
    plan = make_plan(audited, AuditSettings(seeds=3))
    trying = forecast.Trying(plan, tmp_path)
    ticks = iter(range(100))
    monkeypatch.setattr(forecast.time, "perf_counter", lambda: next(ticks))
    read = []
    with pytest.raises(forecast.NotAsked):
        trying.stream("x", lambda batch, first: read.append(len(batch)), plan.pool)
    assert read == [forecast.TRIED_OTHERS] * 2
    lengths = forecast.lengths_of(plan.texts)
    few = forecast.evenly(plan.pool, forecast.TRIED_OTHERS)
    assert trying.seconds == {"x": pytest.approx(lengths[plan.pool].sum() / lengths[few].sum())}


def test_one_very_long_text_is_tried_alone_and_pads_no_other(audited, tmp_path, monkeypatch):
    monkeypatch.setattr(forecast, "planned", partial(forecast.planned, places=64))
    plan = make_plan(audited, AuditSettings(seeds=3))
    trying = forecast.Trying(plan, tmp_path)
    read = []
    with pytest.raises(forecast.NotAsked):
        trying.stream("x", lambda batch, first: read.append(batch.mask.shape), plan.pool)
    assert len(read) > 2
    assert all(texts == 1 or texts * words <= 64 for texts, words in read)


def test_a_training_for_an_audit_is_tried_as_one_of_a_study_on_the_threads_that_are_here(
    corpus, tmp_path, monkeypatch
):
    tried = []

    def seconds(self, model, training, *, threads=1):
        tried.append((self.corpus.name, training.epochs, threads))
        return 100.0

    monkeypatch.setattr(Probe, "seconds", seconds)
    asked = AuditSettings(seeds=3)
    said = forecast.promise(corpus, asked, model="dp", folder=tmp_path / "audit", out=None, epochs=7)
    assert tried == [(corpus.name, 7, None)]
    assert "Training takes about 2 min, and 3 more trainings" in said[1]


@pytest.mark.parametrize(("limit", "said"), [(29, True), (30, False)])
def test_too_few_texts_for_any_reading_are_told_before_they_are_read(audited, tmp_path, limit, said):
    asking = Asking(make_plan(audited, AuditSettings(limit=limit)), tmp_path / "audit")
    assert any("too few for a reading, which needs 30" in line for line in forecast.announce(asking)) == said
