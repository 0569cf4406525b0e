"""Gallery: a key–value memory that is asked several times, for questions that need one fact or two.

Each fact is a memory; its key and its value are sums of word embeddings, as in Sukhbaatar et al. (2015), and
the key also carries how long ago it was told. Axes: B stories, T facts, N hops, H width.
"""

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import MemoryHops, uniform_weights, weighted_sum
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.gallery.learning import learn, parameters_of
from heedful.gallery.real_memory import REAL
from heedful.gallery.seeded import seeded
from heedful.gallery.stories import PLACES, WORDS, Stories, tell_stories
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST = 12  # facts in a story
WIDTH, BATCH = 32, 128
RATE, MEAN_RATE = 0.01, 0.02  # the best of 0.002, 0.005, 0.01 and 0.02 for each


class Facts(nn.Module):
    """Embed a story's facts as keys and values (B,T,H), and its question (B,H)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.keys, self.values = nn.Embedding(len(WORDS), width), nn.Embedding(len(WORDS), width)
        self.questions, self.ages = nn.Embedding(len(WORDS), width), nn.Embedding(LONGEST, width)
        for table in self.children():
            nn.init.normal_(table.weight, std=0.3)  # type: ignore[arg-type]

    def forward(self, stories: Stories) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Give keys, values, which facts are real (B,T), and the question."""
        mask = stories.facts[..., 0] > 0
        age = mask.flip(-1).cumsum(-1).flip(-1).sub(1).clamp(min=0)  # 0 is the newest fact
        keys = self.keys(stories.facts).sum(-2) + self.ages(age)
        return keys, self.values(stories.facts).sum(-2), mask, self.questions(stories.questions)


class Asker(nn.Module):
    """Ask the memory several times and name the place."""

    def __init__(self, width: int, *, hops: int) -> None:
        super().__init__()
        self.facts = Facts(width)
        self.memory = MemoryHops(width, hops=hops)
        self.decide = nn.Linear(width, len(PLACES))

    def forward(self, stories: Stories) -> tuple[Tensor, Tensor]:
        """Give logits over places (B,K) and each hop's weights (B,N,T)."""
        keys, values, mask, question = self.facts(stories)
        recalled = self.memory(keys, mask, query=question, values=values)
        return self.decide(recalled.answer), recalled.weights


class Averager(nn.Module):
    """The same facts, each seen by a layer of its own, averaged without a choice; then a network decides."""

    def __init__(self, width: int, *, inner: int) -> None:
        super().__init__()
        self.facts = Facts(width)
        self.see = nn.Linear(2 * width, inner)
        self.combine = nn.Linear(inner + width, inner)
        self.decide = nn.Linear(inner, len(PLACES))

    def forward(self, stories: Stories) -> tuple[Tensor, Tensor]:
        """Give logits over places (B,K) and the same weight for each fact (B,1,T)."""
        keys, values, mask, question = self.facts(stories)
        weights = uniform_weights(mask)
        seen = weighted_sum(weights, self.see(torch.cat([keys, values], -1)).relu())
        combined = self.combine(torch.cat([seen, question], -1)).relu()
        return self.decide(combined), weights[:, None]


def fit(model: nn.Module, stories: Stories, *, steps: int, rate: float) -> None:
    """Learn to name the place."""

    def loss() -> Tensor:
        batch = stories.rows(torch.randint(len(stories), (BATCH,)))
        return F.cross_entropy(model(batch)[0], batch.answers)

    learn(model, loss, steps=steps, rate=rate)


def answered(model: nn.Module, stories: Stories) -> Tensor:
    """Which questions (B) the model answers rightly, as 0 or 1."""
    with torch.no_grad():
        right: Tensor = (model(stories)[0].argmax(-1) == stories.answers).float()
        return right


def train(seed: int, size: Size) -> Outcome:
    """Train a memory of three hops, one of a single hop, and the average, each on the same stories."""
    told, longest, steps = (20_000, LONGEST, 2000) if size == "full" else (5000, 8, 450)
    stories = tell_stories(told, seed=2 * seed, longest=longest)
    tested = tell_stories(2000, seed=2 * seed + 1, longest=longest)
    with one_thread(), seeded(seed):
        hops, single, mean = Asker(WIDTH, hops=3), Asker(WIDTH, hops=1), Averager(WIDTH, inner=25)
        for model, rate in ((hops, RATE), (single, RATE), (mean, MEAN_RATE)):
            fit(model, stories, steps=steps, rate=rate)
        right, once, averaged = (answered(model, tested) for model in (hops, single, mean))
    return Outcome(
        figure=right.mean().item(),
        baseline=averaged.mean().item(),
        parameters=parameters_of(hops),
        baseline_parameters=parameters_of(mean),
        table={
            "one fact": right[0::2].mean().item(),
            "two facts": right[1::2].mean().item(),
            "one fact, a single hop": once[0::2].mean().item(),
            "two facts, a single hop": once[1::2].mean().item(),
            "one fact, mean": averaged[0::2].mean().item(),
            "two facts, mean": averaged[1::2].mean().item(),
            "facts found": found(hops, tested),
        },
        picture={"questions": [shown(hops, tested, row) for row in telling(tested)]},
    )


def found(model: Asker, stories: Stories) -> float:
    """The share of questions for which each needed fact is the one that some hop reads most."""
    with torch.no_grad():
        most = model(stories)[1].argmax(-1)  # (B,N)
    needed = stories.support[..., None]  # (B,2,1)
    share: float = ((needed == most[:, None]).any(-1) | (needed[..., 0] < 0)).all(-1).float().mean().item()
    return share


def telling(stories: Stories) -> tuple[int, int]:
    """A question of each kind, of a short story, whose needed facts are neither the last nor neighbours."""
    length = (stories.facts[..., 0] > 0).sum(-1)
    first, second = stories.support.unbind(-1)
    fits = (length <= 9) & (first < length - 1) & ((second - first).abs() > 1)
    kinds = torch.arange(len(stories)) % 2
    return tuple(int((fits & (kinds == kind)).nonzero()[0]) for kind in (0, 1))  # type: ignore[return-value]


def shown(model: Asker, stories: Stories, row: int) -> dict[str, object]:
    """One question with its facts and what each hop reads of them."""
    with torch.no_grad():
        logits, weights = model(stories.rows(torch.tensor([row])))
    length = int((stories.facts[row, :, 0] > 0).sum())
    return {
        "facts": [stories.fact(row, place) for place in range(length)],
        "question": stories.question(row),
        "answer": PLACES[int(logits.argmax())],
        "support": [place for place in stories.support[row].tolist() if place >= 0],
        "weights": weights[0, :, :length].numpy(),
    }


def draw(outcome: Outcome, figure: "Figure") -> None:
    """For a question of each kind, the facts and how much of each every hop reads; needed facts are bold."""
    questions = outcome.picture["questions"]
    figure.set_size_inches(10, 4.5)
    figure.set_layout_engine("constrained")
    for axes, asked in zip(figure.subplots(1, len(questions)), questions, strict=True):
        weights = asked["weights"]
        image = axes.imshow(weights.T, vmin=0, vmax=1, cmap="viridis", aspect="auto")
        axes.set_xticks(range(len(weights)), [f"hop {hop + 1}" for hop in range(len(weights))])
        axes.set_yticks(range(len(asked["facts"])), asked["facts"])
        for place, label in enumerate(axes.get_yticklabels()):
            label.set_fontweight("bold" if place in asked["support"] else "normal")
        axes.set_title(f"{asked['question']}  {asked['answer'].capitalize()}.")
    figure.colorbar(image, ax=figure.axes, label="weight of a fact", shrink=0.8)


ENTRY = Entry(
    name="memory",
    title="A memory that is asked several times",
    source="Sukhbaatar et al. (2015), End-To-End Memory Networks; Miller et al. (2016), Key-Value Memory",
    task="Answer where a person or a thing is, from one or two of the facts of a generated story.",
    formula="e_i = a(q, k_i),  α = softmax(e),  c = Σ α_i v_i,  q ← R_n(q + c) for the next hop",
    without="the mean of all memories, each seen by a layer of its own, and a deeper network to decide",
    measure="accuracy",
    better="higher",
    train=train,
    draw=draw,
    aim=0.95,
    real=REAL,
)
