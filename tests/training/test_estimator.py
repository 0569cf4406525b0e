"""`AttentionClassifier` keeps scikit-learn's promises, as far as they are about classifiers of texts."""

import io

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import validate_data

import heedful
from heedful.errors import UserError
from heedful.models import MODELS
from heedful.training.estimator import AttentionClassifier

TEXTS = [
    f"{'good' if row % 2 else 'bad'} {('film', 'plot', 'cast')[row % 3]} number {row}" for row in range(60)
]
LABELS = ["liked" if row % 2 else "disliked" for row in range(60)]
QUICK = {"epochs": 8, "batch": 7, "rate": 0.1, "settings": {"embedding": 13}}


def quick(**changes):
    return AttentionClassifier(**{**QUICK, **changes})


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(TEXTS, LABELS)


# scikit-learn's own checks feed numbers. Behind this reader a row of numbers is a text, one word a number:
# its column and its value to one digit. All else is the estimator itself, so what a check asks, it answers.


class OfNumbers(AttentionClassifier):
    """The estimator behind a reader that spells numbers as words."""

    def fit(self, X, y):
        return super().fit(self.spell(X, reset=True), y)

    def predict(self, X):
        return super().predict(self.spell(X))

    def predict_proba(self, X):
        return super().predict_proba(self.spell(X))

    def spell(self, X, reset=False):
        rows = validate_data(self, X, reset=reset) if reset or hasattr(self, "run_") else np.asarray(X)
        return [" ".join(f"c{column}v{10 * value:.0f}" for column, value in enumerate(row)) for row in rows]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # The tag for texts would leave out nearly all checks: behind the reader, numbers are welcome.
        tags.input_tags.string, tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, False, True
        return tags


# Not asked of us, because they are about the numbers themselves: what answers is the reader above.
ABOUT_NUMBERS = {
    "check_n_features_in": "a text has no features to count",
    "check_n_features_in_after_fitting": "a text has no features to count",
    "check_estimators_partial_fit_n_features": "a text has no features to count, and there is no partial_fit",
    "check_estimators_nan_inf": "a text is not infinite; a missing one is tested below",
    "check_complex_data": "there are no complex texts",
    "check_dtype_object": "texts are objects; other objects among them are tested below",
    "check_estimators_dtypes": "the kinds of number",
    "check_estimator_sparse_tag": "there are no sparse texts",
    "check_estimator_sparse_array": "there are no sparse texts",
    "check_estimator_sparse_matrix": "there are no sparse texts",
    "check_estimators_empty_data_messages": "no features; no texts are tested below",
    "check_fit1d": "a list of texts is one-dimensional, and right",
    "check_fit2d_predict1d": "a list of texts is one-dimensional, and right",
    "check_fit2d_1feature": "a column of texts is welcome; tested below",
    "check_positive_only_tag_during_fit": "texts have no sign",
    "check_f_contiguous_array_estimator": "the order of numbers in memory",
    "check_array_api_input": "array libraries have no texts",
}


def name_of(check):
    return check.func.__name__ if hasattr(check, "func") else check.__name__


CHECKS = list(estimator_checks_generator(OfNumbers(epochs=3, settings={"embedding": 13})))


ASKED = [pair for pair in CHECKS if name_of(pair[1]) not in ABOUT_NUMBERS]


@pytest.mark.parametrize(("estimator", "check"), ASKED, ids=[name_of(check) for _, check in ASKED])
def test_scikit_learns_checks_that_are_not_about_numbers_pass(estimator, check):
    check(estimator)


def test_the_checks_left_out_exist_and_most_are_run():
    names = {name_of(check) for _, check in CHECKS}
    assert names >= ABOUT_NUMBERS.keys() - {"check_array_api_input"}
    assert len(names - ABOUT_NUMBERS.keys()) > 30


def test_the_tags_say_that_it_takes_texts(fitted):
    tags = get_tags(fitted)
    assert (tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array) == (
        True,
        False,
        True,
    )
    assert is_classifier(fitted)


# With texts


def test_it_is_the_public_name():
    assert heedful.AttentionClassifier is AttentionClassifier


def test_it_learns_and_gives_labels_back_as_they_came(fitted):
    assert fitted.score(TEXTS, LABELS) == 1.0
    assert list(fitted.classes_) == ["disliked", "liked"]
    assert set(fitted.predict(["good cast", "bad cast"])) == {"liked", "disliked"}
    chances = fitted.predict_proba(TEXTS[:5])
    assert chances.shape == (5, 2)
    np.testing.assert_allclose(chances.sum(1), 1, atol=1e-6)
    assert list(fitted.classes_[chances.argmax(1)]) == list(fitted.predict(TEXTS[:5]))


@pytest.mark.parametrize(
    "labels",
    [
        [row % 2 for row in range(60)],
        [bool(row % 2) for row in range(60)],
        [f"k{row % 3}" for row in range(60)],
    ],
    ids=["numbers", "truth values", "three classes"],
)
def test_labels_may_be_anything_with_classes(labels):
    model = quick(epochs=2).fit(TEXTS, labels)
    assert model.predict(TEXTS[:3]).dtype == np.asarray(labels).dtype
    assert model.predict_proba(TEXTS[:3]).shape == (3, len(set(labels)))


def test_the_container_of_the_texts_does_not_matter(fitted):
    expected = fitted.predict_proba(TEXTS)
    shuffled = list(range(100, 160))  # an index that is no place
    for texts in (
        tuple(TEXTS),
        iter(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        np.array(TEXTS)[:, None],
        pd.Series(TEXTS, index=shuffled),
        pd.Series(TEXTS, dtype="string"),
        pd.DataFrame({"text": TEXTS}),
    ):
        np.testing.assert_array_equal(fitted.predict_proba(texts), expected)
    series = quick().fit(pd.Series(TEXTS, index=shuffled), pd.Series(LABELS, index=shuffled))
    np.testing.assert_array_equal(series.predict_proba(TEXTS), expected)


def test_the_same_seed_gives_the_same_bits_and_another_seed_the_same_dev_texts(fitted):
    again, other = quick().fit(TEXTS, LABELS), quick(random_state=np.int64(5)).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(again.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    assert not np.array_equal(other.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    fingerprint = fitted.run_.recipe.corpus["fingerprint"]  # of the texts, the labels and the splits
    assert other.run_.recipe.corpus["fingerprint"] == fingerprint
    assert other.run_.recipe.training.seed == 5


def test_a_random_state_may_be_numpys_or_none():
    first, second = (
        quick(epochs=1, random_state=np.random.RandomState(3)).fit(TEXTS, LABELS).run_.recipe.training.seed
        for _ in range(2)
    )
    assert first == second
    assert quick(epochs=1, random_state=None).fit(TEXTS, LABELS).run_.recipe.training.seed >= 0


def test_clone_and_parameters_go_round():
    model = quick(scale=3.0, device="cpu")
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert copied.set_params(scale=5.0).scale == 5.0
    assert model.scale == 3.0
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(scala=3)


@pytest.mark.parametrize("name", ["dp", "dp-l", "ad", "han-noenc"])
def test_a_fitted_estimator_is_pickled_as_joblib_does(name):
    settings = {"embedding": 6, "hidden": 6, "embedding_source": "uniform", "attention_width": 5}
    model = AttentionClassifier(name, epochs=1, min_count=1, settings=settings).fit(TEXTS, LABELS)
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    again = joblib.load(buffer)
    np.testing.assert_array_equal(again.predict_proba(TEXTS), model.predict_proba(TEXTS))
    assert name in MODELS


def test_a_grid_of_scales_is_searched_inside_a_pipeline():
    tidy = FunctionTransformer(lambda texts: [text.upper() for text in texts])
    search = GridSearchCV(
        Pipeline([("tidy", tidy), ("attention", quick(epochs=2))]),
        {"attention__scale": [1, 10.0], "attention__epochs": np.arange(1, 3)},
        cv=StratifiedKFold(2),
        error_score="raise",
    )
    search.fit(pd.Series(TEXTS), LABELS)
    assert search.best_params_["attention__scale"] in (1, 10.0)
    scales = {row["attention__scale"] for row in search.cv_results_["params"]}
    assert scales == {1, 10.0}
    best = search.best_estimator_.named_steps["attention"]
    assert best.run_.recipe.model.scale == search.best_params_["attention__scale"]
    assert search.score(TEXTS, LABELS) > 0.5


@pytest.mark.slow
def test_a_search_may_use_several_processes():
    model = quick(epochs=3)
    grid = {"scale": [1.0, 10.0]}
    results = [
        GridSearchCV(model, grid, cv=2, n_jobs=jobs, error_score="raise").fit(TEXTS, LABELS).cv_results_
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(results[0]["mean_test_score"], results[1]["mean_test_score"])


def test_cross_validation_works():
    scores = cross_val_score(quick(), TEXTS, LABELS, cv=3, error_score="raise")
    assert scores.shape == (3,)
    assert scores.mean() > 0.9
    decided = cross_val_predict(make_pipeline(quick(epochs=2)), TEXTS, LABELS, cv=2)
    assert set(decided) <= {"liked", "disliked"}


# What is refused, and how


def test_prediction_before_fit_is_refused():
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(quick(), method)(["a text"])


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ("one text", "wrap it in a list"),
        ([], "no texts"),
        ([*TEXTS[:-1], None], "row 59 is a NoneType"),
        (pd.Series([*TEXTS[:-1], np.nan], dtype=object), "row 59 is a float"),
        ([*TEXTS[:-1], b"bytes"], "row 59 is a bytes"),
        (np.ones((60, 2)), "One column of texts"),
        (pd.DataFrame({"a": TEXTS, "b": TEXTS}), "One column of texts"),
        ([*TEXTS[:-1], "…"], "row 59"),
    ],
    ids=["one", "none", "missing", "nan", "bytes", "matrix", "frame", "no word"],
)
def test_what_is_not_texts_is_refused_with_its_place(fitted, texts, sentence):
    for call in (lambda: quick(epochs=1).fit(texts, LABELS), lambda: fitted.predict(texts)):
        with pytest.raises(ValueError, match=sentence.replace("row 59", r"row \d+")):
            call()


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (LABELS[:-1], "60 texts and 59 labels"),
        (["same"] * 60, "one class"),
        (np.linspace(0, 1, 60), "Unknown label type"),
        ([float("nan"), *[1.0] * 59], "NaN"),
        (np.zeros((60, 2)), "1d array"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        quick(epochs=1).fit(TEXTS, labels)


def test_a_column_of_labels_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning):
        quick(epochs=1).fit(TEXTS, np.array(LABELS)[:, None])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": "flan-rmn"}, "nearest is 'flan-rnn'"),
        ({"settings": {"scala": 3}}, "nearest is 'scale'"),
        ({"settings": {"epochs": 3}}, "as epochs="),
        ({"settings": {"seed": 3}}, "as random_state="),
        ({"epochs": 0}, "epochs"),
        ({"dev_share": 1.0}, "dev_share"),
        ({"device": "no-such-device"}, "no-such-device"),
        ({"random_state": -1}, "seed"),
    ],
)
def test_a_wrong_parameter_is_refused_when_it_is_used(changes, sentence):
    with pytest.raises(UserError, match=sentence):
        quick(**changes).fit(TEXTS, LABELS)


def test_too_few_texts_to_set_some_aside_are_refused():
    with pytest.raises(ValueError, match="at least three different"):
        quick().fit(["good", "bad", "good"], [1, 0, 1])
