"""The cases that a rule must read as they are."""

import pytest

from heedful.auditing.reading import ReadSettings, read_subject
from heedful.bench.truth.cases import CASES
from heedful.bench.truth.making import make

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
