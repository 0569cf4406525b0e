"""The cases that a rule must read as they are."""

import pytest
from truth_cases import CASES

from heedful.auditing.reading import ReadSettings, read_subject
from heedful.auditing.rule import FAITHFUL
from heedful.bench.truth.making import make
from heedful.models.black_box import BlackBox
from heedful.models.trace import probabilities

TRANSFORMERS = [name for name, case in CASES.items() if case.recipe.architecture == "bert"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in TRANSFORMERS else name for name in CASES]
)
def test_a_case_reads_as_it_is(name):
    if name in TRANSFORMERS:
        pytest.importorskip("transformers", reason="the extra hf is not installed")
    case = CASES[name]
    made = make(case.recipe)
    assert made.use.confirmed
    assert made.aim.label == case.recipe.want
    found = read_subject(made.subject, made.planted.texts, settings=ReadSettings(), seed=case.recipe.seed)
    assert found.reading == case.reading, found.verdict.reasons
    # Of "detection" the first class says that a word is absent: no word decides it.
    defaults = [one.name for one in found.verdict.classes if one.default]
    task = case.recipe.task
    if name not in TRANSFORMERS:  # a trained one may decide a class of its own accord
        assert defaults == ([] if task.default is None else [f"class {task.default}"])


class Opaque:
    """A mechanism of somebody's: it passes on what the model inside answers, and is no class of ours."""

    def __init__(self, inner):
        self.inner, self.classes, self.mixes_tokens = inner, inner.classes, True

    def __getattr__(self, name):
        if name in ("encode", "embed", "logits", "trace"):
            return getattr(self.inner, name)
        raise AttributeError(name)


def test_a_mechanism_of_somebodys_and_a_black_box_can_read_faithful():
    made = make(CASES["right"].recipe)
    model, texts = made.subject, made.planted.texts
    found = read_subject(Opaque(model), texts, seed=15)
    assert found.reading == FAITHFUL, found.verdict.reasons

    def decide(texts):
        return probabilities(model.logits(model.encode(texts))).detach().numpy()

    box = BlackBox(decide, classes=model.classes, unknown="unheard")
    found = read_subject(box, texts, shown="leave-one-out", seed=15)
    assert found.reading == FAITHFUL, found.verdict.reasons
