"""Dealing a corpus into splits so that everybody gets the same one, and no text is on both sides.

The order of the draw is the order of a digest of seed and text: it does not depend on the order of the rows,
on the machine or on the version of a random generator, so a corpus from a file and from a hub is dealt alike.
"""

import hashlib
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heedful.errors import UserError

# A reading of a model needs about two hundred texts that it was not trained on. A file of some hundred rows
# gives more of them away for that than the tenth that a large one does.
TO_JUDGE, TO_DEAL = 200, 250
TO_JUDGE_CLASS = 40  # of one class: thirty that words decide, and some that they do not
MOST_TEST = 0.4
USUAL = (0.8, 0.1, 0.1)  # train, dev and test
Share = tuple[float, float]


def chosen_shares(shares: Sequence[float] | None, test_share: float | None) -> Sequence[float] | None:
    """The shares of train, dev and test that somebody chose, all three or that of test; None if neither."""
    if test_share is not None:
        if shares is not None:
            raise ValueError("either all three shares or that of test can be chosen, not both")
        if not 0 <= test_share < 1:
            raise UserError(f"The share of test must be from 0 to below 1, but it is {test_share:g}.")
        dev = min(USUAL[1], (1 - test_share) / 2)
        return 1 - test_share - dev, dev, test_share
    if shares is not None:
        check_shares(shares)
    return shares


def shares_for(rows: int) -> Sequence[float]:
    """The shares of train, dev and test for so many rows, by which test is large enough to judge by."""
    test = min(MOST_TEST, max(USUAL[2], TO_DEAL / max(rows, 1)))
    return 1 - USUAL[1] - test, USUAL[1], test


def check_shares(shares: Sequence[float]) -> None:
    """Refuse shares that are not three parts of one whole with something to train on."""
    whole = len(shares) == 3 and min(shares) >= 0 and math.isclose(sum(shares), 1, abs_tol=1e-6)
    if not (whole and shares[0] > 0):
        raise UserError(
            "The shares of train, dev and test must be three numbers that sum to 1, that of train above 0, "
            f"but they are {', '.join(f'{share:g}' for share in shares)}."
        )


def deal(
    texts: Sequence[str], labels: Sequence[Hashable], *, shares: Share | Mapping[Any, Share], seed: int
) -> np.ndarray:
    """Deal rows to "train", "dev" and "test" (N,), class by class; copies of a text go together.

    `shares` are the parts of dev and of test, for all classes or for each by name; the rest is train. A class
    of three or more different texts is in every split whose share is not 0. A text that has several labels
    counts for its first one.
    """
    copies = Copies.of(texts, seed=seed)
    code_of: dict[Hashable, int] = {}
    codes = np.fromiter((code_of.setdefault(label, len(code_of)) for label in labels), np.int64, len(labels))
    sizes = np.diff(copies.bounds)
    owners = codes[copies.order[copies.bounds[:-1]]]  # the class of each packet of copies
    splits = np.full(len(texts), "train", dtype="<U5")
    for label, code in code_of.items():
        share = shares[label] if isinstance(shares, Mapping) else shares
        members = np.flatnonzero(owners == code)
        free = dict(zip(("dev", "test"), _quotas(int(sizes[members].sum()), share), strict=True))
        for packet in members.tolist():
            split = next((name for name, places in free.items() if sizes[packet] <= places), None)
            if split is not None:
                splits[copies.order[copies.bounds[packet] : copies.bounds[packet + 1]]] = split
                free[split] -= int(sizes[packet])
            elif not any(free.values()):
                break
    return splits


def deal_folds(
    texts: Sequence[str], labels: Sequence[Hashable], *, folds: int, seed: int
) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """The fold (N,) of each row, from 0: class by class in turn, copies of a text together."""
    copies = Copies.of(texts, seed=seed)
    firsts = copies.order[copies.bounds[:-1]].tolist()
    order = sorted(range(len(firsts)), key=lambda packet: str(labels[firsts[packet]]))  # lots stay in order
    found = np.zeros(len(texts), dtype=np.int64)
    for turn, packet in enumerate(order):
        found[copies.order[copies.bounds[packet] : copies.bounds[packet + 1]]] = turn % folds
    return found


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows in the order of a digest of seed and text, the copies of a text beside each other.

    Packet p, all copies of one text in the order of their rows, is `order[bounds[p] : bounds[p + 1]]`. Texts
    themselves are not held.
    """

    order: np.ndarray  # (N,)
    bounds: np.ndarray  # one more than there are packets

    @classmethod
    def of(cls, texts: Iterable[str], *, seed: int = 0) -> "Copies":
        """Sort these texts."""
        lots = bytearray()
        for text in texts:
            lots += _lot(text, seed)
        first, second = np.frombuffer(lots, ">u8").astype(np.uint64).reshape(-1, 2).T
        order = np.lexsort((second, first))
        same = (np.diff(first[order]) == 0) & (np.diff(second[order]) == 0)
        ends = np.append(np.flatnonzero(~same) + 1, [len(order)] * bool(len(order)))
        return cls(order, np.append(0, ends).astype(np.int64))


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
