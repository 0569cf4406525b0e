"""Any layer and head as a level of the trace: own weights give own logits, other weights what a tap gives."""

import json

import pandas as pd
import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

from tiny_transformers import byte_level, classifier, make_corpus, save, stirred, unigram, wordpiece

from heedful.auditing.audited import digest_of
from heedful.auditing.erasing import erase_split
from heedful.cli import main
from heedful.data.pairs import paired
from heedful.errors import UserError
from heedful.models.transformers import TransformerSubject, load_transformer
from heedful.models.transformers.any_layer import AtLevel, place_of
from heedful.models.word_attention import word_attention
from heedful.trials.rankings.attention_rankings import of_layer

pytestmark = pytest.mark.slow
TEXTS = ["The wonderful film, was it dreadful?", "Moving!", "a plot ... of two (clumsy) scenes"]


def subject_of(family):
    tokenizer = wordpiece() if family == "bert" else byte_level(make_corpus().texts)
    return TransformerSubject(stirred(classifier(family, tokenizer), seed=3), tokenizer)


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def subject(request):
    """One decides at its first position, one at its last."""
    return subject_of(request.param)


@pytest.mark.parametrize("level", ["layer-1", "layer-2", "layer-1-head-2", "layer-2-head-3"])
def test_own_weights_give_own_logits_and_the_attention_is_the_ranking_of_that_name(subject, level):
    batch = subject.encode(TEXTS)
    trace = subject.trace(batch, level)
    assert trace.weights.shape[1] == (1 if "head" in level else 3)
    torch.testing.assert_close(trace.logits(), subject.logits(batch), atol=2e-5, rtol=1e-4)
    mine, _ = word_attention(AtLevel(subject, level), batch)
    place = place_of(subject, level)
    named = of_layer(subject, batch, layer=place.layer, head=place.head)
    torch.testing.assert_close(mine.double(), named, atol=1e-6, rtol=1e-4)


def test_the_last_layer_by_full_passes_is_the_exact_trace_also_when_words_are_erased(subject):
    batch = subject.encode(TEXTS)
    exact, passes = subject.trace(batch), subject.trace(batch, "layer-2")
    torch.testing.assert_close(passes.weights, exact.weights)
    erased = torch.zeros_like(exact.present)
    erased[:, 0] = True
    torch.testing.assert_close(
        passes.logits(passes.erase(erased)), exact.logits(exact.erase(erased)), atol=2e-5, rtol=1e-4
    )


def test_other_weights_are_put_into_that_head_and_nowhere_else(subject):
    group = subject.groups(subject.encode(TEXTS[:1]))[0]
    trace = subject.trace(subject.encode(TEXTS[:1]), "layer-1-head-2")
    row = 0 if subject.position == "first" else -1
    other = trace.weights.flip(-1)
    # The slots of a piece that two words share hold a half of it each.
    pieces = torch.einsum("brs,brsl->brl", other, trace.values)

    def put(call):
        if call.number != 0:
            return None
        changed = call.weights.clone()
        changed[:, 1, row] = pieces[:, 0]
        return changed

    with torch.no_grad(), subject.entry.way.tapped(subject.network, put):
        expected = subject.runner(group.inputs).logits
    torch.testing.assert_close(trace.logits(other), expected, atol=2e-5, rtol=1e-4)
    assert not torch.allclose(expected, subject.logits(subject.encode(TEXTS[:1])), atol=1e-4)


def test_what_is_not_there_is_refused(subject):
    batch = subject.encode(TEXTS)
    for level, said in (
        ("layer-3", "2 layers of 3 heads"),
        ("layer-1-head-4", "2 layers of 3 heads"),
        ("words", "no attention level 'words'"),
    ):
        with pytest.raises(UserError, match=said):
            subject.trace(batch, level)
    t5 = TransformerSubject(
        stirred(classifier("t5", unigram(make_corpus().texts))), unigram(make_corpus().texts)
    )
    with pytest.raises(UserError, match="not seen one by one"):
        t5.trace(t5.encode(TEXTS), "layer-1")


def test_erase_and_debate_run_at_a_head(tmp_path, capsys):
    tokenizer = wordpiece()
    folder = save(stirred(classifier("bert", tokenizer), seed=3), tokenizer, tmp_path / "model")
    corpus = make_corpus(120)
    subject = load_transformer(folder)
    assert (
        len({digest_of(one) for one in (subject, AtLevel(subject, "layer-1"), AtLevel(subject, "layer-2"))})
        == 3
    )
    found = erase_split(subject, corpus, level="layer-1-head-2", limit=6, out=tmp_path / "erased")
    assert found.coordinates["layer"] == "layer-1-head-2"
    assert len(found.rows) == 6
    assert found.findings
    with pytest.raises(UserError, match="2 layers of 3 heads"):
        erase_split(subject, corpus, level="layer-9", limit=6, out=tmp_path / "no")
    assert not (tmp_path / "no").exists()
    data = tmp_path / "texts.csv"
    rows = zip(corpus.split("test").texts, corpus.split("test").labels, strict=True)
    data.write_text("text,label\n" + "".join(f'"{text}",{corpus.label_names[code]}\n' for text, code in rows))
    asked = ["debate", f"hf:{folder}", "--data", str(data), "--limit", "5", "--only", "agreement,permutation"]
    with pytest.raises(SystemExit) as done:
        main([*asked, "--level", "layer-1-head-2", "--out", str(tmp_path / "debate")])
    assert done.value.code == 0
    assert "asked of layer-1-head-2" in capsys.readouterr().err
    with pytest.raises(SystemExit) as done:
        main([*asked, "--level", "layer-7", "--out", str(tmp_path / "other")])
    assert done.value.code == 2


def test_words_of_both_texts_of_a_pair_are_erased(tmp_path, capsys):
    tokenizer = wordpiece()
    folder = save(stirred(classifier("bert", tokenizer), seed=3), tokenizer, tmp_path / "model")
    corpus = make_corpus(24)
    firsts, seconds = corpus.texts[:6], corpus.texts[6:12]
    rows = zip(firsts, seconds, ("bad", "good") * 3, strict=True)
    data = tmp_path / "pairs.csv"
    data.write_text("one,two,label\n" + "".join(f'"{a}","{b}",{label}\n' for a, b, label in rows))
    asked = ["erase", f"hf:{folder}", "--data", str(data), "--text", "one", "--text-pair", "two"]
    with pytest.raises(SystemExit) as done:
        main([*asked, "--level", "layer-1", "--out", str(tmp_path / "out"), "--json"])
    assert done.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert found["instances"] == 6
    subject = load_transformer(folder)
    batch = subject.encode([paired(a, b) for a, b in zip(firsts, seconds, strict=True)])
    words = subject.words_read(batch).sum(1).tolist()
    frame = pd.concat(pd.read_parquet(path) for path in sorted((tmp_path / "out").rglob("*.parquet")))
    assert sorted(frame["items"]) == sorted(words)  # of both
