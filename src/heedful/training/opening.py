"""The one place that opens a model as people hold it: by its name or as an object, with its tokenizer or not.

A run, its folder, hf:PATH_OR_NAME, a Hugging Face classifier or pipeline, an `AttentionClassifier`, anything
with `predict_proba`, a function from texts to probabilities, or a `Subject`: each becomes a subject.
"""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from heedful.errors import UserError, listed
from heedful.models.black_box import BlackBox
from heedful.models.pretrained import quietly
from heedful.models.subject import Subject
from heedful.models.transformers import TransformerSubject, load_transformer
from heedful.training.devices import find_device
from heedful.training.run import Run, load_run

HUB = "hf:"
Kind = Literal["run", "huggingface", "module"]
TASKS = ("text-classification", "sentiment-analysis")
TAKEN = (
    "a run or its folder, hf:NAME, a Hugging Face classifier with tokenizer=, a text-classification "
    "pipeline, an AttentionClassifier, a Subject, or a function from a list of texts to probabilities"
)


@dataclass(frozen=True)
class Asked:
    """How a transformer is to decide, where it does not say so itself."""

    label: str | None = None  # the one of several labels at once
    threshold: float | None = None  # above which a regression decides
    template: str | None = None  # of a prompted language model, with {text} in it
    labels: tuple[str, ...] = ()  # of a prompted language model
    chat: bool = False  # whether the template is a message in the model's chat format
    system: str | None = None  # the message before it

    @property
    def options(self) -> str:
        """The same at the terminal; the template's file is not known."""
        said = {
            "--audit-label": self.label,
            "--threshold": None if self.threshold is None else f"{self.threshold:g}",
            "--template": None if self.template is None else "TEMPLATE",
            "--labels": ",".join(self.labels) or None,
            "--system": self.system,
        }
        named = [f"{name} {shlex.quote(value)}" for name, value in said.items() if value is not None]
        return " ".join([*named, *["--chat"] * self.chat])


@dataclass(frozen=True)
class Opened:
    """A subject, and what is known of where it comes from."""

    subject: Subject
    kind: Kind
    name: str  # for people
    called: str  # how the command line names it; "MODEL" where it cannot
    run: Run | None = None
    notes: tuple[str, ...] = ()


def open_any(
    model: Any,
    *,
    tokenizer: Any = None,
    classes: Sequence[Any] | None = None,
    labels: Sequence[Any] | None = None,
    device: str = "cpu",
    asked: Asked | None = None,
) -> Opened:
    """The subject that `model` is or names; another kind is refused in a sentence that says what is taken.

    A Hugging Face model may come as (model, tokenizer), too. `classes` name what a function gives, in its
    order; left out, they are taken to be `labels`, and that is said. `device` is for what is loaded here: a
    model in memory stays where it is.

    Example: `heedful.open_any(network, tokenizer=tokenizer).subject`
    """
    if isinstance(model, Opened):
        return model
    if isinstance(model, tuple) and len(model) == 2 and tokenizer is None:
        model, tokenizer = model
    if isinstance(model, type):
        raise _refusal(f"the class {model.__name__}, and not one of it")
    if isinstance(model, str | Path):
        return _by_name(model, device=device, asked=asked)
    if isinstance(model, Run):
        return _of_run(model)
    if _is_ours(model):
        return _of_run(_fitted(model))
    if _is_pipeline(model):
        return _of_pipeline(model)
    if _is_pretrained(model):
        return _of_transformer(model, tokenizer)
    if all(hasattr(model, name) for name in ("classes", "encode", "logits")):  # what every subject has
        return Opened(
            model, "module", type(model).__name__, "MODEL", notes=tuple(getattr(model, "notes", ()))
        )
    if hasattr(model, "predict_proba"):
        known = getattr(model, "classes_", None) if classes is None else classes
        return _of_function(model.predict_proba, type(model).__name__, known, labels)
    if hasattr(model, "parameters") or not callable(model):
        raise _refusal(f"of the type {type(model).__name__}")
    return _of_function(model, getattr(model, "__name__", "function"), classes, labels)


def is_of_hub(name: object) -> bool:
    """Whether this names a transformer."""
    return isinstance(name, str | Path) and str(name).startswith(HUB)


def open_of_hub(name: str | Path, *, device: str = "cpu", asked: Asked | None = None) -> TransformerSubject:
    """The classifier that hf:PATH_OR_NAME names; with a template and labels, the prompted language model."""
    asked, path = asked or Asked(), str(name).removeprefix(HUB)
    where = str(find_device(device))
    if asked.template is None and not asked.labels:
        if asked.chat or asked.system is not None:
            raise UserError("A chat format needs a template (--template) and labels (--labels): give both.")
        return load_transformer(path, device=where, label=asked.label, threshold=asked.threshold)
    if asked.template is None or not asked.labels:
        raise UserError(
            "A prompted language model needs a template (--template) and labels (--labels): give both."
        )
    if asked.label is not None or asked.threshold is not None:
        raise UserError(
            "A prompted language model decides between its labels: leave out --audit-label and --threshold."
        )
    from heedful.models.transformers.prompted import load_prompted

    how: dict[str, Any] = {"chat": asked.chat, "system": asked.system, "device": where}
    return load_prompted(path, asked.template, asked.labels, **how)


def open_model(name: str | Path, *, device: str = "cpu", asked: Asked | None = None) -> Subject:
    """The model that a run's folder or hf:PATH_OR_NAME names."""
    if is_of_hub(name):
        return open_of_hub(name, device=device, asked=asked)
    return open_run(name, device=device, asked=asked).model


def open_run(name: str | Path, *, device: str = "cpu", asked: Asked | None = None) -> Run:
    """The run in a folder, which decides as it was trained to: nothing can be asked of it."""
    if asked is not None and asked.options:
        raise UserError(f"{asked.options} is for a transformer (hf:NAME); {name} decides as it was trained.")
    return load_run(name, device=device)


def _by_name(name: str | Path, *, device: str, asked: Asked | None) -> Opened:
    if not is_of_hub(name) and is_of_transformers(name):
        name = f"{HUB}{name}"
    if not is_of_hub(name):
        return _of_run(open_run(name, device=device, asked=asked))
    return opened_of_hub(open_of_hub(name, device=device, asked=asked), name, asked or Asked())


def opened_of_hub(subject: TransformerSubject, name: str | Path, asked: Asked) -> Opened:
    """A transformer that hf:PATH_OR_NAME names, and what is asked of it."""
    shown = Path(subject.name).name + ("" if asked.label is None else f" ({asked.label})")
    return Opened(subject, "huggingface", shown, f"{name} {asked.options}".strip(), notes=subject.notes)


def is_of_transformers(folder: str | Path) -> bool:
    """Whether a folder is one that `save_pretrained` wrote."""
    path = Path(folder)
    return (path / "config.json").is_file() and any(path.glob("*.safetensors"))


def _of_run(run: Run) -> Opened:
    called = str(run.folder) if run.folder is not None else "RUN"
    return Opened(run.model, "run", str(run.recipe.corpus.get("preset", "")) or "model", called, run)


def _is_ours(model: Any) -> bool:
    # By its name: importing the class needs scikit-learn.
    return any(kind.__module__ == "heedful.training.estimator" for kind in type(model).__mro__)


def _fitted(model: Any) -> Run:
    run = getattr(model, "run_", None)
    if run is None:
        raise UserError("This AttentionClassifier has not been trained: call fit(texts, labels) first.")
    found: Run = run
    return found


def _is_pipeline(model: Any) -> bool:
    return all(hasattr(model, name) for name in ("task", "model", "tokenizer"))


def _of_pipeline(pipeline: Any) -> Opened:
    if pipeline.task not in TASKS:
        raise UserError(f"A pipeline for {TASKS[0]} is needed, but this one is for {pipeline.task}.")
    return _of_transformer(pipeline.model, pipeline.tokenizer)


def _is_pretrained(model: Any) -> bool:
    return any(kind.__name__ == "PreTrainedModel" for kind in type(model).__mro__)


def _of_transformer(network: Any, tokenizer: Any) -> Opened:
    place = str(getattr(network.config, "_name_or_path", "") or "")
    notes: tuple[str, ...] = ()
    if tokenizer is None:
        tokenizer = _tokenizer_at(place)
        notes = (f"Its tokenizer was read from {place}.",)
    name = Path(place).name or type(network).__name__
    subject = TransformerSubject(network, tokenizer, name=name)
    called = f"{HUB}{place}" if place else "MODEL"
    return Opened(subject, "huggingface", name, called, notes=(*notes, *subject.notes))


def _tokenizer_at(place: str) -> Any:
    """The tokenizer beside a model's weights, if it is on this machine."""
    from transformers import AutoTokenizer

    try:
        if not place:
            raise OSError
        with quietly():
            return AutoTokenizer.from_pretrained(place, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError):
        raise UserError(
            "A Hugging Face model is read together with its tokenizer: give it as tokenizer=, or both as "
            "(model, tokenizer), or as a pipeline."
        ) from None


def _of_function(
    predict: Callable[[list[str]], Any],
    name: str,
    classes: Sequence[Any] | None,
    labels: Sequence[Any] | None,
) -> Opened:
    known = labels if classes is None else classes
    if known is None:
        raise UserError(
            "A function from texts to probabilities does not say what its columns are: name them in their "
            "order with classes=."
        )
    subject = BlackBox(predict, classes=tuple(str(one) for one in known), name=name)
    order = f"Its probabilities were taken to be those of {listed(subject.classes)} (say it with classes=)."
    return Opened(
        subject, "module", name, "MODEL", notes=(*subject.notes, *((order,) if classes is None else ()))
    )


def _refusal(what: str) -> UserError:
    return UserError(f"A model is taken as {TAKEN}, but this is {what}.")
