"""What is claimed from made-up tables, digit for digit: the claims' arithmetic cannot drift unseen.

The tables are in `pinned_tables`, the numbers in pinned_claims.jsonl. A change of them must be meant:
`PYTHONPATH=src:tests python tests/papers/test_pinned_claims.py` writes them anew, and the diff says which
claims moved.
"""

import hashlib
import json
from functools import partial
from pathlib import Path

import pytest
from pinned_tables import cases

from heedful.records import Claim
from pinned import check, keep, kept

PINNED = Path(__file__).with_name("pinned_claims.jsonl")


def told(one) -> list:
    """Statement, outcome and criterion of a claim, and all that its finding, or a finding alone, says."""
    effect = one.effect if isinstance(one, Claim) else one
    claimed = [one.statement, one.source, one.outcome, one.criterion] if isinstance(one, Claim) else []
    words = json.dumps([effect.measured, dict(effect.coordinates)], ensure_ascii=False, default=str)
    ends = effect.interval
    return [
        *claimed,
        effect.name,
        effect.value,
        *(("no interval",) if ends is None else (ends.low, ends.high, ends.level, ends.method)),
        f"n = {effect.count}, {effect.seeds} seeds, {effect.kind}, {effect.unit}, {effect.better}",
        [[name, beside.value] for name, beside in effect.baselines.items()],
        hashlib.blake2b(words.encode(), digest_size=4).hexdigest(),
    ]


def told_of(make) -> list:
    return [told(one) for one in make()]


CASES = {name: partial(told_of, make) for name, make in cases().items()}


def test_every_case_is_pinned():
    assert list(kept(PINNED)) == list(CASES)


@pytest.mark.parametrize("case", CASES)
def test_claims_are_what_they_were(case):
    check(PINNED, case, CASES[case]())


if __name__ == "__main__":
    keep(PINNED, CASES)
