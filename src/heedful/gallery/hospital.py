"""Stays in hospital with their diagnoses, and the tree above them: UCI's Diabetes 130, ICD-9 and CCS.

Strack et al. (2014); the tree is HCUP's multi-level CCS. Axes: D codes (numbered first among the nodes),
B next stays, S stays before it, C codes of a stay.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from heedful.gallery.tables import read_table

STAYS, CODES = "diabetes130_visits.csv.gz", "diabetes130_codes.csv.gz"
HISTORY = 6  # stays before the next one that are read, the newest last
LEVELS = ("l1", "l2", "l3", "l4")
DIAGNOSES = ("diag_1", "diag_2", "diag_3")
NONE = -1  # no code


@dataclass(frozen=True)
class NextStays:
    """What was diagnosed in a patient's stays, and in the next one."""

    before: Tensor  # (B,S,C) codes, NONE where there is none; a short history begins with empty stays
    following: Tensor  # (B,C) codes, each once

    def __len__(self) -> int:
        return len(self.before)

    def rows(self, chosen: Tensor) -> "NextStays":
        return NextStays(self.before[chosen], self.following[chosen])


@dataclass(frozen=True)
class Hospital:
    """Codes, the tree above them, and next stays by split; patients are in one split only."""

    codes: list[str]
    parents: Tensor  # (V), −1 at the root
    splits: dict[str, NextStays]


def read_hospital(folder: Path) -> Hospital:
    """Read both files; visits are taken in the order of their numbers."""
    tree = read_table(folder / CODES, ("code", *LEVELS))
    stays = read_table(folder / STAYS, ("patient", "visit", *DIAGNOSES, "split"), whole=("visit",))
    codes = tree["code"].tolist()
    ids = {code: place for place, code in enumerate(codes)}
    stays = stays[stays.groupby("patient")["patient"].transform("size") > 1]
    stays = stays.sort_values(["patient", "visit"], kind="stable")
    numbered = np.stack([stays[name].map(ids).fillna(NONE).astype(int) for name in DIAGNOSES], -1)
    patient, split = stays["patient"].to_numpy(), stays["split"].to_numpy()
    return Hospital(
        codes,
        grow_tree(tree),
        {name: _next(numbered[split == name], patient[split == name]) for name in ("train", "dev", "test")},
    )


def grow_tree(tree: "object") -> Tensor:
    """Each node's parent (V): codes first, then every group of every level that is named, then the root."""
    levels = [tree[level].tolist() for level in LEVELS]  # type: ignore[index]
    lineages = [[name for name in row if name] for row in zip(*levels, strict=True)]
    groups = sorted({tuple(lineage[:depth]) for lineage in lineages for depth in range(1, len(lineage) + 1)})
    ids = {group: len(lineages) + place for place, group in enumerate(groups)}
    root = len(lineages) + len(groups)
    of_codes = [ids[tuple(lineage)] if lineage else root for lineage in lineages]
    return torch.tensor([*of_codes, *(ids.get(group[:-1], root) for group in groups), -1])


def _next(codes: np.ndarray, patient: np.ndarray) -> NextStays:
    """Every stay with one before it, for stays (N,C) in the order of patients and visits."""
    later = np.flatnonzero(patient[1:] == patient[:-1]) + 1
    places = later[:, None] - np.arange(HISTORY, 0, -1)  # (B,S)
    own = (places >= 0) & (patient[np.maximum(places, 0)] == patient[later][:, None])
    before = np.where(own[..., None], codes[np.maximum(places, 0)], NONE)
    following = codes[later].copy()
    for column in range(1, following.shape[1]):  # a code that stands twice in a stay counts once
        again = (following[:, :column] == following[:, [column]]).any(1)
        following[again, column] = NONE
    return NextStays(torch.from_numpy(before), torch.from_numpy(following))
