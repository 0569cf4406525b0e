"""Is attention an explanation? Trials at an attention layer take a `Trace` and nothing else, those on words a
`Subject`, which they read again.

Shared arguments: `seed` fixes all chance, and `first` is the number of the trace's first instance in its
corpus: results depend on neither padding nor how a corpus is cut into batches. `budget` is the work space in
bytes of heads that are not linear. Sizes are numbers of items, −1 where the outcome is never reached.
"""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.trials.agreement.correlations import Agreement as Agreement
    from heedful.trials.agreement.ranks import Kendall as Kendall
    from heedful.trials.agreement.ranks import kendall_tau as kendall_tau
    from heedful.trials.agreement.ranks import random_overlap as random_overlap
    from heedful.trials.agreement.ranks import top_overlap as top_overlap
    from heedful.trials.erasure.comparisons import Comparison as Comparison
    from heedful.trials.erasure.comparisons import beats as beats
    from heedful.trials.erasure.comparisons import compare as compare
    from heedful.trials.erasure.comparisons import fraction_removed as fraction_removed
    from heedful.trials.erasure.comparisons import mass_removed as mass_removed
    from heedful.trials.erasure.comparisons import tail_share as tail_share
    from heedful.trials.erasure.deletion import delete_words as delete_words
    from heedful.trials.erasure.deletion import replace_words as replace_words
    from heedful.trials.erasure.erased import decided as decided
    from heedful.trials.erasure.erased import leave_one_out as leave_one_out
    from heedful.trials.erasure.erased import logits_without as logits_without
    from heedful.trials.erasure.erased import whole_logits as whole_logits
    from heedful.trials.erasure.faithfulness import infidelity as infidelity
    from heedful.trials.erasure.faithfulness import sensitivity as sensitivity
    from heedful.trials.erasure.flips import SmallSets as SmallSets
    from heedful.trials.erasure.flips import flip_sizes as flip_sizes
    from heedful.trials.erasure.flips import near_ties as near_ties
    from heedful.trials.erasure.optimality import no_short_set as no_short_set
    from heedful.trials.erasure.optimality import optimal_share as optimal_share
    from heedful.trials.erasure.optimality import optimality_gap as optimality_gap
    from heedful.trials.erasure.search import Shifts as Shifts
    from heedful.trials.erasure.search import beam_flips as beam_flips
    from heedful.trials.erasure.search import small_shifts as small_shifts
    from heedful.trials.erasure.single import FlipTable as FlipTable
    from heedful.trials.erasure.single import GapBins as GapBins
    from heedful.trials.erasure.single import SingleErasures as SingleErasures
    from heedful.trials.erasure.single import flip_table as flip_table
    from heedful.trials.erasure.single import js_by_weight_gap as js_by_weight_gap
    from heedful.trials.erasure.single import single_erasures as single_erasures
    from heedful.trials.erasure.single import single_findings as single_findings
    from heedful.trials.erasure.skill import word_skill as word_skill
    from heedful.trials.erasure.smallest import Overtakes as Overtakes
    from heedful.trials.erasure.smallest import smallest_flips as smallest_flips
    from heedful.trials.erasure.smallest import smallest_overtakes as smallest_overtakes
    from heedful.trials.erasure.until_flip import Erasures as Erasures
    from heedful.trials.erasure.until_flip import erase as erase
    from heedful.trials.erasure.word_erasures import WordErasures as WordErasures
    from heedful.trials.erasure.word_erasures import word_erasures as word_erasures
    from heedful.trials.explaining import explain as explain
    from heedful.trials.rankings.layer_rankings import RANKINGS as RANKINGS
    from heedful.trials.rankings.layer_rankings import order_of as order_of
    from heedful.trials.rankings.layer_rankings import rankings_for as rankings_for
    from heedful.trials.rankings.layer_rankings import scores_of as scores_of
    from heedful.trials.rankings.layer_rankings import shuffle_weights as shuffle_weights
    from heedful.trials.rankings.named import text_scores as text_scores
    from heedful.trials.rankings.word_rankings import WORD_RANKINGS as WORD_RANKINGS
    from heedful.trials.rankings.word_rankings import word_order as word_order
    from heedful.trials.rankings.word_rankings import word_scores as word_scores
    from heedful.trials.stream import Streamed as Streamed
    from heedful.trials.weights.adversary import Adversary as Adversary
    from heedful.trials.weights.adversary import exact_adversary as exact_adversary
    from heedful.trials.weights.ascent import ascent_adversary as ascent_adversary
    from heedful.trials.weights.divergence import js_divergence as js_divergence
    from heedful.trials.weights.divergence import total_variation as total_variation
    from heedful.trials.weights.moved import Permutation as Permutation
    from heedful.trials.weights.moved import permute_weights as permute_weights

__getattr__, __dir__, __all__ = lazily(__name__)
