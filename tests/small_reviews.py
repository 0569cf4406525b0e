"""A few hundred made-up reviews that a model learns in a moment, as a CSV."""

import itertools
from pathlib import Path

import numpy as np

GOOD = ["gorgeous", "witty", "moving", "delight", "heartfelt"]
BAD = ["dull", "tedious", "mess", "lifeless", "flat"]
OTHER = ["film", "story", "the", "a", "and", "with", "but", "plot", "scene", "it", "is", "by", "of"]
SETTINGS = {"epochs": 5, "embedding": 13, "batch": 11, "rate": 0.3}


def write_reviews(path: Path, rows: int = 307, *, seed: int = 5) -> Path:
    """Each text has two words of its class, one of the other in a third of them, and ten that say nothing."""
    generator = np.random.default_rng(seed)
    lines = ["text,label"]
    for row, (name, own, other) in zip(
        range(rows), itertools.cycle([("liked", GOOD, BAD), ("disliked", BAD, GOOD)]), strict=False
    ):
        words = [*generator.choice(own, 2), *generator.choice(other, int(row % 3 == 0))]
        words += [*generator.choice(OTHER, 10)]
        generator.shuffle(words)
        lines.append(f"{' '.join(words)},{name}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
