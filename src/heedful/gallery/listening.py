"""Who listens to whom: Last.fm's plays with the tags of artists (HetRec 2011), leave one out.

Artists with five listeners or more and a tag are kept, and users with four artists or more. One artist of
each user is set aside for dev and one for test, each ranked among 99 that the user never played; these draws
are the same for every seed of training. Axes: U users, I items, L items of a history, M tags of an item.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from heedful.gallery.tables import read_table

PLAYS, TAGS, ARTISTS = "lastfm_plays.csv.gz", "lastfm_tags.csv.gz", "lastfm_artists.csv.gz"
LISTENERS, FEWEST, NEGATIVES = 5, 4, 99
NONE = -1


@dataclass(frozen=True)
class Listening:
    """Histories without what is set aside, candidates whose first is the one to be found, and tags."""

    history: Tensor  # (U,L) items, NONE after the last
    dev: Tensor  # (U,1 + 99)
    test: Tensor  # (U,1 + 99)
    tags: Tensor  # (I,M) tags, NONE after the last
    tag_names: list[str]
    names: list[str]  # of items

    @property
    def items(self) -> int:
        return len(self.names)

    def played(self) -> Tensor:
        """Who played what, without what is set aside: (U,I), 0 or 1."""
        found = torch.zeros(len(self.history), self.items + 1)
        found.scatter_(1, self.history.where(self.history != NONE, self.items), 1.0)
        return found[:, :-1]


def read_listening(folder: Path, *, users: int | None = None) -> Listening:
    """Read the three files; `users` keeps so many."""
    plays = read_table(folder / PLAYS, ("user", "item"), whole=("user", "item"))
    tags = read_table(folder / TAGS, ("item", "tag"), whole=("item",))
    artists = read_table(folder / ARTISTS, ("item", "name"), whole=("item",)).set_index("item")["name"]
    listeners = plays.groupby("item")["user"].transform("nunique")
    plays = plays[(listeners >= LISTENERS) & plays["item"].isin(tags["item"])]
    plays = plays[plays.groupby("user")["user"].transform("size") >= FEWEST]
    if users is not None:
        plays = plays[plays["user"].isin(sorted(plays["user"].unique())[:users])]
    kept = sorted(plays["item"].unique())
    ids = {item: place for place, item in enumerate(kept)}
    tag_names = sorted(tags[tags["item"].isin(kept)]["tag"].unique())
    tag_ids = {tag: place for place, tag in enumerate(tag_names)}
    of_item = tags[tags["item"].isin(kept)].groupby("item")["tag"].apply(list)
    chance = np.random.default_rng(19)
    histories, candidates = [], []
    for _, own in plays.groupby("user")["item"]:
        items = chance.permutation([ids[item] for item in own])
        others = np.setdiff1d(np.arange(len(kept)), items)
        drawn = [chance.choice(others, min(NEGATIVES, len(others)), replace=False) for _ in range(2)]
        candidates.append(np.concatenate([items[:2, None], np.stack(drawn)], 1))
        histories.append(items[2:].tolist())
    both = torch.from_numpy(np.stack(candidates))
    return Listening(
        padded(histories),
        both[:, 0],
        both[:, 1],
        padded([[tag_ids[tag] for tag in of_item[item]] for item in kept]),
        tag_names,
        [str(artists.get(item, item)) for item in kept],
    )


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of different lengths as one table, NONE after the last."""
    table = np.full((len(rows), max(map(len, rows))), NONE, dtype=np.int64)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return torch.from_numpy(table)
