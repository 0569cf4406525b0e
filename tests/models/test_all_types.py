"""Every type of transformer that classifies texts: which way leads in, what decides, what is exact.

The table of docs/transformers.md is `python tests/models/test_all_types.py`.
"""

import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers", reason="the extra hf is not installed")

sys.path.insert(0, str(Path(__file__).parent))
from all_types import TYPES, probes, tiny

from heedful.models.transformers.last_layer import find_last_layer
from heedful.models.transformers.network import Runner
from heedful.models.transformers.probing import find_entry, shown_attentions

pytestmark = pytest.mark.slow
INTERFACE, SOFTMAX = "attention interface", "caught softmax"
# → way, position, how the last layer is run by itself
EXPECTED = {
    "albert": (INTERFACE, "first", "one row"),  # its layers share their parameters
    "bart": (INTERFACE, "last", "one row"),
    "bloom": (SOFTMAX, "last", "one layer"),
    "deberta-v2": (SOFTMAX, "first", "one layer"),
    "diffllama": (INTERFACE, "last", "one row"),  # attends twice in a layer
    "eurobert": (INTERFACE, "all", "not at all"),
    "fnet": ("logits only", "unknown", "not at all"),  # has no attention
    "gemma2": (INTERFACE, "last", "one row"),  # caps its scores
    "gpt_oss": (INTERFACE, "last", "one row"),  # its weights add up to less than 1
    "zamba2": (INTERFACE, "all", "not at all"),  # layers of another kind follow
    "modernbert": (INTERFACE, "first", "one row"),
    "mt5": (INTERFACE, "last", "one row"),
    "xlnet": (SOFTMAX, "last", "one layer"),
}


def read_type(kind):
    """Which way leads into a random model of this type, which position decides, how its last layer is run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner, texts = Runner(tiny(kind)), probes()
        with torch.no_grad():
            assert all(runner(inputs).logits.isfinite().all() for inputs in texts)
        entry, _ = find_entry(runner, texts)
        if entry is None:
            shown = [shown_attentions(runner, inputs) for inputs in texts]
            looked = all(
                one and one[-1].shape[-2:] == (inputs["input_ids"].shape[1],) * 2
                for one, inputs in zip(shown, texts, strict=True)
            )
            return ("output_attentions" if looked else "logits only"), "unknown", "not at all"
        try:
            last = find_last_layer(runner, entry, texts)
        except LookupError:
            return entry.way.name, entry.position, "not at all"
        assert last.gives_logits == last.one_row  # a pass may end at the row wherever the row is enough
        return entry.way.name, entry.position, "one row" if last.one_row else "one layer"


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_type_is_read_as_it_was_found_to_be(kind):
    assert read_type(kind) == EXPECTED[kind]


def read_all():
    found = {}
    for kind in TYPES:
        try:
            found[kind] = read_type(kind)
        except ImportError as fault:  # layoutlmv2 wants a package that is not on PyPI
            found[kind] = ("not built here", type(fault).__name__, "")
    return found


@pytest.mark.nightly
def test_nearly_every_type_gives_its_attention_and_all_that_can_be_built_their_logits():
    found = read_all()
    ways = Counter(way for way, _, _ in found.values())
    assert ways["not built here"] <= 1
    assert ways[INTERFACE] + ways[SOFTMAX] >= 116
    assert sum(exact.startswith("one") for _, _, exact in found.values()) >= 110


if __name__ == "__main__":
    import transformers

    transformers.logging.set_verbosity_error()
    table = read_all()
    for kind, (way, position, exact) in table.items():
        print(f"| {kind} | {way} | {position} | {exact} |")  # noqa: T201
    for count in (Counter(way for way, _, _ in table.values()), Counter(row[1:] for row in table.values())):
        print(count)  # noqa: T201
