"""Transformers of many families as subjects: read as their own pipeline reads them, and traced exactly."""

from dataclasses import replace

import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

from tiny_transformers import byte_level, classifier, learn, make_corpus, save, stirred, unigram, wordpiece

from heedful.data.pairs import paired
from heedful.data.vocabulary import SPECIAL
from heedful.errors import UserError
from heedful.models.subject import gives, why_not
from heedful.models.transformers import TransformerSubject, load_transformer, probing
from heedful.models.transformers.network import Runner
from heedful.models.transformers.tapping import kernel_of
from heedful.models.word_attention import word_attention, words_read
from heedful.trials.erasure.deletion import delete_words, replace_words

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds
FAMILIES = {  # → way, deciding position, whether its last layer is run on one row
    "bert": ("attention interface", "first", True),
    "roberta": ("attention interface", "first", True),
    "distilbert": ("attention interface", "first", True),
    "modernbert": ("attention interface", "first", True),
    "gpt2": ("attention interface", "last", True),
    "llama": ("attention interface", "last", True),
    "bart": ("attention interface", "last", True),
    "t5": ("attention interface", "last", True),
    "deberta-v2": ("caught softmax", "first", False),
    "mpnet": ("caught softmax", "first", False),
}
TOKENIZERS = {"roberta": byte_level, "gpt2": byte_level, "t5": unigram, "bart": unigram}
TEXTS = ["The wonderful film, was it dreadful?", "Moving!", "a plot ... of two (clumsy) scenes"]


@pytest.fixture(scope="module")
def corpus():
    return make_corpus()


@pytest.fixture(scope="module")
def subjects(corpus):
    found = {}
    for family in FAMILIES:
        tokenizer = TOKENIZERS[family](corpus.texts) if family in TOKENIZERS else wordpiece()
        network = stirred(classifier(family, tokenizer), seed=3)
        found[family] = TransformerSubject(network, tokenizer, name=family)
    return found


@pytest.fixture(params=FAMILIES)
def subject(request, subjects):
    return subjects[request.param]


def directly(subject, texts):
    """What Hugging Face itself gives for these texts, one by one."""
    found = []
    for text in texts:
        read = subject.tokenizer(text, truncation=True, max_length=subject.longest, return_tensors="pt")
        with torch.no_grad():
            found.append(
                subject.network(input_ids=read["input_ids"], attention_mask=read["attention_mask"]).logits
            )
    return torch.cat(found)


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
    torch.testing.assert_close(trace.logits().detach(), subject.logits(batch).detach(), atol=1e-5, rtol=1e-5)


def test_the_way_the_position_and_the_layer_are_found(subject):
    assert (subject.way, subject.position, subject.last.one_row) == FAMILIES[subject.name]
    assert subject.cannot == {}
    assert subject.way in subject.notes[0]


def test_a_pass_that_ends_at_the_deciding_row_gives_the_logits_of_a_whole_one(subject):
    assert subject.last.gives_logits == subject.last.one_row
    batch = subject.encode([*TEXTS, "two film plot", "the film " * 40])  # the last one is cut off
    whole = subject.logits(batch).detach()  # a gradient may be asked for: all rows are computed
    layers = [part for part in subject.network.modules() if isinstance(part, torch.nn.Linear)]
    places = []
    hooks = [
        layer.register_forward_hook(lambda _, args, out: places.append(out[..., 0].numel()))
        for layer in layers
    ]
    subject.logits(batch)
    all_rows, places[:] = sum(places), []
    with torch.no_grad():
        found = subject.logits(batch)
    for hook in hooks:
        hook.remove()
    torch.testing.assert_close(found, whole, atol=1e-5, rtol=1e-5)
    if subject.last.one_row:
        assert sum(places) < all_rows
    with torch.no_grad():
        for row, text in enumerate(TEXTS):  # alone as in company
            torch.testing.assert_close(subject.logits(subject.encode([text]))[0], found[row])


def test_a_pass_that_ends_early_leaves_the_network_as_it_was(subjects):
    subject = subjects["t5"]
    batch = subject.encode(TEXTS)
    with torch.no_grad():
        before = directly(subject, TEXTS)
        subject.logits(batch)
        assert torch.equal(directly(subject, TEXTS), before)
    assert not any(
        part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part)
        for part in subject.network.modules()
    )


def test_with_dropout_every_row_is_computed(subjects, monkeypatch):
    subject = subjects["bert"]
    monkeypatch.setattr(subject.last, "logits", lambda inputs: pytest.fail("ended early"))
    dropout = subject.network.dropout
    dropout.train()
    try:
        with torch.no_grad():
            subject.logits(subject.encode(TEXTS))
    finally:
        dropout.eval()


def test_two_threads_read_at_once_as_one_after_the_other(subjects):
    from concurrent.futures import ThreadPoolExecutor

    subject = subjects["bert"]

    def read(text):
        with torch.no_grad():
            return subject.logits(subject.encode([text]))

    texts = TEXTS * 20
    alone = [read(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(alone, pool.map(read, texts), strict=True):
            torch.testing.assert_close(one, other)


def test_erasing_in_the_layer_is_masking_there_and_nowhere_else(subjects):
    """Against the network run with the last layer's weight of one word put to 0 and renormalised by hand."""
    subject = subjects["bert"]
    batch = subject.encode(TEXTS[:1])
    (group,) = subject.groups(batch)
    gone = torch.from_numpy(group.cuts[0].first == 1)  # "wonderful", of two pieces
    assert gone.sum() == 2

    def without(module, inputs, output):
        left = output[1].masked_fill(gone, 0)
        left = left / left.sum(-1, keepdim=True)
        states = inputs[0]
        values = module.value(states).unflatten(-1, (3, -1)).transpose(1, 2)
        return ((left @ values).transpose(1, 2).flatten(2), left, *output[2:])

    layer = subject.network.bert.encoder.layer[-1].attention.self
    with kernel_of(subject.network, "eager"), torch.no_grad():
        hook = layer.register_forward_hook(without)
        expected = subject.network(**group.inputs).logits
        hook.remove()
    trace = subject.trace(batch)
    erased = torch.zeros(1, trace.present.shape[1], dtype=torch.bool)
    erased[0, 1] = True
    torch.testing.assert_close(trace.logits(trace.erase(erased)), expected, atol=1e-5, rtol=1e-5)


def test_erasing_in_the_last_layer_of_any_family_is_a_full_pass_with_that_weight_put_to_0(subject):
    batch = subject.encode(TEXTS[2:])
    (group,) = subject.groups(batch)
    belongs = group.belongs(batch.mask.shape[1])
    gone = belongs[0, 2] > 0  # "..."
    row = {"first": 0, "last": -1}[subject.position]

    def without(call):
        if call.number != subject.entry.calls - 1:
            return None
        weights = call.weights.clone()
        left = weights[:, :, row].masked_fill(gone, 0)
        weights[:, :, row] = left / left.sum(-1, keepdim=True)
        return weights

    with torch.no_grad(), subject.entry.way.tapped(subject.network, without):
        expected = subject.network(**group.inputs).logits
    trace = subject.trace(batch)
    erased = torch.zeros(1, trace.present.shape[1], dtype=torch.bool)
    erased[0, 2] = True
    found = trace.logits(trace.erase(erased)).detach()
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-4)
    assert not torch.allclose(found, subject.logits(batch).detach(), atol=1e-4)


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
    logits = subject.logits(subject.encode(TEXTS)).detach()
    for row, text in enumerate(TEXTS):
        alone = subject.trace(subject.encode([text]))
        length = alone.weights.shape[-1]
        torch.testing.assert_close(together.weights[row, :, :length], alone.weights[0], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(logits[row], subject.logits(subject.encode([text]))[0].detach())


def test_words_beyond_the_models_length_are_unread(subject):
    batch = subject.encode(["film " * 40, "film"])
    attention, read = word_attention(subject, batch)
    assert 0 < read[0].sum() < 40
    assert (attention[0][~read[0]] == 0).all()
    assert read[1].sum() == 1


def test_a_moved_embedding_moves_the_logits_as_its_gradient_says(subject, monkeypatch):
    batch = subject.encode(TEXTS)
    embedded = subject.embed(batch).detach().requires_grad_()
    torch.testing.assert_close(subject.logits(batch, embedded), subject.logits(batch), atol=1e-5, rtol=1e-5)
    subject.logits(batch, embedded)[:, 0].sum().backward()
    assert (embedded.grad[~batch.mask] == 0).all()
    assert (embedded.grad[batch.mask].abs().sum(-1) > 0).all()
    monkeypatch.setattr(subject, "last", None)  # passes that compute every row have the same gradient
    (whole,) = torch.autograd.grad(subject.logits(batch, embedded)[:, 0].sum(), embedded)
    torch.testing.assert_close(embedded.grad, whole, atol=1e-5, rtol=1e-4)


def test_attention_of_a_model_in_training_is_refused(subject):
    batch = subject.encode(TEXTS)
    subject.train()
    try:
        for ask in (subject.trace, subject.word_attention, subject.logits):
            with pytest.raises(UserError, match="call eval"):
                ask(batch)
    finally:
        subject.eval()


def test_a_saved_classifier_is_loaded_and_traced(tmp_path, corpus):
    tokenizer = wordpiece()
    network = classifier("bert", tokenizer)
    assert learn(network, tokenizer, corpus) > 0.9
    subject = load_transformer(save(network, tokenizer, tmp_path / "saved"))
    assert subject.classes == ("bad", "good")
    batch = subject.encode(TEXTS)
    torch.testing.assert_close(
        subject.trace(batch).logits(), subject.logits(batch).detach(), atol=1e-4, rtol=1e-4
    )


@pytest.mark.parametrize("kernel", ["eager", "sdpa"])
def test_the_kernel_of_the_network_is_put_back_and_the_fused_one_is_used_where_it_can(kernel):
    tokenizer = wordpiece()
    network = stirred(classifier("bert", tokenizer))
    network.set_attn_implementation(kernel)
    subject = TransformerSubject(network, tokenizer)
    batch = subject.encode(TEXTS)
    used = []
    hook = network.bert.encoder.layer[0].register_forward_pre_hook(
        lambda *_: used.append(network.config._attn_implementation)
    )
    subject.runner.logits(subject.groups(batch)[0].inputs)
    subject.trace(batch)
    with torch.no_grad():
        subject.logits(batch)
    hook.remove()
    # Three lengths; the deciding rows of all are run together.
    assert used == ["sdpa"] + ["heedful"] * 3 + ["heedful-fused"] * 3 + ["heedful"]
    assert network.config._attn_implementation == kernel


@pytest.mark.parametrize("family", ["bert", "deberta-v2"])
def test_nothing_is_left_attached_also_after_an_error(subjects, family, monkeypatch):
    subject = subjects[family]
    network, batch = subject.network, subject.encode(TEXTS)

    def attached():
        hooks = sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in network.modules())
        patched = sum("forward" in vars(module) for module in network.modules())
        return hooks, patched, network.config._attn_implementation

    before = attached()
    assert before[:2] == (0, 0)
    trace = subject.trace(batch)

    def without_gradient():
        with torch.no_grad():
            subject.logits(batch)

    for module in network.modules():  # the classifier is called last, when everything is in place
        if type(module) is torch.nn.Linear and module.out_features == 2:
            # In the table itself: undoing an attribute would delete it, and leave the shared network without.
            monkeypatch.setitem(module._parameters, "bias", None)
            monkeypatch.setitem(module._parameters, "weight", None)
    calls = [
        lambda: subject.trace(batch),
        lambda: trace.logits(),
        lambda: subject.logits(batch, subject.embed(batch)),
        lambda: subject.word_attention(batch),
        without_gradient,
    ]
    for call in calls:
        with pytest.raises((TypeError, AttributeError)):
            call()
        assert attached() == before
    monkeypatch.undo()
    first = next(module for module in network.modules() if type(module) is torch.nn.Linear)
    monkeypatch.setitem(first._parameters, "weight", None)  # before the last attention
    with pytest.raises((TypeError, AttributeError)):
        without_gradient()
    assert attached() == before


@pytest.mark.parametrize("family", ["bert", "t5"])
def test_a_forward_that_somebody_put_on_a_layer_stays_there(family, corpus):
    """As accelerate does to spread a large model over devices."""
    tokenizer = TOKENIZERS[family](corpus.texts) if family in TOKENIZERS else wordpiece()
    network = stirred(classifier(family, tokenizer))
    lists = [part for part in network.modules() if isinstance(part, torch.nn.ModuleList)]
    layers = [layer for part in lists for layer in part]
    for layer in layers:
        layer.forward = layer.forward
    theirs = [vars(layer)["forward"] for layer in layers]
    subject = TransformerSubject(network, tokenizer)
    batch = subject.encode(TEXTS)
    torch.testing.assert_close(
        subject.trace(batch).logits().detach(), subject.logits(batch).detach(), atol=1e-5, rtol=1e-5
    )
    assert [vars(layer)["forward"] for layer in layers] == theirs


def test_a_way_is_trusted_if_any_piece_moves_the_logits_and_not_if_none_does(monkeypatch):
    network, tokenizer, erase = classifier("bert", wordpiece()), wordpiece(), probing.erase_key

    def without_the_first(weights, key):
        return erase(weights, key) if key == 0 else weights

    monkeypatch.setattr(probing, "erase_key", without_the_first)
    assert TransformerSubject(network, tokenizer).way == "attention interface"
    monkeypatch.setattr(probing, "erase_key", lambda weights, key: weights)
    assert "erasing a piece moves nothing" in TransformerSubject(network, tokenizer).cannot["trace"]


@pytest.mark.parametrize("kernel", ["eager", "sdpa"])
def test_a_way_in_which_nothing_but_rounding_moves_is_not_trusted(kernel):
    tokenizer = wordpiece()
    network = stirred(classifier("llama", tokenizer, attention_bias=True, num_hidden_layers=4))
    with torch.no_grad():
        for layer in network.model.layers:  # every piece has the same value: whose weight goes is all one
            layer.self_attn.v_proj.weight.zero_()
            layer.self_attn.v_proj.bias.normal_()
    network.set_attn_implementation(kernel)
    assert "erasing a piece moves nothing" in TransformerSubject(network, tokenizer).cannot["trace"]


def test_a_text_of_one_piece_again_and_again_does_not_speak_against_a_way():
    network = stirred(classifier("llama", wordpiece()))
    alike = {"input_ids": torch.full((2, 5), 7)}  # without positions in its values all have the same
    mixed = {"input_ids": torch.tensor([[4, 5, 6, 7, 8, 9, 10]] * 2)}
    entry, _ = probing.find_entry(Runner(network), [alike, mixed])
    assert entry is not None
    assert entry.way.name == "attention interface"
    entry, reasons = probing.find_entry(Runner(network), [alike])
    assert entry is None
    assert set(reasons.values()) == {"erasing a piece moves nothing"}


def test_a_network_that_is_refused_is_left_as_it_was(monkeypatch):
    tokenizer = wordpiece()
    network = stirred(classifier("bert", tokenizer))
    monkeypatch.setitem(network.classifier._parameters, "weight", None)
    with pytest.raises(UserError, match="cannot read its own texts"):
        TransformerSubject(network, tokenizer)
    assert not any(
        m._forward_hooks or m._forward_pre_hooks or "forward" in vars(m) for m in network.modules()
    )
    assert network.config._attn_implementation == "sdpa"


def test_a_network_whose_positions_all_decide_has_attention_and_no_trace():
    tokenizer = wordpiece()
    subject = TransformerSubject(stirred(classifier("eurobert", tokenizer)), tokenizer)
    assert subject.position == "all"
    assert "more than one position" in why_not(subject, "trace")
    assert gives(subject, "attention")
    assert gives(subject, "embed")
    batch = subject.encode(TEXTS)
    weights, read = word_attention(subject, batch)
    assert torch.equal(read, batch.mask)
    assert (weights[batch.mask] > 0).all()
    (group,) = subject.groups(subject.encode(TEXTS[1:2]))
    with torch.no_grad(), kernel_of(subject.network, "eager"):
        shown = subject.network(**group.inputs, output_attentions=True).attentions[-1]
    expected = shown.mean((1, 2))[0] @ group.belongs(2)[0].T
    torch.testing.assert_close(weights[1, :2], expected)
    with pytest.raises(UserError, match="more than one position"):
        subject.trace(batch)


def test_a_network_without_attention_answers_and_says_that_it_shows_none():
    tokenizer = wordpiece()
    subject = TransformerSubject(stirred(classifier("fnet", tokenizer)), tokenizer)
    assert subject.way == "logits only"
    assert not gives(subject, "trace")
    assert not gives(subject, "attention")
    assert gives(subject, "embed")
    assert "no attention was seen" in subject.notes[0]
    batch = subject.encode(TEXTS)
    torch.testing.assert_close(subject.logits(batch).detach(), directly(subject, TEXTS))
    assert torch.equal(words_read(subject, batch), batch.mask)


def test_a_decoder_without_a_padding_sign_reads_several_texts_at_once():
    tokenizer = byte_level(make_corpus().texts)
    network = stirred(classifier("gpt2", tokenizer, pad_token_id=None))
    subject = TransformerSubject(network, tokenizer)
    texts = ["the film", "the plot", "the cast"]
    torch.testing.assert_close(subject.logits(subject.encode(texts)).detach(), directly(subject, texts))
    assert network.config.pad_token_id is None


def test_a_pair_is_read_as_the_models_own_pipeline_reads_it(corpus):
    for family in ("bert", "roberta", "gpt2"):
        tokenizer = TOKENIZERS[family](corpus.texts) if family in TOKENIZERS else wordpiece()
        network = stirred(classifier(family, tokenizer), seed=3)
        subject = TransformerSubject(network, tokenizer, name=family)
        pairs = [("The wonderful film", "was it two?"), ("a plot", "and music")]
        batch = subject.encode([paired(*pair) for pair in pairs])
        assert batch.words[0].forms == ["The", "wonderful", "film", "was", "it", "two", "?"]
        found = subject.logits(batch).detach()
        for row, (one, two) in enumerate(pairs):
            read = subject.tokenizer(one, two, return_tensors="pt")
            accepted = {name: read[name] for name in read if name in subject.runner.accepts}
            with torch.no_grad():
                torch.testing.assert_close(found[row], subject.network(**accepted).logits[0])
        (first, _) = subject.cut(batch)
        words = [sorted({*first.first[first.first >= 0]}), sorted({*first.last[first.last >= 0]})]
        assert words == [list(range(7))] * 2
        gone = torch.zeros_like(batch.mask)
        gone[0, [2, 3]] = True  # on both sides of the sign between them
        left = delete_words(batch, gone)
        read = subject.tokenizer("The wonderful", "it two?", return_tensors="pt")
        accepted = {name: read[name] for name in read if name in subject.runner.accepts}
        with torch.no_grad():
            torch.testing.assert_close(subject.logits(left)[0], subject.network(**accepted).logits[0])


@pytest.mark.parametrize(
    ("changes", "asked", "classes"),
    [
        ({"problem_type": "multi_label_classification"}, {"label": "good"}, ("not good", "good")),
        (
            {"id2label": {0: "much"}, "label2id": {"much": 0}},
            {"threshold": 0.25},
            ("up to 0.25", "above 0.25"),
        ),
    ],
)
def test_a_label_or_a_threshold_makes_a_decision_of_any_head(tmp_path, changes, asked, classes):
    tokenizer = wordpiece()
    network = stirred(classifier("bert", tokenizer, **changes))
    subject = load_transformer(save(network, tokenizer, tmp_path / "other"), **asked)
    assert subject.classes == classes
    batch = subject.encode(TEXTS)
    scores = directly(subject, TEXTS)
    expected = scores[:, 1:2] if "label" in asked else scores - 0.25
    torch.testing.assert_close(subject.logits(batch), expected)
    torch.testing.assert_close(subject.trace(batch).logits(), expected, atol=1e-5, rtol=1e-5)


def test_a_label_or_threshold_that_a_head_has_no_use_for_is_refused(tmp_path):
    tokenizer = wordpiece()
    folder = save(classifier("bert", tokenizer), tokenizer, tmp_path / "plain")
    several = {"problem_type": "multi_label_classification"}
    other = save(classifier("bert", tokenizer, **several), tokenizer, tmp_path / "several")
    number = {"id2label": {0: "much"}, "label2id": {"much": 0}}
    third = save(classifier("bert", tokenizer, **number), tokenizer, tmp_path / "number")
    for path, asked, said in (
        (folder, {"label": "good"}, "label by label"),
        (folder, {"threshold": 0.5}, "needs no threshold"),
        (other, {"label": "god"}, "no label 'god'; the nearest is 'good'"),
        (third, {"threshold": float("nan")}, "a finite number, not nan"),
    ):
        with pytest.raises(UserError, match=said):
            load_transformer(path, **asked)


def test_a_network_that_torch_compiles_is_read_as_it_is(subjects):
    plain = subjects["bert"]
    other = TransformerSubject(torch.compile(plain.network, backend="eager"), plain.tokenizer)
    assert (other.way, other.position) == (plain.way, plain.position)
    assert torch.equal(other.logits(other.encode(TEXTS)), plain.logits(plain.encode(TEXTS)))


def test_a_piece_of_two_words_is_a_half_of_each():
    """A piece "me." as a Unigram tokenizer may have it: it stands for the word and for the full stop."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = [("<unk>", 0.0), ("▁me.", -1.0), ("▁call", -2.0), ("▁", -9.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<unk>")
    subject = TransformerSubject(stirred(classifier("bert", fast, pad_token_id=0)), fast)
    batch = subject.encode(["call me."])
    assert batch.words[0].forms == ["call", "me", "."]
    (group,) = subject.groups(batch)
    assert group.belongs(3)[0].tolist() == [[1, 0], [0, 0.5], [0, 0.5]]
    trace = subject.trace(batch)
    assert trace.items[0, 0].tolist() == [0, 1, 2]
    torch.testing.assert_close(trace.weights[0, :, 1], trace.weights[0, :, 2])
    torch.testing.assert_close(trace.logits(), subject.logits(batch).detach(), atol=1e-5, rtol=1e-5)
    embedded = subject.embed(batch)
    torch.testing.assert_close(embedded[0, 1], embedded[0, 2])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"problem_type": "multi_label_classification"}, "several labels at once: name the one"),
        ({"problem_type": "regression"}, "gives 2 numbers and no class"),
        (
            {"id2label": {0: "much"}, "label2id": {"much": 0}, "num_labels": 1},
            r"name a threshold \(--threshold\)",
        ),
    ],
)
def test_a_head_that_decides_nothing_is_refused_in_a_sentence(tmp_path, changes, said):
    tokenizer = wordpiece()
    folder = save(classifier("bert", tokenizer, **changes), tokenizer, tmp_path / "other")
    with pytest.raises(UserError, match=said):
        load_transformer(folder)


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
    subject = TransformerSubject(network, tokenizer)
    batch = subject.encode(TEXTS)
    torch.testing.assert_close(
        subject.trace(batch).logits(), subject.logits(batch).detach(), atol=1e-5, rtol=1e-5
    )
    torch.testing.assert_close(subject.logits(batch).detach(), directly(subject, TEXTS))


def test_what_is_not_there_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(UserError, match="No classifier could be loaded"):
        load_transformer(tmp_path / "nothing")


def test_a_batch_of_ids_alone_is_refused(subjects):
    subject = subjects["bert"]
    with pytest.raises(UserError, match="encode the texts"):
        subject.logits(replace(subject.encode(TEXTS), words=None))
