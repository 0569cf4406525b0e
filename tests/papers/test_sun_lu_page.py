"""The results page: what stands between its marks is made from the folders of experiments."""

import pandas as pd
import pytest
import sun_lu_tables as made

from heedful.errors import UserError
from heedful.papers.sun_lu.page import fill_page
from heedful.records import Claim, Finding
from heedful.study.experiment import Reproduction

PAGE = "# Results\n\n<!-- made: {} -->\nwas here before\n<!-- end -->\n\nBy hand.\n"


@pytest.fixture
def folder(tmp_path):
    effect = Finding("|gap|", 0.25, count=7, measured="So.", kind="exact")
    claim = Claim.decided("The |gap| is large", "§5", effect=effect, comparison=">", threshold=0.5)
    tables = {"summary": pd.DataFrame({"x": [1]})}
    Reproduction("sun-lu-fig2", "A figure", "§5", True, tables, (claim,)).save(tmp_path / "sun-lu-fig2")
    asked = "--corpus sst --seeds 3"
    Reproduction("sun-lu-table2", "Accuracy", "§5", False, made.accuracies(), (), asked=asked).save(
        tmp_path / "sun-lu-table2"
    )
    return tmp_path


def test_claims_come_with_outcome_and_effect_and_their_bars_do_not_break_the_table(folder):
    filled = fill_page(PAGE.format("claims fig2"), [folder])
    assert "| The ∣gap∣ is large | does not hold | 0.25 (n = 7) | > 0.5 |" in filled
    assert "`heedful reproduce sun-lu-fig2 --quick`" in filled
    assert "was here before" not in filled
    assert filled.endswith("By hand.\n")
    assert fill_page(filled, [folder]) == filled
    filled = fill_page(PAGE.format("claims table2"), [folder])
    assert "`heedful reproduce sun-lu-table2 --corpus sst --seeds 3`" in filled


def test_accuracies_stand_beside_the_printed_ones(folder):
    filled = fill_page(PAGE.format("accuracies"), [folder])
    assert "| SST | dp | 10 | 82.2 | 81.7 to 82.7 | 3 | 82.2 | +0.0 |" in filled


def test_claims_are_counted_by_outcome(folder):
    filled = fill_page(PAGE.format("counts"), [folder])
    assert "| sun-lu-fig2 | quick | 0 | 1 | 0 |" in filled
    assert "| sun-lu-table2 | full, corpus sst, seeds 3 | 0 | 0 | 0 |" in filled
    assert "| all |  | 0 | 1 | 0 |" in filled


def test_an_experiment_that_was_not_run_is_asked_for(folder):
    with pytest.raises(UserError, match="sun-lu-fig3"):
        fill_page(PAGE.format("claims fig3"), [folder])
