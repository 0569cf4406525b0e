"""A training that is done once: the run in a folder if it was made from the same, else trained into it."""

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
            and _unplaced(recipe.model) == _unplaced(model)
        )
        if not same:
            raise UserError(
                f"{out} holds a run of other texts or settings: choose another place, or remove it."
            )
        return known
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


def _unplaced(model: ModelSettings) -> ModelSettings:
    """The settings without the folders of the files they name."""
    return replace(model, vectors_file=Path(model.vectors_file).name, pretrained=Path(model.pretrained).name)
