"""The torch learner equals autograd with torch's dense optimisers, for every family it knows."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from heedful.errors import UserError
from heedful.training.closed import ClosedForm, flat_texts

VOCABULARY, WIDTH, INNER, SCALE = 29, 5, 7, 1.7
LENGTHS = np.array([4, 1, 5, 2, 3, 6])


def texts():
    draw = np.random.default_rng(0)
    ids = draw.integers(0, VOCABULARY // 2, LENGTHS.sum()).astype(np.int32)
    return ids, np.concatenate([[0], np.cumsum(LENGTHS)]), draw.integers(0, 2, len(LENGTHS))


def parameters(family, dtype=torch.float64):
    draw = torch.Generator().manual_seed(1)
    inner = WIDTH if family == "dp" else INNER
    shapes = {
        "embedding": (VOCABULARY, WIDTH),
        "context": (inner,),
        "head": (WIDTH if family == "ad" else inner,),
    }
    if family != "dp":
        shapes |= {"matrix": (INNER, WIDTH), "bias": (INNER,)}
    return {name: torch.randn(*shape, generator=draw, dtype=dtype) for name, shape in shapes.items()}


def loss_in_words(family, made, words, label):
    states = words if family == "dp" else words @ made["matrix"].T + made["bias"]
    weights = ((states.tanh() if family == "ad" else states) @ made["context"] / SCALE).softmax(0)
    score = made["head"] @ (weights @ (words if family == "ad" else states))
    return F.softplus(-(2 * label - 1) * score)


def penalty_in_words(family, made):
    if family == "dp-a":
        return torch.abs((made["matrix"].T @ made["head"]) @ (made["matrix"].T @ made["context"]))
    if family == "ad":
        return torch.abs((made["matrix"].T @ made["context"]) @ made["head"])
    return torch.abs(made["head"] @ made["context"])


@pytest.mark.parametrize("penalty", [0.0, 0.2])
@pytest.mark.parametrize("family", ["dp", "dp-a", "ad"])
def test_many_steps_equal_autograd_with_torchs_adagrad(family, penalty):
    ours, theirs = parameters(family), parameters(family)
    for value in theirs.values():
        value.requires_grad_()
    usual = torch.optim.Adagrad(theirs.values(), lr=0.1, lr_decay=0.2)
    learner = ClosedForm(family, ours, scale=SCALE, rate=0.1, rate_decay=0.2, penalty=penalty)
    ids, offsets, labels = texts()
    for rows in (np.array([0, 3, 5]), np.array([1, 2]), np.array([4, 0, 2, 1])):
        losses = [
            loss_in_words(
                family, theirs, theirs["embedding"][ids[offsets[row] : offsets[row + 1]]], labels[row]
            )
            for row in rows
        ]
        loss = torch.stack(losses).mean()
        if penalty:
            loss = loss + penalty * penalty_in_words(family, theirs)
        usual.zero_grad()
        loss.backward()
        usual.step()
        assert learner.step(ids, offsets, labels, rows) == pytest.approx(loss.item(), rel=1e-9)
    for name, value in ours.items():
        torch.testing.assert_close(value, theirs[name].detach(), rtol=1e-9, atol=1e-12)


def test_the_state_of_another_model_is_refused():
    learner = ClosedForm("dp", parameters("dp"), scale=SCALE)
    with pytest.raises(UserError, match="context"):
        learner.load_state(ClosedForm("ad", parameters("ad"), scale=SCALE).state())


def run(*, stop_after=None):
    made, data = parameters("ad", torch.float32), texts()
    settings = {"scale": SCALE, "dropout_words": 0.5, "dropout_head": 0.3, "rate_decay": 0.1, "seed": 4}
    learner = ClosedForm("ad", made, **settings)
    for number in range(6):
        if number == stop_after:
            made = {name: value.clone() for name, value in made.items()}
            state = learner.state()
            learner = ClosedForm("ad", made, **settings)
            learner.load_state(state)
        learner.step(*data, np.arange(number, len(LENGTHS)))
    return made


def test_a_run_taken_up_again_ends_bit_for_bit_as_if_nothing_had_happened():
    again, through = run(stop_after=2), run()
    assert all(torch.equal(again[name], through[name]) for name in through)


def test_flat_texts_are_the_rows_in_the_order_asked_for():
    ids, offsets = np.arange(10, 17), np.array([0, 2, 2, 3, 7])
    flat, lengths = flat_texts(ids, offsets, np.array([3, 0, 2]))
    assert flat.tolist() == [13, 14, 15, 16, 10, 11, 12]
    assert lengths.tolist() == [4, 2, 1]
