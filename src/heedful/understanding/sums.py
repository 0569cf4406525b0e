"""One pass over the texts: the sums that every flow term is made of (Sun & Lu, 2020, Eq. 16 and 20).

With c_j = α_j · (−∂ℓ/∂s) and dev_j = s_j − s, the sums over all occurrences of a word are π(e) = Σ c and
ρ(e) = Σ c·dev. What a word gets from all other words (terms C and F) needs only two vectors, Σ c h_j and Σ
c·dev k_j; they are kept for each label apart (Eq. 18, 26). Nothing of size words × texts is made, and of
size N only a chunk at a time.

Axes: V words (rows of the form's table), N occurrences, B texts, L labels, K scores, H width.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.models.gradients import Occurrences, Quantities, quantities
from heedful.training.closed import flat_texts
from heedful.understanding.forms import PaperForm

CHUNK = 1 << 19  # occurrences at a time


@dataclass(frozen=True, eq=False)
class Sums:
    """What one pass gives. `instances` is m."""

    pi: Tensor  # π(e) (V, K)
    rho: Tensor  # ρ(e) (V,)
    pulls: Tensor  # Σ c h_j over the texts of each group, a label (L, K, H)
    leans: Tensor  # Σ c·dev k_j over the texts of each group (L, H)
    instances: int
    loss: float
    accuracy: float
    beta: float  # mean β, for K classes mean 1 − p of the true class
    spread: float  # mean entropy of the weights over log T, of texts with more words than one


@dataclass(frozen=True, eq=False)
class Part:
    """Some texts, ready to be summed."""

    group: int  # which of the sums by label they belong to
    places: Occurrences
    labels: Tensor  # (B,)

    @cached_property
    def per_log_length(self) -> Tensor:
        """1/log T of each text (B,), the scale of its weights' entropy; 0 for a text of one word or none."""
        lengths = torch.bincount(self.places.instance.cpu(), minlength=self.places.instances).double()
        return torch.where(lengths > 1, 1 / lengths.clamp_min(2).log(), 0.0)

    @cached_property
    def long(self) -> int:
        """Texts of more words than one."""
        return int(self.per_log_length.count_nonzero())


def parts_of(
    encoded: EncodedTexts,
    *,
    rows: int,
    classes: int = 0,
    chunk: int = CHUNK,
    device: str | torch.device = "cpu",
) -> Iterator[Part]:
    """Cut texts into parts of about `chunk` occurrences, the texts of each of `classes` labels apart.

    Without `classes` all texts are of group 0. The ids are rows 0 … `rows` − 1 of a form's table.
    """
    if encoded.labels is None:
        raise UserError("Flow terms need labels, but these texts have none.")
    labels = np.asarray(encoded.labels, np.int64)
    groups = [np.flatnonzero(labels == label) for label in range(classes)] or [np.arange(len(labels))]
    for group, own in enumerate(groups):
        for some in _chunks(own, encoded.lengths, chunk):
            flat, lengths = flat_texts(encoded.ids, encoded.offsets, some)
            instance = np.repeat(np.arange(len(lengths)), lengths)
            places = Occurrences(
                torch.from_numpy(flat).to(device), torch.from_numpy(instance).to(device), rows, len(lengths)
            )
            yield Part(group, places, torch.from_numpy(labels[some]).to(device))


def collect(form: PaperForm, encoded: EncodedTexts, *, chunk: int = CHUNK) -> Sums:
    """Walk over all texts once, label by label, with dropout off."""
    size, scores = form.polarity.shape
    classes = max(scores, 2)
    parts = parts_of(encoded, rows=size, classes=classes, chunk=chunk, device=form.table.device)
    return add_up(form, parts, groups=classes)


@torch.no_grad()
def add_up(form: PaperForm, parts: Iterable[Part], *, groups: int = 1) -> Sums:
    """The sums over parts; those by label are (groups, …)."""
    size, scores = form.polarity.shape
    pi, rho = form.polarity.new_zeros(size, scores), form.attention.new_zeros(size)
    pulls = form.values.new_zeros(groups, scores, form.values.shape[1])
    leans = form.keys.new_zeros(groups, form.keys.shape[1])
    told = _Told()
    for group, own in groupby(parts, key=lambda part: part.group):
        own_pi, own_rho = torch.zeros_like(pi), torch.zeros_like(rho)
        for part in own:
            found = quantities(
                form.attention, form.polarity, part.places, labels=part.labels, head_bias=form.head_bias
            )
            own_pi += found.pi(part.places)
            own_rho += found.rho(part.places)
            told.hear(found, part, form.head_bias)
        pull, lean = form.summed(own_pi, own_rho)
        pulls[group] += pull
        leans[group] += lean
        pi += own_pi
        rho += own_rho
    return Sums(pi, rho, pulls, leans, told.count, *told.means())


class _Told:
    """Running totals of what is told about texts."""

    def __init__(self) -> None:
        self.count = self.spread_count = 0
        self.loss = self.right = self.beta = self.spread = 0.0

    def hear(self, found: Quantities, part: Part, head_bias: Tensor | None) -> None:
        scores, push, count = found.scores, found.push, len(found.scores)
        logits = scores if head_bias is None else scores + head_bias
        decided = (logits[:, 0] > 0).long() if logits.shape[1] == 1 else logits.argmax(1)
        self.count += count
        self.loss += float(found.loss) * count
        self.right += int((decided == part.labels).sum())
        beta = push.abs() if push.shape[1] == 1 else push.gather(1, part.labels[:, None])
        self.beta += float(beta.sum())
        entropy = part.places.per_instance(torch.special.entr(found.weights))  # Σ −α log α, which is 0 at 0
        self.spread += float(entropy @ part.per_log_length.to(entropy))
        self.spread_count += part.long

    def means(self) -> tuple[float, float, float, float]:
        count = max(self.count, 1)
        return (
            self.loss / count,
            self.right / count,
            self.beta / count,
            self.spread / self.spread_count if self.spread_count else float("nan"),
        )


def _chunks(rows: np.ndarray, lengths: np.ndarray, chunk: int) -> list[np.ndarray]:
    """The rows in their order, cut so that a part has about `chunk` occurrences, and at least one text."""
    if not len(rows):
        return []
    part = lengths[rows].cumsum() // chunk
    return np.split(rows, np.flatnonzero(np.diff(part)) + 1)
