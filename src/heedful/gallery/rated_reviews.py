"""Reviews with their writer, item and rating: Amazon's Musical Instruments, 5-core (McAuley et al.).

The page of a user holds reviews that the user wrote of other items, the page of an item reviews that others
wrote of it. Both are of the training part, and the review whose rating is to be told is never among them.
Axes: N ratings, T words of a page.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from heedful.data import Vocabulary, split_texts
from heedful.data.vocabulary import PADDING_ID
from heedful.gallery.tables import read_table

FILE = "amazon_musical_instruments.csv.gz"
REVIEWS, WORDS = 4, 20  # of a page: reviews, and words of each
RARE = 5  # words seen less often are unknown


@dataclass(frozen=True)
class Ratings:
    """Ratings with the pages of who gave them and of what they were given to."""

    users: Tensor  # (N)
    items: Tensor  # (N)
    ratings: Tensor  # (N)
    user_pages: Tensor  # (N,T)
    item_pages: Tensor  # (N,T)

    def __len__(self) -> int:
        return len(self.ratings)

    def rows(self, chosen: Tensor) -> "Ratings":
        return Ratings(*(column[chosen] for column in vars(self).values()))

    def to(self, device: str) -> "Ratings":
        return Ratings(*(column.to(device) for column in vars(self).values()))


@dataclass(frozen=True)
class Reviews:
    """All ratings by split, and the words of their pages."""

    vocabulary: Vocabulary
    users: int
    items: int
    splits: dict[str, Ratings]


def read_reviews(folder: Path, *, seed: int, most: int | None = None) -> Reviews:
    """Read the file and write a page for each rating's user and item; which reviews it holds, chance says."""
    import pandas

    rows = read_table(folder / FILE, ("user", "item", "rating", "text", "split"), whole=("rating",)).iloc[
        :most
    ]
    texts = [words.forms[:WORDS] for words in split_texts(rows["text"].tolist())]
    split = rows["split"].to_numpy()
    seen = [form for forms, part in zip(texts, split, strict=True) if part == "train" for form in forms]
    vocabulary = Vocabulary.build(seen, min_count=RARE)
    ids = np.full((len(rows), WORDS), PADDING_ID, dtype=np.int64)
    for row, forms in enumerate(texts):
        ids[row, : len(forms)] = vocabulary.ids(forms)
    users, items = (pandas.factorize(rows[name])[0] for name in ("user", "item"))
    chance = np.random.default_rng(seed)
    pages = [write_pages(by, split == "train", ids, chance) for by in (users, items)]
    columns = (users, items, rows["rating"].to_numpy(np.float32), *pages)
    every = Ratings(*(torch.from_numpy(np.ascontiguousarray(column)) for column in columns))
    parts = {name: every.rows(torch.from_numpy(split == name)) for name in ("train", "dev", "test")}
    return Reviews(vocabulary, int(users.max()) + 1, int(items.max()) + 1, parts)


def write_pages(
    by: np.ndarray, train: np.ndarray, ids: np.ndarray, chance: np.random.Generator
) -> np.ndarray:
    """For each review (N) other training reviews of the same user, or item, one after the other: (N,T)."""
    pages = np.full((len(by), REVIEWS * WORDS), PADDING_ID, dtype=np.int64)
    for who in range(by.max() + 1):
        own = np.flatnonzero(by == who)
        known = own[train[own]]
        for row in own:
            drawn = chance.permutation(known[known != row])[:REVIEWS]
            words = ids[drawn][ids[drawn] != PADDING_ID]
            pages[row, : len(words)] = words
    return pages
