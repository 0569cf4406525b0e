"""One catalogue, one set of promises: the papers' ten models, and any encoder × score × normaliser."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from heedful.attention import NORMALISERS, SCORES
from heedful.data.batches import Batch
from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.models import MODELS, Classifier, ModelSettings, Subject, Trace, build_model

E, H, A, K = 17, 34, 19, 3
CLASSES = {2: ("no", "yes"), K: ("red", "green", "blue")}
SMALL = {"embedding": E, "hidden": H, "attention_width": A, "max_length": 23, "embedding_range": 1.0}
TEN = {name: replace(settings, **SMALL) for name, settings in MODELS.items()}
CONTROLLED = {
    f"{levels} {control}": ModelSettings(**SMALL, levels=levels, encoder="conv", control=control)
    for levels, control in product(("flat", "hierarchical"), ("uniform", "shuffled"))
}
MECHANISMS = [
    (levels, encoder, score)
    for levels in ("flat", "hierarchical")
    for encoder in ("none", "affine", "average", "lstm", "bilstm", "bigru", "conv")
    for score in SCORES
]
Texts = tuple[tuple[tuple[int, ...], ...], ...]
MakeBatch = Callable[..., Batch]


@pytest.fixture(params=[*product({**TEN, **CONTROLLED}, CLASSES)], ids=str)
def model(request: pytest.FixtureRequest, vocabulary: Vocabulary) -> Classifier:
    name, classes = request.param
    return build_model({**TEN, **CONTROLLED}[name], vocabulary, CLASSES[classes], seed=5).double()


def traces(model: Classifier, batch: Batch) -> list[Trace]:
    levels = ("final", "words") if model.settings.hierarchical else ("final",)
    return [model.trace(batch, level) for level in levels]


def gradients(model: Classifier, batch: Batch) -> dict[str, Tensor]:
    model.zero_grad()
    model.logits(batch).square().sum().backward()
    return {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}


def check_promises(model: Classifier, make_batch: MakeBatch, texts: Texts) -> None:
    batch, padded = make_batch(texts), make_batch(texts, padding=5)
    logits = model.logits(batch)
    assert logits.shape == (len(texts), model.head.out_features)
    alone = torch.cat([model.logits(make_batch([text])) for text in texts])
    torch.testing.assert_close(alone, logits)
    torch.testing.assert_close(model.logits(padded, model.embed(padded)), logits)
    with_padding = gradients(model, padded)
    torch.testing.assert_close(with_padding, gradients(model, batch))
    assert (with_padding["embedding.weight"][0] == 0).all()
    if model.settings.normaliser == "sigmoid":
        with pytest.raises(UserError, match="does not sum to 1"):
            model.trace(batch)
        return
    for trace in traces(model, batch):
        torch.testing.assert_close(trace.logits(), logits)
        torch.testing.assert_close(trace.weights.sum(-1), trace.mask.any(-1).double())
        assert (trace.values[~trace.mask] == 0).all()


def test_the_papers_models_keep_every_promise(model: Classifier, make_batch: MakeBatch, texts: Texts) -> None:
    check_promises(model, make_batch, texts)


@pytest.mark.parametrize(("levels", "encoder", "score"), MECHANISMS)
def test_any_encoder_with_any_score_and_normaliser_keeps_every_promise(
    levels: str, encoder: str, score: str, vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    for normaliser, classes in zip(NORMALISERS, (2, K, K, 2), strict=True):
        settings = ModelSettings(
            **SMALL, levels=levels, encoder=encoder, attention=score, normaliser=normaliser, head_bias=True
        )
        model = build_model(settings, vocabulary, CLASSES[classes], seed=7).double()
        check_promises(model, make_batch, texts[1:4])


def test_every_model_is_a_subject_that_reads_texts(vocabulary: Vocabulary) -> None:
    for settings in TEN.values():
        model = build_model(settings, vocabulary, CLASSES[2])
        batch = model.encode(["w1 w2 W3. And w4!", "w5"])
        assert isinstance(model, Subject)
        assert batch.ids.shape == (2, 5)
        assert model.embed(batch).shape == (2, 5, E)
        assert model.logits(batch).shape[0] == 2


def test_texts_are_read_up_to_the_longest_length(vocabulary: Vocabulary) -> None:
    model = build_model(replace(MODELS["dp"], max_length=3), vocabulary, CLASSES[2])
    assert model.encode(["w1 w2 w3 w4 w5"]).ids.shape == (1, 3)


def test_erasing_everything_decides_from_the_zero_vector(
    model: Classifier, make_batch: MakeBatch, texts: Texts
) -> None:
    for trace in traces(model, make_batch(texts)):
        weights = trace.erase(torch.ones_like(trace.present))
        zeros = torch.zeros_like(trace.attend())
        expected = trace.head(zeros) if trace.state is None else trace.head(zeros, trace.state)
        torch.testing.assert_close(trace.logits(weights), expected)


def test_words_are_items_by_their_place_in_the_batch(
    model: Classifier, make_batch: MakeBatch, texts: Texts
) -> None:
    trace = traces(model, make_batch(texts, padding=2))[-1]
    assert trace.item_counts.tolist() == [13, 7, 1, 3, 2]
    for row, text in enumerate(texts):
        items = trace.items[row][trace.items[row] >= 0]
        assert sorted(items.tolist()) == list(range(sum(map(len, text))))


def test_sentences_are_the_items_of_a_hierarchical_models_last_attention(
    vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    model = build_model(TEN["han-rnn"], vocabulary, CLASSES[2])
    trace = model.trace(make_batch(texts))
    assert trace.item_counts.tolist() == [3, 2, 1, 3, 1]
    assert trace.linear is model.head


def test_the_binary_score_is_sun_and_lus_equations(make_batch: MakeBatch) -> None:
    """Eq. 1 to 7 by hand: e = (1,0), (0,1), V = (2 ln 3, 0), λ = 2, W = (4, −8): α = ¾, ¼; s = 3 − 2 = 1."""
    vocabulary = Vocabulary.build(["good", "bad"])
    settings = ModelSettings(embedding=2, scale=2)
    model = build_model(settings, vocabulary, ("negative", "positive")).double()
    model.embedding.weight.data[2:] = torch.eye(2)
    model.context_vector.data = 2 * torch.tensor([3.0, 1.0], dtype=torch.float64).log()
    model.head.weight.data = torch.tensor([[4.0, -8.0]], dtype=torch.float64)

    batch = make_batch([[[2, 3]], [[3]]])
    trace = model.trace(batch)
    scores = model.attend(*model.states(model.embed(batch), batch)).scores
    assert scores[0].tolist() == pytest.approx([1.0986122886681098, 0.0])  # Eq. 1
    assert trace.weights.tolist() == [pytest.approx([0.75, 0.25]), [1.0, 0.0]]  # Eq. 2
    assert trace.attend()[0].tolist() == pytest.approx([0.75, 0.25])  # Eq. 3
    assert trace.token_logits[0, :, 0].tolist() == [4.0, -8.0]  # Eq. 7
    assert model.logits(batch).flatten().tolist() == pytest.approx([1.0, -8.0])  # Eq. 4 and 6


def test_three_classes_take_a_matrix_without_bias() -> None:
    model = build_model(MODELS["dp"], Vocabulary.build(["a"]), CLASSES[K])
    assert model.head.weight.shape == (K, 100)
    assert model.head.bias is None
    assert model.head_vector is None


def test_the_affine_model_is_equation_56(vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts) -> None:
    model = build_model(TEN["dp-a"], vocabulary, CLASSES[2]).double()
    batch = make_batch(texts)
    states = model.embed(batch) @ model.words.encoder.project.weight.T
    torch.testing.assert_close(model.trace(batch).values, states)


def test_additive_attention_scores_words_by_equation_65(
    vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    model = build_model(TEN["ad"], vocabulary, CLASSES[2]).double()
    batch = make_batch(texts)
    score, embedded = model.words.attention.score, model.embed(batch)
    assert score.bias is None
    expected = (embedded @ score.projection.T).tanh() @ model.context_vector / 10
    torch.testing.assert_close(model.attend(embedded, batch.mask).scores, expected)


@pytest.mark.parametrize("name", ["dp", "dp-a", "dp-l", "ad"])
@pytest.mark.parametrize("classes", CLASSES)
def test_the_alignment_is_the_papers_term(name: str, classes: int, vocabulary: Vocabulary) -> None:
    model = build_model(TEN[name], vocabulary, CLASSES[classes]).double()
    context, head = model.context_vector, model.head.weight
    if name == "dp-a":
        project = model.words.encoder.project.weight
        expected = torch.stack([(project.T @ context) @ (project.T @ row) for row in head])
    elif name == "ad":
        expected = torch.stack([(model.words.attention.score.projection.T @ context) @ row for row in head])
    else:
        expected = torch.stack([context @ row for row in head])
    torch.testing.assert_close(model.alignment(), expected)
    model.alignment().abs().sum().backward()
    assert head.grad is not None


@pytest.mark.parametrize(
    "changes", [{"attention": "cosine"}, {"attention": "location"}, {"control": "uniform"}]
)
def test_there_is_no_alignment_where_there_is_no_product(changes: dict, vocabulary: Vocabulary) -> None:
    model = build_model(replace(TEN["dp"], **changes), vocabulary, CLASSES[2])
    with pytest.raises(UserError, match="VᵀW needs"):
        model.alignment()


def test_the_context_vector_is_found_behind_shuffling_and_missing_where_nothing_is_learnt(
    vocabulary: Vocabulary,
) -> None:
    shuffled = build_model(replace(TEN["dp"], control="shuffled"), vocabulary, CLASSES[2])
    uniform = build_model(replace(TEN["dp"], control="uniform"), vocabulary, CLASSES[2])
    assert shuffled.context_vector.shape == (E,)
    assert uniform.context_vector is None


def test_given_weights_replace_attention_and_get_no_gradient(
    vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    model = build_model(replace(TEN["dp"], control="frozen"), vocabulary, CLASSES[2]).double()
    batch = make_batch(texts)
    weights = torch.rand(batch.mask.shape, dtype=torch.float64) * batch.mask
    weights = (weights / weights.sum(1, keepdim=True)).requires_grad_()
    expected = torch.einsum("bt,bte->be", weights, model.embed(batch)) @ model.head.weight.T
    torch.testing.assert_close(model.logits(batch, weights=weights), expected)
    torch.testing.assert_close(model.trace(batch, weights=weights).logits(), expected)
    model.logits(batch, weights=weights).sum().backward()
    assert weights.grad is None
    with pytest.raises(UserError, match="frozen"):
        model.logits(batch)


def test_uniform_attention_gives_each_word_the_same(
    vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    model = build_model(replace(TEN["dp"], control="uniform"), vocabulary, CLASSES[2])
    weights = model.trace(make_batch(texts)).weights
    assert weights[1, :7].tolist() == pytest.approx([1 / 7] * 7)


def test_shuffled_attention_keeps_the_weights_and_moves_them(
    vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    batch = make_batch(texts)
    plain = build_model(TEN["dp"], vocabulary, CLASSES[2]).trace(batch).weights
    shuffled = (
        build_model(replace(TEN["dp"], control="shuffled"), vocabulary, CLASSES[2]).trace(batch).weights
    )
    torch.testing.assert_close(plain.sort(-1).values, shuffled.sort(-1).values)
    assert not torch.allclose(plain, shuffled)


def test_dropout_is_in_its_three_places_and_only_in_training(
    vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    batch = make_batch(texts)
    for place in ("dropout_words", "dropout_sentences", "dropout_head"):
        none = {"dropout_words": 0.0, "dropout_sentences": 0.0, "dropout_head": 0.0}
        settings = replace(TEN["han-conv"], **{**none, place: 0.5})
        model = build_model(settings, vocabulary, CLASSES[2])
        assert torch.equal(model.logits(batch), model.logits(batch))
        model.train()
        assert not torch.equal(model.logits(batch), model.logits(batch)), place
        model.eval()
        assert torch.equal(model.logits(batch), model.logits(batch))


def test_a_model_is_built_in_evaluation_and_traced_in_no_other_mode(
    vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    for name in ("dp", "han-noenc"):
        model = build_model(TEN[name], vocabulary, CLASSES[2])
        assert not model.training
        with pytest.raises(UserError, match=r"call eval\(\) first"):
            model.train().trace(make_batch(texts))


@pytest.mark.parametrize("name", TEN)
def test_a_seed_gives_the_same_model_and_leaves_chance_alone(name: str, vocabulary: Vocabulary) -> None:
    before = torch.random.get_rng_state()
    one, again, other = (build_model(TEN[name], vocabulary, CLASSES[2], seed=seed) for seed in (3, 3, 4))
    assert torch.equal(torch.random.get_rng_state(), before)
    for key, value in one.state_dict().items():
        assert torch.equal(value, again.state_dict()[key])
    assert not torch.equal(one.head.weight, other.head.weight)
    assert not torch.equal(one.embedding.weight, other.embedding.weight)


@pytest.mark.parametrize("name", TEN)
def test_a_model_comes_back_from_safetensors_as_it_was(
    name: str, vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts, tmp_path: Path
) -> None:
    model = build_model(TEN[name], vocabulary, CLASSES[2], seed=1)
    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    back = build_model(TEN[name], vocabulary, CLASSES[2], seed=2)
    back.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    assert torch.equal(back.logits(make_batch(texts)), model.logits(make_batch(texts)))


@pytest.mark.parametrize("name", TEN)
def test_the_parts_hold_every_parameter_once(name: str, vocabulary: Vocabulary) -> None:
    model = build_model(TEN[name], vocabulary, CLASSES[2])
    parts = model.parts()
    assert list(parts) == ["embedding", "encoder", "attention", "head"]
    listed = [id(parameter) for part in parts.values() for parameter in part]
    assert sorted(listed) == sorted(id(parameter) for parameter in model.parameters())


def test_the_papers_sizes_are_kept(vocabulary: Vocabulary) -> None:
    shapes = {
        name: {
            key: tuple(value.shape)
            for key, value in build_model(settings, vocabulary, ("a", "b")).state_dict().items()
        }
        for name, settings in MODELS.items()
    }
    assert shapes["dp"] == {
        "embedding.weight": (31, 100),
        "words.attention.score.context": (100,),
        "head.weight": (1, 100),
    }
    assert shapes["dp-l"]["words.encoder.passes.back.weight_hh_l0"] == (200, 50)
    assert shapes["han-rnn"]["words.encoder.passes.onward.weight_hh_l0"] == (150, 50)
    assert shapes["han-rnn"]["sentences.encoder.passes.onward.weight_ih_l0"] == (150, 100)
    assert shapes["han-rnn"]["sentences.attention.score.projection"] == (100, 100)
    assert shapes["flan-conv"]["words.encoder.convolutions.1.weight"] == (50, 200, 5)
    assert shapes["flan-noenc"]["words.attention.score.projection"] == (200, 200)
    assert shapes["flan-noenc"]["head.weight"] == (2, 200)
    assert shapes["flan-rnn"]["head.bias"] == (2,)


def test_sun_and_lus_start_is_theirs() -> None:
    vocabulary = Vocabulary.build([f"w{number}" for number in range(5_000)])
    model = build_model(replace(MODELS["dp"], head_range=1.0), vocabulary, ("a", "b"))
    embedding = model.embedding.weight[1:]
    assert 0.0999 < embedding.max() <= 0.1
    assert -0.1 <= embedding.min() < -0.0999
    assert 0.7 < model.context_vector.std() < 1.3
    assert 0.8 < model.head.weight.abs().max() <= 1


def test_an_lstm_by_name_starts_as_its_paper_says() -> None:
    vocabulary = Vocabulary.build(["word"])
    cell = build_model(MODELS["dp-l"], vocabulary, ("a", "b")).words.encoder.passes["back"]
    torch.testing.assert_close(cell.weight_hh_l0.T @ cell.weight_hh_l0, torch.eye(50), atol=1e-5, rtol=0)
    plain = build_model(replace(MODELS["dp-l"], initialisation="pytorch"), vocabulary, ("a", "b"))
    assert plain.words.encoder.passes["back"].weight_hh_l0.abs().max() <= 50**-0.5


def test_pytorchs_start_is_pytorchs_also_of_words_and_attention() -> None:
    vocabulary = Vocabulary.build([f"w{number}" for number in range(5_000)])
    settings = ModelSettings(initialisation="pytorch", attention="additive", attention_width=64, hidden=100)
    model = build_model(settings, vocabulary, ("a", "b"))
    assert model.embedding.weight[1:].std().item() == pytest.approx(1, abs=0.01)
    score = model.words.attention.score
    assert 0.9 * 64**-0.5 < score.context.abs().max() <= 64**-0.5
    assert 0.99 * 0.1 < score.projection.abs().max() <= 0.1


def test_padding_has_a_vector_of_zeros_that_does_not_learn(
    vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    model = build_model(TEN["flan-rnn"], vocabulary, CLASSES[2])
    assert (model.embedding.weight[0] == 0).all()
    learnt = gradients(model, make_batch(texts, padding=2))["embedding.weight"]
    assert (learnt[0] == 0).all()
    assert (learnt[1] != 0).any()  # the unknown word learns


def test_frozen_embeddings_do_not_learn(vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts) -> None:
    model = build_model(replace(TEN["dp"], embedding_frozen=True), vocabulary, CLASSES[2])
    assert "embedding.weight" not in gradients(model, make_batch(texts))


def test_a_gap_in_the_mask_is_refused_where_it_would_be_read(
    vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    batch = make_batch(texts)
    mask = batch.mask.clone()
    mask[0, 4] = False
    with pytest.raises(UserError, match="gap"):
        build_model(TEN["dp-l"], vocabulary, CLASSES[2]).logits(replace(batch, mask=mask))
    build_model(TEN["dp"], vocabulary, CLASSES[2]).logits(replace(batch, mask=mask))


@pytest.mark.parametrize(
    ("settings", "classes"), [({"head": "score"}, ("a", "b", "c")), ({}, ("a",)), ({"head": "logits"}, ())]
)
def test_a_head_that_cannot_decide_between_the_classes_is_refused(
    settings: dict, classes: tuple[str, ...], vocabulary: Vocabulary
) -> None:
    with pytest.raises(UserError, match="decides between"):
        build_model(ModelSettings(**settings), vocabulary, classes)


def test_levels_that_a_model_does_not_have_are_refused(
    vocabulary: Vocabulary, make_batch: MakeBatch, texts: Texts
) -> None:
    with pytest.raises(UserError, match="level"):
        build_model(TEN["dp"], vocabulary, CLASSES[2]).trace(make_batch(texts), "words")
    with pytest.raises(UserError, match="'words'"):
        build_model(TEN["han-rnn"], vocabulary, CLASSES[2]).trace(make_batch(texts), "word")
