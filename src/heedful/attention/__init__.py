"""How attention is computed: scores, normalisers, mechanisms and controls. Tensors in, tensors out.

    states (B,T,H) ─ score ─► scores (B,T) ─ normalise ─► weights (B,T) ─ sum of values ─► context (B,H)

Axes: B instances, T tokens, H hidden width, Q queries, C width of a given query, A width inside a mechanism.
`...` stands for any leading axes, such as B, or B and R for R heads.

Arguments that mean the same everywhere:

- `mask` is true on real tokens. Masked tokens get weight exactly 0, and so does every slot of a row with no
  token; their states must still be finite numbers. `scores` at masked positions mean nothing.
- `scale` is λ: scores are divided by it.
- `context`, as a parameter, is the learned vector V that scores tokens when no query is given. (The field
  `context` of `Attended` is what attention hands on, the weighted sum.)
- `query`, in a constructor, is the width C of the queries that will be given, or None for a learned
  `context`. In `forward` it is the queries themselves: (B,C) for one per instance, (B,Q,C) for several.
  Scores and weights are (B,T) for one query or none, (B,Q,T) for several.
- `values` (B,T,·) are what is summed, by default the states.
- `init` fills one weight tensor in place: `normal_init`, `usual_init`, `xavier_init` or any function of one
  tensor. Biases start at 0.
"""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

# In the order in which attention happens: this list is the table of contents.
# isort: off
if TYPE_CHECKING:
    # what every mechanism gives
    from heedful.attention.attended import Attended as Attended

    # whole mechanisms
    from heedful.attention.mechanism import Attention as Attention
    from heedful.attention.mechanism import build_attention as build_attention
    from heedful.attention.choices import SCORES as SCORES
    from heedful.attention.choices import NORMALISERS as NORMALISERS
    from heedful.attention.choices import CONTROLS as CONTROLS
    from heedful.attention.initial import INITS as INITS

    # mechanisms that ask more than once, point, or climb: each with a task in the gallery
    from heedful.attention.memory import recall as recall
    from heedful.attention.memory import recall_adjacent as recall_adjacent
    from heedful.attention.memory import MemoryHops as MemoryHops
    from heedful.attention.memory import Recalled as Recalled
    from heedful.attention.pointer import Pointer as Pointer
    from heedful.attention.pointer import pointing_loss as pointing_loss
    from heedful.attention.ancestors import ancestor_table as ancestor_table
    from heedful.attention.ancestors import AncestorAttention as AncestorAttention
    from heedful.attention.location_sensitive import location_features as location_features
    from heedful.attention.location_sensitive import LocationSensitiveAttention as LocationSensitiveAttention

    # several heads
    from heedful.attention.multihead import scaled_dot_attention as scaled_dot_attention
    from heedful.attention.multihead import MultiHead as MultiHead

    # local attention: a window of tokens
    from heedful.attention.local import LocalMonotonic as LocalMonotonic
    from heedful.attention.local import LocalPredictive as LocalPredictive
    from heedful.attention.local import centred_window as centred_window
    from heedful.attention.local import predicted_centres as predicted_centres
    from heedful.attention.local import gaussian as gaussian

    # scores: the mathematics, and the module that owns its parameters
    from heedful.attention.dot import dot_scores as dot_scores
    from heedful.attention.dot import DotScore as DotScore
    from heedful.attention.dot import scaled_dot as scaled_dot
    from heedful.attention.general import general_scores as general_scores
    from heedful.attention.general import GeneralScore as GeneralScore
    from heedful.attention.additive import additive_scores as additive_scores
    from heedful.attention.additive import AdditiveScore as AdditiveScore
    from heedful.attention.cosine import cosine_scores as cosine_scores
    from heedful.attention.cosine import CosineScore as CosineScore
    from heedful.attention.location import location_scores as location_scores
    from heedful.attention.location import LocationScore as LocationScore

    # normalisers
    from heedful.attention.normalise import masked_softmax as masked_softmax
    from heedful.attention.sparse import sparsemax as sparsemax
    from heedful.attention.sparse import entmax15 as entmax15
    from heedful.attention.normalise import sigmoid_weights as sigmoid_weights

    # from weights to context
    from heedful.attention.attended import weighted_sum as weighted_sum
    from heedful.attention.attended import attend as attend
    from heedful.attention.heads import split_heads as split_heads
    from heedful.attention.heads import merge_heads as merge_heads

    # controls
    from heedful.attention.controls import uniform_weights as uniform_weights
    from heedful.attention.controls import UniformAttention as UniformAttention
    from heedful.attention.controls import frozen_weights as frozen_weights
    from heedful.attention.controls import FrozenAttention as FrozenAttention
    from heedful.attention.controls import shuffled_weights as shuffled_weights
    from heedful.attention.controls import ShuffledAttention as ShuffledAttention

    # mechanisms made for one task
    from heedful.attention.hierarchical import HierarchicalAttention as HierarchicalAttention
    from heedful.attention.hierarchical import HierarchicalAttended as HierarchicalAttended
    from heedful.attention.collaborative import relu_scores as relu_scores
    from heedful.attention.collaborative import CollaborativeAttention as CollaborativeAttention
    from heedful.attention.collaborative import CollaborativeAttended as CollaborativeAttended
    from heedful.attention.nested import nest as nest
    from heedful.attention.nested import TanhDotScore as TanhDotScore
    from heedful.attention.nested import NestedAttention as NestedAttention
    from heedful.attention.nested import NestedAttended as NestedAttended
    from heedful.attention.gates import window_scores as window_scores
    from heedful.attention.gates import LocalGate as LocalGate
    from heedful.attention.gates import GlobalGate as GlobalGate
    from heedful.attention.gates import Gated as Gated
    from heedful.attention.gates import ConvolutionMaxima as ConvolutionMaxima
    from heedful.attention.gates import DualAttention as DualAttention
    from heedful.attention.gates import DualAttended as DualAttended

    # how parameters start
    from heedful.attention.initial import normal_init as normal_init
    from heedful.attention.initial import usual_init as usual_init
    from heedful.attention.initial import xavier_init as xavier_init
# isort: on

__getattr__, __dir__, __all__ = lazily(__name__)
