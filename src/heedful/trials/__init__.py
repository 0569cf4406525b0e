"""Is attention an explanation? Trials at an attention layer take a `Trace` and nothing else, those on words a
`Subject`, which they read again.

Shared arguments: `seed` fixes all chance, and `first` is the number of the trace's first instance in its
corpus: results depend on neither padding nor how a corpus is cut into batches. `budget` is the work space in
bytes of heads that are not linear. Sizes are numbers of items, −1 where the outcome is never reached.
"""

from heedful.trials.adversary import Adversary, exact_adversary
from heedful.trials.agreement import Agreement
from heedful.trials.ascent import ascent_adversary
from heedful.trials.comparisons import Comparison, beats, compare, fraction_removed, mass_removed, tail_share
from heedful.trials.deletion import delete_words, replace_words
from heedful.trials.divergence import js_divergence, total_variation
from heedful.trials.erased import decided, leave_one_out, logits_without, whole_logits
from heedful.trials.faithfulness import infidelity, sensitivity
from heedful.trials.flips import flip_sizes, near_ties
from heedful.trials.kendall import Kendall, kendall_tau
from heedful.trials.multi import Erasures, erase
from heedful.trials.named_rankings import text_scores
from heedful.trials.optimality import no_short_set, optimal_share, optimality_gap
from heedful.trials.overlap import random_overlap, top_overlap
from heedful.trials.permutation import Permutation, permute_weights
from heedful.trials.rankings import RANKINGS, order_of, rankings_for, scores_of, shuffle_weights
from heedful.trials.search import Shifts, beam_flips, small_shifts
from heedful.trials.single import SingleErasures, single_erasures
from heedful.trials.single_findings import FlipTable, GapBins, flip_table, js_by_weight_gap, single_findings
from heedful.trials.skill import word_skill
from heedful.trials.small_sets import SmallSets
from heedful.trials.smallest import Overtakes, smallest_flips, smallest_overtakes
from heedful.trials.stream import Streamed
from heedful.trials.word_erasures import WordErasures, word_erasures
from heedful.trials.word_rankings import WORD_RANKINGS, word_order, word_scores

__all__ = [
    "RANKINGS",
    "WORD_RANKINGS",
    "Adversary",
    "Agreement",
    "Comparison",
    "Erasures",
    "FlipTable",
    "GapBins",
    "Kendall",
    "Overtakes",
    "Permutation",
    "Shifts",
    "SingleErasures",
    "SmallSets",
    "Streamed",
    "WordErasures",
    "ascent_adversary",
    "beam_flips",
    "beats",
    "compare",
    "decided",
    "delete_words",
    "erase",
    "exact_adversary",
    "flip_sizes",
    "flip_table",
    "fraction_removed",
    "infidelity",
    "js_by_weight_gap",
    "js_divergence",
    "kendall_tau",
    "leave_one_out",
    "logits_without",
    "mass_removed",
    "near_ties",
    "no_short_set",
    "optimal_share",
    "optimality_gap",
    "order_of",
    "permute_weights",
    "random_overlap",
    "rankings_for",
    "replace_words",
    "scores_of",
    "sensitivity",
    "shuffle_weights",
    "single_erasures",
    "single_findings",
    "small_shifts",
    "smallest_flips",
    "smallest_overtakes",
    "tail_share",
    "text_scores",
    "top_overlap",
    "total_variation",
    "whole_logits",
    "word_erasures",
    "word_order",
    "word_scores",
    "word_skill",
]
