"""The grid of layers and heads: a head that predicts stands out, and words are erased where it is said."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import classifier, learn, make_corpus, save, stirred, unigram, wordpiece

from heedful.cli import main
from heedful.errors import UserError
from heedful.models.black_box import BlackBox
from heedful.models.transformers import TransformerSubject
from heedful.models.word_attention import word_attention
from heedful.trials.heads import HeadRows, check_heads, head_grid, head_maps, head_rows
from heedful.trials.rankings.named import by_name, text_scores
from heedful.trials.rankings.word_rankings import word_scores

pytestmark = pytest.mark.slow
TEXTS = ["The wonderful film, was it dreadful?", "Moving!", "a plot ... of two (clumsy) scenes"]


@pytest.fixture(scope="module")
def subject():
    tokenizer = wordpiece()
    return TransformerSubject(stirred(classifier("bert", tokenizer), seed=3), tokenizer)


def test_the_maps_of_the_last_layer_are_the_heads_of_the_trace_and_their_mean_the_attention(subject):
    batch = subject.encode(TEXTS)
    maps = head_maps(subject, batch)
    assert maps.shape == (3, 2, 4, 9)
    torch.testing.assert_close(maps[:, -1, -1].float(), word_attention(subject, batch)[0])
    trace = subject.trace(batch)
    for head in range(3):
        mine = torch.zeros(3, 10).scatter_add_(1, trace.items[:, head] % 10, trace.weights[:, head])[:, :9]
        torch.testing.assert_close(maps[:, -1, head].float(), mine)


def test_erasing_in_all_heads_of_the_last_layer_is_erasing_in_the_trace(subject):
    """Only its deciding row reaches the logits, so what happens in other rows cannot be seen."""
    batch = subject.encode([TEXTS[0], TEXTS[2]])
    found = head_rows(subject, batch)
    trace = subject.trace(batch)
    top = word_attention(subject, batch)[0].argmax(1)
    erased = torch.nn.functional.one_hot(top, trace.present.shape[1]).bool()
    whole, without = trace.logits().double(), trace.logits(trace.erase(erased)).double()
    decided = whole.argmax(1, keepdim=True)

    def lead(logits):
        return (logits.gather(1, decided) - logits.gather(1, 1 - decided))[:, 0]

    expected = (lead(whole) - lead(without)).detach().numpy()
    np.testing.assert_allclose(found.fall[:, -1, -1], expected, atol=1e-5)


def test_texts_of_one_word_are_left_out(subject):
    assert head_rows(subject, subject.encode(["film", *TEXTS])).gain.shape == (3, 2, 4)  # "Moving!" has two


def test_the_head_that_predicts_stands_out_after_the_adjustment():
    """Of 2 × 3 columns one tells half of what there is to tell, and the others nothing but noise."""
    draw = np.random.default_rng(0)
    gain = draw.normal(scale=0.3, size=(61, 2, 3))
    gain -= gain.mean(0)
    gain[:, 1, 0] += 0.5
    zero = np.zeros_like(gain)
    grid = head_grid(HeadRows(gain, np.ones(61), zero + gain, zero))
    assert grid.skill[1][0].value == pytest.approx(0.5, abs=0.1)
    assert grid.skill_adjusted[1, 0] < 0.01
    assert (np.delete(grid.skill_adjusted.ravel(), 3) > 0.05).all()
    np.testing.assert_allclose(grid.erased_adjusted, grid.skill_adjusted)
    frame = grid.to_frame()
    assert frame["head"].tolist() == [1, 2, 0] * 2
    assert frame["layer"].tolist() == [1] * 3 + [2] * 3


def test_what_has_no_heads_to_ask_is_refused():
    with pytest.raises(UserError, match="a transformer whose attention"):
        check_heads(BlackBox(lambda texts: [0.5] * len(texts), classes=("no", "yes")))
    tokenizer = unigram(make_corpus().texts)
    with pytest.raises(UserError, match="from a text to itself"):
        check_heads(TransformerSubject(stirred(classifier("t5", tokenizer)), tokenizer))


def test_the_command_writes_a_table_and_a_figure(tmp_path, monkeypatch, capsys):
    import pandas

    monkeypatch.chdir(tmp_path)
    corpus, tokenizer = make_corpus(), wordpiece()
    network = classifier("bert", tokenizer)
    learn(network, tokenizer, corpus)
    save(network, tokenizer, tmp_path / "mine")
    table = pandas.DataFrame({"text": corpus.texts[:60], "label": corpus.labels[:60]})
    table.to_csv("texts.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main(["heads", "hf:mine", "texts.csv", "--limit", "23"])
    assert ended.value.code == 0
    assert "8 of 8 heads and layers" in capsys.readouterr().out
    frame = pandas.read_csv("heads/mine/heads.csv")
    assert len(frame) == 8
    assert (frame["skill_low"] <= frame["skill"]).all()
    assert Path("heads/mine/heads.png").exists()
    with pytest.raises(SystemExit) as ended:
        main(["heads", "hf:nothing", "texts.csv"])
    assert ended.value.code == 2


def test_any_layer_and_head_is_a_ranking_by_its_name(subject):
    batch = subject.encode(TEXTS)
    maps = head_maps(subject, batch)
    found = by_name(subject, ["layer-1-head-2", "layer-2", "attention", "rollout"])
    assert set(found) == {"layer-1-head-2", "layer-2"}  # the others are judged in any case
    for name, layer, column in (("layer-1-head-2", 0, 1), ("layer-2", 1, 3)):
        torch.testing.assert_close(word_scores(found[name], subject, batch), maps[:, layer, column])
    one = text_scores(subject, TEXTS[0], "layer-2")
    assert one == pytest.approx(maps[0, 1, 3, : len(one)].tolist(), abs=1e-6)


def test_a_layer_or_head_that_is_not_there_is_refused(subject):
    for name in ("layer-3", "layer-0", "layer-1-head-4"):
        with pytest.raises(UserError, match="2 layers of 3 heads"):
            by_name(subject, [name])
    with pytest.raises(UserError, match=r"no ranking of words 'flaw'.*flow"):
        by_name(subject, ["flaw"])
