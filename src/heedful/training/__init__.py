"""How a model learns: settings, the loop, and a `Run` that keeps what came of it."""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.training.adversarial import train_adversary as train_adversary
    from heedful.training.callbacks import Callback as Callback
    from heedful.training.callbacks import Training as Training
    from heedful.training.evaluation import Evaluation as Evaluation
    from heedful.training.evaluation import evaluate as evaluate
    from heedful.training.from_corpus import train as train
    from heedful.training.loop import fit as fit
    from heedful.training.presets import PRESETS as PRESETS
    from heedful.training.presets import prepare as prepare
    from heedful.training.run import Run as Run
    from heedful.training.run import load_run as load_run
    from heedful.training.settings import TrainingSettings as TrainingSettings

_HOMES = {
    "PRESETS": "heedful.training.presets",
    "Callback": "heedful.training.callbacks",
    "Evaluation": "heedful.training.evaluation",
    "Run": "heedful.training.run",
    "Training": "heedful.training.callbacks",
    "TrainingSettings": "heedful.training.settings",
    "evaluate": "heedful.training.evaluation",
    "fit": "heedful.training.loop",
    "load_run": "heedful.training.run",
    "prepare": "heedful.training.presets",
    "train": "heedful.training.from_corpus",
    "train_adversary": "heedful.training.adversarial",
}
__all__ = list(_HOMES)
__getattr__ = lazily(__name__, _HOMES)
