"""Rankings of a subject's words by name: those that every subject has, and those that only its kind has.

Axes: B texts, T words.
"""

from collections.abc import Mapping

from heedful.errors import UserError, nearest
from heedful.models.subject import Subject
from heedful.models.transformers import TransformerSubject
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.transformer_rankings import HEAD, transformer_rankings
from heedful.trials.rankings.word_gradients import Doubted
from heedful.trials.rankings.word_rankings import WORD_RANKINGS, word_scores


def brought_by(subject: Subject, *, all_of_them: bool = False) -> Mapping[str, Ranking]:
    """Rankings that a subject brings along, such as rollout for a transformer.

    Flow, which takes ten seconds for a long text, and single heads, which are many, come with `all_of_them`.
    """
    if not isinstance(subject, TransformerSubject):
        return {}
    return transformer_rankings(subject, all_of_them=all_of_them)


def text_scores(subject: Subject, text: str, by: str, *, seed: int = 0) -> list[float]:
    """The score of each word of one text by the ranking of this name, be it one that the subject brings."""
    own = brought_by(subject, all_of_them=True)
    if by not in own and by not in WORD_RANKINGS:
        raise UserError(
            f"There is no ranking of words {by!r}{nearest(by, [*_briefly(own), *WORD_RANKINGS])}."
        )
    found = word_scores(own.get(by, by), subject, subject.encode([text]), seed=seed)
    return list((found.scores if isinstance(found, Doubted) else found)[0].tolist())


def _briefly(names: Mapping[str, Ranking]) -> list[str]:
    """The names with all heads as one entry: twelve heads would leave no room for the rest."""
    heads = [name for name in names if HEAD.fullmatch(name)]
    rest = [name for name in names if name not in heads]
    return [*rest, f"{heads[0]} to {heads[-1]}"] if heads else rest
