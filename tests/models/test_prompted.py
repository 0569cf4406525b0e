"""Language models as prompted classifiers: labels scored whole, and only the text's words ever taken out."""

import copy

import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

import transformers
from tiny_transformers import byte_level, make_corpus, stirred

from heedful.data.pairs import PAIR
from heedful.errors import UserError
from heedful.models.subject import gives
from heedful.models.transformers.prompted import label_pieces, load_prompted, prompted, split_template
from heedful.models.word_attention import word_attention, words_read
from heedful.trials.erasure.rereading import Reader

pytestmark = pytest.mark.slow
TEMPLATE = "The film: {text}\nIt was:"
TEXTS = ["a wonderful plot of two scenes", "dreadful", "{text} with music"]


@pytest.fixture(scope="module")
def tokenizer():
    extra = ["The film: a wonderful\nIt was: superb and lifeless.", "bad good"] * 50
    found = byte_level([*make_corpus().texts, *extra])
    found._tokenizer.post_processor = transformers.GPT2TokenizerFast(
        vocab={"a": 0}, merges=[]
    )._tokenizer.post_processor
    return found


@pytest.fixture(scope="module")
def network(tokenizer):
    config = transformers.LlamaConfig(
        hidden_size=36,
        num_hidden_layers=2,
        num_attention_heads=3,
        num_key_value_heads=1,
        head_dim=12,
        intermediate_size=23,
        vocab_size=len(tokenizer),
        max_position_embeddings=64,
    )
    return stirred(transformers.LlamaForCausalLM(config).eval(), seed=3)


def chances(network, tokenizer, prompt, label):
    """The log-probability of a label's pieces one by one, each by a pass of its own."""
    ids = tokenizer(prompt)["input_ids"]
    more = tokenizer(prompt + " " + label)["input_ids"][len(ids) :]
    total = 0.0
    for piece in more:
        with torch.no_grad():
            total += float(network(torch.tensor([ids])).logits[0, -1].log_softmax(-1)[piece])
        ids = [*ids, piece]
    return total


@pytest.mark.parametrize("labels", [("a", "of"), ("wonderful", "a", "lifeless and dreadful")])
def test_a_label_has_the_probability_of_its_pieces_one_after_the_other(network, tokenizer, labels):
    subject = prompted(network, tokenizer, TEMPLATE, labels)
    found = subject.logits(subject.encode(TEXTS))
    for row, text in enumerate(TEXTS):
        prompt = TEMPLATE.replace("{text}", text, 1)
        expected = [chances(network, tokenizer, prompt, label) for label in labels]
        torch.testing.assert_close(found[row].detach(), torch.tensor(expected), atol=1e-4, rtol=1e-4)


def test_labels_of_one_piece_have_an_exact_trace_at_the_last_position(network, tokenizer):
    subject = prompted(network, tokenizer, TEMPLATE, ("a", "of"))
    assert (subject.way, subject.position, subject.cannot) == ("attention interface", "last", {})
    batch = subject.encode(TEXTS)
    trace = subject.trace(batch)
    torch.testing.assert_close(trace.logits().detach(), subject.logits(batch).detach(), atol=1e-4, rtol=1e-4)
    weights, read = word_attention(subject, batch)
    assert torch.equal(read, batch.mask)
    assert (weights.sum(1) < 0.99).all()  # the rest lies on the template


def test_labels_of_several_pieces_have_attention_and_no_trace(network, tokenizer):
    subject = prompted(network, tokenizer, TEMPLATE, ("a", "lifeless and dreadful"))
    assert not gives(subject, "trace")
    assert gives(subject, "attention")
    single = prompted(network, tokenizer, TEMPLATE, ("a", "of"))
    batch = subject.encode(TEXTS)
    torch.testing.assert_close(word_attention(subject, batch)[0], word_attention(single, batch)[0])


def test_words_of_the_template_are_never_taken_out(network, tokenizer):
    subject = prompted(network, tokenizer, TEMPLATE, ("a", "of"))
    batch = subject.encode(TEXTS[:1])
    assert batch.words[0].forms == TEXTS[0].split()
    reader = Reader(subject, batch)
    gone = torch.zeros(1, 1, 6, dtype=torch.bool)
    gone[0, 0, 1] = True
    prompt = TEMPLATE.replace("{text}", "a plot of two scenes")
    expected = [chances(network, tokenizer, prompt, label) for label in ("a", "of")]
    torch.testing.assert_close(
        reader.without(gone)[0, 0].float(), torch.tensor(expected), atol=1e-4, rtol=1e-4
    )


def test_a_text_that_is_too_long_loses_its_last_words_and_not_the_template(network, tokenizer):
    subject = prompted(network, tokenizer, TEMPLATE, ("a", "of"))
    batch = subject.encode(["film " * 80, "film"])
    read = words_read(subject, batch)
    count = int(read[0].sum())
    assert 5 < count < 80
    assert read[0, :count].all()
    (longest, _) = subject.cut(batch)
    assert len(longest) <= 64
    assert tokenizer.decode(longest.inputs["input_ids"]).endswith("film\nIt was:")


def test_a_template_for_pairs_has_both_texts_in_their_places(network, tokenizer):
    subject = prompted(network, tokenizer, "One: {text}\nTwo: {text_pair}\nIt was:", ("a", "of"))
    batch = subject.encode([f"a plot{PAIR}the film"])
    assert batch.words[0].forms == ["a", "plot", "the", "film"]
    (group,) = subject.groups(batch)
    belongs = group.belongs(4)[0] > 0
    shown = [tokenizer.decode(group.inputs["input_ids"][0][row]).strip() for row in belongs]
    assert shown == ["a", "plot", "the", "film"]
    with pytest.raises(UserError, match="for a pair of texts, but a row has 1"):
        subject.logits(subject.encode(["a plot"]))


def test_templates_and_labels_that_cannot_serve_are_refused(tokenizer, tmp_path):
    for template in ("no text", "{text} and {text}", "{text_pair} {text}"):
        with pytest.raises(UserError, match="template"):
            split_template(template)
    with pytest.raises(UserError, match="different labels"):
        load_prompted(tmp_path, TEMPLATE, ["yes", "yes"])
    assert split_template("a {text} b {text_pair} c") == ("a ", " b ", " c")
    assert len(label_pieces(tokenizer, ("a ", ":"), ["good", "bad"], "it")) == 2


def test_a_saved_language_model_is_loaded_and_a_classifier_is_not_taken_for_one(network, tokenizer, tmp_path):
    network.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    subject = load_prompted(tmp_path / "model", TEMPLATE, ["a", "of"])
    direct = prompted(network, tokenizer, TEMPLATE, ["a", "of"])
    batch = subject.encode(TEXTS)
    torch.testing.assert_close(subject.logits(batch), direct.logits(batch).detach())
    from heedful.models.transformers import load_transformer

    with pytest.raises(
        UserError, match=r"not a trained classifier.*saved as LlamaForCausalLM.*by a template"
    ):
        load_transformer(tmp_path / "model")


CHAT = (
    "{% for message in messages %}{% if message['role'] == 'system' and forbidden is defined %}"
    "{{ raise_exception('no system here') }}{% endif %}{{ message['role'] }}: {{ message['content'] }}\n"
    "{% endfor %}{% if add_generation_prompt %}it was:{% endif %}"
)


def test_a_chat_format_holds_the_template_and_the_system_message(network, tokenizer):
    with pytest.raises(UserError, match="has no chat format"):
        prompted(network, tokenizer, TEMPLATE, ("a", "of"), chat=True)
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.chat_template = CHAT
    plain = prompted(network, tokenizer, "film: {text}", ("a", "of"), chat=True)
    told = prompted(network, tokenizer, "film: {text}", ("a", "of"), chat=True, system="A plot of two.")
    batch = plain.encode(TEXTS[:1])
    read = [tokenizer.decode(one.cut(batch)[0].inputs["input_ids"]) for one in (plain, told)]
    assert read[0] == f"user: film: {TEXTS[0]}\nit was:"
    assert read[1] == f"system: A plot of two.\n{read[0]}"
    assert not torch.allclose(plain.logits(batch), told.logits(batch))
    left = Reader(told, batch).each_out()[0]  # words of the messages stay
    assert len(left) == len(TEXTS[0].split())
    with pytest.raises(UserError, match="belongs to a chat format"):
        prompted(network, tokenizer, TEMPLATE, ("a", "of"), system="A plot.")
    tokenizer.chat_template = "{% set forbidden = 1 %}" + CHAT
    with pytest.raises(UserError, match="does not take these messages: no system here"):
        prompted(network, tokenizer, TEMPLATE, ("a", "of"), chat=True, system="A plot.")
