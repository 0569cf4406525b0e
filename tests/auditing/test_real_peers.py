"""What Inseq, Interpreto and LXT themselves hand out, as rankings of our words, beside the same sum by hand.

    pip install heedful[peers] pytest                          # Inseq and Interpreto
    pip install heedful "transformers==4.53.3" lxt==2.1 pytest    # LXT: an environment of its own
    pytest -m nightly tests/auditing/test_real_peers.py

LXT 2.1 runs with no transformers from 5.0 on: it imports what is gone from there, and takes the table of
attention functions for a dictionary.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

import transformers

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from tiny_transformers import byte_level, classifier, language_model, make_corpus, stirred, wordpiece

from heedful.auditing.own_rankings import own_rankings, piece_scores
from heedful.models.transformers import TransformerSubject
from heedful.models.transformers.prompted import prompted
from heedful.trials.erasure.rereading import Reader

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("default")]
TEMPLATE = "The film: {text}\nIt was:"
TEXTS = ["A superb plot and two clumsy scene.", "dreadful it was dreadful."]
OLD = int(transformers.__version__.split(".")[0]) < 5


def by_word(subject, of_pieces):
    """Scores of pieces summed by word, with the subject's own cuts."""
    batch = subject.encode(TEXTS)
    found = torch.zeros(batch.mask.shape, dtype=torch.float64)
    for row, cut in enumerate(subject.cut(batch)):
        piece, word, share = cut.slots
        for at, to, part in zip(piece, word, share, strict=True):
            if to >= 0:
                found[row, to] += of_pieces[row][at] * part
    return found


def input_x_gradient(network, ids, score):
    """Gradient × input of every piece (L,) by hand."""
    vectors = network.get_input_embeddings()(torch.tensor([ids])).detach().requires_grad_()
    score(network(inputs_embeds=vectors).logits).backward()
    return (vectors * vectors.grad)[0].sum(-1).detach().double()


@pytest.mark.skipif(find_spec("inseq") is None, reason="inseq is not installed: make slow does that")
def test_inseq_itself_can_be_handed_over():
    import inseq

    network, tokenizer = language_model(seed=5)
    network.config._name_or_path = tokenizer.name_or_path = "tiny"
    subject = prompted(network, tokenizer, TEMPLATE, ("a", "of"))
    model = inseq.load_model(network, "input_x_gradient", tokenizer=tokenizer)
    prompts = [TEMPLATE.format(text=text) for text in TEXTS]
    given = model.attribute(
        prompts,
        [f"{prompt} a" for prompt in prompts],
        attributed_fn="logit",
        show_progress=False,
        batch_size=1,
    )
    found = own_rankings({"inseq": given}, 2)["inseq"](Reader(subject, subject.encode(TEXTS)))
    label = tokenizer(" a")["input_ids"][0]
    by_hand = [
        input_x_gradient(network, tokenizer(prompt)["input_ids"], lambda logits: logits[0, -1, label])
        for prompt in prompts
    ]
    torch.testing.assert_close(found.double(), by_word(subject, by_hand), atol=1e-5, rtol=1e-4)


@pytest.mark.skipif(find_spec("interpreto") is None, reason="interpreto is not installed (extra peers)")
def test_interpreto_itself_can_be_handed_over():
    import interpreto

    tokenizer = wordpiece()
    subject = TransformerSubject(stirred(classifier("bert", tokenizer)), tokenizer)
    explainer = interpreto.Occlusion(subject.network, tokenizer, granularity=interpreto.Granularity.WORD)
    given = [explainer(text)[0] for text in TEXTS]
    found = own_rankings({"theirs": given}, 2)["theirs"](Reader(subject, subject.encode(TEXTS)))
    assert found.shape == subject.encode(TEXTS).mask.shape
    for row, one in enumerate(given):
        decided = int(subject.logits(subject.encode(TEXTS))[row].argmax())
        scores = torch.as_tensor(one.attributions)
        own = scores if scores.dim() == 1 else scores[min(decided, len(scores) - 1)]
        assert float(found[row].sum()) == pytest.approx(float(own.sum()), abs=1e-5)


@pytest.mark.skipif(find_spec("lxt") is None or not OLD, reason="LXT runs with transformers before 5.0 only")
def test_lxt_itself_can_be_handed_over():
    # Its transformers for pictures need torchvision, and are not asked here.
    pictures = ModuleType("lxt.efficient.models.vit_torch")
    pictures.vision_transformer, pictures.attnLRP, pictures.cp_LRP = pictures, {}, {}
    sys.modules[pictures.__name__] = pictures
    from lxt.efficient import monkey_patch
    from transformers.models.llama import modeling_llama

    tokenizer = byte_level(make_corpus().texts)
    network = stirred(classifier("llama", tokenizer), seed=3)
    subject = TransformerSubject(network, tokenizer)
    ids = [cut.inputs["input_ids"] for cut in subject.cut(subject.encode(TEXTS))]
    decided = subject.logits(subject.encode(TEXTS)).argmax(1).tolist()
    plain = [
        input_x_gradient(network, one, lambda z, k=k: z[0, k]) for one, k in zip(ids, decided, strict=True)
    ]
    reader = Reader(subject, subject.encode(TEXTS))
    monkey_patch(modeling_llama)  # for the whole process: this test is the last one here
    relevance = [
        input_x_gradient(network, one, lambda z, k=k: z[0, k]) for one, k in zip(ids, decided, strict=True)
    ]
    assert not torch.allclose(relevance[0], plain[0], atol=1e-4)  # its rules, and not the gradient
    found = own_rankings({"lxt": piece_scores(relevance)}, 2)["lxt"](reader)
    torch.testing.assert_close(found.double(), by_word(subject, relevance), atol=1e-6, rtol=1e-4)
