"""A trained model by its name: a run's folder, or hf:PATH_OR_NAME, somebody's transformer."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.errors import UserError
from heedful.models.subject import Subject
from heedful.models.transformers import TransformerSubject, load_transformer
from heedful.training.devices import find_device
from heedful.training.run import Run, load_run

HUB = "hf:"


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


def is_of_hub(name: object) -> bool:
    """Whether this names a transformer."""
    return isinstance(name, str | Path) and str(name).startswith(HUB)


def open_of_hub(name: str | Path, *, device: str = "cpu", asked: Asked | None = None) -> TransformerSubject:
    """The classifier that hf:PATH_OR_NAME names; with a template and labels, the prompted language model."""
    asked, path = asked or Asked(), str(name).removeprefix(HUB)
    where = str(find_device(device))
    if asked.template is None and not asked.labels:
        if asked.chat or asked.system is not None:
            raise UserError("A chat format needs a template and labels: give both.")
        return load_transformer(path, device=where, label=asked.label, threshold=asked.threshold)
    if asked.template is None or not asked.labels:
        raise UserError("A prompted language model needs a template and labels: give both.")
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
