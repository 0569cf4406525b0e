"""One step of `dp`, compiled: forward, closed-form gradients, update (Sun & Lu, Eq. 13, 14, 23; 78–80).

Imports numba, so only `heedful.training.compiled` imports this file, and only when a learner is made.
`heedful.models.gradients.dot_gradients` is the same mathematics in torch, and the oracle in the tests.
Axes: B instances, T tokens of an instance, H width, K rows of the head (1 for one binary score), V
vocabulary, U distinct tokens of the batch.
"""

# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# (the types are numba's, found at the first call)

import math

import numpy as np
from numba import njit

# Sums may be reordered (otherwise no dot product is vectorised); nan and infinity keep their meaning.
compiled = njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})


@compiled
def mix(key, number):
    """A 64-bit key from a key and a number (the finaliser of splitmix64): neighbours are unrelated."""
    z = key + np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def drop_out(keep, kept, source, key, drop, boost):
    """keep (H,) = `boost` where a hash of (key, j) is not under `drop`, else 0; kept = keep · source."""
    base, nothing = np.uint32(key), boost * 0
    for j in range(keep.shape[0]):
        x = np.uint32(base + np.uint32(j) * np.uint32(0x9E3779B9))
        x = np.uint32((x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D))
        x = np.uint32((x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B))
        keep[j] = boost if x ^ (x >> np.uint32(16)) >= drop else nothing
        kept[j] = keep[j] * source[j]


@compiled
def dot(a, b):
    total = a[0] * 0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@compiled
def add(target, factor, source):
    for j in range(target.shape[0]):
        target[j] += factor * source[j]


@compiled
def update(parameter, gradient, sums, rate, adagrad):
    """Move `parameter` (H,) in place, as torch.optim.Adagrad or torch.optim.SGD would."""
    if adagrad:
        for j in range(parameter.shape[0]):
            sums[j] += gradient[j] * gradient[j]
            parameter[j] -= rate * gradient[j] / (math.sqrt(sums[j]) + type(rate)(1e-10))
    else:
        add(parameter, -rate, gradient)


@compiled
def descend(scores, label):
    """Turn `scores` (K,) into −∂ℓ/∂s in place, yβ for one score, I_k − p for K classes; return the loss."""
    if len(scores) == 1:
        sign = 2 * label - 1
        margin = sign * np.float64(scores[0])
        scores[0] = sign / (1 + math.exp(margin))
        return math.log1p(math.exp(-abs(margin))) + max(-margin, 0.0)
    largest = np.float64(scores.max())
    normaliser, own = 0.0, scores[label] - largest
    for k in range(len(scores)):
        normaliser += math.exp(scores[k] - largest)
    for k in range(len(scores)):
        scores[k] = (k == label) - math.exp(scores[k] - largest) / normaliser
    return math.log(normaliser) - own


@compiled
def step_batch(parameters, sums, texts, rows, scratch, numbers, drops, key, adagrad):
    """Step on the texts with these `rows` (B,), in place; return the mean loss, the penalty included.

    `parameters` are embedding (V, H), context (H,), head (K, H); `sums` are Adagrad's sums of squares, shaped
    alike. `texts` are flat ids, offsets and class numbers. `scratch` is slots (V,), all −1 before and after,
    tokens (U,), and work space of the parameters' dtype: gradient (U, H), keep (T, H), kept (T, H), weights
    (T,). `numbers` are 1/λ, rate and penalty; `drops` are (drop, boost) of the words and of the attended
    vector.
    """
    embedding, context, head = parameters
    ids, offsets, labels = texts
    slots, tokens, gradient, keep, kept, weights = scratch
    inverse_scale, rate, penalty = numbers
    number = type(rate)  # the parameters' dtype: a wider number among narrow ones would halve the speed
    share, zero, side = number(1 / len(rows)), number(0), number(penalty / len(head))
    attended, dropped = np.empty_like(context), np.empty_like(context)
    keep_attended, pull = np.empty_like(context), np.empty_like(context)
    context_gradient, head_gradient, scores = (
        np.zeros_like(context),
        np.zeros_like(head),
        np.empty_like(head[:, 0]),
    )
    loss, distinct, place = 0.0, 0, 0

    for row in rows:
        # Embed and attend: a = eᵀV/λ, α = softmax(a), h = Σ α e, over what dropout leaves of the words.
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        for n in range(length):
            drop_out(keep[n], kept[n], embedding[ids[start + n]], mix(key, place), drops[0][0], drops[0][1])
            weights[n] = dot(kept[n], context) * inverse_scale
            place += 1
        largest, total = weights[:length].max(), zero
        attended[:] = zero
        for n in range(length):
            weights[n] = math.exp(weights[n] - largest)
            total += weights[n]
            add(attended, weights[n], kept[n])
        for j in range(len(attended)):
            attended[j] /= total

        # Decide: s = hᵀW over what dropout leaves of h.
        drop_out(keep_attended, dropped, attended, mix(~key, place), drops[1][0], drops[1][1])
        for k in range(len(head)):
            scores[k] = dot(dropped, head[k])
        loss += descend(scores, labels[row]) * share

        # Back: pull = −∂ℓ/∂h; −∂ℓ/∂a_n = α_n (e_n − h)ᵀ pull; a word gets both, through its own dropout.
        pull[:] = zero
        for k in range(len(head)):
            add(head_gradient[k], -scores[k] * share, dropped)
            add(pull, scores[k] * share, head[k])
        for j in range(len(pull)):
            pull[j] *= keep_attended[j]
        mean = dot(attended, pull)
        for n in range(length):
            token, weight = ids[start + n], weights[n] / total
            lean = weight * (dot(kept[n], pull) - mean) * inverse_scale
            add(context_gradient, -lean, kept[n])
            if slots[token] < 0:
                slots[token], tokens[distinct] = distinct, token
                gradient[distinct] = zero
                distinct += 1
            slot = slots[token]
            for j in range(len(pull)):
                gradient[slot, j] -= keep[n, j] * (lean * context[j] + weight * pull[j])

    for k in range(len(head)):  # the penalty: the mean of |VᵀW| over the head's rows
        aligned = dot(context, head[k])
        loss += side * abs(aligned)
        add(context_gradient, side * np.sign(aligned), head[k])
        add(head_gradient[k], side * np.sign(aligned), context)
    for k in range(len(head)):
        update(head[k], head_gradient[k], sums[2][k], rate, adagrad)
    update(context, context_gradient, sums[1], rate, adagrad)
    for slot in range(distinct):
        update(embedding[tokens[slot]], gradient[slot], sums[0][tokens[slot]], rate, adagrad)
        slots[tokens[slot]] = -1
    return loss
