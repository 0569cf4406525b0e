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
  `context`. In `forward` it is the queries themselves: (B,C) for one an instance, (B,Q,C) for several.
  Scores and weights are (B,T) for one query or none, (B,Q,T) for several.
- `values` (B,T,·) are what is summed, the states unless said.
- `init` fills one weight tensor in place: `normal_init`, `xavier_init` or any function of one tensor. Biases
  start at 0.
"""

from heedful.attention.additive import AdditiveScore, additive_scores
from heedful.attention.ancestors import AncestorAttention, ancestor_table
from heedful.attention.attended import Attended, attend, weighted_sum
from heedful.attention.collaborative import CollaborativeAttended, CollaborativeAttention, relu_scores
from heedful.attention.controls import (
    FrozenAttention,
    ShuffledAttention,
    UniformAttention,
    frozen_weights,
    shuffled_weights,
    uniform_weights,
)
from heedful.attention.cosine import CosineScore, cosine_scores
from heedful.attention.dot import DotScore, dot_scores, scaled_dot
from heedful.attention.gates import (
    ConvolutionMaxima,
    DualAttended,
    DualAttention,
    Gated,
    GlobalGate,
    LocalGate,
    window_scores,
)
from heedful.attention.general import GeneralScore, general_scores
from heedful.attention.heads import merge_heads, split_heads
from heedful.attention.hierarchical import HierarchicalAttended, HierarchicalAttention
from heedful.attention.initial import INITS, normal_init, xavier_init
from heedful.attention.local import (
    LocalMonotonic,
    LocalPredictive,
    centred_window,
    gaussian,
    predicted_centres,
)
from heedful.attention.location import LocationScore, location_scores
from heedful.attention.location_sensitive import LocationSensitiveAttention, location_features
from heedful.attention.mechanism import CONTROLS, NORMALISERS, SCORES, Attention, build_attention
from heedful.attention.memory import MemoryHops, Recalled, recall
from heedful.attention.multihead import MultiHead, scaled_dot_attention
from heedful.attention.nested import NestedAttended, NestedAttention, TanhDotScore, nest
from heedful.attention.normalise import masked_softmax, sigmoid_weights
from heedful.attention.pointer import Pointer, pointing_loss
from heedful.attention.sparse import entmax15, sparsemax

__all__ = [  # noqa: RUF022  in the order in which attention happens: this list is the table of contents
    # what every mechanism gives
    "Attended",
    # whole mechanisms
    "Attention",
    "build_attention",
    "SCORES",
    "NORMALISERS",
    "CONTROLS",
    "INITS",
    # mechanisms that ask more than once, point, or climb: each with a task in the gallery
    "recall",
    "MemoryHops",
    "Recalled",
    "Pointer",
    "pointing_loss",
    "ancestor_table",
    "AncestorAttention",
    "location_features",
    "LocationSensitiveAttention",
    # several heads
    "scaled_dot_attention",
    "MultiHead",
    # local attention: a window of tokens
    "LocalMonotonic",
    "LocalPredictive",
    "centred_window",
    "predicted_centres",
    "gaussian",
    # scores: the mathematics, and the module that owns its parameters
    "dot_scores",
    "DotScore",
    "scaled_dot",
    "general_scores",
    "GeneralScore",
    "additive_scores",
    "AdditiveScore",
    "cosine_scores",
    "CosineScore",
    "location_scores",
    "LocationScore",
    # normalisers
    "masked_softmax",
    "sparsemax",
    "entmax15",
    "sigmoid_weights",
    # from weights to context
    "weighted_sum",
    "attend",
    "split_heads",
    "merge_heads",
    # controls
    "uniform_weights",
    "UniformAttention",
    "frozen_weights",
    "FrozenAttention",
    "shuffled_weights",
    "ShuffledAttention",
    # mechanisms made for one task
    "HierarchicalAttention",
    "HierarchicalAttended",
    "relu_scores",
    "CollaborativeAttention",
    "CollaborativeAttended",
    "nest",
    "TanhDotScore",
    "NestedAttention",
    "NestedAttended",
    "window_scores",
    "LocalGate",
    "GlobalGate",
    "Gated",
    "ConvolutionMaxima",
    "DualAttention",
    "DualAttended",
    # how parameters start
    "normal_init",
    "xavier_init",
]
