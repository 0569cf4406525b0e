"""Erasure and the debate on anybody's model: what it can give is asked, and what it cannot is said."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from planted import corpus_of
from typer.testing import CliRunner

from heedful.auditing.erasing import erase_split
from heedful.auditing.whole import audit
from heedful.cli.app import app
from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.models.black_box import BlackBox
from heedful.models.building import build_model
from heedful.models.settings import ModelSettings
from heedful.papers.debate.holding import debate

CORPUS = corpus_of()
CLASSES = CORPUS.label_names


def box():
    def decide(texts):
        return np.array([0.9 if "good" in text.split() else 0.2 for text in texts])

    return BlackBox(decide, classes=CLASSES)


def open_model():
    """A model of ours that came without its run, as any object with the methods of a subject."""
    words = sorted({word for text in CORPUS.texts for word in text.lower().split()})
    settings = ModelSettings(embedding=7, hidden=6, encoder="bigru", head="logits")
    return build_model(settings, Vocabulary.build(words), CLASSES, seed=3).double()


class Opaque:
    """A subject that is none of our classes: it passes on what another one answers."""

    def __init__(self, inner):
        self.inner, self.classes, self.mixes_tokens = inner, inner.classes, inner.mixes_tokens

    def __getattr__(self, name):
        if name in ("encode", "embed", "logits", "trace"):
            return getattr(self.inner, name)
        raise AttributeError(name)


def test_words_of_a_black_box_are_erased_and_what_it_lacks_is_said(tmp_path):
    found = erase_split(box(), CORPUS, at_input=True, limit=11, out=tmp_path / "rows")
    names = {one.coordinates["ranking"] for one in found.findings}
    assert names == {"leave-one-out", "random"}
    assert any("cannot be ranked by attention, gradient" in note for note in found.notes)
    assert len(found.rows) == 11
    again = erase_split(box(), CORPUS, at_input=True, limit=11, out=tmp_path / "rows")
    assert again.streamed.skipped == again.streamed.batches
    with pytest.raises(UserError, match=r"no attention layer to erase at .* --input"):
        erase_split(box(), CORPUS, out=tmp_path / "layer")
    with pytest.raises(UserError, match="cannot be ranked by attention"):
        erase_split(box(), CORPUS, at_input=True, rankings=["attention"], out=tmp_path / "named")
    with pytest.raises(UserError, match="needs labelled texts"):
        erase_split(box(), out=tmp_path / "none")


def test_a_subject_that_is_no_class_of_ours_gives_what_the_model_inside_gives(tmp_path):
    model = open_model()
    asked = {"limit": 13, "rankings": ["attention", "gradient"]}
    ours = erase_split(model, CORPUS, out=tmp_path / "ours", **asked).rows
    theirs = erase_split(Opaque(model), CORPUS, out=tmp_path / "theirs", **asked).rows
    for name in ("items", "decided", "size_attention", "size_gradient", "single_attention_top_flips"):
        assert ours[name].tolist() == theirs[name].tolist()


def test_ones_own_function_is_erased_beside_the_others(tmp_path):
    def by_length(reader, *, seed=0):
        return [[len(form) for form in words.forms] + [0] * (reader.batch.mask.shape[1] - len(words))
                for words in reader.batch.words]  # fmt: skip

    found = erase_split(
        box(), CORPUS, at_input=True, limit=7, own={"by-length": by_length}, out=tmp_path / "rows"
    )
    assert "without_by-length_5" in found.rows
    with pytest.raises(UserError, match="new name"):
        erase_split(box(), CORPUS, at_input=True, own={"random": by_length}, out=tmp_path / "taken")


def test_an_audit_says_what_it_took_the_columns_and_labels_to_be(tmp_path):
    said, path = [], tmp_path / "films.csv"
    rows = [
        f"a {'good' if row % 2 else 'dull'} film number {row},{'up' if row % 2 else 'down'}"
        for row in range(80)
    ]
    path.write_text("\n".join(["review,label", *rows]), encoding="utf-8")
    audit(box(), path, out=tmp_path / "audit", limit=9, say=said.append)
    assert any("text from column 'review', label from column 'label'" in line for line in said)
    assert any(f"down={CLASSES[0]},up={CLASSES[1]} (say otherwise" in line for line in said)


def test_a_debate_over_somebodys_model_asks_what_needs_no_training(tmp_path):
    said = []
    asked = {"out": tmp_path / "debate", "limit": 9, "quick": True, "say": said.append}
    held = debate(Opaque(open_model()), CORPUS, **asked)
    assert [one.stage.name for one in held] == ["agreement", "permutation", "adversary"]
    for name in ("uniform", "seeds", "diagnostic", "adversarial", "sanity"):
        assert (
            f"{name} is left out: it trains the model again, and somebody's model is not ours to train."
            in said
        )
    assert any("cannot hold it constant" in line for line in said)
    for one in held:
        assert one.findings
        assert all(path.exists() for path in one.figures)
        table = next(iter(one.reproduction.tables.values()))
        assert table["instance"].nunique() == 9
        assert set(table["corpus"]) == {CORPUS.name}
    said.clear()
    again = debate(Opaque(open_model()), CORPUS, **asked)
    assert not any("rows …" in line for line in said)  # what was measured is read again
    assert [one.to_dict() for one in again] == [one.to_dict() for one in held]


def test_a_debate_over_a_black_box_has_nothing_to_ask(tmp_path):
    with pytest.raises(UserError, match="agreement is left out here"):
        debate(box(), CORPUS, out=tmp_path / "debate")
    with pytest.raises(UserError, match="needs labelled texts"):
        debate(box(), out=tmp_path / "debate")


@pytest.mark.slow
def test_a_transformer_is_erased_and_debated_from_the_command_line(tmp_path):
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
    from tiny_transformers import classifier, make_corpus, save, stirred, wordpiece

    tokenizer = wordpiece()
    folder = save(stirred(classifier("bert", tokenizer), seed=3), tokenizer, tmp_path / "model")
    corpus = make_corpus(60)
    texts = tmp_path / "texts.csv"
    texts.write_text(
        "text,label\n"
        + "".join(
            f'"{text}",{corpus.label_names[label]}\n'
            for text, label in zip(corpus.texts, corpus.labels, strict=True)
        ),
        encoding="utf-8",
    )
    common = [f"hf:{folder}", "--data", str(texts), "--limit", "4", "--json"]
    for more in ([], ["--input"]):
        done = CliRunner().invoke(app, ["erase", *common, *more, "--out", str(tmp_path / f"rows{len(more)}")])
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert found["instances"] == 4
        named = {one["coordinates"].get("ranking") for one in found["findings"]}
        assert "attention" in named
        assert ("rollout" in named) == bool(more)
    only = ["--only", "agreement,permutation"]
    done = CliRunner().invoke(app, ["debate", *common, *only, "--out", str(tmp_path / "debate")])
    assert done.exit_code == 0, done.output
    assert [one["name"] for one in json.loads(done.stdout)["stages"]] == ["agreement", "permutation"]
    assert "uniform" not in done.stderr  # it was not asked for


@pytest.mark.slow
def test_a_label_a_threshold_or_a_prompt_is_erased_and_debated_from_the_command_line(tmp_path):
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
    from tiny_transformers import classifier, language_model, make_corpus, save, stirred, wordpiece

    tokenizer, corpus = wordpiece(), make_corpus(24)
    names = {"id2label": {0: "good", 1: "long"}, "label2id": {"good": 0, "long": 1}}
    several = classifier("bert", tokenizer, problem_type="multi_label_classification", **names)
    number = classifier("bert", tokenizer, id2label={0: "score"}, label2id={"score": 0}, num_labels=1)
    folders = {
        name: save(stirred(network, seed=3), tokenizer, tmp_path / name)
        for name, network in (("several", several), ("number", number))
    }
    folders["prompted"] = save(*language_model(), tmp_path / "prompted")
    (tmp_path / "prompt.txt").write_text("The film: {text} It was:", encoding="utf-8")
    files = {"several": "text,good,long", "number": "text,score", "prompted": "text,label"}
    for name, head in files.items():
        lines = [
            f'"{text}",{(corpus.label_names[label] if name == "prompted" else label)}'
            + f",{row % 3 // 2}" * (name == "several")
            for row, (text, label) in enumerate(zip(corpus.texts, corpus.labels, strict=True))
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    asked = {
        "several": ["--audit-label", "long"],
        "number": ["--threshold", "0.1"],
        "prompted": [
            "--template",
            str(tmp_path / "prompt.txt"),
            "--labels",
            "a,of",
            "--label-map",
            "bad=a,good=of",
        ],
    }
    for name, how in asked.items():
        texts = str(tmp_path / f"{name}.csv")
        common = [f"hf:{folders[name]}", "--data", texts, "--limit", "4", "--json", *how]
        done = CliRunner().invoke(app, ["erase", *common, "--out", str(tmp_path / f"rows-{name}")])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["instances"] == 4
        done = CliRunner().invoke(
            app, ["debate", *common, "--only", "permutation", "--out", str(tmp_path / f"debate-{name}")]
        )
        assert done.exit_code == 0, done.output
    for command in ("erase", "debate"):
        texts = str(tmp_path / "several.csv")
        done = CliRunner().invoke(app, [command, f"hf:{folders['several']}", "--data", texts])
        assert done.exit_code == 2
        assert "may give several labels at once: name the one" in " ".join(done.stderr.split())
    done = CliRunner().invoke(app, ["debate", "data-2", "--threshold", "1", "--quick"])
    assert done.exit_code == 2
    assert "is for a transformer" in done.stderr
