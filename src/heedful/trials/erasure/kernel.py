# mypy: allow-untyped-defs, allow-incomplete-defs
"""The loops over every token of a trace, compiled.

Imports numba, so only `heedful.trials.compiled` imports this file.

Axes: B instances, T slots, H width, K classes.
"""

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

LINE = 64  # bytes that come with one request


@intrinsic
def prefetch(typing, flat, place):
    """Ask for the line of the array `flat` (of one axis) that holds the number at `place`, ahead of need.

    A loop that reads several rows at once reads in no order that a processor foresees, and would wait for
    most of it. A request changes nothing but time, and one past the end of an array is harmless.
    """

    def emit(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        request = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), pointer)
        # To read (0), into every cache (3), of data (1).
        builder.call(request, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(flat, place), emit


AHEAD = 100 * LINE  # bytes that `multiply` asks for before it needs them

# Here sums may be reordered, or no dot product would be vectorised: it is a matrix product like any other.
reordering = njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
# Here they may not: the order of the sums is what makes this loop agree with the torch version to the last
# bit.
in_order = njit(cache=True, error_model="numpy")


@reordering
def multiply(values, head, ends, products):
    """Fill products (B,T,K) with values (B,T,H) times head (K,H), each row up to its end (B,), then 0."""
    width, classes = values.shape[2], len(head)
    nothing = head.dtype.type(0)  # of the values' own type: a wider zero would halve the speed
    flat, line = values.reshape(-1), LINE // values.itemsize
    for b in range(len(values)):
        products[b, ends[b] :] = nothing
        last = ends[b] - 1
        # Four tokens with two classes at once: eight sums in registers for six numbers read. Past the end,
        # the last token (or class) is simply done again.
        for t0 in range(0, ends[b], 4):
            soon = (b * values.shape[1] + t0) * width + AHEAD // values.itemsize
            for place in range(soon, soon + 4 * width, line):
                prefetch(flat, place)  # type: ignore[call-arg]  # the compiler gives the first argument
            t1, t2, t3 = min(t0 + 1, last), min(t0 + 2, last), min(t0 + 3, last)
            x0, x1, x2, x3 = values[b, t0], values[b, t1], values[b, t2], values[b, t3]
            for k in range(0, classes, 2):
                other = min(k + 1, classes - 1)
                w, u = head[k], head[other]
                a0, a1, a2, a3 = nothing, nothing, nothing, nothing
                c0, c1, c2, c3 = nothing, nothing, nothing, nothing
                for h in range(width):
                    a0 += x0[h] * w[h]
                    a1 += x1[h] * w[h]
                    a2 += x2[h] * w[h]
                    a3 += x3[h] * w[h]
                    c0 += x0[h] * u[h]
                    c1 += x1[h] * u[h]
                    c2 += x2[h] * u[h]
                    c3 += x3[h] * u[h]
                products[b, t0, k], products[b, t0, other] = a0, c0
                products[b, t1, k], products[b, t1, other] = a1, c1
                products[b, t2, k], products[b, t2, other] = a2, c2
                products[b, t3, k], products[b, t3, other] = a3, c3


@in_order
def first_flips(weights, logits, bias, order, present, sizes):
    """Fill sizes (B,): how many items of an order (B,N) go before another class decides.

    −1: never; −2: the row of the order does not name each item once.

    weights (B,T), logits (B,T,K) without the bias (K,), present (B,T); every real slot is an item. left[j] is
    the sum of the votes α(z + b) without the first j of the order, from the far end, in double precision.
    """
    classes, columns = len(bias), present.shape[1]
    left, mass = np.zeros((columns + 1, classes)), np.zeros(columns + 1)
    total, seen = np.zeros(classes), np.full(columns, -1)
    unattended = np.argmax(bias)  # what the zero vector decides
    for b in range(len(order)):
        count = 0
        total[:] = 0
        for t in range(columns):
            if present[b, t]:
                count += 1
                weight = np.float64(weights[b, t])
                for k in range(classes):
                    total[k] += weight * (logits[b, t, k] + bias[k])
        decided = np.argmax(total)

        sizes[b] = -1
        left[count], mass[count] = 0, 0
        for j in range(count - 1, -1, -1):
            t = order[b, j] if j < order.shape[1] else -1
            if t < 0 or t >= columns or not present[b, t] or seen[t] == b:
                sizes[b] = -2
                break
            seen[t] = b
            weight = np.float64(weights[b, t])
            mass[j] = mass[j + 1] + weight
            for k in range(classes):
                left[j, k] = left[j + 1, k] + weight * (logits[b, t, k] + bias[k])

        for j in range(1, count + 1 if sizes[b] == -1 else 0):
            lost = unattended != decided
            if mass[j] > 0:
                lost = False
                for k in range(decided):
                    lost |= left[j, k] >= left[j, decided]
                for k in range(decided + 1, classes):
                    lost |= left[j, k] > left[j, decided]
            if lost:
                sizes[b] = j
                break


@in_order
def each_out(weights, logits, bias, without):
    """Fill without (B,N,K) with the logits when one slot is gone: the votes before and after it, shared out.

    weights (B,T), logits (B,T,K) without the bias (K,); every real slot is an item.
    """
    classes, columns = len(bias), without.shape[1]
    side, mass_before = np.zeros(classes), np.zeros(columns)
    for b in range(len(without)):
        side[:], mass = 0, 0.0
        for t in range(columns):
            weight = np.float64(weights[b, t])
            mass_before[t] = mass
            mass += weight
            for k in range(classes):
                without[b, t, k] = side[k]
                side[k] += weight * (logits[b, t, k] + bias[k])
        side[:], mass = 0, 0.0
        for t in range(columns - 1, -1, -1):
            weight = np.float64(weights[b, t])
            left = mass_before[t] + mass
            mass += weight
            for k in range(classes):
                without[b, t, k] = (without[b, t, k] + side[k]) / left if left > 0 else bias[k]
                side[k] += weight * (logits[b, t, k] + bias[k])


@in_order
def smallest(weights, logits, bias, sizes, taken, to_class):
    """Fill the smallest sets that flip: sizes (B,), taken (B,T), false before, to_class (B,); −1 for none.

    weights (B,T), logits (B,T,K) without the bias (K,); every real slot is an item.
    """
    classes, columns = len(bias), weights.shape[1]
    votes, total = np.empty((columns, classes)), np.empty(classes)
    slots, margins = np.empty(columns, np.int64), np.empty(columns)
    unattended = np.argmax(bias)  # what the zero vector decides
    for b in range(len(weights)):
        count = 0  # of the slots with weight: the others change nothing
        total[:] = 0
        for t in range(columns):
            weight = np.float64(weights[b, t])
            if weight > 0:
                slots[count] = t
                for k in range(classes):
                    votes[count, k] = weight * (logits[b, t, k] + bias[k])
                    total[k] += votes[count, k]
                count += 1
        decided = np.argmax(total)
        total[decided] = -np.inf
        runner_up = np.argmax(total)

        size, rival, last = count if unattended != decided else -1, -1, 0.0
        for turn in range(-1, classes):
            k = int(runner_up) if turn < 0 else turn
            if k == decided or (k == runner_up and turn >= 0):
                continue
            # For any level, the s largest margins sum to at most s·level + Σ max(0, margin − level). Most
            # rivals fail this bound for one item less than the best set so far, and need no sorting.
            whole, over = 0.0, 0.0
            for i in range(count):
                margins[i] = votes[i, decided] - votes[i, k]
                whole += margins[i]
                over += max(0.0, margins[i] - last)
            most = (size - 1) * last + over
            if rival >= 0 and most + 1e-9 * (abs(most) + over) < whole:
                continue
            ascending = np.sort(margins[:count])
            left, stay = 0.0, 0
            for i in range(count - 1):
                left += ascending[i]
                if left < 0 or (left == 0 and k < decided):
                    stay = i + 1
            if stay > 0 and (size < 0 or count - stay < size):
                size, rival, last = count - stay, k, ascending[stay]

        sizes[b], to_class[b] = size, -1 if size < 0 else unattended
        if size < 0:
            continue
        level = size  # how many of the margins equal to `last` go: the first ones
        for i in range(count):
            level -= rival >= 0 and votes[i, decided] - votes[i, rival] > last
        total[:] = 0
        for i in range(count):
            margin = votes[i, decided] - votes[i, rival] if rival >= 0 else np.inf
            if margin > last or (margin == last and level > 0):
                level -= margin == last
                taken[b, slots[i]] = True
            else:
                for k in range(classes):
                    total[k] += votes[i, k]
        if rival >= 0:
            total[decided] = -np.inf  # it is beaten: the class that decides is another one
            to_class[b] = np.argmax(total)
