"""What cannot work is refused in one sentence; what is only empty works.

The sentence says where, what was needed and what came. Sizes are different primes: B 3, T 7, H 5, Q 2, C 13,
A 11, J 17, X 19.
"""

import pytest
import torch
from asking_catalogue import CATALOGUE as ASKING
from attention_catalogue import SHORT_CATALOGUE
from torch import tensor, zeros

from heedful.attention import (
    AncestorAttention,
    ConvolutionMaxima,
    DotScore,
    DualAttention,
    GlobalGate,
    HierarchicalAttention,
    LocalGate,
    LocalMonotonic,
    LocalPredictive,
    LocationSensitiveAttention,
    MemoryHops,
    NestedAttention,
    Pointer,
    Recalled,
    TanhDotScore,
    ancestor_table,
    centred_window,
    gaussian,
    location_features,
    nest,
    pointing_loss,
    predicted_centres,
    recall,
    window_scores,
)
from heedful.errors import UserError

B, T, H, Q, C, A, J, X = 3, 7, 5, 2, 13, 11, 17, 19
STATES, QUERY, QUERIES = zeros(B, T, H), zeros(B, H), zeros(B, Q, H)
MASK = torch.ones(B, T, dtype=torch.bool)
SQUARES, SCORES = zeros(2, H, H), zeros(B, T)
LENGTHS, PROJECTION, DIRECTION = zeros(B), zeros(A, H), zeros(A)
NOT_BOOLEAN = "needs a boolean mask, true on real tokens, but"


def monotonic():
    return LocalMonotonic(DotScore(H, query=H), reach=2)


def predictive():
    return LocalPredictive(DotScore(H, query=H), query=H, reach=2, width=A)


def nested(**settings):
    return NestedAttention(H, X, query=C, character_query=C, **settings)


def centres(queries=QUERY, *, lengths=LENGTHS, projection=PROJECTION, direction=DIRECTION):
    return predicted_centres(queries, lengths, projection=projection, direction=direction)


def remember(*, query=QUERY, keys=STATES, values=STATES, mask=MASK, matrices=SQUARES):
    return recall(query, keys, values, mask, matrices=matrices)


def losses(targets, *, scores=SCORES, mask=MASK):
    return pointing_loss(scores, mask, targets=targets)


REFUSED = {
    "a kernel of even width": (
        lambda: window_scores(STATES, MASK, kernel=zeros(4, H)),
        "window_scores needs a kernel of odd width, but (4, 5) came.",
    ),
    "a kernel of no width": (
        lambda: window_scores(STATES, MASK, kernel=zeros(0, H)),
        "window_scores needs a kernel of odd width, but (0, 5) came.",
    ),
    "windows: a mask of numbers": (
        lambda: window_scores(STATES, MASK.int(), kernel=zeros(3, H)),
        f"window_scores {NOT_BOOLEAN} torch.int32 came: use mask.bool().",
    ),
    "windows: a mask of another length": (
        lambda: window_scores(STATES, MASK[:, 1:], kernel=zeros(3, H)),
        "window_scores needs a mask of shape (3, 7), but (3, 6) came.",
    ),
    "windows: states of one text": (
        lambda: window_scores(STATES[0], MASK, kernel=zeros(3, H)),
        "window_scores needs states of shape (B, T, H), but (7, 5) came.",
    ),
    "maxima: a mask of numbers": (
        lambda: ConvolutionMaxima(H, 2, lengths=(3,))(STATES, MASK.long()),
        f"ConvolutionMaxima {NOT_BOOLEAN} torch.int64 came: use mask.bool().",
    ),
    "maxima of fewer than no filters": (
        lambda: ConvolutionMaxima(H, -1, lengths=(3,)),
        "ConvolutionMaxima needs at least one filter, but -1 came.",
    ),
    "gates before no filters": (
        lambda: DualAttention(H, 0),
        "ConvolutionMaxima needs at least one filter, but 0 came.",
    ),
    "a first step before the first": (
        lambda: monotonic()(STATES, MASK, query=QUERY, first=-5),
        "LocalMonotonic counts steps from 1, but a first step of -5 came.",
    ),
    "a first step counted from 0": (
        lambda: monotonic().centres(QUERIES, MASK, first=0),
        "LocalMonotonic counts steps from 1, but a first step of 0 came.",
    ),
    "centres: a mask of numbers": (
        lambda: predictive().centres(QUERY, MASK.float()),
        f"LocalPredictive {NOT_BOOLEAN} torch.float32 came: use mask.bool().",
    ),
    "centres: a mask of another batch": (
        lambda: monotonic().centres(QUERY, MASK[:2]),
        "LocalMonotonic needs a mask of shape (3, T), but (2, 7) came.",
    ),
    "a reach that is not a number": (
        lambda: LocalMonotonic(DotScore(H, query=H), reach=float("nan")),
        "LocalMonotonic needs a reach of at least 1 slot, but nan came.",
    ),
    "a window of another batch": (
        lambda: centred_window(zeros(2), MASK, reach=1),
        "centred_window needs centres of shape (3) or (3, Q) for a mask of shape (3, 7), but (2) came.",
    ),
    "a window of too many axes": (
        lambda: centred_window(zeros(B, Q, 2), MASK, reach=1),
        "centred_window needs centres of shape (3) or (3, Q) for a mask of shape (3, 7), but (3, 2, 2) came.",
    ),
    "a bell of no width": (
        lambda: gaussian(zeros(B), T, deviation=0),
        "gaussian needs a deviation above 0, but 0 came.",
    ),
    "a query without a batch": (
        lambda: centres(zeros(H)),
        "predicted_centres needs queries of shape (..., B, C), but (5) came.",
    ),
    "a projection of another width": (
        lambda: centres(projection=zeros(A, C)),
        "predicted_centres needs a projection of shape (A, 5), but (11, 13) came.",
    ),
    "a direction of another width": (
        lambda: centres(direction=zeros(C)),
        "predicted_centres needs a direction of shape (11), but (13) came.",
    ),
    "lengths of another batch": (
        lambda: centres(lengths=zeros(2)),
        "predicted_centres needs lengths of shape (3), but (2) came.",
    ),
    "lengths of more axes than queries": (
        lambda: centres(lengths=zeros(B, Q)),
        "predicted_centres needs lengths of shape (3), but (3, 2) came.",
    ),
    "one length for all": (
        lambda: centres(QUERIES, lengths=tensor(3.0)),
        "predicted_centres needs lengths of shape (3), but () came.",
    ),
    "fewer than no filters": (
        lambda: LocationSensitiveAttention(H, query=C, filters=-1),
        "LocationSensitiveAttention needs 0 or more filters, but -1 came.",
    ),
    "ancestors: a mask of numbers": (
        lambda: AncestorAttention(H)(STATES, MASK.int()),
        f"AncestorAttention {NOT_BOOLEAN} torch.int32 came: use mask.bool().",
    ),
    "parents that are no numbers of nodes": (
        lambda: ancestor_table(tensor([-1.0, 0.0])),
        "ancestor_table needs parents in whole numbers, but torch.float32 came.",
    ),
    "weights of one sentence": (
        lambda: nest(zeros(T), zeros(B, Q, T, J)),
        "nest needs weights of words of shape (B, T), but (7) came.",
    ),
    "characters of other words": (
        lambda: nest(zeros(B, T), zeros(B, Q, 2, J), hard=True),
        "nest needs weights of characters of shape (3, Q, 7, J), but (3, 2, 2, 17) came.",
    ),
    "words: a mask of numbers": (
        lambda: nested().attend_words(STATES, MASK.int(), zeros(B, C)),
        f"NestedAttention {NOT_BOOLEAN} torch.int32 came: use mask.bool().",
    ),
    "two layers without a query": (
        lambda: TanhDotScore(H, query=C)(STATES),
        "TanhDotScore was built for queries of width 13, but none came: pass query=.",
    ),
    "no matrices": (
        lambda: remember(matrices=SQUARES[:0]),
        "recall needs a matrix for each hop, but (0, 5, 5) came.",
    ),
    "one matrix without its axis": (
        lambda: remember(matrices=SQUARES[0]),
        "recall needs matrices of shape (N, 5, 5), but (5, 5) came.",
    ),
    "matrices of another width": (
        lambda: remember(matrices=zeros(2, H, A)),
        "recall needs matrices of shape (N, 5, 5), but (2, 5, 11) came.",
    ),
    "memories of another width": (
        lambda: remember(query=zeros(B, A)),
        "recall needs a query of shape (3, 5), but (3, 11) came.",
    ),
    "values of another width": (
        lambda: remember(values=zeros(B, T, A)),
        "recall needs values of shape (3, 7, 5), but (3, 7, 11) came.",
    ),
    "recall: a mask of numbers": (
        lambda: remember(mask=MASK.float()),
        f"recall {NOT_BOOLEAN} torch.float32 came: use mask.bool().",
    ),
    "memory: a mask of numbers": (
        lambda: MemoryHops(H)(STATES, MASK.float(), query=QUERY),
        f"MemoryHops {NOT_BOOLEAN} torch.float32 came: use mask.bool().",
    ),
    "a target beyond the items": (
        lambda: losses(tensor([0, 6, 7])),
        "pointing_loss needs targets below the number of items, 7, but 7 came.",
    ),
    "a target where there are no items": (
        lambda: losses(tensor([-1, 0, -1]), scores=zeros(B, 0), mask=MASK[:, :0]),
        "pointing_loss needs targets below the number of items, 0, but 0 came.",
    ),
    "targets that are no numbers of items": (
        lambda: losses(zeros(B)),
        "pointing_loss needs targets in whole numbers, but torch.float32 came.",
    ),
    "losses: a mask of numbers": (
        lambda: losses(tensor([0, 1, 2]), mask=MASK.int()),
        f"pointing_loss {NOT_BOOLEAN} torch.int32 came: use mask.bool().",
    ),
    "pointing: a mask of numbers": (
        lambda: Pointer(H, query=C)(STATES, MASK.int(), query=zeros(B, C)),
        f"Pointer {NOT_BOOLEAN} torch.int32 came: use mask.bool().",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_one_sentence_says_where_what_was_needed_and_what_came(name):
    call, sentence = REFUSED[name]
    with pytest.raises(UserError) as refused:
        call()
    assert str(refused.value) == sentence


NONE, NO_STATES = MASK[:, :0], STATES[:, :0]


def spell(hard):
    return nested(hard=hard)(
        NO_STATES,
        NONE,
        characters=zeros(B, 0, J, X),
        character_mask=zeros(B, 0, J, dtype=torch.bool),
        query=zeros(B, C),
        character_query=zeros(B, Q, C),
    )


def empty(case):
    inputs = case.inputs(lengths=(0, 0, 0), tokens=0)
    return lambda: case.run(case.build(), inputs)


EMPTY = {
    "local-m": lambda: monotonic()(NO_STATES, NONE, query=QUERIES),
    "local-p": lambda: predictive()(NO_STATES, NONE, query=QUERY),
    "the local gate": lambda: LocalGate(H)(NO_STATES, NONE),
    "the global gate": lambda: GlobalGate(H)(NO_STATES, NONE),
    "both gates": lambda: DualAttention(H, 2)(NO_STATES, NONE),
    "characters": lambda: spell(False),
    "characters, hard": lambda: spell(True),
    "words of no sentence": lambda: HierarchicalAttention(H)(zeros(B, 0, J, H), zeros(B, 0, J).bool()),
    "features of the step before": lambda: location_features(zeros(B, 0), zeros(Q, 3)),
    "a loss": lambda: losses(tensor([-1, -1, -1]), scores=zeros(B, 0), mask=NONE),
} | {case.name: empty(case) for case in SHORT_CATALOGUE}
EMPTY |= {
    f"{case}, asked": lambda case=case: case.build()(**case.inputs(lengths=(0, 0, 0), items=0))
    for case in ASKING
}


@pytest.mark.parametrize("name", EMPTY)
def test_texts_of_no_slots_at_all_are_read_as_zeros(name):
    result = EMPTY[name]()
    if isinstance(result, Recalled):
        result = (result.contexts, result.weights, result.scores)  # the answer is the query passed on
    leaves = torch.utils._pytree.tree_leaves(result)
    assert leaves
    for leaf in leaves:
        assert leaf.shape[0] == B
        assert (leaf == 0).all()
