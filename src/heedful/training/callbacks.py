"""Named moments of a training at which a caller may look in, or take part."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heedful.data.encoded import EncodedTexts
from heedful.training.settings import TrainingSettings

if TYPE_CHECKING:
    from heedful.models.building import Classifier


@dataclass
class Training:
    """What is going on: a callback may read all of it, and add rows to `history`."""

    model: "Classifier"
    settings: TrainingSettings
    train: EncodedTexts
    dev: EncodedTexts
    epoch: int = 0  # the epoch under way, from 1
    step: int = 0  # batches done since the beginning
    steps_per_epoch: int = 0
    loss: float = float("nan")  # of the last batch
    history: list[dict[str, Any]] = field(default_factory=list)  # one row an epoch, and what callbacks add


class Callback:
    """Every moment, with an empty body: override those you want."""

    def begin(self, training: Training) -> None: ...

    def epoch_begins(self, training: Training) -> None: ...

    def step_ends(self, training: Training) -> None: ...

    def epoch_ends(self, training: Training, row: Mapping[str, Any]) -> None: ...

    def end(self, training: Training) -> None: ...
