"""One step of `dp`, `dp-a` or `ad`, compiled: forward, closed-form gradients, update.

Imports numba, so only `heedful.training.compiled` imports this file, and only when a learner is made.
`heedful.models.gradients` is the same mathematics in torch, and the oracle in the tests. All is in one file,
because numba compiles a kept function again when its own file changes, and not when a part of it does that
stands elsewhere. Axes: B instances, T tokens of an instance, E width of a word's vector, H width of what
the head sees, A width of the context, K rows of the head (1 for one binary score), V vocabulary, U distinct
tokens of the batch.
"""

# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# (the types are numba's, found at the first call)

import math

import numpy as np
from numba import njit

# Sums may be reordered (otherwise no dot product is vectorised); nan and infinity keep their meaning.
compiled = njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})

# tanh x = x p(x²) / q(x²) in single precision, to some 1e-7 (the coefficients of Eigen's `ptanh`): plain
# arithmetic is vectorised, and a call of tanh is not. Beyond FAR it is ±1.
FAR = np.float32(7.90531110763549805)
P1, P3, P5, P7 = map(
    np.float32, (4.89352455891786e-3, 6.37261928875436e-4, 1.48572235717979e-5, 5.12229709037114e-8)
)
P9, P11, P13 = map(np.float32, (-8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16))
Q0, Q2, Q4, Q6 = map(
    np.float32, (4.89352518554385e-3, 2.26843463243900e-3, 1.18534705686654e-4, 1.19825839466702e-6)
)


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
def attend(weights, kept, attended):
    """Turn scores (T,) into weights in place, and set attended (E,) to the weighted sum of kept (T, E)."""
    largest, total = weights.max(), weights[0] * 0
    attended[:] = total
    for n in range(len(weights)):
        weights[n] = math.exp(weights[n] - largest)
        total += weights[n]
        add(attended, weights[n], kept[n])
    for j in range(len(attended)):
        attended[j] /= total
    for n in range(len(weights)):
        weights[n] /= total


@compiled
def decide(state, label, share, head, head_gradient, key, drop, work):
    """The loss of s = hᵀW over what dropout leaves of a state (H,), and pull = −∂ℓ/∂h, the last of `work`.

    Adds to the head's gradient. `work` is keep, dropped and pull (H,), and scores (K,).
    """
    keep, dropped, scores, pull = work
    drop_out(keep, dropped, state, key, drop[0], drop[1])
    for k in range(len(head)):
        scores[k] = dot(dropped, head[k])
    loss = descend(scores, label) * share
    pull[:] = share * 0
    for k in range(len(head)):
        add(head_gradient[k], -scores[k] * share, dropped)
        add(pull, scores[k] * share, head[k])
    for j in range(len(pull)):
        pull[j] *= keep[j]
    return loss


@compiled
def slot_of(token, slots, tokens, gradient, distinct):
    """Where the gradient of a token is summed up; a new one gets the next place, set to 0."""
    if slots[token] < 0:
        slots[token], tokens[distinct] = distinct, token
        gradient[distinct] = 0
    return slots[token]


@compiled
def move(parameter, gradient, sums, l2, rate, adagrad):
    """Update what every text touches, of any shape, with L2 as torch's optimisers have it."""
    flat, flat_gradient = parameter.reshape(parameter.size), gradient.reshape(gradient.size)
    add(flat_gradient, l2, flat)
    update(flat, flat_gradient, sums.reshape(sums.size), rate, adagrad)


@compiled
def move_rows(embedding, gradient, sums, slots, tokens, distinct, rate, adagrad):
    """Update the rows of the batch's words, and leave `slots` as they were found."""
    for slot in range(distinct):
        update(embedding[tokens[slot]], gradient[slot], sums[tokens[slot]], rate, adagrad)
        slots[tokens[slot]] = -1


@compiled
def dot_step(parameters, sums, texts, rows, scratch, numbers, l2, drops, key, adagrad):
    """`dp`: step on the texts with these `rows` (B,), in place; return the mean loss, the penalty included.

    Sun & Lu, Eq. 13, 14, 23; 78–80. The other steps take the same arguments, and know no penalty.

    `parameters` are embedding (V, E), context (A,), head (K, H), matrix and bias, empty here; `sums` are
    Adagrad's sums of squares, shaped alike. `texts` are flat ids, offsets and class numbers. `scratch` is
    slots (V,), all −1 before and after, tokens (U,), and work space of the parameters' dtype: gradient
    (U, E), keep (T, E), kept (T, E), weights (T,), and inner (T, A) for `ad`. `numbers` are 1/λ, rate and
    penalty; `l2` the strengths on context, head, matrix and bias; `drops` are (drop, boost) of the words and
    of the attended vector.
    """
    embedding, context, head, _, _ = parameters
    ids, offsets, labels = texts
    slots, tokens, gradient, keep, kept, weights, _ = scratch
    inverse_scale, rate, penalty = numbers
    number = type(rate)  # the parameters' dtype: a wider number among narrow ones would halve the speed
    share, side = number(1 / len(rows)), number(penalty / len(head))
    attended, pull = np.empty_like(context), np.empty_like(context)
    work = np.empty_like(context), np.empty_like(context), np.empty_like(head[:, 0]), pull
    context_gradient, head_gradient = np.zeros_like(context), np.zeros_like(head)
    loss, distinct, place = 0.0, 0, 0

    for row in rows:
        # Embed and attend: a = eᵀV/λ, α = softmax(a), h = Σ α e, over what dropout leaves of the words.
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        for n in range(length):
            drop_out(keep[n], kept[n], embedding[ids[start + n]], mix(key, place), drops[0][0], drops[0][1])
            weights[n] = dot(kept[n], context) * inverse_scale
            place += 1
        attend(weights[:length], kept, attended)
        loss += decide(attended, labels[row], share, head, head_gradient, mix(~key, place), drops[1], work)

        # Back: −∂ℓ/∂a_n = α_n (e_n − h)ᵀ pull; a word gets both, through its own dropout.
        mean = dot(attended, pull)
        for n in range(length):
            lean = weights[n] * (dot(kept[n], pull) - mean) * inverse_scale
            add(context_gradient, -lean, kept[n])
            slot = slot_of(ids[start + n], slots, tokens, gradient, distinct)
            distinct += slot == distinct
            for j in range(len(pull)):
                gradient[slot, j] -= keep[n, j] * (lean * context[j] + weights[n] * pull[j])

    for k in range(len(head)):  # the penalty: the mean of |VᵀW| over the head's rows
        aligned = dot(context, head[k])
        loss += side * abs(aligned)
        add(context_gradient, side * np.sign(aligned), head[k])
        add(head_gradient[k], side * np.sign(aligned), context)
    move(context, context_gradient, sums[1], l2[0], rate, adagrad)
    move(head, head_gradient, sums[2], l2[1], rate, adagrad)
    move_rows(embedding, gradient, sums[0], slots, tokens, distinct, rate, adagrad)
    return loss


@compiled
def affine_step(parameters, sums, texts, rows, scratch, numbers, l2, drops, key, adagrad):
    """`dp-a`: dot-product attention over an affine layer, matrix (H, E), bias (H,) or empty (Eq. 59–61).

    The layer is never applied to a word. With u = MᵀV a score is (M e)ᵀV/λ = eᵀu/λ (a bias adds the same to
    every score), and Σ α M e = M Σ α e: the words are those of `dp` with u instead of V, and M meets one
    vector a text.
    """
    embedding, context, head, matrix, bias = parameters
    ids, offsets, labels = texts
    slots, tokens, gradient, keep, kept, weights, _ = scratch
    inverse_scale, rate, _ = numbers
    number = type(rate)
    share, zero = number(1 / len(rows)), number(0)
    attended, word_pull = np.empty_like(embedding[0]), np.empty_like(embedding[0])
    state, pull = np.empty_like(context), np.empty_like(context)
    work = np.empty_like(context), np.empty_like(context), np.empty_like(head[:, 0]), pull
    context_gradient, head_gradient = np.zeros_like(context), np.zeros_like(head)
    matrix_gradient, bias_gradient = np.zeros_like(matrix), np.zeros_like(bias)
    loss, distinct, place = 0.0, 0, 0

    look, look_gradient = np.zeros_like(attended), np.zeros_like(attended)  # u = MᵀV
    for i in range(len(context)):
        add(look, context[i], matrix[i])

    for row in rows:
        # Attend as `dp` does, and apply the layer to what came of it.
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        for n in range(length):
            drop_out(keep[n], kept[n], embedding[ids[start + n]], mix(key, place), drops[0][0], drops[0][1])
            weights[n] = dot(kept[n], look) * inverse_scale
            place += 1
        attend(weights[:length], kept, attended)
        for i in range(len(state)):
            state[i] = dot(matrix[i], attended)
        for i in range(len(bias)):
            state[i] += bias[i]
        loss += decide(state, labels[row], share, head, head_gradient, mix(~key, place), drops[1], work)

        # Back through the layer, then as `dp`.
        word_pull[:] = zero
        for i in range(len(pull)):
            add(word_pull, pull[i], matrix[i])
            add(matrix_gradient[i], -pull[i], attended)
        for i in range(len(bias)):
            bias_gradient[i] -= pull[i]
        mean = dot(attended, word_pull)
        for n in range(length):
            lean = weights[n] * (dot(kept[n], word_pull) - mean) * inverse_scale
            add(look_gradient, -lean, kept[n])
            slot = slot_of(ids[start + n], slots, tokens, gradient, distinct)
            distinct += slot == distinct
            for j in range(len(look)):
                gradient[slot, j] -= keep[n, j] * (lean * look[j] + weights[n] * word_pull[j])

    for i in range(len(context)):  # u = MᵀV: what u is asked, V and M are asked
        context_gradient[i] = dot(matrix[i], look_gradient)
        add(matrix_gradient[i], context[i], look_gradient)
    move(context, context_gradient, sums[1], l2[0], rate, adagrad)
    move(head, head_gradient, sums[2], l2[1], rate, adagrad)
    move(matrix, matrix_gradient, sums[3], l2[2], rate, adagrad)
    move(bias, bias_gradient, sums[4], l2[2], rate, adagrad)
    move_rows(embedding, gradient, sums[0], slots, tokens, distinct, rate, adagrad)
    return loss


@compiled
def squash(x):
    """tanh in place."""
    if x.itemsize == 4:
        for i in range(len(x)):
            a = min(max(x[i], -FAR), FAR)
            b = a * a
            above = a * (P1 + b * (P3 + b * (P5 + b * (P7 + b * (P9 + b * (P11 + b * P13))))))
            x[i] = above / (Q0 + b * (Q2 + b * (Q4 + b * Q6)))
    else:
        for i in range(len(x)):
            x[i] = math.tanh(x[i])


@compiled
def kept_places(vector, places):
    """Write where `vector` (E,) is not 0 to `places`; return how many these are."""
    count = 0
    for j in range(len(vector)):
        places[count] = j
        count += vector[j] != 0
    return count


@compiled
def apply(turned, vector, places, count, out):
    """out (A,) += M vector, of Mᵀ (E, A) and the `count` places where `vector` (E,) is not 0: four a turn."""
    whole = count - count % 4
    for at in range(0, whole, 4):
        first, second, third, fourth = places[at], places[at + 1], places[at + 2], places[at + 3]
        a, b, c, d = vector[first], vector[second], vector[third], vector[fourth]
        one, two, three, four = turned[first], turned[second], turned[third], turned[fourth]
        for i in range(len(out)):
            out[i] += a * one[i] + b * two[i] + c * three[i] + d * four[i]
    for at in range(whole, count):
        add(out, vector[places[at]], turned[places[at]])


@compiled
def apply_back(turned, turned_gradient, vector, places, count, slope, back):
    """back (E,) = Mᵀ slope at these places, and the gradient of Mᵀ (E, A) += vector slopeᵀ: two a turn."""
    whole = count - count % 2
    for at in range(0, whole, 2):
        first, second = places[at], places[at + 1]
        a, b = vector[first], vector[second]
        one, two = turned[first], turned[second]
        own, other = turned_gradient[first], turned_gradient[second]
        c, d = a * 0, a * 0
        for i in range(len(slope)):
            c += one[i] * slope[i]
            d += two[i] * slope[i]
            own[i] += a * slope[i]
            other[i] += b * slope[i]
        back[first], back[second] = c, d
    for at in range(whole, count):
        back[places[at]] = dot(turned[places[at]], slope)
        add(turned_gradient[places[at]], vector[places[at]], slope)


@compiled
def additive_step(parameters, sums, texts, rows, scratch, numbers, l2, drops, key, adagrad):
    """`ad`: additive attention, matrix (A, E), bias (A,) or empty; the head sees words: H is E (Eq. 66–68).

    Dropout gives every occurrence of a word a vector of its own, so every occurrence goes through the matrix.
    What dropout has set to 0 is left out there, and on the way back: at a rate of ½, half of the work.
    """
    embedding, context, head, matrix, bias = parameters
    ids, offsets, labels = texts
    slots, tokens, gradient, keep, kept, weights, inner = scratch
    inverse_scale, rate, _ = numbers
    number = type(rate)
    share, one, zero = number(1 / len(rows)), number(1), number(0)
    attended, pull = np.empty_like(embedding[0]), np.empty_like(embedding[0])
    work = np.empty_like(attended), np.empty_like(attended), np.empty_like(head[:, 0]), pull
    context_gradient, head_gradient = np.zeros_like(context), np.zeros_like(head)
    turned, bias_gradient = np.ascontiguousarray(matrix.T), np.zeros_like(bias)  # (E, A)
    turned_gradient, back = np.zeros_like(turned), np.empty_like(attended)
    places = np.empty(len(turned) + 1, np.int64)
    loss, distinct, place = 0.0, 0, 0

    for row in rows:
        # Embed and attend: a = tanh(M e + b)ᵀV/λ, α = softmax(a), h = Σ α e, over what dropout leaves.
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        for n in range(length):
            drop_out(keep[n], kept[n], embedding[ids[start + n]], mix(key, place), drops[0][0], drops[0][1])
            place += 1
            inner[n] = zero
            if len(bias):
                inner[n] = bias
            count = kept_places(keep[n], places)
            apply(turned, kept[n], places, count, inner[n])
            squash(inner[n])
            weights[n] = dot(inner[n], context) * inverse_scale
        attend(weights[:length], kept, attended)
        loss += decide(attended, labels[row], share, head, head_gradient, mix(~key, place), drops[1], work)

        # Back: −∂ℓ/∂a_n as in `dp`; through tanh to x = M e + b, where `inner` becomes ∂ℓ/∂x.
        mean = dot(attended, pull)
        for n in range(length):
            lean = weights[n] * (dot(kept[n], pull) - mean) * inverse_scale
            add(context_gradient, -lean, inner[n])
            slope = inner[n]
            for i in range(len(context)):
                slope[i] = lean * context[i] * (slope[i] * slope[i] - one)
            if len(bias):
                add(bias_gradient, one, slope)
            slot = slot_of(ids[start + n], slots, tokens, gradient, distinct)
            distinct += slot == distinct
            count = kept_places(keep[n], places)
            apply_back(turned, turned_gradient, kept[n], places, count, slope, back)
            for at in range(count):
                j = places[at]
                gradient[slot, j] += keep[n, j] * (back[j] - weights[n] * pull[j])

    move(context, context_gradient, sums[1], l2[0], rate, adagrad)
    move(head, head_gradient, sums[2], l2[1], rate, adagrad)
    move(matrix, np.ascontiguousarray(turned_gradient.T), sums[3], l2[2], rate, adagrad)
    move(bias, bias_gradient, sums[4], l2[2], rate, adagrad)
    move_rows(embedding, gradient, sums[0], slots, tokens, distinct, rate, adagrad)
    return loss
