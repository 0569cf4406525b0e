"""Rankings that a user brings: arrays of scores, functions, Captum's methods, and other libraries' objects.

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

from heedful.auditing.explanations import is_explanation, parts_of
from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.models.subject import Subject
from heedful.models.trace import decisions
from heedful.models.transformers import TransformerSubject
from heedful.trials.erasure.deletion import delete_words, take_rows
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.rereading import Reader, log_odds
from heedful.trials.rankings.ranking import Ranking

Scores = Sequence[Any] | NDArray | Tensor  # one array per text, or one array (B,T) or (B,T,E) of all


@dataclass(frozen=True, eq=False)
class RowScores:
    """Scores of one's own, an array or an explanation for each text of the audited split, in its order.

    An array has one score per word, (n,), or an attribution (n,E), as Captum gives, which is summed. What
    stands behind the words of a text, such as padding, is not read. With `of_pieces` an array has one score
    for each piece that a transformer reads, special tokens included, as Captum and LXT give.
    """

    name: str
    scores: Scores
    of_pieces: bool = False

    def __call__(self, reader: Reader, /, *, seed: int = 0) -> Tensor:
        subject, batch = reader.subject, reader.batch
        found = torch.zeros(batch.mask.shape, dtype=torch.float64)
        counts = batch.mask.sum(1).tolist()
        for place, (row, count) in enumerate(zip(batch.rows, counts, strict=True)):
            one = self.scores[int(row)]
            if self.of_pieces or is_explanation(one):
                own = self._on_words(subject, batch, place, one)
            else:
                own = _plain(one)
                self._refuse_pieces(subject, batch, place, len(own))
            if len(own) < count:
                raise UserError(
                    f"The ranking {self.name!r} has {len(own)} scores for text {int(row)}, which has {count} "
                    "words: give one for each."
                )
            found[place, :count] = own[_places(subject, batch, place, count)]
        return found.to(batch.mask.device)

    def _on_words(self, subject: Subject, batch: Batch, place: int, one: Any) -> Tensor:
        """The scores (n,) of all words of a text, from those of its parts."""
        if batch.words is None:
            raise UserError(f"The ranking {self.name!r} scores parts of texts, but this batch has only ids.")
        whole = subject.encode([batch.words[place].text])
        assert whole.words is not None
        if not self.of_pieces:
            with torch.no_grad():
                decided = int(decisions(two_sided(subject.logits(whole)))[0])
            parts = parts_of(one, whole.words[0].text, decided)
            return torch.from_numpy(parts.on_words(whole.words[0], decided))
        if not isinstance(subject, TransformerSubject):
            raise UserError(f"The ranking {self.name!r} scores pieces, which only a transformer has.")
        (group,) = subject.groups(whole)
        own = _plain(one)
        if len(own) != group.length:
            raise UserError(
                f"The ranking {self.name!r} has {len(own)} scores for text {int(batch.rows[place])}, which "
                f"has {group.length} pieces, marks included: give one for each."
            )
        return (group.belongs(whole.mask.shape[1])[0].double().cpu() @ own[:, None])[:, 0]

    def _refuse_pieces(self, subject: Subject, batch: Batch, place: int, given: int) -> None:
        """Scores of pieces must not be taken for those of words; an array of one width is padded."""
        if not isinstance(subject, TransformerSubject) or not isinstance(self.scores, list):
            return
        assert batch.words is not None
        whole = subject.encode([batch.words[place].text])
        pieces = len(subject.cut(whole)[0])
        if given == pieces != whole.mask.shape[1]:
            raise UserError(
                f"The ranking {self.name!r} has {given} scores for text {int(batch.rows[place])}, as many as "
                f"it has pieces and not as it has words ({whole.mask.shape[1]}): hand them over as "
                "piece_scores(...)."
            )

    @property
    def digest(self) -> str:
        """Of all scores: results of other ones are never taken for those of these."""
        digest = hashlib.blake2b(b"pieces" if self.of_pieces else b"", digest_size=8)
        for row in self.scores:
            own = _numbers_of(row) if is_explanation(row) else _plain(row)
            digest.update(b"%d " % len(own) + own.numpy().tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class PieceScores:
    """Scores of a transformer's pieces, made by `piece_scores`."""

    scores: Scores

    def __len__(self) -> int:
        return len(self.scores)


def piece_scores(scores: Scores) -> PieceScores:
    """A score, or an attribution (L,E), for each of a text's L pieces and special tokens; one array a text.

    Example: `heedful.piece_scores([lxt_relevance_of(text) for text in texts])`
    """
    return PieceScores(scores)


def own_rankings(given: Mapping[str, Any], texts: int) -> dict[str, Ranking]:
    """Rankings by name, from functions (`rankings.ranking`), arrays or explanations for so many texts."""
    found: dict[str, Ranking] = {}
    for name, one in given.items():
        if callable(one) and not hasattr(one, "values"):
            found[name] = one
            continue
        one = getattr(one, "sequence_attributions", one)  # what Inseq gives for several texts
        if len(one) != texts:
            raise UserError(
                f"The ranking {name!r} has scores for {len(one):,} texts, but the split has {texts:,}: give "
                "one array for each."
            )
        pieces = isinstance(one, PieceScores)
        found[name] = RowScores(name, one.scores if pieces else one, of_pieces=pieces)
    return found


def captum_ranking(method: Callable[..., Any], /, **options: Any) -> Ranking:
    """A ranking by an attribution method of Captum, such as `captum.attr.IntegratedGradients`.

    It is given the embedded words of one text after the other and the log-odds of the decided class as the
    function to explain; `options` are those of its `attribute`. Attributions are summed over E.

    Example: `heedful.captum_ranking(IntegratedGradients, n_steps=20)`
    """

    def ranking(reader: Reader, /, *, seed: int = 0) -> Tensor:
        subject, batch = reader.subject, reader.batch
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


def _numbers_of(explanation: Any) -> Tensor:
    """All numbers of an explanation, in a row."""
    for name in ("local_exp", "attributions", "source_attributions", "target_attributions", "values"):
        found = getattr(explanation, name, None)
        if isinstance(found, Mapping):
            return (
                torch.tensor([[label, *pair] for label, own in found.items() for pair in own])
                .double()
                .flatten()
            )
        if found is not None:
            return torch.as_tensor(found).detach().cpu().double().flatten()
    raise AssertionError("an explanation has scores")


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
