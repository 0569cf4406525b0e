"""Learners take the very steps of autograd with a dense optimiser; in float64, where noise cannot hide."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from heedful.data.batches import make_batch
from heedful.data.encoded import encode_texts
from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.models.building import build_model
from heedful.models.settings import ModelSettings
from heedful.training.learners import AutogradLearner, CompiledLearner, choose_learner, kernel_form
from heedful.training.losses import alignment_penalty, classification_loss
from heedful.training.settings import TrainingSettings

CPU = torch.device("cpu")
WORDS = tuple(f"w{number}" for number in range(19))
STEPS = ([0, 3, 5, 6, 2], [1, 4, 9], [10, 7, 8, 3, 2], [0, 5, 1])
DENSE = {
    "sgd": lambda groups, s: torch.optim.SGD(groups, lr=s.rate),
    "adagrad": lambda groups, s: torch.optim.Adagrad(groups, lr=s.rate, lr_decay=s.rate_decay),
    "adam": lambda groups, s: torch.optim.Adam(groups, lr=s.rate, amsgrad=s.amsgrad),
    "adamw": lambda groups, s: torch.optim.AdamW(groups, lr=s.rate, amsgrad=s.amsgrad),
}


def texts_and_labels(classes):
    """Eleven texts of one to seven words, of this many classes."""
    generator = np.random.default_rng(3)
    texts = [" ".join(generator.choice(WORDS, generator.integers(1, 8))) for _ in range(11)]
    return texts, [row % classes for row in range(11)]


def make(settings, classes=2, seed=1):
    """A double-precision model and its encoded texts."""
    vocabulary = Vocabulary.build(WORDS)
    texts, labels = texts_and_labels(classes)
    encoded = encode_texts(texts, labels, vocabulary, sentences=settings.hierarchical)
    model = build_model(settings, vocabulary, [f"c{k}" for k in range(classes)], seed=seed)
    return model.double().train(), encoded


def train_densely(model, encoded, settings):
    """The usual way: autograd through the whole table, torch's own optimiser. Returns the losses."""
    groups = [
        {"params": found, "weight_decay": settings.l2(part)} for part, found in model.parts().items() if found
    ]
    optimiser = DENSE[settings.optimiser](groups, settings)
    losses = []
    for rows in STEPS:
        batch = make_batch(encoded, rows)
        loss = classification_loss(model.logits(batch), batch.labels)
        if settings.penalty:
            loss = loss + settings.penalty * alignment_penalty(model.alignment())
        optimiser.zero_grad()
        loss.backward()
        if settings.clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        optimiser.step()
        losses.append(loss.item())
    return losses


def assert_same(first, second, tolerance=1e-12):
    for (name, a), b in zip(first.state_dict().items(), second.state_dict().values(), strict=True):
        torch.testing.assert_close(
            a, b, rtol=tolerance, atol=tolerance, msg=lambda text, name=name: f"{name}: {text}"
        )


SHAPES = {
    "dp": ModelSettings(embedding=5, scale=3),
    "dp-a": ModelSettings(embedding=5, hidden=7, encoder="affine", scale=3),
    "dp-l": ModelSettings(embedding=5, hidden=6, encoder="bilstm", scale=3),
    "ad": ModelSettings(embedding=5, attention="additive", attention_width=7, scale=3),
    "conv": ModelSettings(embedding=5, hidden=6, encoder="conv", attention="general", head_bias=True),
    "han": ModelSettings(embedding=5, hidden=6, encoder="gru", levels="hierarchical", attention="additive"),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("optimiser", DENSE)
@pytest.mark.parametrize("name", SHAPES)
def test_row_wise_tables_learn_what_a_dense_optimiser_learns(name, optimiser, classes):
    settings = TrainingSettings(optimiser=optimiser, rate=0.05, rate_decay=0.01, amsgrad=optimiser == "adam")
    usual, encoded = make(SHAPES[name], classes)
    ours, _ = make(SHAPES[name], classes)
    expected = train_densely(usual, encoded, settings)
    learner = AutogradLearner(ours, encoded, settings, CPU)
    assert (learner.table is not None) == (optimiser in ("sgd", "adagrad"))
    assert [learner.step(np.array(rows)) for rows in STEPS] == pytest.approx(expected, rel=1e-12)
    assert_same(ours, usual)


@pytest.mark.parametrize("optimiser", ["sgd", "adagrad"])
@pytest.mark.parametrize("name", ["dp", "dp-a", "ad"])
def test_l2_the_penalty_and_clipping_are_those_of_the_usual_way(name, optimiser):
    changes = {"l2_head": 0.1, "l2_attention": 0.2, "l2_encoder": 0.3, "penalty": 0.5, "clip": 0.01}
    settings = TrainingSettings(optimiser=optimiser, rate=0.05, rate_decay=0.0, **changes)
    for part in (settings, replace(settings, l2_embedding=0.1)):  # with L2 on it, the whole table moves
        usual, encoded = make(SHAPES[name])
        ours, _ = make(SHAPES[name])
        train_densely(usual, encoded, part)
        learner = AutogradLearner(ours, encoded, part, CPU)
        for rows in STEPS:
            learner.step(np.array(rows))
        assert_same(ours, usual)


def test_clipping_bounds_the_norm_of_the_whole_gradient():
    """Under plain SGD at rate 1 the step is the gradient itself, the embedding's rows included."""
    for clip, expected in ((0.001, 0.001), (1e6, None)):
        model, encoded = make(SHAPES["dp"])
        before = [parameter.detach().clone() for parameter in model.parameters()]
        settings = TrainingSettings(optimiser="sgd", rate=1.0, clip=clip)
        AutogradLearner(model, encoded, settings, CPU).step(np.arange(11))
        moved = torch.cat([(a - b).flatten() for a, b in zip(before, model.parameters(), strict=True)]).norm()
        assert moved.item() == pytest.approx(expected, rel=1e-3) if expected else moved > 0.01


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("optimiser", ["sgd", "adagrad"])
@pytest.mark.parametrize("name", ["dp", "dp-a", "ad"])
def test_the_compiled_learner_takes_the_steps_of_autograd(name, optimiser, classes):
    pytest.importorskip("numba", reason="the extra fast is not installed")
    l2 = {"l2_head": 0.1, "l2_attention": 0.2, "l2_encoder": 0.3}
    penalty = 0.3 if name == "dp" else 0.0
    settings = TrainingSettings(optimiser=optimiser, rate=0.05, rate_decay=0.01, penalty=penalty, **l2)
    first, encoded = make(SHAPES[name], classes)
    second, _ = make(SHAPES[name], classes)
    autograd = AutogradLearner(first, encoded, settings, CPU)
    form = kernel_form(second, settings)
    assert form.family == name
    compiled = CompiledLearner(second, form, encoded, settings)
    for rows in STEPS:
        assert compiled.step(np.array(rows)) == pytest.approx(autograd.step(np.array(rows)), rel=1e-10)
        assert_same(first, second, 1e-10)
    for learner in (autograd, compiled):
        learner.set_rate(0.001)
        learner.step(np.array([4, 2]))
    assert_same(first, second, 1e-10)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("optimiser", ["sgd", "adagrad"])
def test_uniform_weights_are_learnt_by_the_kernel_as_by_autograd(optimiser, classes):
    pytest.importorskip("numba", reason="the extra fast is not installed")
    settings = TrainingSettings(optimiser=optimiser, rate=0.05, rate_decay=0.01)
    shape = replace(SHAPES["dp"], control="uniform")
    first, encoded = make(shape, classes)
    second, _ = make(shape, classes)
    autograd = AutogradLearner(first, encoded, settings, CPU)
    compiled = choose_learner(second, encoded, settings=settings, device=CPU)
    assert isinstance(compiled, CompiledLearner)
    for rows in STEPS:
        assert compiled.step(np.array(rows)) == pytest.approx(autograd.step(np.array(rows)), rel=1e-10)
        assert_same(first, second, 1e-10)


@pytest.mark.parametrize("control", ["none", "uniform"])
@pytest.mark.parametrize("optimiser", DENSE)
@pytest.mark.parametrize("compiled", [True, False])
def test_a_learner_goes_on_from_its_state(optimiser, compiled, control):
    settings = TrainingSettings(optimiser=optimiser, rate=0.05, amsgrad=True, compiled=compiled)
    shape = replace(SHAPES["dp"], control=control, dropout_words=0.5 if compiled else 0.0)
    whole, encoded = make(shape)
    learner = choose_learner(whole, encoded, settings=settings, device=CPU)
    torch.manual_seed(0)
    for rows in STEPS[:2]:
        learner.step(np.array(rows))
    state = {name: value.clone() for name, value in learner.state().items()}
    cut, _ = make(shape, seed=2)
    cut.load_state_dict(whole.state_dict())
    resumed = choose_learner(cut, encoded, settings=settings, device=CPU)
    resumed.load_state(state)
    for each in (learner, resumed):
        torch.manual_seed(1)
        for rows in STEPS[2:]:
            each.step(np.array(rows))
    assert_same(whole, cut, 0)


@pytest.mark.parametrize(
    ("model", "training"),
    [
        ({"encoder": "affine"}, {"penalty": 0.1}),
        ({"attention": "additive"}, {"penalty": 0.1}),
        ({"encoder": "affine", "attention": "additive"}, {}),
        ({"encoder": "average"}, {}),
        ({"normaliser": "sparsemax"}, {}),
        ({"head_bias": True}, {}),
        ({"embedding_frozen": True}, {}),
        ({"control": "shuffled"}, {}),
        ({"control": "uniform", "encoder": "affine"}, {}),
        ({"levels": "hierarchical"}, {}),
        ({}, {"clip": 1.0}),
        ({}, {"l2_embedding": 0.1}),
        ({}, {"optimiser": "adam"}),
        ({}, {"compiled": False}),
    ],
)
def test_what_the_kernel_does_not_cover_goes_through_autograd(model, training):
    network, encoded = make(replace(SHAPES["dp"], **model))
    settings = replace(TrainingSettings(), **training)
    assert isinstance(choose_learner(network, encoded, settings=settings, device=CPU), AutogradLearner)


def test_the_kernel_is_for_the_processor_by_whatever_name():
    pytest.importorskip("numba", reason="the extra fast is not installed")
    model, encoded = make(SHAPES["dp"])
    settings = TrainingSettings()
    for name in ("cpu", "cpu:0"):
        chosen = choose_learner(model, encoded, settings=settings, device=torch.device(name))
        assert isinstance(chosen, CompiledLearner)
    elsewhere = choose_learner(model, encoded, settings=settings, device=torch.device("meta"))
    assert isinstance(elsewhere, AutogradLearner)


def test_frozen_embeddings_stay_as_they_are():
    model, encoded = make(replace(SHAPES["dp"], embedding_frozen=True))
    before, head = model.embedding.weight.clone(), model.head.weight.clone()
    AutogradLearner(model, encoded, TrainingSettings(), CPU).step(np.arange(5))
    assert torch.equal(model.embedding.weight, before)
    assert not torch.equal(model.head.weight, head)


def test_words_that_no_batch_has_and_padding_do_not_move():
    for compiled in (True, False):
        model, encoded = make(SHAPES["dp"])
        before = model.embedding.weight.detach().clone()
        rows = np.array([0, 1, 2])
        settings = TrainingSettings(compiled=compiled)
        choose_learner(model, encoded, settings=settings, device=CPU).step(rows)
        moved = (model.embedding.weight != before).any(1).nonzero().flatten().tolist()
        assert moved == sorted({int(id) for row in rows for id in encoded.row(row)})


# What the loop and the settings refuse


def test_a_training_that_diverges_says_so(small_corpus):
    from heedful.training import train

    with pytest.raises(UserError, match="no longer a number in epoch 1"):
        train(small_corpus, optimiser="sgd", rate=1e38, epochs=2, compiled=False)


@pytest.mark.parametrize(
    "changes",
    [{"model": "han-noenc"}, {"attention": "cosine"}, {"control": "uniform"}],
    ids=lambda changes: str(changes),
)
def test_a_penalty_on_what_is_not_there_is_refused_before_any_work(small_corpus, tmp_path, changes):
    from heedful.training import train

    with pytest.raises(UserError, match="penalty on VᵀW"):
        train(small_corpus, out=tmp_path / "run", penalty=0.1, **changes)
    assert not (tmp_path / "run").exists()


def test_none_takes_back_what_a_preset_sets():
    from heedful.training import prepare

    assert prepare("han-rnn")[1].patience == 5
    assert prepare("han-rnn", {"patience": None, "clip": None})[1].patience is None
    with pytest.raises(UserError, match="rate"):
        prepare("dp", {"rate": None})


@pytest.mark.parametrize("device", ["cuda", "gpu", "meta", ""])
def test_a_device_that_is_not_there_is_refused_before_any_work(small_corpus, tmp_path, device):
    from heedful.training import train

    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("this machine has one")
    with pytest.raises(UserError, match="cannot be used here") as caught:
        train(small_corpus, out=tmp_path / "run", device=device)
    assert len(str(caught.value)) < 200
    assert not (tmp_path / "run").exists()
