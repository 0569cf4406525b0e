"""Rankings that a user brings: arrays of word scores, functions, and Captum's attribution methods.

Axes: B texts, T words, E embedding width, n words of one text.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.models.subject import Subject
from heedful.models.trace import decisions
from heedful.trials.erasure.deletion import delete_words, take_rows
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.rereading import log_odds
from heedful.trials.rankings.word_rankings import OwnRanking

Scores = Sequence[Any] | NDArray | Tensor  # one array a text, or one array (B,T) or (B,T,E) of all


@dataclass(frozen=True, eq=False)
class RowScores:
    """Scores of one's own, an array for each text of the audited split, in its order.

    An array has one score a word, (n,), or an attribution (n,E), as Captum gives, which is summed. What
    stands behind the words of a text, such as padding, is not read.
    """

    name: str
    scores: Scores

    def __call__(self, subject: Subject, batch: Batch) -> Tensor:
        found = torch.zeros(batch.mask.shape, dtype=torch.float64)
        counts = batch.mask.sum(1).tolist()
        for place, (row, count) in enumerate(zip(batch.rows, counts, strict=True)):
            own = _plain(self.scores[int(row)])
            if len(own) < count:
                raise UserError(
                    f"The ranking {self.name!r} has {len(own)} scores for text {int(row)}, which has {count} "
                    "words: give one for each."
                )
            found[place, :count] = own[_places(subject, batch, place, count)]
        return found.to(batch.mask.device)

    @property
    def digest(self) -> str:
        """Of all scores: results of other ones are never taken for those of these."""
        digest = hashlib.blake2b(digest_size=8)
        for row in self.scores:
            own = _plain(row)
            digest.update(b"%d " % len(own) + own.numpy().tobytes())
        return digest.hexdigest()


def own_rankings(given: Mapping[str, Any], texts: int) -> dict[str, OwnRanking]:
    """Rankings by name, from functions of subject and batch, or arrays for so many texts."""
    found: dict[str, OwnRanking] = {}
    for name, one in given.items():
        if callable(one):
            found[name] = one
            continue
        if len(one) != texts:
            raise UserError(
                f"The ranking {name!r} has scores for {len(one):,} texts, but the split has {texts:,}: give "
                "one array for each."
            )
        found[name] = RowScores(name, one)
    return found


def captum_ranking(method: Callable[..., Any], /, **options: Any) -> OwnRanking:
    """A ranking by an attribution method of Captum, such as `captum.attr.IntegratedGradients`.

    It is given the embedded words of one text after the other and the log-odds of the decided class as the
    function to explain; `options` are those of its `attribute`. Attributions are summed over E.
    """

    def ranking(subject: Subject, batch: Batch) -> Tensor:
        found = torch.zeros(batch.mask.shape, dtype=torch.float64)
        nothing = torch.zeros_like(batch.mask[:1])
        for place in range(len(batch)):
            one = delete_words(batch, nothing, of=torch.tensor([place]))  # without padding
            embedded = subject.embed(one).detach().requires_grad_()
            with torch.no_grad():
                decided = decisions(subject.logits(one))

            def lead(points: Tensor, one: Batch = one, decided: Tensor = decided) -> Tensor:
                copies = take_rows(one, torch.zeros(len(points), dtype=torch.long))
                return log_odds(two_sided(subject.logits(copies, points)), decided.expand(len(points)))

            scores = method(lead).attribute(embedded, **options).detach().double().cpu()
            found[place, : scores.shape[1]] = scores[0].sum(-1)
        return found.to(batch.mask.device)

    return ranking


def _plain(scores: Any) -> Tensor:
    given = scores if isinstance(scores, Tensor) else torch.from_numpy(np.array(scores, dtype=np.float64))
    own = given.detach().cpu().double()
    return own.sum(-1) if own.dim() == 2 else own


def _places(subject: Subject, batch: Batch, place: int, count: int) -> Tensor:
    """Where the words (n,) of a text stand among all its words: some that are not read may have left."""
    if batch.words is None:
        return torch.arange(count)
    words = batch.words[place]
    whole = subject.encode([words.text]).words
    assert whole is not None
    return torch.from_numpy(np.searchsorted(whole[0].starts, words.starts))
