"""What a notebook shows of a corpus and of a run: the gist as HTML, escaped; not every text and weight."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from heedful.data.corpus import Corpus
from heedful.training import train

SETTINGS = {"epochs": 2, "embedding": 13, "seed": 0}


@pytest.fixture(scope="module")
def corpus():
    texts = [f"{'dull' if row % 2 else 'witty'} film number {row}" for row in range(61)]
    splits = np.array(["train", "train", "train", "dev", "test"])[np.arange(61) % 5]
    return Corpus("<films>", texts, np.arange(61) % 2, splits, ("<good>", "bad"), ("One & one.",))


def parsed(html: str) -> ET.Element:
    """Whatever is not escaped, or not closed, is refused by the parser."""
    return ET.fromstring(html)


def test_a_corpus_is_shown_by_its_sizes(corpus):
    shown = parsed(corpus._repr_html_())
    said = "".join(shown.itertext())
    assert "<films>: 61 texts" in said
    assert "One & one." in said
    assert "number 7" not in said  # no text of it
    counts = [[int(cell.text) for cell in row.iter("td")] for row in shown.find("table/tbody")]
    assert counts == [list(corpus.class_sizes(split).values()) for split in ("train", "dev", "test")]


def test_a_run_is_shown_by_what_came_of_it(corpus, tmp_path):
    run = train(corpus, model="dp", out=tmp_path / "run", **SETTINGS)
    shown = parsed(run._repr_html_())
    said = "".join(shown.itertext())
    assert "dp on <films>" in said
    assert f"dev accuracy {100 * run.result['dev_accuracy']:.1f} %" in said
    assert str(tmp_path / "run") in said
    assert len(shown.findall(".//tbody/tr")) == 2  # a row an epoch
