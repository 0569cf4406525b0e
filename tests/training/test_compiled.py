"""The compiled learner against its oracles: the torch closed forms, and torch's own optimisers."""

import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from heedful.errors import UserError
from heedful.models.gradients import occurrences
from heedful.training.closed import FAMILIES as GRADIENTS
from heedful.training.closed import ClosedForm, flat_texts
from heedful.training.compiled import FAMILIES, CompiledForm, imported, is_compiled, warm_up

VOCABULARY, WIDTH, INNER, SCALE = 29, 7, 11, 1.7
SHAPES = [
    ("dp", False),
    ("dp-a", False),
    ("dp-a", True),
    ("ad", False),
    ("ad", True),
]  # and whether there is a bias
LENGTHS = np.array([4, 1, 5, 2, 3, 6, 2, 8, 3, 1, 13])


def next_keep(learner, lengths):
    """Dropout's factors of the coming step, words (N, E), attended (B, H), for texts of lengths (B,)."""
    key, kernel = learner._key(learner._steps), learner._kernel
    words = np.empty((int(lengths.sum()), learner._parameters[0].shape[1]), learner._number)
    attended = np.empty((len(lengths), learner._parameters[2].shape[1]), learner._number)
    for parts, places, own, drops in (
        (words, range(len(words)), key, learner._drops[0]),
        (attended, np.cumsum(lengths), ~key, learner._drops[1]),
    ):
        for place, row in zip(places, parts, strict=True):
            seed = np.uint64(kernel.mix(own, place))
            kernel.drop_out(row, np.empty_like(row), np.ones_like(row), seed, *drops)
    return words, attended


def texts(classes, seed=0):
    draw = np.random.default_rng(seed)
    ids = draw.integers(0, VOCABULARY // 2, LENGTHS.sum()).astype(np.int32)  # few words, so they repeat
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    return ids, offsets, draw.integers(0, max(classes, 2), len(LENGTHS))


def parameters(classes, dtype=np.float64, seed=1, *, family="dp", bias=False):
    draw = np.random.default_rng(seed)
    across = WIDTH if family == "dp" else INNER
    seen = INNER if family == "dp-a" else WIDTH  # by the head
    shapes = {"embedding": (VOCABULARY, WIDTH), "context": (across,)}
    shapes["head"] = (seen,) if classes == 1 else (classes, seen)
    if family != "dp":
        shapes["matrix"] = (across, WIDTH)
    if bias:
        shapes["bias"] = (across,)
    return {name: draw.normal(size=shape).astype(dtype) for name, shape in shapes.items()}


def dot(made, **settings):
    return CompiledForm("dp", made, scale=SCALE, **settings)


def batches(seed=2):
    draw = np.random.default_rng(seed)
    return [draw.permutation(len(LENGTHS))[:5] for _ in range(7)]


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize(("family", "bias"), SHAPES)
def test_one_step_of_plain_descent_is_the_closed_form_gradient(family, bias, classes, dropout):
    made = parameters(classes, family=family, bias=bias)
    before = {name: torch.tensor(part) for name, part in made.items()}
    data, rows = texts(classes), batches()[0]
    drops = {"dropout_words": dropout, "dropout_head": dropout}
    learner = CompiledForm(family, made, scale=SCALE, optimiser="sgd", rate=1.0, **drops)
    keep_words, keep_attended = map(torch.from_numpy, next_keep(learner, LENGTHS[rows]))
    loss = learner.step(*data, rows)

    flat, lengths = flat_texts(data[0], data[1], rows)
    tokens, places = occurrences(torch.from_numpy(flat), torch.from_numpy(lengths))
    found = GRADIENTS[family](
        before["embedding"][tokens],
        places,
        labels=torch.from_numpy(data[2][rows]),
        scale=SCALE,
        keep_words=keep_words,
        keep_attended=keep_attended,
        **{name: part for name, part in before.items() if name != "embedding"},
    )
    assert loss == pytest.approx(float(found.quantities.loss), rel=1e-12)
    for name, part in before.items():
        moved, expected = part - torch.from_numpy(made[name]), getattr(found, name, None)
        if name == "embedding":
            moved, expected = moved[tokens], found.rows
        torch.testing.assert_close(moved, expected, rtol=1e-9, atol=1e-13, msg=f"{name} differs")
    untouched = sorted(set(range(VOCABULARY)) - set(tokens.tolist()))
    assert np.array_equal(made["embedding"][untouched], before["embedding"].numpy()[untouched])


@pytest.mark.parametrize("classes", [1, 3])
def test_many_steps_equal_autograd_with_torchs_adagrad_over_the_whole_table(classes):
    made = parameters(classes)
    table, v, w = (torch.tensor(part, requires_grad=True) for part in made.values())
    usual = torch.optim.Adagrad([table, v, w], lr=0.1, lr_decay=0.2)
    learner = dot(made, rate=0.1, rate_decay=0.2)
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
    for ours, theirs in zip(made.values(), (table, v, w), strict=True):
        np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("optimiser", ["adagrad", "sgd"])
@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize(("family", "bias"), SHAPES)
def test_the_torch_learner_takes_the_same_steps(family, bias, classes, optimiser):
    settings = {"scale": SCALE, "optimiser": optimiser, "rate": 0.1, "rate_decay": 0.2}
    settings["penalty"] = 0.05 if family == "dp" else 0.0
    compiled = parameters(classes, family=family, bias=bias)
    torches = {name: torch.tensor(part) for name, part in compiled.items()}
    first, second = CompiledForm(family, compiled, **settings), ClosedForm(family, torches, **settings)
    data = texts(classes)
    for rows in batches():
        assert first.step(*data, rows) == pytest.approx(second.step(*data, rows), rel=1e-9)
    for name, ours in compiled.items():
        np.testing.assert_allclose(ours, torches[name].numpy(), rtol=1e-8, atol=1e-11)


def test_tanh_in_single_precision_is_tanh():
    from heedful.training.kernel import squash

    given = np.concatenate([np.linspace(-12, 12, 4801), [0.0, 1e-6, -1e-6, 80.0, -80.0]]).astype(np.float32)
    found = given.copy()
    squash(found)
    np.testing.assert_allclose(found, np.tanh(given.astype(np.float64)), rtol=1e-6, atol=0)
    assert np.abs(found).max() <= 1


def run(seed=0, *, family="dp", dropout=0.5, stop_after=None):
    made, data = parameters(1, np.float32, family=family), texts(1)
    settings = {
        "scale": SCALE,
        "dropout_words": dropout,
        "dropout_head": dropout,
        "rate_decay": 0.1,
        "seed": seed,
    }
    learner = CompiledForm(family, made, **settings)
    for number, rows in enumerate(batches()):
        if number == stop_after:  # a new process would have the parameters and the state, nothing else
            made = {name: part.copy() for name, part in made.items()}
            state = {name: value.copy() for name, value in learner.state().items()}
            learner = CompiledForm(family, made, **settings)
            learner.load_state(state)
        learner.step(*data, rows)
    return made


def same(first, second):
    return all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_gives_bit_identical_runs_and_another_seed_another_run(family):
    assert same(run(4, family=family), run(4, family=family))
    assert not np.array_equal(run(4, family=family)["context"], run(5, family=family)["context"])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_run_taken_up_again_ends_bit_for_bit_as_if_nothing_had_happened(family):
    assert same(run(4, family=family, stop_after=3), run(4, family=family))


def test_dropout_drops_its_rate_and_keeps_the_mean():
    learner = dot(parameters(1), dropout_words=0.3, dropout_head=0.8)
    words, attended = next_keep(learner, np.full(1009, 11))
    for factors, rate in ((words, 0.3), (attended, 0.8)):
        assert np.unique(factors) == pytest.approx([0, 1 / (1 - rate)], rel=1e-6)
        error = np.sqrt(rate * (1 - rate) / factors.size)
        assert abs((factors == 0).mean() - rate) < 4 * error
        # Neither neighbouring words nor neighbouring places share their fate.
        dropped = (factors == 0) - rate
        for shifted in (dropped[1:] * dropped[:-1], dropped[:, 1:] * dropped[:, :-1]):
            assert abs(shifted.mean()) < 4 * rate * (1 - rate) / np.sqrt(shifted.size)


def test_every_step_has_noise_of_its_own():
    learner = dot(parameters(1), dropout_words=0.5)
    first, _ = next_keep(learner, LENGTHS)
    learner.step(*texts(1), batches()[0])
    assert not np.array_equal(first, next_keep(learner, LENGTHS)[0])


def test_texts_mapped_from_files_are_learnt_from_as_well(tmp_path):
    mapped = []
    for number, part in enumerate(texts(1)):
        np.save(tmp_path / f"{number}.npy", part)
        mapped.append(np.load(tmp_path / f"{number}.npy", mmap_mode="r"))
    first, second = parameters(1), parameters(1)
    loss = dot(first).step(*texts(1), batches()[0])
    assert dot(second).step(*mapped, batches()[0]) == loss
    assert same(first, second)


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
        dot(parameters(1)).step(ids, offsets, labels, rows)


def test_parameters_that_could_not_be_changed_in_place_are_refused():
    made = parameters(3)
    with pytest.raises(ValueError, match="contiguous"):
        dot({**made, "embedding": np.asfortranarray(made["embedding"])})
    with pytest.raises(ValueError, match="float32"):
        dot({**made, "embedding": made["embedding"].astype(np.float32)})


@pytest.mark.parametrize(("family", "bias"), SHAPES)
@pytest.mark.parametrize("name", ["embedding", "context", "head", "matrix", "bias"])
def test_parameters_that_do_not_fit_each_other_are_refused(family, bias, name):
    made = parameters(3, family=family, bias=bias)
    if name in made:
        wrong = {**made, name: np.zeros([size + 1 for size in made[name].shape])}
        with pytest.raises(ValueError, match=f"do not fit {family}.*{name}"):
            CompiledForm(family, wrong, scale=SCALE)
        if name != "bias":
            with pytest.raises(ValueError, match=f"has the parameters.*{name}"):
                CompiledForm(family, {key: part for key, part in made.items() if key != name}, scale=SCALE)


def test_a_penalty_that_a_step_does_not_know_is_refused():
    with pytest.raises(ValueError, match="penalty"):
        CompiledForm("ad", parameters(1, family="ad"), scale=SCALE, penalty=0.1)


def test_the_state_of_another_model_is_refused():
    learner = dot(parameters(3))
    with pytest.raises(UserError, match="head"):
        learner.load_state(dot(parameters(1)).state())


@pytest.mark.parametrize("family", FAMILIES)
def test_warming_up_compiles_the_kernel(family):
    warm_up(family)
    assert is_compiled(family)


@pytest.mark.parametrize("kernel", ["heedful.training.kernel", "heedful.trials.erasure.kernel"])
def test_no_folder_for_compiled_loops_is_said(monkeypatch, kernel):
    from numba.core.caching import CompileResultCacheImpl

    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    monkeypatch.delitem(sys.modules, kernel, raising=False)
    imported.cache_clear()
    with pytest.raises(UserError, match="NUMBA_CACHE_DIR"):
        imported(kernel)
    imported.cache_clear()
