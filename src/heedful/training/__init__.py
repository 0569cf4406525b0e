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

__getattr__, __dir__, __all__ = lazily(__name__)
