"""Rankings of a subject's words by name: those that every subject has, and those that only its kind has.

Axes: B texts, T words.
"""

from collections.abc import Collection, Mapping, Sequence

from heedful.errors import UserError, nearest
from heedful.models.subject import Subject
from heedful.models.transformers import TransformerSubject
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.transformer_rankings import HEAD, layer_ranking, transformer_rankings
from heedful.trials.rankings.word_gradients import Doubted
from heedful.trials.rankings.word_rankings import WORD_RANKINGS, word_scores

# What every audit judges where the subject has it.
IN_AUDITS = frozenset(("attention", "gradient", "integrated", "leave-one-out", "shuffled", "random"))


def brought_by(subject: Subject, *, all_of_them: bool = False) -> Mapping[str, Ranking]:
    """Rankings that a subject brings along, such as rollout for a transformer.

    Flow, which takes ten seconds for a long text, and single heads, which are many, come with `all_of_them`.
    """
    if not isinstance(subject, TransformerSubject):
        return {}
    return transformer_rankings(subject, all_of_them=all_of_them)


def by_name(subject: Subject, names: Sequence[str], *, own: Collection[str] = ()) -> dict[str, Ranking]:
    """Those of these rankings that an audit does not have by itself, ready to be used.

    They are the opt-in ones of a transformer, its single layers and heads, and rankings of words by name.
    A name that there is not is refused, with the nearest, be it one of the user's `own`.
    """
    usual = brought_by(subject)
    wanted = [name for name in dict.fromkeys(names) if name not in usual]
    layers = {name: _layer(subject, name) for name in wanted}
    rest = [name for name in wanted if layers[name] is None]
    more = brought_by(subject, all_of_them=True) if any(name not in WORD_RANKINGS for name in rest) else {}
    found = {name: ranking for name, ranking in layers.items() if ranking is not None}
    for name in rest:
        if name in more:
            found[name] = more[name]
        elif name in WORD_RANKINGS and name not in IN_AUDITS:
            found[name] = WORD_RANKINGS[name]
        elif name not in WORD_RANKINGS:
            known = [*own, *_briefly(more), *WORD_RANKINGS]
            raise UserError(f"There is no ranking of words {name!r}{nearest(name, known)}.")
    return found


def _layer(subject: Subject, name: str) -> Ranking | None:
    return layer_ranking(subject, name) if isinstance(subject, TransformerSubject) else None


def text_scores(subject: Subject, text: str, by: str, *, seed: int = 0) -> list[float]:
    """The score of each word of one text by the ranking of this name, be it one that the subject brings."""
    own = dict(brought_by(subject, all_of_them=True))
    layer = _layer(subject, by)
    if layer is not None:
        own[by] = layer
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
