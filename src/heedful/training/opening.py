"""A trained model by its name: a run's folder, or hf:PATH_OR_NAME, somebody's Hugging Face classifier."""

from pathlib import Path

from heedful.models.huggingface import HuggingFaceSubject, load_huggingface
from heedful.models.subject import Subject
from heedful.training.devices import find_device
from heedful.training.run import load_run

HUB = "hf:"


def is_of_hub(name: object) -> bool:
    """Whether this names a Hugging Face classifier."""
    return isinstance(name, str | Path) and str(name).startswith(HUB)


def open_of_hub(name: str | Path, *, device: str = "cpu") -> HuggingFaceSubject:
    """The classifier that hf:PATH_OR_NAME names."""
    return load_huggingface(str(name).removeprefix(HUB), device=str(find_device(device)))


def open_model(name: str | Path, *, device: str = "cpu") -> Subject:
    """The model that a run's folder or hf:PATH_OR_NAME names."""
    return open_of_hub(name, device=device) if is_of_hub(name) else load_run(name, device=device).model
