"""Texts whose words speak for a class more or less strongly: there is something for attention to find."""

import numpy as np

from heedful.data.corpus import Corpus

SPLITS = ("train", "train", "train", "dev", "test", "test")
QUICK = {"model": "dp", "embedding": 20, "epochs": 10, "rate": 0.1, "scale": 1.0}


def graded(rows=1200, *, seed=0) -> Corpus:
    """6 to 13 words a text, of strength 0 to 5; a word of strength k is of the text's class in 50 + 9k %."""
    draw = np.random.default_rng(seed)
    texts = []
    for row in range(rows):
        words = []
        for _ in range(draw.integers(6, 14)):
            strength = draw.integers(0, 6)
            side = row % 2 if draw.random() < 0.5 + 0.09 * strength else 1 - row % 2
            kind = f"{('dull', 'lively')[side]}{strength}{'abc'[draw.integers(3)]}"
            words.append(kind if strength else f"plain{draw.integers(9)}")
        texts.append(" ".join(words))
    labels = np.arange(rows) % 2
    splits = np.array(SPLITS)[np.arange(rows) // 2 % len(SPLITS)]
    return Corpus("graded", texts, labels, splits, ("negative", "positive"))


def write_csv(corpus: Corpus, path):
    lines = ["text,label,split"]
    for text, label, split in zip(corpus.texts, corpus.labels, corpus.splits, strict=True):
        lines.append(f"{text},{corpus.label_names[label]},{split}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
