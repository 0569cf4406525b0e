"""The compiled learner against its oracles: the torch closed forms, and torch's own optimisers."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from heedful.errors import UserError
from heedful.models.gradients import dot_gradients, occurrences
from heedful.training.closed import ClosedForm, flat_texts
from heedful.training.compiled import CompiledDot, is_compiled, warm_up

VOCABULARY, WIDTH, SCALE = 29, 7, 1.7
LENGTHS = np.array([4, 1, 5, 2, 3, 6, 2, 8, 3, 1, 13])


def texts(classes, seed=0):
    draw = np.random.default_rng(seed)
    ids = draw.integers(0, VOCABULARY // 2, LENGTHS.sum()).astype(np.int32)  # few words, so they repeat
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    return ids, offsets, draw.integers(0, max(classes, 2), len(LENGTHS))


def parameters(classes, dtype=np.float64, seed=1):
    draw = np.random.default_rng(seed)
    head = draw.normal(size=WIDTH if classes == 1 else (classes, WIDTH))
    made = draw.normal(size=(VOCABULARY, WIDTH)), draw.normal(size=WIDTH), head
    return [part.astype(dtype) for part in made]


def batches(seed=2):
    draw = np.random.default_rng(seed)
    return [draw.permutation(len(LENGTHS))[:5] for _ in range(7)]


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("penalty", [0.0, 0.3])
@pytest.mark.parametrize("classes", [1, 3])
def test_one_step_of_plain_descent_is_the_closed_form_gradient(classes, penalty, dropout):
    embedding, context, head = parameters(classes)
    before = [torch.tensor(part) for part in (embedding, context, head)]
    data, rows = texts(classes), batches()[0]
    learner = CompiledDot(
        embedding,
        context,
        head,
        scale=SCALE,
        optimiser="sgd",
        rate=1.0,
        penalty=penalty,
        dropout_words=dropout,
        dropout_head=dropout,
    )
    keep_words, keep_attended = map(torch.from_numpy, learner.next_keep(LENGTHS[rows]))
    loss = learner.step(*data, rows)

    flat, lengths = flat_texts(data[0], data[1], rows)
    tokens, places = occurrences(torch.from_numpy(flat), torch.from_numpy(lengths))
    found = dot_gradients(
        before[0][tokens],
        places,
        labels=torch.from_numpy(data[2][rows]),
        context=before[1],
        head=before[2],
        scale=SCALE,
        keep_words=keep_words,
        keep_attended=keep_attended,
    )
    context_leaf, head_leaf = before[1].clone().requires_grad_(), before[2].clone().requires_grad_()
    extra = penalty * (head_leaf @ context_leaf).abs().mean()
    by_context, by_head = torch.autograd.grad(extra, [context_leaf, head_leaf])
    close = {"rtol": 1e-9, "atol": 1e-13}
    assert loss == pytest.approx(float(found.quantities.loss + extra.detach()), rel=1e-12)
    torch.testing.assert_close((before[0] - torch.from_numpy(embedding))[tokens], found.rows, **close)
    torch.testing.assert_close(before[1] - torch.from_numpy(context), found.context + by_context, **close)
    torch.testing.assert_close(before[2] - torch.from_numpy(head), found.head + by_head, **close)
    untouched = sorted(set(range(VOCABULARY)) - set(tokens.tolist()))
    assert np.array_equal(embedding[untouched], before[0].numpy()[untouched])


@pytest.mark.parametrize("classes", [1, 3])
def test_many_steps_equal_autograd_with_torchs_adagrad_over_the_whole_table(classes):
    embedding, context, head = parameters(classes)
    table, v, w = (torch.tensor(part, requires_grad=True) for part in (embedding, context, head))
    usual = torch.optim.Adagrad([table, v, w], lr=0.1, lr_decay=0.2)
    learner = CompiledDot(embedding, context, head, scale=SCALE, rate=0.1, rate_decay=0.2)
    ids, offsets, labels = texts(classes)
    for rows in batches():
        losses = []
        for row in rows:
            words = table[ids[offsets[row] : offsets[row + 1]]]
            logits = w @ ((words @ v / SCALE).softmax(0) @ words)
            label = torch.tensor(labels[row])
            losses.append(
                F.softplus(-(2 * label - 1) * logits) if classes == 1 else F.cross_entropy(logits, label)
            )
        usual.zero_grad()
        loss = torch.stack(losses).mean()
        loss.backward()
        usual.step()
        assert learner.step(ids, offsets, labels, rows) == pytest.approx(loss.item(), rel=1e-9)
    for ours, theirs in zip((embedding, context, head), (table, v, w), strict=True):
        np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("optimiser", ["adagrad", "sgd"])
@pytest.mark.parametrize("classes", [1, 3])
def test_the_torch_learner_takes_the_same_steps(classes, optimiser):
    settings = {"scale": SCALE, "optimiser": optimiser, "rate": 0.1, "rate_decay": 0.2, "penalty": 0.05}
    compiled = parameters(classes)
    torches = dict(zip(("embedding", "context", "head"), map(torch.tensor, parameters(classes)), strict=True))
    first, second = CompiledDot(*compiled, **settings), ClosedForm("dp", torches, **settings)
    data = texts(classes)
    for rows in batches():
        assert first.step(*data, rows) == pytest.approx(second.step(*data, rows), rel=1e-9)
    for ours, theirs in zip(compiled, torches.values(), strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-9, atol=1e-12)


def run(seed=0, *, dropout=0.5, stop_after=None):
    made, data = parameters(1, np.float32), texts(1)
    settings = {
        "scale": SCALE,
        "dropout_words": dropout,
        "dropout_head": dropout,
        "rate_decay": 0.1,
        "seed": seed,
    }
    learner = CompiledDot(*made, **settings)
    for number, rows in enumerate(batches()):
        if number == stop_after:  # a new process would have the parameters and the state, nothing else
            made = [part.copy() for part in made]
            state = {name: value.copy() for name, value in learner.state().items()}
            learner = CompiledDot(*made, **settings)
            learner.load_state(state)
        learner.step(*data, rows)
    return made


def test_a_seed_gives_bit_identical_runs_and_another_seed_another_run():
    assert all(map(np.array_equal, run(4), run(4)))
    assert not np.array_equal(run(4)[1], run(5)[1])


def test_a_run_taken_up_again_ends_bit_for_bit_as_if_nothing_had_happened():
    assert all(map(np.array_equal, run(4, stop_after=3), run(4)))


def test_dropout_drops_its_rate_and_keeps_the_mean():
    learner = CompiledDot(*parameters(1), scale=SCALE, dropout_words=0.3, dropout_head=0.8)
    words, attended = learner.next_keep(np.full(1009, 11))
    for factors, rate in ((words, 0.3), (attended, 0.8)):
        assert np.unique(factors) == pytest.approx([0, 1 / (1 - rate)], rel=1e-6)
        error = np.sqrt(rate * (1 - rate) / factors.size)
        assert abs((factors == 0).mean() - rate) < 4 * error
        # Neither neighbouring words nor neighbouring places share their fate.
        dropped = (factors == 0) - rate
        for shifted in (dropped[1:] * dropped[:-1], dropped[:, 1:] * dropped[:, :-1]):
            assert abs(shifted.mean()) < 4 * rate * (1 - rate) / np.sqrt(shifted.size)


def test_every_step_has_noise_of_its_own():
    learner = CompiledDot(*parameters(1), scale=SCALE, dropout_words=0.5)
    first, _ = learner.next_keep(LENGTHS)
    learner.step(*texts(1), batches()[0])
    assert not np.array_equal(first, learner.next_keep(LENGTHS)[0])


def test_texts_mapped_from_files_are_learnt_from_as_well(tmp_path):
    mapped = []
    for number, part in enumerate(texts(1)):
        np.save(tmp_path / f"{number}.npy", part)
        mapped.append(np.load(tmp_path / f"{number}.npy", mmap_mode="r"))
    first, second = parameters(1), parameters(1)
    loss = CompiledDot(*first, scale=SCALE).step(*texts(1), batches()[0])
    assert CompiledDot(*second, scale=SCALE).step(*mapped, batches()[0]) == loss
    assert all(map(np.array_equal, first, second))


@pytest.mark.parametrize("kind", ["ids", "labels", "empty", "rows"])
def test_what_would_reach_out_of_bounds_is_refused(kind):
    ids, offsets, labels = texts(1)
    rows = np.array([0, 1])
    if kind == "ids":
        ids = np.where(np.arange(len(ids)) == 3, VOCABULARY, ids)
    elif kind == "labels":
        labels = labels + 1
    elif kind == "empty":
        offsets = np.where(np.arange(len(offsets)) == 1, 0, offsets)
    else:
        rows = np.array([0, len(labels)])
    with pytest.raises(ValueError, match="must"):
        CompiledDot(*parameters(1), scale=SCALE).step(ids, offsets, labels, rows)


def test_parameters_that_could_not_be_changed_in_place_are_refused():
    embedding, context, head = parameters(3)
    with pytest.raises(ValueError, match="contiguous"):
        CompiledDot(np.asfortranarray(embedding), context, head, scale=SCALE)
    with pytest.raises(ValueError, match="float32"):
        CompiledDot(embedding.astype(np.float32), context, head, scale=SCALE)


def test_the_state_of_another_model_is_refused():
    learner = CompiledDot(*parameters(3), scale=SCALE)
    with pytest.raises(UserError, match="head"):
        learner.load_state(CompiledDot(*parameters(1), scale=SCALE).state())


def test_warming_up_compiles_the_kernel():
    warm_up()
    assert is_compiled()
