"""A run: a trained model with all that made it, in a folder that explains itself.

`settings.toml`, `vocabulary.json`, `weights.safetensors`, `history.parquet`, `manifest.json` (a digest of
each file, and the versions and threads that made them) and `result.json`; the last one is written last, so a
folder without it is a training that was interrupted and can go on from `checkpoint.safetensors`. A run with a
pretrained encoder holds that too, in `encoder`.
"""

import json
import math
import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules
from heedful.errors import Unvouched, UserError
from heedful.files import folder_atomically, regular, write_atomically
from heedful.models.building import Classifier, build_model
from heedful.models.own_parts import take_part
from heedful.models.pretrained import PretrainedEncoder, quietly
from heedful.models.settings import ModelSettings
from heedful.records.manifest import (
    MANIFEST,
    checked_manifest,
    digest,
    digests_below,
    file_digest,
    write_manifest,
)
from heedful.records.stored import load_json
from heedful.records.wording import in_percent
from heedful.settings import read_toml, settings_from, to_toml
from heedful.training.devices import find_device
from heedful.training.settings import TrainingSettings

FORMAT = 1
SETTINGS, VOCABULARY, WEIGHTS, HISTORY, RESULT = (
    "settings.toml",
    "vocabulary.json",
    "weights.safetensors",
    "history.parquet",
    "result.json",
)
RESULTS = {"dev_accuracy", "test_accuracy", "epoch", "epochs", "seconds"}  # what every result tells
CHECKPOINT, LOCK = "checkpoint.safetensors", ".lock"
ENCODER = "encoder"  # of a pretrained one: its network and tokenizer, as Hugging Face saves them
NETWORK = "words.encoder.network."  # how its weights are called inside ours


@dataclass(frozen=True)
class Recipe:
    """What a run is made from: enough to know it again, and to refuse to mix two of them in one folder."""

    model: ModelSettings
    training: TrainingSettings
    words: WordRules
    corpus: Mapping[str, Any]  # name, fingerprint, and how to load it again
    classes: tuple[str, ...]

    def to_toml(self) -> str:
        return to_toml(
            {
                "format": FORMAT,
                "classes": list(self.classes),
                "corpus": dict(self.corpus),
                "words": asdict(self.words),
                "model": self.model.to_dict(),
                "training": asdict(self.training),
            }
        )

    @staticmethod
    def load(path: Path) -> "Recipe":
        """Read `settings.toml`, refusing another format or keys that mean nothing here."""
        content = read_toml(path)
        if content.get("format") != FORMAT:
            raise UserError(
                f"{path} is of format {content.get('format')!r}, but this heedful reads format {FORMAT!r}: "
                "train the model again, or use the version that wrote it."
            )
        try:
            return Recipe(
                model=ModelSettings.from_dict(content["model"]),
                training=settings_from(TrainingSettings, content["training"]),
                words=settings_from(WordRules, content["words"]),
                corpus=content["corpus"],
                classes=tuple(content["classes"]),
            )
        except KeyError as error:
            raise UserError(f"{path} is damaged: {error.args[0]} is missing.") from error
        except (TypeError, AttributeError) as error:
            raise UserError(f"{path} is damaged: a section is not of its kind ({error}).") from error


@dataclass(frozen=True)
class Run:
    """A trained model, what made it, and what it reached; `folder` is None for one that was not saved."""

    model: Classifier
    recipe: Recipe
    vocabulary: Vocabulary
    history: pd.DataFrame
    result: dict[str, Any]
    folder: Path | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)
    made: Mapping[str, Any] = field(default_factory=dict, compare=False)  # versions and threads, once saved

    def summary(self) -> str:
        """What came of it, in a line."""
        test = self.result["test_accuracy"]
        judged = f"test accuracy {in_percent(test, 1)}" if test is not None else "no test split"
        return (
            f"{judged}, dev accuracy {in_percent(self.result['dev_accuracy'], 1)} (epoch "
            f"{self.result['epoch']} of {self.result['epochs']}), {self.result['seconds']:.1f} s"
        )

    def _repr_html_(self) -> str:
        """For notebooks: what it is, what came of it, and the epochs; not the weights."""
        corpus = self.recipe.corpus
        name = f"{corpus.get('preset') or 'model'} on {corpus.get('name') or 'a corpus'}"
        place = f" In <code>{escape(str(self.folder))}</code>." if self.folder is not None else ""
        head = f"<p><b>{escape(name)}</b>: {escape(self.summary())}.{place}</p>"
        return f'<div class="heedful-run">{head}{self.history.to_html(index=False, max_rows=10)}</div>'

    def save(self, folder: str | Path) -> "Run":
        """Write all files of the run into `folder`, the result last."""
        folder = Path(folder)
        write_beginning(folder, self.recipe, self.vocabulary)
        _save_encoder(self.model, folder)
        weights = {
            name: value.detach().cpu().contiguous()
            for name, value in self.model.state_dict().items()
            if not name.startswith(NETWORK)
        }
        with write_atomically(folder / WEIGHTS, "wb") as file:
            file.write(save(weights, metadata={"format": str(FORMAT)}))
        with write_atomically(folder / HISTORY, "wb") as file:
            self.history.to_parquet(file, index=False)
        result = json.dumps({"schema": FORMAT, **self.result}, indent=2).encode()
        digests = {name: file_digest(folder / name) for name in (SETTINGS, VOCABULARY, WEIGHTS, HISTORY)}
        digests |= {**dict(digests_below(folder, ENCODER)), RESULT: digest(result)}
        manifest = write_manifest(folder, digests, threads=torch.get_num_threads())
        with write_atomically(folder / RESULT, "wb") as file:
            file.write(result)
        return replace(self, folder=folder, made=manifest.made)


def _save_encoder(model: Classifier, folder: Path) -> None:
    encoder = model.words.encoder
    if not isinstance(encoder, PretrainedEncoder):
        return
    if (folder / ENCODER).exists():  # of an attempt that was killed before it wrote its result
        shutil.rmtree(folder / ENCODER)
    try:
        with quietly(), folder_atomically(folder / ENCODER) as place:
            encoder.network.save_pretrained(place)
            encoder.tokenizer.save_pretrained(place)
    except SafetensorError as error:  # which is no OSError, whatever the disk says
        raise UserError(f"{folder / ENCODER} cannot be written ({error}): choose another place.") from error


def write_beginning(folder: Path, recipe: Recipe, vocabulary: Vocabulary) -> None:
    """Write what is known before training: the settings and the vocabulary."""
    # The settings first: by them a training that failed on the way to its next file is known again.
    with write_atomically(folder / SETTINGS) as file:
        file.write(recipe.to_toml())
    vocabulary.save(folder / VOCABULARY)


def load_run(folder: str | Path, *, device: str = "cpu", parts: Sequence[type] = ()) -> Run:
    """Open a run folder; a missing, unfinished, damaged or foreign one is refused in a sentence.

    `parts` are the classes of one's own that the model was made with.

    Example: `heedful.load_run("runs/reviews").model`
    """
    folder = Path(folder)
    for part in parts:
        _hand_over(part, folder)
    if not (folder / SETTINGS).exists():
        is_file = folder.is_file()
        what = "it is a file, and a run is a folder" if is_file else f"it has no {SETTINGS}"
        command = f"{folder} --out runs/{folder.stem}" if is_file else f"CORPUS --out {folder}"
        raise UserError(f"{folder} is not a run: {what}; `heedful train {command}` makes one.")
    place = find_device(device)
    recipe = Recipe.load(folder / SETTINGS)
    if not (folder / RESULT).exists():
        raise UserError(
            f"{folder} is an unfinished training: give `heedful train` the same settings to finish it."
        )
    # The library that reads weights does not say which file it missed.
    missing = [name for name in (VOCABULARY, WEIGHTS, HISTORY) if not (folder / name).exists()]
    if missing:
        raise UserError(f"{folder} is not whole: {', '.join(missing)} is missing.")
    manifest = checked_manifest(folder)
    vocabulary = Vocabulary.load(folder / VOCABULARY)
    settings = recipe.model
    if settings.encoder == "pretrained":
        # From the folder itself: a run needs no network, and nobody else's files.
        settings = replace(settings, pretrained=str(folder / ENCODER))
    model = build_model(settings, vocabulary, recipe.classes, rules=recipe.words)
    result = load_json(folder / RESULT)
    network = {name: value for name, value in model.state_dict().items() if name.startswith(NETWORK)}
    try:
        model.load_state_dict({**network, **load_file(regular(folder / WEIGHTS))})
        history = pd.read_parquet(folder / HISTORY)
    except (SafetensorError, RuntimeError) as error:
        raise UserError(
            f"{folder / WEIGHTS} is damaged or of another model: {str(error).splitlines()[0]}"
        ) from error
    except (OSError, ValueError) as error:
        raise UserError(f"{folder} is damaged: {str(error).splitlines()[0]}") from error
    _check_result(folder / RESULT, result)
    result.pop("schema", None)
    notes: tuple[str, ...] = ()
    if manifest is None:
        notes = (f"{folder} has no {MANIFEST}: it cannot be checked whether its files were changed.",)
        warnings.warn(notes[0], Unvouched, stacklevel=2)
    made = manifest.made if manifest else {}
    return Run(model.to(place).eval(), recipe, vocabulary, history, result, folder, notes, made)


def _hand_over(part: type, folder: Path) -> None:
    """Make a class known, also by the name that the folder has for it: it may have moved since."""
    take_part(part)
    if (folder / SETTINGS).exists():
        model = read_toml(folder / SETTINGS).get("model", {})
        for name in (str(model.get("attention", "")), str(model.get("encoder", ""))):
            if name.partition(":")[2] == part.__qualname__:
                take_part(part, name)


def _check_result(path: Path, result: Any) -> None:
    """Refuse a result that does not tell, in numbers, what every result tells; only a test may be missing."""
    if not isinstance(result, dict) or not RESULTS.issubset(result):
        raise UserError(f"{path} is damaged: it must hold {', '.join(sorted(RESULTS))}.")
    for name in RESULTS:
        value = result[name]
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number and not (name == "test_accuracy" and value is None):
            raise UserError(f"{path} is damaged: {name} must be a number, but it is {str(value)[:40]!r}.")
