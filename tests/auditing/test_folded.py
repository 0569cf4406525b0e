"""Cross-validation: every text is judged by a model that has not seen it, and the pooled audit says so."""

import numpy as np
import pytest

import heedful
from heedful.auditing.folded import fold_corpora
from heedful.data.corpus import Corpus
from heedful.data.dealing import deal_folds
from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.errors import UserError
from heedful.training import load_run


@pytest.fixture(scope="module")
def corpus():
    return make_synthetic(Synthetic(neutral=23, polar=11, per_class=40, held_out=7), name="small")


@pytest.fixture(scope="module")
def audit(corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("folds") / "audit"
    return heedful.audit(corpus, out=out, folds=3, deletions=1)


def test_every_text_is_in_one_fold_and_copies_are_together():
    texts, labels = [*"aabbccddeeffgghh"], [0, 0, 1, 1] * 4
    folds = deal_folds(texts, labels, folds=3, seed=0)
    assert all(len(set(folds[[i for i, text in enumerate(texts) if text == one]])) == 1 for one in set(texts))
    assert set(folds) == {0, 1, 2}
    assert deal_folds(texts[::-1], labels[::-1], folds=3, seed=0).tolist() == folds[::-1].tolist()


def test_classes_are_spread_over_the_folds():
    texts, labels = [f"text {row}" for row in range(60)], [row % 3 == 0 for row in range(60)]
    folds = deal_folds(texts, labels, folds=5, seed=1)
    counts = np.bincount(folds[np.array(labels)], minlength=5)
    assert counts.tolist() == [4] * 5


def test_no_model_has_seen_a_text_that_it_judges(corpus, audit):
    numbers, parts = fold_corpora(corpus, 3, seed=0)
    for fold, part in enumerate(parts):
        judged = set(part.split("test").texts)
        assert not judged & {*part.split("train").texts, *part.split("dev").texts}
        run = load_run(audit.folder.with_name("audit-run") / f"fold-{fold + 1}")
        assert run.recipe.corpus["fingerprint"] == part.fingerprint
        assert len(part.split("test")) == np.count_nonzero(numbers == fold)


def test_all_texts_are_judged_and_decided_by_the_model_of_their_fold(corpus, audit):
    assert audit.content["data"]["instances"] == len(corpus)
    numbers, _ = fold_corpora(corpus, 3, seed=0)
    entries = {entry["id"]: entry for entry in audit.content["instances"]}
    assert len({numbers[number] for number in entries}) == 3
    for fold in range(3):
        run = load_run(audit.folder.with_name("audit-run") / f"fold-{fold + 1}")
        own = [number for number in entries if numbers[number] == fold][:4]
        for number in own:
            reading = heedful.explain(run, corpus.texts[number])
            shares = list(reading.probabilities.values())
            assert entries[number]["decided"] == int(np.argmax(shares))


def test_it_is_said_to_be_a_reading_of_the_recipe(audit):
    assert any("a reading of the recipe" in note for note in audit.content["data"]["notes"])
    assert audit.content["methods"]["folds"] == 3
    asked = {answer.id: answer.outcome for answer in audit.answers}
    assert asked["stable"] == "not asked"
    assert asked["needed"] != "not asked"


def test_the_same_command_goes_on_and_gives_the_same(corpus, audit):
    again = heedful.audit(corpus, out=audit.folder, folds=3, deletions=1)
    assert again.verdict.to_dict() == audit.verdict.to_dict()


def test_folds_that_cannot_be_are_refused_before_anything_is_written(corpus, tmp_path):
    with pytest.raises(UserError, match="from 2 to the number of texts"):
        heedful.audit(corpus, out=tmp_path / "one", folds=1)
    few = Corpus("few", ["a b", "c d", "e f"], np.array([0, 0, 1]), np.array(["test"] * 3), ("no", "yes"))
    with pytest.raises(UserError, match="too few texts of class 'yes' for 2 folds"):
        heedful.audit(few, out=tmp_path / "two", folds=2)
    run = heedful.train(corpus, epochs=1)
    with pytest.raises(UserError, match="a trained model is audited as it is"):
        heedful.audit(run, corpus, out=tmp_path / "three", folds=3)
    assert not list(tmp_path.iterdir())
