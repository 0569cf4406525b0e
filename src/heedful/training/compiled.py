"""A learner on the CPU whose whole step is one compiled function: `dp`, `dp-a` and `ad`.

It works in place on the NumPy views of a model's parameters, in float32 or float64, on one thread: runs are
bit-identical for a seed, and cells of a grid run side by side. `heedful.training.closed` takes the same steps
in torch.
Axes: V vocabulary, E width of a word's vector, H width of what the head sees, A width of the context, K
classes, B texts of a batch, N occurrences in it.
"""

import importlib.util
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from heedful.errors import MissingExtra, UserError, choose_from
from heedful.models.dropout import check_rate
from heedful.training.optimisers import decayed

FAMILIES = {"dp": "dot_step", "dp-a": "affine_step", "ad": "additive_step"}  # by their functions in `kernel`
NAMES = ("embedding", "context", "head", "matrix", "bias")


class CompiledForm:
    """Trains in place: embedding (V, E), context (A,), head (H,) for one score or (K, H), and of `dp-a` and
    `ad` also matrix (A, E) and, if there is one, bias (A,).

    `l2` has the strengths on context, head, and matrix with bias. The penalty on |VᵀW| is for `dp` alone.
    """

    def __init__(
        self,
        family: str,
        parameters: Mapping[str, np.ndarray],
        *,
        scale: float,
        optimiser: str = "adagrad",
        rate: float = 0.02,
        rate_decay: float = 0.0,
        dropout_words: float = 0.0,
        dropout_head: float = 0.0,
        penalty: float = 0.0,
        l2: tuple[float, float, float] = (0.0, 0.0, 0.0),
        seed: int = 0,
    ) -> None:
        self.family = choose_from("model with a compiled step", family, FAMILIES)
        if penalty and family != "dp":
            raise ValueError(f"the compiled step has no penalty for {family}.")
        self._kernel = _kernel()
        self._step = getattr(self._kernel, FAMILIES[family])
        self._adagrad = (
            choose_from("optimiser of the compiled learner", optimiser, ("sgd", "adagrad")) == "adagrad"
        )
        self._parameters = _checked_parameters(family, parameters)
        self._sums = tuple(np.zeros_like(part if self._adagrad else part[:0]) for part in self._parameters)
        self._number = self._parameters[0].dtype.type
        self._inverse_scale, self._penalty = self._number(1 / scale), self._number(penalty)
        self._l2 = tuple(map(self._number, l2))
        self._rate, self._rate_decay = rate, rate_decay
        self._drops = tuple(_drop_and_boost(share, self._number) for share in (dropout_words, dropout_head))
        self._seed, self._steps = seed, 0
        self._texts: tuple[np.ndarray, ...] = ()
        self._texts_seen: tuple[Any, ...] = ()
        self._slots = np.full(len(self._parameters[0]), -1, np.int32)
        self._scratch: tuple[np.ndarray, ...] = self._make_scratch(0, 0)

    def step(self, ids: np.ndarray, offsets: np.ndarray, labels: np.ndarray, rows: np.ndarray) -> float:
        """Learn from the texts with these rows (B,), and return their mean loss, the penalty included.

        Text i is ids[offsets[i] : offsets[i + 1]]; `labels` are class numbers, and class 1 is y = +1 for one
        score. Pass the same array objects at every step: new ones are looked through for ids out of range.
        """
        self._look_through(ids, offsets, labels)
        rows = _frozen(rows, np.int64)
        if rows.size == 0 or rows.min() < 0 or rows.max() >= len(labels):
            raise ValueError(f"rows must be in 0 … {len(labels) - 1} and not empty, but they are {rows}.")
        self._grow_scratch(offsets[rows + 1] - offsets[rows])
        key = self._key(self._steps)
        self._steps += 1
        rate = decayed(self._rate, self._rate_decay, self._steps) if self._adagrad else self._rate
        return float(
            self._step(
                self._parameters,
                self._sums,
                self._texts,
                rows,
                (self._slots, *self._scratch),
                (self._inverse_scale, self._number(rate), self._penalty),
                self._l2,
                self._drops,
                key,
                self._adagrad,
            )
        )

    def set_rate(self, rate: float) -> None:
        """Go on with another learning rate."""
        self._rate = rate

    def state(self) -> dict[str, np.ndarray]:
        """What a run needs to go on, besides the parameters: copies of Adagrad's sums, the count of steps."""
        kept = {name: sums.copy() for name, sums in zip(NAMES, self._sums, strict=True) if sums.size}
        return {"steps": np.array(self._steps), **kept}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a `state()` of a learner with the same settings."""
        for name, sums in zip(NAMES, self._sums, strict=True):
            given = np.asarray(state.get(name, sums[:0]))
            if given.size != sums.size:
                raise UserError(
                    f"The optimiser's state for {name} has {given.size} numbers and the model needs "
                    f"{sums.size}: it belongs to another model or optimiser."
                )
            sums[...] = given.reshape(sums.shape)
        self._steps = int(state["steps"])

    def _key(self, step: int) -> np.uint64:
        key: np.uint64 = np.random.SeedSequence([self._seed, step]).generate_state(1, np.uint64)[0]
        return key

    def _look_through(self, ids: np.ndarray, offsets: np.ndarray, labels: np.ndarray) -> None:
        """Refuse what the kernel, which checks nothing, would read or write out of bounds."""
        seen = (ids, offsets, labels)
        if len(self._texts_seen) == 3 and all(a is b for a, b in zip(seen, self._texts_seen, strict=True)):
            return
        vocabulary, classes = len(self._parameters[0]), max(len(self._parameters[2]), 2)
        if len(ids) and not 0 <= ids.min() <= ids.max() < vocabulary:
            raise ValueError(
                f"ids must be in 0 … {vocabulary - 1}, but they are in {ids.min()} … {ids.max()}."
            )
        if len(labels) and not 0 <= labels.min() <= labels.max() < classes:
            raise ValueError(f"labels must be in 0 … {classes - 1}, but they are {np.unique(labels)}.")
        if (
            len(offsets) != len(labels) + 1
            or offsets[0] < 0
            or offsets[-1] > len(ids)
            or (np.diff(offsets) < 1).any()
        ):
            raise ValueError("offsets must be one more than the labels, and every text must have a token.")
        self._texts = _frozen(ids, np.int32), _frozen(offsets, np.int64), _frozen(labels, np.int64)
        self._texts_seen = seen

    def _grow_scratch(self, lengths: np.ndarray) -> None:
        distinct, longest = min(int(lengths.sum()), len(self._slots)), int(lengths.max())
        if distinct > len(self._scratch[0]) or longest > len(self._scratch[-1]):
            self._scratch = self._make_scratch(
                max(distinct, len(self._scratch[0])), max(longest, len(self._scratch[-1]))
            )

    def _make_scratch(self, distinct: int, longest: int) -> tuple[np.ndarray, ...]:
        """Work space of the kernel, kept from step to step: tokens, gradient, keep, kept, weights, inner."""
        width = self._parameters[0].shape[1]
        across = len(self._parameters[1]) if self.family == "ad" else 0
        shapes = (distinct, width), (longest, width), (longest, width), (longest,), (longest, across)
        return np.empty(distinct, np.int32), *(np.empty(shape, self._number) for shape in shapes)


def available() -> bool:
    """Whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


def is_compiled(family: str = "dp") -> bool:
    """Whether the family's kernel is ready: used in this process, or kept on disk from an earlier one.

    If not, the first step compiles it, which takes some seconds: say so before it begins.
    """
    step = getattr(_kernel(), FAMILIES[family])
    if step.signatures:
        return True
    written = Path(str(_kernel().__file__)).stat().st_mtime
    kept = Path(step.stats.cache_path).glob(f"kernel.{FAMILIES[family]}-*.nbi")
    return any(index.stat().st_mtime >= written for index in kept)


def warm_up(family: str = "dp") -> None:
    """Compile a kernel, or read it from disk, by a step on a text of one word."""
    made: dict[str, np.ndarray] = {"embedding": np.zeros((1, 1), np.float32)}
    made |= {name: np.zeros(1, np.float32) for name in ("context", "head")}
    if family != "dp":
        made["matrix"] = np.zeros((1, 1), np.float32)
    learner = CompiledForm(family, made, scale=1.0)
    learner.step(np.zeros(1, np.int32), np.array([0, 1]), np.zeros(1, np.int64), np.zeros(1, np.int64))


@cache
def imported(name: str) -> ModuleType | None:
    """This module of ours with compiled loops, or None where it lacks numba."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != "numba":
            raise
        return None
    except RuntimeError as error:  # it is written beside the module, or else into the user's home
        if "cannot cache" not in str(error):
            raise
        raise UserError(
            "There is no folder in which compiled loops can be kept: name one that can be written in the "
            "variable NUMBA_CACHE_DIR."
        ) from error


def _kernel() -> ModuleType:
    kernel = imported("heedful.training.kernel")
    if kernel is None:
        raise MissingExtra("The compiled training kernel", "fast")
    return kernel


def _checked_parameters(family: str, given: Mapping[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """All five as views, so that the model has what is learnt; the head as (K, H), missing ones empty."""
    wanted = NAMES[:3] if family == "dp" else NAMES[:4]
    if not set(wanted) <= set(given) <= ({*wanted} if family == "dp" else {*NAMES}):
        raise ValueError(f"{family} has the parameters {', '.join(wanted)}, but {', '.join(given)} came.")
    embedding = given["embedding"]
    for part in given.values():
        if part.dtype not in (np.float32, np.float64) or part.dtype != embedding.dtype:
            raise ValueError(f"parameters must all be float32 or all float64, but one is {part.dtype}.")
        if not (part.flags.c_contiguous and part.flags.writeable):
            raise ValueError("parameters must be contiguous and writeable: they are changed in place.")
    context, head = given["context"], given["head"]
    matrix = given.get("matrix", np.empty((0, 0), embedding.dtype))
    bias = given.get("bias", np.empty(0, embedding.dtype))
    across, width = context.shape[-1], embedding.shape[-1]  # A, E
    fits = (
        embedding.ndim == 2
        and context.ndim == 1
        and head.ndim in (1, 2)
        and head.shape[-1] == (across if family == "dp-a" else width)
        and (across == width if family == "dp" else matrix.shape == (across, width))
        and bias.shape in ((0,), (across,))
    )
    if not fits:
        shapes = ", ".join(f"{name} {part.shape}" for name, part in given.items())
        raise ValueError(f"the shapes of these parameters do not fit {family}: {shapes}.")
    return embedding, context, head.reshape(-1, head.shape[-1]), matrix, bias


def _drop_and_boost(rate: float, number: type) -> tuple[np.uint32, Any]:
    """The hash below which a number is dropped, and the factor of what is kept."""
    check_rate(rate)
    drop = min(round(rate * 2**32), 2**32 - 1)
    return np.uint32(drop), number(1 / (1 - drop / 2**32))


def _frozen(values: np.ndarray, dtype: type) -> np.ndarray:
    """A contiguous read-only view: numba compiles anew for every kind of array, so there is one kind."""
    view: np.ndarray = np.ascontiguousarray(values, dtype).view()
    view.flags.writeable = False
    return view
