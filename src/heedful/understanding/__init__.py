"""What has attention learnt, and why? Token types and scores, the flow terms, and a watch over training.

Sun & Lu (2020). Axes, the same in every file: V words, K scores (1 for one binary score), E width of a word's
vector, H width of the states, m texts. Symbols: λ scale, V context, W head, M the affine or additive layer, α
weights, β = σ(−ys), c = α·(−∂ℓ/∂s), dev = s_j − s, π = Σ c and ρ = Σ c·dev over a word's occurrences.
"""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.understanding.advice import Advice as Advice
    from heedful.understanding.advice import AdviceSettings as AdviceSettings
    from heedful.understanding.advice import advise as advise
    from heedful.understanding.advice import advise_from as advise_from
    from heedful.understanding.errata import Erratum as Erratum
    from heedful.understanding.errata import check_errata as check_errata
    from heedful.understanding.flow import Flow as Flow
    from heedful.understanding.flow import first_order as first_order
    from heedful.understanding.flow import flow_terms as flow_terms
    from heedful.understanding.forms import PaperForm as PaperForm
    from heedful.understanding.forms import paper_form as paper_form
    from heedful.understanding.inequalities import measure_inequalities as measure_inequalities
    from heedful.understanding.omega import DotProducts as DotProducts
    from heedful.understanding.omega import TypedSample as TypedSample
    from heedful.understanding.omega import dot_products as dot_products
    from heedful.understanding.one_text import Explanation as Explanation
    from heedful.understanding.one_text import WordReading as WordReading
    from heedful.understanding.one_text import read_text as read_text
    from heedful.understanding.rule_search import search_class_rules as search_class_rules
    from heedful.understanding.table_one import corpus_types as corpus_types
    from heedful.understanding.table_one import type_table as type_table
    from heedful.understanding.token_types import TokenTypes as TokenTypes
    from heedful.understanding.token_types import TypeRules as TypeRules
    from heedful.understanding.token_types import find_types as find_types
    from heedful.understanding.token_types import synthetic_types as synthetic_types
    from heedful.understanding.watch import Watch as Watch
    from heedful.understanding.watch import WatchSettings as WatchSettings
    from heedful.understanding.watch import watched as watched
    from heedful.understanding.word_scoring import InstanceScores as InstanceScores
    from heedful.understanding.word_scoring import TokenScores as TokenScores
    from heedful.understanding.word_scoring import instance_scores as instance_scores
    from heedful.understanding.word_scoring import local_scores as local_scores
    from heedful.understanding.word_scoring import token_scores as token_scores

__getattr__, __dir__, __all__ = lazily(__name__)
