"""A training that is done once, and a run trained again with another seed or with uniform weights.

Wiegreffe & Pinter (2019, 3.1 and 3.2): nothing but the seed, or the weights, is changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heedful.data.corpus import Corpus
from heedful.data.words import WordRules, rules_for
from heedful.errors import UserError
from heedful.models.settings import ModelSettings
from heedful.training.callbacks import Callback
from heedful.training.from_corpus import train_run
from heedful.training.presets import UNIFORM_CONTROL
from heedful.training.run import RESULT, Run, load_run
from heedful.training.settings import TrainingSettings


def trained_once(
    corpus: Corpus,
    *,
    model: ModelSettings,
    training: TrainingSettings,
    rules: WordRules | None = None,
    source: Mapping[str, Any] | None = None,
    out: Path | None = None,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
) -> Run:
    """As `train_run`, but a run that `out` holds already is read again.

    One of other texts, settings or rules for words is refused. Files that settings name (word vectors, a
    pretrained encoder) are known by their names alone, because folders move.
    """
    if out is not None and (out / RESULT).exists():
        known = load_run(out, device=device)
        recipe = known.recipe
        same = (
            recipe.corpus.get("fingerprint") == corpus.fingerprint
            and recipe.training == training
            and recipe.words == (rules or rules_for(corpus.texts))
            and recipe.model.unplaced() == model.unplaced()
        )
        if not same:
            raise UserError(
                f"{out} holds a run of other texts or settings: choose another place, or remove it."
            )
        return replace(known, recipe=replace(recipe, model=model))  # the files where they lie now
    return train_run(
        corpus,
        model=model,
        training=training,
        rules=rules,
        source=source,
        out=out,
        device=device,
        callbacks=callbacks,
    )


def train_again(
    run: Run,
    corpus: Corpus,
    *,
    seed: int | None = None,
    uniform: bool = False,
    out: Path | None = None,
    callbacks: Sequence[Callback] = (),
) -> Run:
    """The run's recipe on its corpus with another seed, or with uniform weights; kept in `out` if given."""
    model, training = run.recipe.model, run.recipe.training
    if seed is not None:
        training = replace(training, seed=seed)
    if uniform:
        model = replace(model, control=UNIFORM_CONTROL["control"])
        training = replace(training, penalty=UNIFORM_CONTROL["penalty"])
    about = {key: value for key, value in run.recipe.corpus.items() if key not in ("name", "fingerprint")}
    return trained_once(
        corpus,
        model=model,
        training=training,
        rules=run.recipe.words,
        source=about,
        out=out,
        device=str(run.model.head.weight.device),
        callbacks=callbacks,
    )
