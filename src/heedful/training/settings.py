"""How a model is trained: one flat set of choices, checked before any work starts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heedful.errors import LARGEST_SEED, UserError, check_seed, choose_from
from heedful.lazy import Choices
from heedful.settings import check_sizes, setting

if TYPE_CHECKING:
    from torch.optim import Optimizer

# Made from groups of parameters and the settings.
OPTIMISERS: "Choices[Callable[[list[dict[str, Any]], TrainingSettings], Optimizer]]" = Choices(
    {
        "sgd": "heedful.training.optimisers:sgd",
        "adagrad": "heedful.training.optimisers:adagrad",
        "adam": "heedful.training.optimisers:adam",
        "adamw": "heedful.training.optimisers:adamw",
    }
)


CHOICES = ("accuracy", "roc-auc")
VOCABULARIES = ("train", "all")


@dataclass(frozen=True)
class TrainingSettings:
    """Sun & Lu's settings for SST are the defaults."""

    epochs: int = setting(40, "epochs at most; --patience may end it sooner", most=10**6)
    batch: int = setting(100, "texts a batch, at most")
    token_budget: int | None = setting(None, "padded tokens a batch, at most")
    optimiser: str = setting("adagrad", ", ".join(OPTIMISERS))
    rate: float = setting(0.02, "learning rate")
    rate_decay: float = setting(0.001, "Adagrad only: the rate is divided by 1 + steps × rate_decay")
    amsgrad: bool = setting(False, "Adam and AdamW only: the AMSGrad variant")
    l2_embedding: float = setting(0.0, "L2 strength on the embeddings")
    l2_encoder: float = setting(0.0, "L2 strength on the encoder")
    l2_attention: float = setting(0.0, "L2 strength on the attention")
    l2_head: float = setting(0.0, "L2 strength on the head")
    penalty: float = setting(0.0, "weight of |VᵀW|, which keeps attention from taking sides")
    clip: float | None = setting(None, "largest norm of the whole gradient")
    halve_on_plateau: bool = setting(False, "halve the rate whenever an epoch is no better on dev")
    patience: int | None = setting(None, "stop after this many epochs without a better one on dev")
    choose: str = setting("accuracy", "which epoch dev keeps: the one of the best accuracy, or roc-auc")
    earliest: int = setting(1, "the first epoch that may be kept, if there are as many")
    balance: bool = setting(False, "weigh a text's loss by the first class's size over its own class's")
    min_count: int = setting(1, "words rarer than this become the unknown word")
    max_words: int | None = setting(None, "size of the vocabulary, at most")
    vocabulary: str = setting(
        "train",
        "whose words have vectors: train's, or those of all splits, of which others stay as they start",
    )
    compiled: bool = setting(True, "use the compiled kernel where one fits the model and the device")
    seed: int = setting(0, "the seed of everything that is left to chance", most=LARGEST_SEED)

    def __post_init__(self) -> None:
        choose_from("optimiser", self.optimiser, OPTIMISERS)
        choose_from("choice of an epoch", self.choose, CHOICES)
        choose_from("vocabulary", self.vocabulary, VOCABULARIES)
        check_seed(self.seed)
        for name in ("epochs", "batch", "earliest", "min_count"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 1, but it is {getattr(self, name)}.")
        for name in ("token_budget", "patience", "max_words"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UserError(f"{name} must be at least 1, but it is {value}; leave it out for no limit.")
        if not self.rate > 0:
            raise UserError(f"rate must be above 0, but it is {self.rate}.")
        for name in (
            "rate_decay",
            "l2_embedding",
            "l2_encoder",
            "l2_attention",
            "l2_head",
            "penalty",
        ):
            if not getattr(self, name) >= 0:
                raise UserError(f"{name} must not be negative, but it is {getattr(self, name)}.")
        if self.clip is not None and not self.clip > 0:
            raise UserError(f"clip must be above 0, but it is {self.clip}; leave it out for no clipping.")
        check_sizes(self)

    def l2(self, part: str) -> float:
        """The L2 strength of one part of a model."""
        return float(getattr(self, f"l2_{part}"))
