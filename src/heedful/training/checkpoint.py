"""A training between two epochs, in one file, so that a killed run can go on from there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from heedful.errors import UserError
from heedful.files import regular, write_atomically
from heedful.records.stored import parse_json

FORMAT = "1"


@dataclass(frozen=True)
class Checkpoint:
    """Everything the loop needs to go on after `epoch` as if it had never stopped."""

    weights: Mapping[str, Tensor]
    optimiser: Mapping[str, Tensor]
    best_weights: dict[str, Tensor]
    best: Mapping[str, float]
    epoch: int
    step: int
    rate: float
    history: list[dict[str, Any]]

    def save(self, path: Path) -> None:
        """Write to `path`: the old checkpoint stays until the new one is whole."""
        groups = {"weights": self.weights, "optimiser": self.optimiser, "best_weights": self.best_weights}
        tensors = {
            f"{group}/{name}": value.contiguous()
            for group, values in groups.items()
            for name, value in values.items()
        }
        facts = {name: getattr(self, name) for name in ("best", "epoch", "step", "rate", "history")}
        with write_atomically(path, "wb") as file:
            file.write(save(tensors, metadata={"format": FORMAT, "facts": json.dumps(facts)}))

    @staticmethod
    def load(path: Path) -> "Checkpoint":
        """Read a checkpoint; one that is damaged or of another version is refused in a sentence."""
        groups: dict[str, dict[str, Tensor]] = {"weights": {}, "optimiser": {}, "best_weights": {}}
        try:
            with safe_open(regular(path), framework="pt") as file:
                metadata = file.metadata() or {}
                if metadata.get("format") != FORMAT:
                    raise UserError(
                        f"{path} was written by another version of heedful: remove it to start again."
                    )
                for key in file.keys():  # noqa: SIM118 (the file is not a mapping)
                    group, name = key.split("/", 1)
                    groups[group][name] = file.get_tensor(key)
            return Checkpoint(**{**groups, **parse_json(metadata["facts"])})
        except UserError:
            raise
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path} is damaged ({error}): remove it to start again.") from error
