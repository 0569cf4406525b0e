"""A network as something that can be run: inputs to logits, with what each family wants around them."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from copy import copy
from typing import Any

import torch
from torch import Tensor, nn

from heedful.models.transformers.products import by_onednn
from heedful.models.transformers.tapping import kernel_of
from heedful.models.transformers.tasks import Decide


class Runner:
    """Runs a classifier on inputs (B,L) without padding."""

    def __init__(self, network: Any, decide: Decide | None = None) -> None:
        self.network, self.decide = network, decide
        taken = inspect.signature(network.forward).parameters
        self.accepts = frozenset(taken)
        # A cache of keys and values would be made and thrown away.
        self._fixed: dict[str, Any] = {"use_cache": False} if "use_cache" in taken else {}
        if not getattr(network.config, "return_dict", True):
            self._fixed["return_dict"] = True
        # A faster attention, and faster products, once they have proved to give the same logits.
        self.kernel: str | None = None
        self.onednn = False

    def deciding(self, decide: Decide | None) -> "Runner":
        """The same network, read the same way, for another decision; as its head has it without any."""
        other = copy(self)
        other.decide = decide
        return other

    @property
    def device(self) -> torch.device:
        device: torch.device = next(iter(self.network.parameters())).device
        return device

    def __call__(self, inputs: Mapping[str, Tensor], **more: Any) -> Any:
        """What the network gives; its `logits` are (B,K)."""
        ids = inputs["input_ids"]
        mask = {"attention_mask": torch.ones_like(ids)} if "attention_mask" in self.accepts else {}
        products = by_onednn() if self.onednn else nullcontext()
        with _any_number_of_texts(self.network.config), products:
            read = self.network(**{**mask, **inputs, **self._fixed, **more})
        if self.decide is not None:
            read.logits = self.decide(read.logits)
        return read

    @property
    def attends(self) -> str | None:
        """The attention that it is read by where no weights are needed."""
        return self.kernel or getattr(self.network.config, "_attn_implementation", None)

    def logits(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """The logits (B,K), by the fastest attention that gives them."""
        fastest = nullcontext() if self.kernel is None else kernel_of(self.network, self.kernel)
        with fastest:
            logits: Tensor = self(inputs).logits
        return logits

    def vectors(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """The input embeddings (B,L,E) of the pieces."""
        found: Tensor = self._tables()[0](inputs["input_ids"])
        return found

    def logits_of(self, inputs: Mapping[str, Tensor], vectors: Tensor) -> Tensor:
        """The logits with these input embeddings (B,L,E) instead of the network's own."""
        with self.embedding(inputs, vectors):
            return self.logits(inputs)

    @contextmanager
    def embedding(self, inputs: Mapping[str, Tensor], vectors: Tensor) -> Iterator[None]:
        """While this lasts these texts have these input embeddings (B,L,E) instead of the network's own.

        They take the place of what its tables give, and not of an argument: some families look at the ids
        to find the position that decides. A decoder that reads the same text one place later does so too.
        """
        with ExitStack() as stack:
            for table in self._tables():
                hook = table.register_forward_hook(_replacing(inputs["input_ids"], vectors))
                stack.callback(hook.remove)
            yield

    def _tables(self) -> list[nn.Module]:
        """The tables of input embeddings: an encoder's first, each once."""
        parts = [self.network]
        if getattr(self.network.config, "is_encoder_decoder", False):
            parts = [self.network.get_encoder(), self.network.get_decoder()]
        return list(dict.fromkeys(part.get_input_embeddings() for part in parts))


def _replacing(ids: Tensor, vectors: Tensor) -> Callable[..., Tensor | None]:
    """A hook that puts `vectors` instead of what a table gives for `ids`, perhaps one place later."""

    def put(table: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if not args or not isinstance(args[0], Tensor) or args[0].shape != ids.shape:
            return None
        if torch.equal(args[0], ids):
            return vectors
        if torch.equal(args[0][:, 1:], ids[:, :-1]):
            return torch.cat([output[:, :1], vectors[:, :-1]], dim=1)
        return None

    return put


@contextmanager
def _any_number_of_texts(config: Any) -> Iterator[None]:
    """Decoders without a padding sign refuse several texts at once; there is no padding here to be told."""
    if getattr(config, "pad_token_id", 0) is not None:
        yield
        return
    try:
        config.pad_token_id = -1
        yield
    finally:
        config.pad_token_id = None
