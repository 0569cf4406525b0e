"""Explanations of other libraries as scores of our words."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from heedful.auditing.explanations import is_explanation, parts_of
from heedful.auditing.own_rankings import own_rankings, piece_scores
from heedful.errors import UserError
from heedful.models.black_box import BlackBox
from heedful.models.written import words_of
from heedful.trials.erasure.rereading import Reader

TEXT = "A superb, moving film!"
WORDS = ["A", "superb", ",", "moving", "film", "!"]


def on_words(one, text=TEXT, decided=1):
    assert is_explanation(one)
    return parts_of(one, text, decided).on_words(words_of(text), decided).tolist()


def judge(texts):
    """Says good where a text has "superb"."""
    return [[0.1, 0.9] if "superb" in text else [0.8, 0.2] for text in texts]


@pytest.fixture
def subject():
    return BlackBox(judge, classes=("bad", "good"))


def test_an_explanation_of_shap_is_read_by_its_tokens_and_the_decided_class():
    shap = pytest.importorskip("shap")
    tokens = np.array(["", "A ", "sup", "erb", ", ", "moving ", "film", "!", ""])
    values = np.stack([np.arange(9.0), -np.arange(9.0)], axis=1)
    many = shap.Explanation([values, values], base_values=np.zeros((2, 2)), data=[tokens, tokens])
    assert on_words(many[0]) == [-1, -5, -4, -5, -6, -7]
    assert on_words(many[0], decided=0) == [1, 5, 4, 5, 6, 7]


@pytest.mark.slow
def test_shap_itself_can_be_handed_over(subject):
    shap = pytest.importorskip("shap")
    explainer = shap.Explainer(lambda texts: np.array(judge(texts)), shap.maskers.Text(r"\W+"), seed=0)
    ranking = own_rankings({"shap": explainer([TEXT, "a dull film"], silent=True)}, 2)["shap"]
    found = ranking(Reader(subject, subject.encode([TEXT, "a dull film"])))
    assert found[0].tolist() == pytest.approx([0, 0.35, 0.35, 0, 0, 0], abs=0.01)  # its token is "superb, "
    assert ranking.digest == own_rankings({"s": explainer([TEXT, "a dull film"], silent=True)}, 2)["s"].digest


def test_lime_itself_can_be_handed_over(subject):
    lime_text = pytest.importorskip("lime.lime_text")
    explainer = lime_text.LimeTextExplainer(random_state=0)
    texts = [TEXT, "superb and superb"]
    given = [
        explainer.explain_instance(text, lambda some: np.array(judge(some)), num_samples=200)
        for text in texts
    ]
    ranking = own_rankings({"lime": given}, 2)["lime"]
    found = ranking(Reader(subject, subject.encode(texts)))
    assert found[0].argmax() == 1
    assert found[1, 0] == found[1, 2] > abs(found[1, 1])  # a word counts at every place
    other = BlackBox(lambda texts: [[0.9, 0.1]] * len(texts), classes=("bad", "good"))
    with pytest.raises(UserError, match="labels \\[1\\], but the model decides class 0"):
        ranking(Reader(other, subject.encode(texts)))


def test_an_output_of_interpreto_has_a_row_for_each_class():
    scores = torch.tensor([[1.0, 2, 3, 4, 5], [10, 20, 30, 40, 50]])
    one = SimpleNamespace(attributions=scores, elements=["a", "superb", ",", "moving", "film!"])
    assert on_words(one) == [10, 20, 30, 40, 25, 25]  # "film!" is two of our words
    one = SimpleNamespace(attributions=scores[0], elements=["[CLS]", "superb", ",", "moving", "film"])
    assert on_words(one) == [0, 2, 3, 4, 5, 0]


def test_an_output_of_inseq_is_found_in_its_prompt():
    tokens = ["Review", ":", "ĠA", "Ġsup", "erb", ",", "Ġmoving", "Ġfilm", "!", "Ċ", "A", ":", "Ġgood"]
    scores = torch.full((13, 2), torch.nan)
    scores[:, 0] = torch.arange(13.0)
    scores[12, 1] = 100.0
    one = SimpleNamespace(
        source=[],
        target=[SimpleNamespace(token=token) for token in tokens],
        source_attributions=None,
        target_attributions=scores,
    )
    assert on_words(one) == [2, 7, 5, 6, 7, 8]
    both = own_rankings({"theirs": SimpleNamespace(sequence_attributions=[one])}, 1)["theirs"]
    assert both.digest


def test_what_is_not_in_the_text_is_refused_by_name():
    one = SimpleNamespace(attributions=[1.0, 2.0], elements=["A", "dreadful"])
    with pytest.raises(UserError, match="the part 'dreadful', which is not in"):
        on_words(one)
    with pytest.raises(UserError, match="2 parts and 3 scores"):
        on_words(SimpleNamespace(attributions=[1.0, 2.0, 3.0], elements=["A", "superb"]))


@pytest.mark.slow
def test_scores_of_pieces_are_summed_by_word_and_never_taken_for_those_of_words(subject):
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
    from tiny_transformers import classifier, stirred, wordpiece

    from heedful.models.transformers import TransformerSubject

    tokenizer = wordpiece()
    bert = TransformerSubject(stirred(classifier("bert", tokenizer)), tokenizer)
    texts = ["The wonderful film", "a plot"]  # wonder ##ful
    batch = bert.encode(texts)
    scores = [[9.0, 1, 2, 3, 4, 9], [9.0, 5, 6, 9]]
    found = own_rankings({"captum": piece_scores(scores)}, 2)["captum"](Reader(bert, batch))
    assert found.tolist() == [[1, 5, 4], [5, 6, 0]]
    with pytest.raises(UserError, match="as many as it has pieces and not as it has words \\(3\\)"):
        own_rankings({"captum": scores}, 2)["captum"](Reader(bert, batch))
    with pytest.raises(UserError, match="which has 6 pieces, marks included"):
        own_rankings({"captum": piece_scores([[1.0], [2.0]])}, 2)["captum"](Reader(bert, batch))
    with pytest.raises(UserError, match="only a transformer has"):
        own_rankings({"captum": piece_scores(scores)}, 2)["captum"](Reader(subject, subject.encode(texts)))
