"""`ModelSettings`: everything that says what a model is, flat, and refused at once where it is impossible.

A field that the chosen encoder, attention or number of levels has no use for is not read (its help says
whose it is), so that one choice can be changed in the settings of a named model without clearing others.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from heedful.attention.choices import NORMALISERS, SCORES
from heedful.errors import UserError, choose_from
from heedful.lazy import Choices
from heedful.settings import check_sizes, setting, settings_from

if TYPE_CHECKING:
    from torch import nn

ALLOWED = "HEEDFUL_ALLOW_MODULE"  # modules that the caller allows; the worker processes inherit it
LEVELS = ("flat", "hierarchical")
# Made from the settings and the width E of what comes in; an encoder has `width` and `mixes_tokens`.
ENCODERS: "Choices[Callable[[ModelSettings, int], nn.Module]]" = Choices(
    {
        "none": "heedful.models.encoders:no_encoder",
        "affine": "heedful.models.encoders:affine",
        "average": "heedful.models.encoders:average",
        "lstm": "heedful.models.encoders:recurrent",
        "bilstm": "heedful.models.encoders:recurrent",
        "gru": "heedful.models.encoders:recurrent",
        "bigru": "heedful.models.encoders:recurrent",
        "conv": "heedful.models.encoders:convolution",
        "self-attention": "heedful.models.self_attention:self_attention",
        "pretrained": "heedful.models.pretrained:pretrained",
    }
)
# What stands instead of attention, made from what would make it.
CONTROLS: "Choices[Callable[[Callable[[], nn.Module]], nn.Module]]" = Choices(
    {
        "none": "heedful.models.level:learnt",
        "uniform": "heedful.models.level:uniform",
        "frozen": "heedful.models.level:frozen",
        "shuffled": "heedful.models.level:shuffled",
    }
)
HEADS = ("score", "logits")
SOURCES = ("uniform", "file", "word2vec", "word2vec-sentences")
INITIALISATIONS = ("sun-lu", "serrano-smith", "pytorch")
POOLINGS = ("first", "mean")
SELF_HEADS = 4  # of the encoder self-attention

WIDEST = 2**16


@dataclass(frozen=True)
class ModelSettings:
    """What a model is made of; `heedful.models.MODELS` has the papers' ten."""

    levels: str = setting("flat", "flat: attention over words; hierarchical: over words, then over sentences")
    max_length: int | None = setting(
        None, "words of a text that are read, the rest are ignored; by default all"
    )

    embedding: int = setting(100, "width E of a word's vector", most=WIDEST)
    embedding_source: str = setting(
        "uniform",
        "where vectors start: uniform, file, word2vec on the texts, or word2vec-sentences, trained on the "
        "sentences of train and dev and scaled to length 1",
    )
    embedding_range: float = setting(
        0.1, "a: vectors that nothing else gives start uniform in (−a, a), unless initialisation is pytorch"
    )
    embedding_frozen: bool = setting(False, "leave the vectors as they start")
    vectors_file: str = setting("", "source file: a file in GloVe's or word2vec's text format, also gzipped")
    word2vec_passes: int = setting(30, "source word2vec: passes over the texts", most=10**6)

    encoder: str = setting("none", f"of each level: {', '.join(ENCODERS)}")
    hidden: int = setting(
        100, "width H of the encoder's states; none has E, and pretrained its own", most=WIDEST
    )
    widths: tuple[int, ...] = setting(
        (3, 5), "conv: widths of the convolutions in words, odd; they share H", most=WIDEST
    )
    pretrained: str = setting("", "pretrained: folder or name of a Hugging Face encoder")
    pretrained_frozen: bool = setting(True, "pretrained: leave its weights as they are")
    pooling: str = setting(
        "first", "pretrained: a word is the state of its first sub-word, or the mean of all"
    )

    attention: str = setting("scaled-dot", f"the score: {', '.join(SCORES)}")
    scale: float | None = setting(None, "λ, which scores are divided by; by default 1, and √H for scaled-dot")
    attention_width: int | None = setting(
        None, "additive: width of the tanh layer; general: of V; by default H", most=WIDEST
    )
    attention_bias: bool = setting(True, "additive: a bias inside the tanh")
    normaliser: str = setting("softmax", f"from scores to weights: {', '.join(NORMALISERS)}")
    control: str = setting("none", "weights instead of learnt ones: uniform, frozen (given) or shuffled")

    head: str | None = setting(
        None, "score: one number; logits: one per class; for two classes by default score"
    )
    head_bias: bool = setting(False, "a bias in the head")

    dropout_words: float = setting(0.0, "on the embedded words, before their encoder; after a pretrained one")
    dropout_sentences: float = setting(0.0, "hierarchical: on the sentences' vectors, before their encoder")
    dropout_head: float = setting(0.0, "on the attended vector, before the head")

    initialisation: str = setting(
        "sun-lu",
        "sun-lu: V ~ N(0,1), recurrent cells orthogonal, rest as PyTorch; serrano-smith: Xavier, recurrent "
        "weights orthogonal; pytorch: all as PyTorch, words too",
    )
    head_range: float | None = setting(
        None, "r: the head starts uniform in (−r, r); by default as initialisation says"
    )

    def __post_init__(self) -> None:
        _check_types(self)
        for kind, name, choices in (
            ("number of levels", self.levels, LEVELS),
            ("encoder", self.encoder, ENCODERS),
            ("source of embeddings", self.embedding_source, SOURCES),
            ("attention", self.attention, SCORES),
            ("normaliser", self.normaliser, NORMALISERS),
            ("control of attention", self.control, CONTROLS),
            ("initialisation", self.initialisation, INITIALISATIONS),
            ("pooling", self.pooling, POOLINGS),
        ):
            _refuse_foreign(kind, name, choices)
            choose_from(kind, name, choices)
        if self.head is not None:
            choose_from("head", self.head, HEADS)
        _check_numbers(self)
        _check_together(self)

    @property
    def hierarchical(self) -> bool:
        """Whether there is attention over sentences above attention over words."""
        return self.levels == "hierarchical"

    def to_dict(self) -> dict[str, Any]:
        """All fields that are set, in types that TOML has."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value is not None
        }

    def unplaced(self) -> "ModelSettings":
        """The same without the folders of the files they name: folders move."""
        return replace(self, vectors_file=Path(self.vectors_file).name, pretrained=Path(self.pretrained).name)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "ModelSettings":
        """The settings that `to_dict` gave; a missing field takes its default, an unknown one is refused."""
        return settings_from(cls, content, where="the model's settings")


def _refuse_foreign(kind: str, name: str, choices: Iterable[str]) -> None:
    """A part of somebody's own that is not known here; its code is not imported because settings name it."""
    module, colon, part = name.partition(":")
    if colon and name not in choices:
        raise UserError(
            f"The {kind} {name!r} is a part of somebody's own: hand over its class (parts=[{part}]), or "
            f"allow its module to be imported with --allow-module {module}."
        )


def parameters_of(settings: ModelSettings, words: int, classes: int) -> int:
    """About how many numbers a model of these settings learns, to be known before any is made."""
    embedding, hidden, width = settings.embedding, settings.hidden, settings.attention_width or 0
    encoders = 4 * (embedding + 3 * hidden) * hidden + sum(settings.widths) * embedding * hidden
    attention = max(embedding, hidden) * max(width, hidden) + (settings.max_length or 0)
    return words * embedding + encoders + attention + classes * max(embedding, hidden)


def _check_types(settings: ModelSettings) -> None:
    """Refuse a value of another type; a whole number where a fraction belongs becomes one."""
    for name, hint in get_type_hints(ModelSettings).items():
        value = getattr(settings, name)
        kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        if float in kinds and type(value) is int and abs(value) < 10**300:
            object.__setattr__(settings, name, float(value))
        elif hint == tuple[int, ...]:
            if not (isinstance(value, tuple) and all(type(part) is int for part in value)):
                raise UserError(f"The model setting {name} must be whole numbers, but is {value!r}.")
        elif type(value) not in kinds:
            wanted = " or ".join("left out" if kind is type(None) else kind.__name__ for kind in kinds)
            raise UserError(f"The model setting {name} must be {wanted}, but is {value!r}.")


def _check_numbers(settings: ModelSettings) -> None:
    above_zero = (
        "max_length",
        "embedding",
        "embedding_range",
        "word2vec_passes",
        "hidden",
        "scale",
        "attention_width",
    )
    for name in (*above_zero, "head_range"):
        value = getattr(settings, name)
        if value is not None and not 0 < value < float("inf"):
            raise UserError(f"The model setting {name} must be above 0, but is {value}.")
    check_sizes(settings)
    for name in ("dropout_words", "dropout_sentences", "dropout_head"):
        if not 0 <= getattr(settings, name) < 1:
            raise UserError(
                f"The model setting {name} must be from 0 to below 1, but is {getattr(settings, name)}."
            )


def _check_together(settings: ModelSettings) -> None:
    if settings.encoder in ("bilstm", "bigru") and settings.hidden % 2:
        raise UserError(
            f"The encoder {settings.encoder!r} has two halves: hidden must be even, but is {settings.hidden}."
        )
    if settings.encoder == "conv":
        if not settings.widths or any(width < 1 or width % 2 == 0 for width in settings.widths):
            raise UserError(
                f"Convolutions need odd widths, to have a middle word, but widths are {settings.widths}."
            )
        if settings.hidden % len(settings.widths):
            parts = len(settings.widths)
            raise UserError(f"{parts} convolutions share hidden in equal parts, but it is {settings.hidden}.")
    if settings.encoder == "self-attention" and settings.hidden % SELF_HEADS:
        raise UserError(
            f"Self-attention has {SELF_HEADS} heads that share hidden, but it is {settings.hidden}."
        )
    if settings.encoder == "pretrained" and not settings.pretrained:
        raise UserError("The encoder 'pretrained' needs the folder or the name of a model: set pretrained.")
    if settings.encoder == "pretrained" and settings.hierarchical:
        raise UserError("A pretrained encoder reads whole texts: use it with levels 'flat'.")
    if settings.control == "frozen" and settings.hierarchical:
        raise UserError("Frozen attention takes one row of weights a text: use it with levels 'flat'.")
    if settings.attention == "location" and settings.max_length is None:
        raise UserError("Location-based attention has one number for each place: set max_length.")
    if settings.embedding_source == "file" and not settings.vectors_file:
        raise UserError("Embeddings from a file need its path: set vectors_file.")
