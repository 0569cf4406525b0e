"""The mathematics of erasure checked on trained models: closed forms against the head run again.

Four checks, each a count of violations: the sizes of flips by both ways, no ranking below the smallest set,
the smallest set flips to the class foretold, and, by enumeration on short texts, nothing smaller flips.
Sums closer than rounding may fall either way: such near-ties are left out of the first check, and counted.

Axes: P subsets, B instances, N items.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from heedful.data.batches import make_batch
from heedful.data.corpus import Corpus
from heedful.models.trace import Trace, decisions
from heedful.training.evaluation import encode_for
from heedful.training.run import Run
from heedful.trials.erasure.erased import decided
from heedful.trials.erasure.flips import flip_sizes, near_ties, stepwise_flips
from heedful.trials.erasure.smallest import SmallSets, smallest_flips
from heedful.trials.rankings.layer_rankings import order_of
from heedful.trials.stream import sample_rows

CHECKED = ("attention", "gradient", "product", "random", "contribution")
SHORT = 12  # items, at most, for an enumeration of all subsets


def check_paths(run: Run, corpus: Corpus, *, texts: int, seed: int = 0) -> pd.DataFrame:
    """A measure: how many cases were checked on so many test texts, and how many violate the mathematics."""
    test = corpus.split("test")
    chosen = sample_rows(len(test), texts, seed=seed)
    batch = make_batch(encode_for(run.model, test), chosen).to(next(run.model.parameters()).device)
    return check_trace(run.model.trace(batch), seed=seed)


def check_trace(trace: Trace, *, seed: int = 0) -> pd.DataFrame:
    """The same of a trace with a linear head."""
    least = smallest_flips(trace)
    differ = below = near = cases = 0
    for ranking in CHECKED:
        order = order_of(ranking, trace, seed=seed)
        sizes, ties = flip_sizes(trace, order), near_ties(trace, order)
        differ += int(((sizes != stepwise_flips(trace, order)) & ~ties).sum())
        below += int(((sizes > 0) & ((least.sizes < 0) | (sizes < least.sizes))).sum())
        near += int(ties.sum())
        cases += len(trace)
    tried, smaller = _enumerate(trace, least)
    found = [
        {"check": "differ", "cases": cases, "violations": differ, "near_ties": near},
        {"check": "below_exact", "cases": cases, "violations": below, "near_ties": 0},
        {"check": "set_fails", "cases": int((least.sizes > 0).sum()), "violations": _fails(trace, least)},
        {"check": "smaller_flips", "cases": tried, "violations": smaller},
    ]
    return pd.DataFrame(found).fillna({"near_ties": 0})


def _fails(trace: Trace, least: SmallSets) -> int:
    """Smallest sets whose erasure does not lead to the class foretold."""
    erased = torch.zeros_like(trace.present)
    for row, items in enumerate(least.items):
        erased[row, items] = True
    after = _decisions(trace, erased)
    return int(((after != least.to_class.to(after)) & (least.sizes > 0).to(after.device)).sum())


def _enumerate(trace: Trace, least: SmallSets) -> tuple[int, int]:
    """Instances with few items, and those of them that some set smaller than the smallest set flips."""
    tried = wrong = 0
    for row in range(len(trace)):
        items = trace.present[row].nonzero()[:, 0].tolist()
        if len(items) > SHORT:
            continue
        size = int(least.sizes[row])
        limit = len(items) + 1 if size < 0 else size  # where nothing flips, not even all of them may
        subsets = [set_ for count in range(1, limit) for set_ in combinations(items, count)]
        tried += 1
        if not subsets:
            continue
        erased = np.zeros((len(subsets), 1, trace.present.shape[1]), dtype=bool)
        for place, set_ in enumerate(subsets):
            erased[place, 0, list(set_)] = True
        alone = trace.take(torch.tensor([row], device=trace.weights.device))
        chosen = torch.from_numpy(erased[..., : alone.present.shape[1]]).to(trace.weights.device)
        wrong += bool((_decisions(alone, chosen) != decided(alone)).any())
    return tried, wrong


def _decisions(trace: Trace, erased: Tensor) -> Tensor:
    with torch.no_grad():
        return decisions(trace.logits(trace.erase(erased)))
