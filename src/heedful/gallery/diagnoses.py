"""The task of `gram`: diagnoses at one visit, to say those of the next; some codes are rare.

Codes are the leaves of a tree: groups stand above codes, chapters above groups, a root above all. A code's
consequence is its own (known to nobody who has not seen the code often), one of its group's, or its
chapter's. In every group some codes are common, and the others rarer and rarer.
Axes: V nodes, D codes (numbered first among the nodes), B patients, 2 codes a visit.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

CHAPTERS, GROUPS, CODES = 8, 5, 10  # groups of a chapter, codes of a group
SHARES = (0.4, 0.5, 0.1)  # of consequences: the code's own, its group's, its chapter's
OF_GROUP = 8  # consequences of a group, as likely
EQUALS, FALL = 4, 0.4  # codes of a group that are as common; each further one in parts of the one before


@dataclass(frozen=True)
class Ontology:
    """The tree, how popular its codes are, and what follows from each."""

    parents: Tensor  # (V), -1 at the root
    popularity: np.ndarray  # (D), in sum 1
    own: np.ndarray  # (D) the code that follows from a code
    of_group: np.ndarray  # (D,2) those that follow from its group
    of_chapter: np.ndarray  # (D) that which follows from its chapter

    @property
    def codes(self) -> int:
        return len(self.popularity)


@dataclass(frozen=True)
class Visits:
    """Patients with a visit and the next: the second code of each follows from the first of the other."""

    present: Tensor  # (B,2)
    following: Tensor  # (B,2) in the same order: one consequence of each code

    def __len__(self) -> int:
        return len(self.present)


def grow_ontology(seed: int) -> Ontology:
    """Draw popularities and consequences; the tree is the same for every seed."""
    chance = np.random.default_rng([seed, 0])
    codes, groups = CHAPTERS * GROUPS * CODES, CHAPTERS * GROUPS
    group, chapter = np.arange(codes) // CODES, np.arange(codes) // (CODES * GROUPS)
    parents = np.concatenate(
        [
            codes + group,
            codes + groups + np.arange(groups) // GROUPS,
            np.full(CHAPTERS, codes + groups + CHAPTERS),
            [-1],
        ]
    )
    ranks = chance.permuted(np.tile(np.arange(CODES), (groups, 1)), axis=1).ravel()
    weight = FALL ** np.maximum(ranks - EQUALS + 1, 0)
    return Ontology(
        torch.from_numpy(parents),
        weight / weight.sum(),
        chance.integers(codes, size=codes),
        chance.integers(codes, size=(groups, OF_GROUP))[group],
        chance.integers(codes, size=CHAPTERS)[chapter],
    )


def draw_visits(ontology: Ontology, count: int, *, seed: int, evenly: bool = False) -> Visits:
    """Draw patients. Evenly: the first code of a visit is any, as likely, so that rare ones are tested."""
    chance = np.random.default_rng([seed, 1 + evenly])
    present = chance.choice(ontology.codes, size=(count, 2), p=ontology.popularity)
    if evenly:
        present[:, 0] = chance.integers(ontology.codes, size=count)
    kind = chance.choice(3, size=present.shape, p=SHARES)
    which = chance.integers(OF_GROUP, size=present.shape)
    following = np.select(
        [kind == 0, kind == 1],
        [ontology.own[present], ontology.of_group[present, which]],
        ontology.of_chapter[present],
    )
    return Visits(torch.from_numpy(present), torch.from_numpy(following))


def counts_of(visits: Visits, codes: int) -> Tensor:
    """How often each code (D) stands at a visit that is learnt from."""
    return visits.present.flatten().bincount(minlength=codes)
