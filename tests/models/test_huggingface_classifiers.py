"""Hugging Face classifiers as subjects: read as their own pipeline reads them, and traced exactly."""

import weakref
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

from tiny_transformers import byte_level, classifier, learn, make_corpus, save, wordpiece

from heedful.data.vocabulary import SPECIAL
from heedful.errors import UserError
from heedful.models.huggingface import HuggingFaceSubject, load_huggingface
from heedful.models.word_attention import word_attention
from heedful.trials.deletion import delete_words, replace_words
from heedful.trials.named_rankings import text_scores
from heedful.trials.transformer_rankings import (
    LastRead,
    flow,
    flows,
    one_head,
    read_layers,
    rollout,
    transformer_rankings,
)

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds
FAMILIES = ("bert", "roberta", "distilbert")
TEXTS = ["The wonderful film, was it dreadful?", "Moving!", "a plot ... of two (clumsy) scenes"]


@pytest.fixture(scope="module")
def corpus():
    return make_corpus()


@pytest.fixture(scope="module")
def subjects(corpus):
    found = {}
    for family in FAMILIES:
        tokenizer = wordpiece() if family != "roberta" else byte_level(corpus.texts)
        found[family] = HuggingFaceSubject(classifier(family, tokenizer, seed=3), tokenizer, name=family)
    return found


@pytest.fixture(params=FAMILIES)
def subject(request, subjects):
    return subjects[request.param]


def directly(subject, texts):
    """What Hugging Face itself gives for these texts."""
    read = subject.tokenizer(
        list(texts), padding=True, truncation=True, max_length=subject.longest, return_tensors="pt"
    )
    with torch.no_grad():
        return subject.network(input_ids=read["input_ids"], attention_mask=read["attention_mask"]).logits


def test_a_text_is_read_as_the_models_own_pipeline_reads_it(subject):
    with torch.no_grad():
        torch.testing.assert_close(subject.logits(subject.encode(TEXTS)), directly(subject, TEXTS))


def test_words_keep_the_marks_that_are_written_on_them(subject):
    texts = ["हिन्दी भाषा", "The cafe\u0301, wasn’t it\u0301?", "❤️ film"]
    assert [words.forms for words in subject.encode(texts).words] == [
        ["हिन्दी", "भाषा"],
        ["The", "cafe\u0301", ",", "wasn’t", "it\u0301", "?"],
        ["❤️", "film"],
    ]


def test_the_trace_gives_the_logits_of_the_whole_network(subject):
    batch = subject.encode(TEXTS)
    trace = subject.trace(batch)
    assert trace.weights.shape[1] == 3
    torch.testing.assert_close(trace.logits(), subject.logits(batch).detach(), atol=1e-5, rtol=1e-5)


def test_erasing_in_the_layer_is_masking_there_and_nowhere_else(subjects):
    """Against the network run with the last layer's weight of one word put to 0 and renormalised by hand."""
    subject = subjects["bert"]
    batch = subject.encode(TEXTS[:1])
    pieces = subject.pieces(batch)
    gone = pieces.word[0] == 1  # "wonderful", of two sub-words
    assert gone.sum() == 2

    def without(module, inputs, output):
        left = output[1].masked_fill(gone, 0)
        left = left / left.sum(-1, keepdim=True)
        states = inputs[0]
        values = module.value(states).unflatten(-1, (3, -1)).transpose(1, 2)
        return ((left @ values).transpose(1, 2).flatten(2), left, *output[2:])

    layer = subject.network.bert.encoder.layer[-1].attention.self
    hook = layer.register_forward_hook(without)
    with torch.no_grad():
        expected = subject.network(
            input_ids=pieces.ids, attention_mask=pieces.mask.long(), output_attentions=True
        ).logits
    hook.remove()
    trace = subject.trace(batch)
    erased = torch.zeros(1, trace.present.shape[1], dtype=torch.bool)
    erased[0, 1] = True
    torch.testing.assert_close(trace.logits(trace.erase(erased)), expected, atol=1e-5, rtol=1e-5)


def test_sub_words_are_merged_to_words(subject):
    batch = subject.encode(TEXTS)
    assert batch.words[0].forms == ["The", "wonderful", "film", ",", "was", "it", "dreadful", "?"]
    attention, read = word_attention(subject, batch)
    assert torch.equal(read, batch.mask)
    trace = subject.trace(batch)
    marks = (trace.weights * ((trace.items < 0) & trace.mask)).sum(-1).mean(1)
    torch.testing.assert_close(attention.sum(1) + marks, torch.ones(3))


def test_words_that_leave_are_gone_and_their_neighbours_stay_as_written(subject):
    batch = subject.encode(TEXTS[:1])
    gone = torch.zeros_like(batch.mask)
    gone[0, [1, 6]] = True
    left = delete_words(batch, gone)
    with torch.no_grad():
        torch.testing.assert_close(subject.logits(left), directly(subject, ["The film, was it ?"]))
        unknown = subject.tokenizer.unk_token
        hidden = replace_words(batch, gone)
        assert hidden.words[0].forms[1] == SPECIAL[1]
        torch.testing.assert_close(
            subject.logits(hidden), directly(subject, [f"The {unknown} film, was it {unknown}?"])
        )
        nothing = delete_words(batch, batch.mask)
        torch.testing.assert_close(subject.logits(nothing), directly(subject, [unknown]))


def test_alone_equals_in_company(subject):
    together = subject.trace(subject.encode(TEXTS))
    for row, text in enumerate(TEXTS):
        alone = subject.trace(subject.encode([text]))
        length = alone.weights.shape[-1]
        torch.testing.assert_close(together.weights[row, :, :length], alone.weights[0], atol=1e-5, rtol=1e-4)


def test_words_beyond_the_models_length_are_unread(subject):
    batch = subject.encode(["film " * 40, "film"])
    attention, read = word_attention(subject, batch)
    assert 0 < read[0].sum() < 40
    assert (attention[0][~read[0]] == 0).all()
    assert read[1].sum() == 1


def test_a_moved_embedding_moves_the_logits_as_its_gradient_says(subject):
    batch = subject.encode(TEXTS)
    embedded = subject.embed(batch).detach().requires_grad_()
    torch.testing.assert_close(subject.logits(batch, embedded), subject.logits(batch), atol=1e-5, rtol=1e-5)
    subject.logits(batch, embedded)[:, 0].sum().backward()
    assert (embedded.grad[~batch.mask] == 0).all()
    assert (embedded.grad[batch.mask].abs().sum(-1) > 0).all()


def test_rollout_of_two_layers_is_their_product(subjects):
    subject = subjects["bert"]
    batch = subject.encode(TEXTS[:1])
    attention, pieces = subject.attentions(batch)
    one, two = ((layer + torch.eye(len(layer))) / 2 for layer in attention[0].mean(1))
    expected = [float((two @ one)[0, pieces.word[0] == word].sum()) for word in range(8)]
    np.testing.assert_allclose(rollout(subject, batch)[0].numpy(), expected, rtol=1e-5)


def test_flow_through_two_layers_fills_the_narrower_edge_of_each_way():
    lower, upper = np.random.default_rng(3).dirichlet(np.ones(5), size=(2, 5))
    ways = np.minimum(upper[0][:, None], lower)  # by the position between: (5, 5)
    np.testing.assert_allclose(
        flows(np.stack([lower, upper])).numpy(), ways.sum(0), atol=3e-4
    )  # five edges, each rounded
    np.testing.assert_allclose(flows(lower[None]).numpy()[1:], lower[0, 1:], atol=1e-4)


def test_flow_is_never_less_than_rollout(subjects):
    found = flow(subjects["bert"], subjects["bert"].encode(TEXTS))
    rolled = rollout(subjects["bert"], subjects["bert"].encode(TEXTS))
    batch = subjects["bert"].encode(TEXTS)
    assert (found[~batch.mask] == 0).all()
    # A product of shares passes through the same edges that flow may fill: flow is never less.
    assert (found + 1e-3 >= rolled)[batch.mask].all()


def test_the_mean_of_the_heads_is_the_attention(subjects):
    subject = subjects["distilbert"]
    batch = subject.encode(TEXTS)
    heads = torch.stack([one_head(subject, batch, head=head) for head in range(3)]).mean(0)
    torch.testing.assert_close(heads.float(), word_attention(subject, batch)[0])
    assert list(transformer_rankings(subject)) == ["rollout", "flow", *(f"head-{n}-only" for n in (1, 2, 3))]


@pytest.fixture
def passes(subject):
    """Counts the real passes of the network."""
    counted = []
    hook = subject.network.register_forward_hook(lambda *_: counted.append(1))
    yield counted
    hook.remove()


@pytest.mark.parametrize("asked", [1, 2, 5])
def test_a_batch_is_read_once_however_many_rankings_are_asked_for(subject, passes, asked):
    rankings = list(transformer_rankings(subject).values())[:asked]
    assert len(rankings) == asked
    for texts in (TEXTS, TEXTS[:2], TEXTS[1:]):
        batch = subject.encode(texts)
        for ranking in rankings:
            ranking(subject, batch)
    assert len(passes) == 3


def test_rankings_that_share_a_pass_give_what_each_gives_alone(subject):
    rankings = transformer_rankings(subject)
    alone = {"rollout": rollout, "flow": flow}
    alone |= {f"head-{head + 1}-only": partial(one_head, head=head) for head in range(3)}
    assert rankings.keys() == alone.keys()
    batches = subject.encode(TEXTS), subject.encode(TEXTS[::-1])
    for batch in (*batches, batches[0]):  # also after another batch came between
        for name, ranking in rankings.items():
            assert torch.equal(ranking(subject, batch), alone[name](subject, batch))


def test_only_the_last_batch_is_remembered(subject):
    read = LastRead()
    first, second = subject.encode(TEXTS), subject.encode(TEXTS[:1])
    gone = weakref.ref(read(subject, first).mixed), weakref.ref(first)
    read(subject, second)
    del first
    assert [it() for it in gone] == [None, None]


def test_the_heads_of_the_last_layer_are_those_of_the_trace(subject):
    batch = subject.encode(TEXTS)
    torch.testing.assert_close(read_layers(subject, batch).heads, subject.trace(batch).weights)


def test_an_unknown_ranking_is_told_of_rollout_flow_and_the_heads(subject):
    assert text_scores(subject, TEXTS[0], "head-2-only") != text_scores(subject, TEXTS[0], "rollout")
    for unknown in ("zzz", "head-4-only"):
        with pytest.raises(
            UserError, match="there are: rollout, flow, head-1-only to head-3-only, attention"
        ):
            text_scores(subject, TEXTS[0], unknown)
    with pytest.raises(UserError, match="the nearest is 'rollout'"):
        text_scores(subject, TEXTS[0], "rolout")


def test_scores_of_one_text_are_those_of_its_batch(subject):
    batch = subject.encode(TEXTS)
    scores = text_scores(subject, TEXTS[2], "rollout")
    np.testing.assert_allclose(rollout(subject, batch)[2, : len(scores)].numpy(), scores, rtol=1e-5)


def test_attention_of_a_model_in_training_is_refused(subject):
    batch = subject.encode(TEXTS)
    subject.train()
    try:
        for ask in (subject.trace, subject.attentions):
            with pytest.raises(UserError, match="call eval"):
                ask(batch)
    finally:
        subject.eval()


def test_a_saved_classifier_is_loaded_with_attention_that_can_be_seen(tmp_path, corpus):
    tokenizer = wordpiece()
    network = classifier("bert", tokenizer)
    assert learn(network, tokenizer, corpus) > 0.9
    subject = load_huggingface(save(network, tokenizer, tmp_path / "saved"))
    assert subject.classes == ("bad", "good")
    assert subject.network.config._attn_implementation == "eager"
    batch = subject.encode(TEXTS)
    torch.testing.assert_close(
        subject.trace(batch).logits(), subject.logits(batch).detach(), atol=1e-4, rtol=1e-4
    )


def test_a_classifier_with_another_kernel_is_switched_to_the_eager_one():
    tokenizer = wordpiece()
    network = classifier("bert", tokenizer)
    network.set_attn_implementation("sdpa")
    subject = HuggingFaceSubject(network, tokenizer)
    assert subject.trace(subject.encode(TEXTS)).weights.shape[0] == 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"problem_type": "multi_label_classification"}, "several labels at once"),
        ({"problem_type": "regression"}, "regression head"),
        ({"id2label": {0: "much"}, "label2id": {"much": 0}, "num_labels": 1}, "regression head"),
    ],
)
def test_a_head_that_decides_nothing_is_refused_in_a_sentence(tmp_path, changes, said):
    tokenizer = wordpiece()
    folder = save(classifier("bert", tokenizer, **changes), tokenizer, tmp_path / "other")
    with pytest.raises(UserError, match=said):
        load_huggingface(folder)


@pytest.mark.parametrize("family", ["XLMRoberta", "Camembert", "Electra"])
def test_the_relatives_of_these_families_are_traced_alike(family):
    import transformers

    tokenizer = wordpiece()
    shape = {
        "hidden_size": 33,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "intermediate_size": 23,
        "max_position_embeddings": 33,
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "num_labels": 5,
    }
    torch.manual_seed(3)
    config = getattr(transformers, f"{family}Config")(**shape)
    network = getattr(transformers, f"{family}ForSequenceClassification")(config).eval()
    subject = HuggingFaceSubject(network, tokenizer)
    batch = subject.encode(TEXTS)
    torch.testing.assert_close(
        subject.trace(batch).logits(), subject.logits(batch).detach(), atol=1e-5, rtol=1e-5
    )
    torch.testing.assert_close(subject.logits(batch).detach(), directly(subject, TEXTS))


def test_a_classifier_that_cannot_show_its_attention_is_refused_in_a_sentence(monkeypatch):
    tokenizer = wordpiece()
    network = classifier("bert", tokenizer)
    network.set_attn_implementation("sdpa")

    def refuse(kernel):
        raise ValueError(f"This architecture has no {kernel} kernel.\nMore lines.")

    monkeypatch.setattr(network, "set_attn_implementation", refuse)
    with pytest.raises(UserError, match="cannot show its attention") as caught:
        HuggingFaceSubject(network, tokenizer)
    assert "\n" not in str(caught.value)


def test_a_classifier_that_gives_no_attention_is_refused_in_a_sentence(subjects, monkeypatch):
    subject = subjects["bert"]
    silent = type("Read", (), {"attentions": None})()
    monkeypatch.setattr(subject.network, "forward", lambda **_: silent)
    with pytest.raises(UserError, match="does not give its attention"):
        subject.trace(subject.encode(TEXTS))


def test_another_family_is_refused_before_it_is_loaded(tmp_path):
    import transformers

    transformers.GPT2Config(n_layer=1, n_head=1, n_embd=7, vocab_size=11).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="family gpt2"):
        load_huggingface(tmp_path)


def test_what_is_not_there_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(UserError, match="No Hugging Face classifier"):
        load_huggingface(tmp_path / "nothing")


def test_a_batch_of_ids_alone_is_refused(subjects):
    subject = subjects["bert"]
    with pytest.raises(UserError, match="encode the texts"):
        subject.logits(replace(subject.encode(TEXTS), words=None))
