"""Rankings by a transformer's attention: what each counts, and that a batch is read once for all."""

import sys
import weakref
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import byte_level, classifier, make_corpus, stirred, wordpiece

from heedful.errors import UserError
from heedful.models.transformers import TransformerSubject
from heedful.models.word_attention import word_attention
from heedful.trials.erasure.rereading import Reader
from heedful.trials.rankings.attention_gradient import attention_gradient
from heedful.trials.rankings.attention_rankings import LastRead, flow, flows, one_head, read_layers, rollout
from heedful.trials.rankings.named import ABOUT, brought_by, text_scores, transformer_rankings
from heedful.trials.rankings.value_norms import value_norms
from heedful.trials.rankings.value_zeroing import value_zeroing

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds
FAMILIES = ("bert", "gpt2", "deberta-v2")
TEXTS = ["The wonderful film, was it dreadful?", "Moving!", "a plot ... of two (clumsy) scenes"]


@pytest.fixture(scope="module")
def subjects():
    found = {}
    for family in FAMILIES:
        tokenizer = byte_level(make_corpus().texts) if family == "gpt2" else wordpiece()
        network = stirred(classifier(family, tokenizer), seed=3)
        found[family] = TransformerSubject(network, tokenizer, name=family)
    return found


@pytest.fixture(params=FAMILIES)
def subject(request, subjects):
    return subjects[request.param]


def test_rollout_of_two_layers_is_their_product(subjects):
    subject = subjects["bert"]
    batch = subject.encode(TEXTS[:1])
    (group,) = subject.groups(batch)
    with torch.no_grad():
        subject.network.set_attn_implementation("eager")
        attention = subject.network(**group.inputs, output_attentions=True).attentions
    one, two = ((layer[0].mean(0) + torch.eye(group.length)) / 2 for layer in attention)
    expected = [float((two @ one)[0, group.cuts[0].first == word].sum()) for word in range(8)]
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
    subject = subjects["gpt2"]
    batch = subject.encode(TEXTS)
    heads = torch.stack([one_head(subject, batch, head=head) for head in range(3)]).mean(0)
    torch.testing.assert_close(heads.float(), word_attention(subject, batch)[0])


def test_cheap_rankings_come_along_and_the_others_are_asked_for(subjects):
    cheap = ["rollout", "attention-gradient", "value-norms"]
    assert list(brought_by(subjects["bert"])) == cheap
    every = [*cheap, "value-zeroing", "flow", "head-1-only", "head-2-only", "head-3-only"]
    assert list(brought_by(subjects["bert"], all_of_them=True)) == every
    assert list(brought_by(subjects["deberta-v2"])) == cheap[:2]  # values are not seen there
    assert {name for name, about in ABOUT.items() if not about.opt_in} == set(cheap)


def test_value_norms_are_the_lengths_of_weight_times_value(subjects):
    subject = subjects["bert"]
    batch = subject.encode(TEXTS[:1])
    (group,) = subject.groups(batch)
    layer = subject.network.bert.encoder.layer[-1].attention.self
    subject.network.set_attn_implementation("eager")
    with torch.no_grad():
        read = subject.network(**group.inputs, output_attentions=True, output_hidden_states=True)
        values = layer.value(read.hidden_states[-2])[0].unflatten(-1, (3, 11))  # (L,R,D)
    added = read.attentions[-1][0, :, 0].T[..., None] * values
    expected = [float(added[group.cuts[0].first == word].flatten(1).norm(dim=1).sum()) for word in range(8)]
    np.testing.assert_allclose(value_norms(subject, batch)[0].numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("frozen", [False, True])
def test_attention_times_gradient_is_the_formula_on_what_the_network_shows(subjects, frozen):
    subject = subjects["bert"]
    batch = subject.encode(TEXTS[:1])
    (group,) = subject.groups(batch)
    subject.network.set_attn_implementation("eager")
    read = subject.network(**group.inputs, output_attentions=True)
    for weights in read.attentions:
        weights.retain_grad()
    decided = int(read.logits.argmax())
    (read.logits[0, decided] - read.logits[0, 1 - decided]).backward()
    subject.network.zero_grad()
    reached = torch.eye(group.length)
    for weights in read.attentions:
        reached = reached + (weights * weights.grad).clamp(min=0)[0].mean(0) @ reached
    expected = [float(reached[0, group.cuts[0].first == word].detach().sum()) for word in range(8)]
    subject.network.requires_grad_(not frozen)
    found = attention_gradient(subject, batch)[0]
    subject.network.requires_grad_(True)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4)


def test_value_zeroing_is_a_pass_with_these_values_put_to_0_by_hand(subjects):
    subject = subjects["bert"]
    batch = subject.encode(TEXTS)
    found = value_zeroing(subject, batch)
    (group,) = subject.groups(subject.encode(TEXTS[:1]))
    gone = torch.from_numpy(group.cuts[0].first == 1)  # "wonderful"
    layers = [layer.attention.self.value for layer in subject.network.bert.encoder.layer]
    hooks = [
        layer.register_forward_hook(lambda module, args, output: output.masked_fill(gone[:, None], 0))
        for layer in layers
    ]
    with torch.no_grad():
        without = subject.network(**group.inputs).logits[0].double()
    for hook in hooks:
        hook.remove()
    whole = subject.logits(subject.encode(TEXTS[:1]))[0].double().detach()
    decided = int(whole.argmax())
    fall = (whole[decided] - whole[1 - decided]) - (without[decided] - without[1 - decided])
    assert float(found[0, 1]) == pytest.approx(float(fall), abs=1e-5)
    assert (found[~batch.mask] == 0).all()


@pytest.fixture
def passes(subject):
    """Counts the real passes of the network."""
    counted = []
    hook = subject.network.register_forward_hook(lambda *_: counted.append(1))
    yield counted
    hook.remove()


@pytest.mark.parametrize("asked", [1, 2, 5])
def test_a_batch_is_read_once_however_many_rankings_are_asked_for(subject, passes, asked):
    every = transformer_rankings(subject, all_of_them=True)
    shared = ("rollout", "flow", "head-1-only", "head-2-only", "head-3-only")
    rankings = [every[name] for name in shared][:asked]
    assert len(rankings) == asked
    passes.clear()
    for texts in (TEXTS, TEXTS[:2], TEXTS[1:]):
        batch = subject.encode(texts)
        for ranking in rankings:
            ranking(Reader(subject, batch))
    assert len(passes) == 3 + 2 + 2  # one for each length


def test_rankings_that_share_a_pass_give_what_each_gives_alone(subject):
    every = transformer_rankings(subject, all_of_them=True)
    rankings = {name: every[name] for name in every if name in ("rollout", "flow") or "head" in name}
    alone = {"rollout": rollout, "flow": flow}
    alone |= {f"head-{head + 1}-only": partial(one_head, head=head) for head in range(3)}
    assert rankings.keys() == alone.keys()
    batches = subject.encode(TEXTS), subject.encode(TEXTS[::-1])
    for batch in (*batches, batches[0]):  # also after another batch came between
        for name, ranking in rankings.items():
            assert torch.equal(ranking(Reader(subject, batch)), alone[name](subject, batch))


def test_only_the_last_batch_is_remembered(subject):
    read = LastRead()
    first, second = subject.encode(TEXTS), subject.encode(TEXTS[:1])
    gone = weakref.ref(read(subject, first)[0].mixed), weakref.ref(first)
    read(subject, second)
    del first
    assert [it() for it in gone] == [None, None]


def test_the_heads_of_the_last_layer_are_those_of_the_trace(subject):
    batch = subject.encode(TEXTS)
    trace = subject.trace(batch)
    for layers in read_layers(subject, batch):
        for row, heads in zip(layers.group.rows.tolist(), layers.heads, strict=True):
            torch.testing.assert_close(heads, trace.weights[row, :, : layers.group.length])


def test_an_unknown_ranking_is_told_of_rollout_flow_and_the_heads(subject):
    assert text_scores(subject, TEXTS[0], "head-2-only") != text_scores(subject, TEXTS[0], "rollout")
    for unknown in ("zzz", "head-4-only"):
        with pytest.raises(
            UserError, match=r"there are: rollout, .*flow, head-1-only to head-3-only, attention"
        ):
            text_scores(subject, TEXTS[0], unknown)
    with pytest.raises(UserError, match="the nearest is 'rollout'"):
        text_scores(subject, TEXTS[0], "rolout")


def test_scores_of_one_text_are_those_of_its_batch(subject):
    batch = subject.encode(TEXTS)
    scores = text_scores(subject, TEXTS[2], "rollout")
    np.testing.assert_allclose(rollout(subject, batch)[2, : len(scores)].numpy(), scores, rtol=1e-5)


def test_long_texts_are_read_a_few_at_a_time_where_all_layers_are_held(monkeypatch):
    tokenizer = wordpiece()
    subject = TransformerSubject(stirred(classifier("bert", tokenizer)), tokenizer)
    batch = subject.encode(["the film was superb"] * 7)
    together = attention_gradient(subject, batch)
    sizes, run = [], subject.runner

    def counted(inputs):
        sizes.append(len(inputs["input_ids"]))
        return run(inputs)

    monkeypatch.setattr(subject, "runner", counted)
    two = 2 * 3 * 4 * 2 * 3 * 6**2  # texts of six pieces: copies, bytes, layers, heads
    monkeypatch.setattr("heedful.models.transformers.memory.AT_ONCE", two)
    torch.testing.assert_close(attention_gradient(subject, batch), together)
    assert sizes == [2, 2, 2, 1]
