"""Dealing a corpus into splits so that everybody gets the same one, and no text is on both sides.

The order of the draw is the order of a digest of seed and text: it does not depend on the order of the rows,
on the machine or on the version of a random generator, so a corpus from a file and from a hub is dealt alike.
"""

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

Share = tuple[float, float]


def deal(
    texts: Sequence[str], labels: Sequence[Hashable], *, shares: Share | Mapping[Any, Share], seed: int
) -> np.ndarray:
    """Deal rows to "train", "dev" and "test" (N,), class by class; copies of a text go together.

    `shares` are the parts of dev and of test, for all classes or for each by name; the rest is train. A class
    of three or more different texts is in every split whose share is not 0. A text that has several labels
    counts for its first one.
    """
    packets: dict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        packets[text].append(row)
    classes: dict[Hashable, list[str]] = defaultdict(list)
    for text, rows in packets.items():
        classes[labels[rows[0]]].append(text)

    splits = np.full(len(texts), "train", dtype="<U5")
    for label, members in classes.items():
        share = shares[label] if isinstance(shares, Mapping) else shares
        count = sum(len(packets[text]) for text in members)
        free = dict(zip(("dev", "test"), _quotas(count, share), strict=True))
        for text in sorted(members, key=lambda text: _lot(text, seed)):
            rows = packets[text]
            split = next((name for name, places in free.items() if len(rows) <= places), None)
            if split is not None:
                splits[rows] = split
                free[split] -= len(rows)
    return splits


def _quotas(count: int, shares: Share) -> tuple[int, int]:
    """How many rows go to dev and to test: rounded, at least one of a share, and train keeps one."""
    if count < 3:
        return 0, 0
    dev, test = (max(1, round(count * share)) if share > 0 else 0 for share in shares)
    while dev + test >= count:
        dev, test = (dev - 1, test) if dev >= test else (dev, test - 1)
    return dev, test


def _lot(text: str, seed: int) -> bytes:
    content = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16, key=b"%d" % seed).digest()
