"""A learner for `dp` on the CPU whose whole step is one compiled function (`heedful.training.kernel`).

It works in place on the NumPy views of a model's parameters, in float32 or float64, on one thread: runs are
bit-identical for a seed, and cells of a grid run side by side. `heedful.training.closed` takes the same steps
in torch.
Axes: V vocabulary, H width, K classes, B texts of a batch, N occurrences in it.
"""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heedful.errors import MissingExtra, UserError, choose_from
from heedful.training.dropout import check_rate
from heedful.training.optimisers import decayed


class CompiledDot:
    """Trains `dp` in place: embedding (V, H), context (H,), and head (H,) for one score or (K, H)."""

    def __init__(
        self,
        embedding: np.ndarray,
        context: np.ndarray,
        head: np.ndarray,
        *,
        scale: float,
        optimiser: str = "adagrad",
        rate: float = 0.02,
        rate_decay: float = 0.0,
        dropout_words: float = 0.0,
        dropout_head: float = 0.0,
        penalty: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._kernel = _kernel()
        self._adagrad = (
            choose_from("optimiser of the compiled learner", optimiser, ("sgd", "adagrad")) == "adagrad"
        )
        self._parameters = _checked_parameters(embedding, context, head)
        self._sums = tuple(np.zeros_like(part if self._adagrad else part[:0]) for part in self._parameters)
        self._number = embedding.dtype.type
        self._inverse_scale, self._penalty = self._number(1 / scale), self._number(penalty)
        self._rate, self._rate_decay = rate, rate_decay
        self._drops = tuple(_drop_and_boost(share, self._number) for share in (dropout_words, dropout_head))
        self._seed, self._steps = seed, 0
        self._texts: tuple[np.ndarray, ...] = ()
        self._texts_seen: tuple[Any, ...] = ()
        self._slots = np.full(len(embedding), -1, np.int32)
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
            self._kernel.step_batch(
                self._parameters,
                self._sums,
                self._texts,
                rows,
                (self._slots, *self._scratch),
                (self._inverse_scale, self._number(rate), self._penalty),
                self._drops,
                key,
                self._adagrad,
            )
        )

    def next_keep(self, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Dropout's factors of the coming step, words (N, H), attended (B, H), for texts of lengths (B,)."""
        width, key = len(self._parameters[1]), self._key(self._steps)
        words = np.empty((int(lengths.sum()), width), self._number)
        attended = np.empty((len(lengths), width), self._number)
        ones = np.ones(width, self._number)
        fill, mix = self._kernel.drop_out, self._kernel.mix
        for place, row in enumerate(words):
            fill(row, np.empty_like(row), ones, np.uint64(mix(key, place)), *self._drops[0])
        for place, row in zip(np.cumsum(lengths), attended, strict=True):
            fill(row, np.empty_like(row), ones, np.uint64(mix(~key, place)), *self._drops[1])
        return words, attended

    def set_rate(self, rate: float) -> None:
        """Go on with another learning rate."""
        self._rate = rate

    def state(self) -> dict[str, np.ndarray]:
        """What a run needs to go on, besides the parameters: copies of Adagrad's sums, the count of steps."""
        names = ("embedding", "context", "head")
        return {
            "steps": np.array(self._steps),
            **{name: sums.copy() for name, sums in zip(names, self._sums, strict=True)},
        }

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a `state()` of a learner with the same settings."""
        for name, sums in zip(("embedding", "context", "head"), self._sums, strict=True):
            given = np.asarray(state[name])
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
        """Work space that the kernel keeps from step to step: tokens, gradient, keep, kept, weights."""
        width = len(self._parameters[1])
        shapes = (distinct, width), (longest, width), (longest, width), (longest,)
        return np.empty(distinct, np.int32), *(np.empty(shape, self._number) for shape in shapes)


def available() -> bool:
    """Whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


def is_compiled() -> bool:
    """Whether the kernel is ready: used in this process, or kept on disk from an earlier one.

    If not, the first step compiles it, which takes some seconds: say so before it begins.
    """
    step_batch = _kernel().step_batch
    if step_batch.signatures:
        return True
    written = Path(_kernel().__file__).stat().st_mtime
    kept = Path(step_batch.stats.cache_path).glob("kernel.step_batch-*.nbi")
    return any(index.stat().st_mtime >= written for index in kept)


def warm_up(dtype: type = np.float32) -> None:
    """Compile the kernel, or read it from disk, by a step on a text of one word."""
    learner = CompiledDot(np.zeros((1, 1), dtype), np.zeros(1, dtype), np.zeros(1, dtype), scale=1.0)
    learner.step(np.zeros(1, np.int32), np.array([0, 1]), np.zeros(1, np.int64), np.zeros(1, np.int64))


def _kernel() -> Any:
    if not available():
        raise MissingExtra("The compiled training kernel", "fast")
    from heedful.training import kernel

    return kernel


def _checked_parameters(*parameters: np.ndarray) -> tuple[np.ndarray, ...]:
    """Embedding (V, H), context (H,) and head as (K, H), as views: what the kernel learns, the model has."""
    embedding, context, head = parameters
    for part in parameters:
        if part.dtype not in (np.float32, np.float64) or part.dtype != embedding.dtype:
            raise ValueError(f"parameters must all be float32 or all float64, but one is {part.dtype}.")
        if not (part.flags.c_contiguous and part.flags.writeable):
            raise ValueError("parameters must be contiguous and writeable: they are changed in place.")
    if (
        embedding.ndim != 2
        or context.shape != embedding.shape[1:]
        or head.shape[-1:] != context.shape
        or head.ndim > 2
    ):
        shapes = ", ".join(str(part.shape) for part in parameters)
        raise ValueError(
            f"embedding, context and head must be (V, H), (H,) and (H,) or (K, H), but are {shapes}."
        )
    return embedding, context, head.reshape(-1, len(context))


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
