"""The models a server reads with: one run, the runs of a sweep that differ in λ alone, or a classifier of
somebody else (hf:PATH_OR_NAME)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.errors import UserError
from heedful.models.subject import Subject
from heedful.study.cells import RUNS
from heedful.training.opening import is_of_hub, open_of_hub
from heedful.training.run import RESULT, SETTINGS, Run, load_run

MOST_MODELS = 24
# Words of a text. Where words read each other, leaving each out reads the whole text again; a transformer's
# layers make that dear.
MOST_WORDS, MOST_REREAD, MOST_OF_HUB = 2000, 300, 120


@dataclass(frozen=True)
class ServedModel:
    """A model that is ready to read, and what a reader should know of it."""

    name: str
    subject: Subject
    scale: float | None = None  # λ
    test_accuracy: float | None = None
    most_words: int = MOST_WORDS

    def about(self) -> dict[str, Any]:
        """In plain JSON types."""
        return {
            "name": self.name,
            "classes": list(self.subject.classes),
            "scale": self.scale,
            "test_accuracy": self.test_accuracy,
            "mixes_tokens": bool(self.subject.mixes_tokens),
            "most_words": self.most_words,
        }


def open_models(folder: str | Path, *, device: str = "cpu") -> tuple[list[ServedModel], list[str]]:
    """The models in a run's folder or a sweep's, by rising λ, and remarks on what was left out.

    hf:PATH_OR_NAME is somebody's Hugging Face classifier.
    """
    if is_of_hub(folder):
        return _of_hub(str(folder), device=device)
    folder = Path(folder)
    if (folder / SETTINGS).exists() or not (folder / RUNS).is_dir():
        return [served(load_run(folder, device=device))], []
    places = sorted(place.parent for place in (folder / RUNS).glob(f"*/{RESULT}"))
    if not places:
        raise UserError(f"{folder} is a sweep without finished runs: set keep_runs = true in its study.")
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in (load_run(place, device=device) for place in places[: 10 * MOST_MODELS]):
        groups.setdefault(_alike(run), []).append(run)
    # The fullest row of scales; of equal ones that of the first seed.
    chosen = max(sorted(groups), key=lambda key: len(groups[key]))
    runs = sorted(groups[chosen], key=lambda run: run.recipe.model.scale or 0.0)[:MOST_MODELS]
    left = len(places) - len(runs)
    notes = (
        [f"{left} of the sweep's {len(places)} runs differ in more than λ and are left out."] if left else []
    )
    return [served(run) for run in runs], notes


def _of_hub(name: str, *, device: str) -> tuple[list[ServedModel], list[str]]:
    subject = open_of_hub(name, device=device)
    bound = "Smallest sets are searched for with this classifier, so they are upper bounds."
    return [ServedModel(Path(subject.name).name, subject, most_words=MOST_OF_HUB)], [*subject.notes, bound]


def served(run: Run) -> ServedModel:
    """A run, ready to be served."""
    corpus = run.recipe.corpus
    name = f"{corpus.get('preset') or 'model'} on {corpus.get('name') or 'a corpus'}"
    most = MOST_REREAD if run.model.mixes_tokens else MOST_WORDS
    return ServedModel(name, run.model, run.recipe.model.scale, run.result.get("test_accuracy"), most)


def _alike(run: Run) -> tuple[str, ...]:
    """What runs of one row share: everything but λ; the seed comes first, so that rows sort by it."""
    model = {key: value for key, value in run.recipe.model.to_dict().items() if key != "scale"}
    corpus = run.recipe.corpus
    return (
        f"{run.recipe.training.seed:09d}",
        *(str(corpus.get(key)) for key in ("name", "fingerprint", "preset")),
        repr(sorted(model.items())),
        repr(run.recipe.training),
    )
