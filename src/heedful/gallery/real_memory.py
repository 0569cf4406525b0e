"""End-to-end memory networks (Sukhbaatar et al., 2015) on bAbI, which says what facts are needed.

As in the paper: the newest 50 facts, words weighed by their place, a table for how long ago a fact was told,
random gaps in it while learning, adjacent tables, and hops that are linear at first. Of a few starts the one
with the lowest training loss counts. Unlike it: Adam with one cycle of rates.
Axes: B questions, T facts, S sentences, W words, N hops, H width, V words that are known.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import masked_softmax, recall_adjacent, uniform_weights, weighted_sum
from heedful.attention.normalise import Normaliser
from heedful.drawing import BLUE, GREY, ORANGE, SKY
from heedful.gallery.babi import FILE, Babi, Questions, read_babi
from heedful.gallery.entry import Outcome, Published, RealTask, Size
from heedful.gallery.learning import as_large, learn, parameters_of
from heedful.gallery.needed_facts import NAMES, read_attention
from heedful.gallery.over_seeds import mean_and_bar
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HOPS, GAPS = 20, 3, 0.1
LINEAR = 0.3  # of the steps, at first


@dataclass(frozen=True)
class Budget:
    tasks: tuple[int, ...]
    epochs: int
    starts: int
    hops: tuple[int, ...]  # trained besides the three of the figure
    questions: int | None = None
    batch: int = 64
    rate: float = 0.02


BUDGETS: dict[Size, Budget] = {
    "small": Budget(tasks=(1,), epochs=40, starts=1, hops=(), questions=300, batch=32),
    "quick": Budget(tasks=(1, 2, 3), epochs=60, starts=3, hops=(1,)),
    "full": Budget(tasks=(1, 2, 3), epochs=100, starts=10, hops=(1, 2), batch=32),
}


class Facts(nn.Module):
    """Embed facts in several ways (B,T,H), and the question (B,H) in the first."""

    def __init__(self, sentences: Tensor, words: int, facts: int, *, tables: int, width: int) -> None:
        super().__init__()
        self.sentences: Tensor
        self.register_buffer("sentences", sentences)
        self.oldest = math.ceil((1 + GAPS) * facts) + 1
        self.words = nn.ModuleList(nn.Embedding(words, width) for _ in range(tables))
        self.ages = nn.ModuleList(nn.Embedding(self.oldest, width) for _ in range(tables))
        for table in self.parameters():
            nn.init.normal_(table, std=0.1)

    def forward(self, asked: Questions) -> tuple[list[Tensor], Tensor]:
        """Give the facts by each table, and the question."""
        age = self.age(asked.mask)
        said = [placed(self.sentences, table) for table in self.words]  # each sentence once: (S,H)
        facts = [spoken[asked.facts] + ages(age) for spoken, ages in zip(said, self.ages, strict=True)]
        return facts, said[0][asked.questions]

    def name(self, answer: Tensor) -> Tensor:
        """Logits (B,V) of an answer (B,H), by the last table."""
        table = self.words[-1].weight
        assert isinstance(table, Tensor)
        return answer @ table.mT

    def age(self, mask: Tensor) -> Tensor:
        """How many facts (B,T) were told since, with gaps at random while the model learns."""
        told = mask.flip(-1).cumsum(-1).flip(-1).sub(1).clamp(min=0)
        if not self.training:
            return told
        gaps = (torch.rand(mask.shape, device=mask.device) < GAPS) & mask
        return (told + gaps.flip(-1).cumsum(-1).flip(-1)).clamp(max=self.oldest - 1)


def placed(ids: Tensor, table: nn.Module) -> Tensor:
    """Sum embeddings of words (S,W) into (S,H), each weighed by its place: l_kj of the paper's 4.1."""
    there, embedded = ids > 0, table(ids)  # (S,W), (S,W,H)
    place = torch.arange(1, ids.shape[1] + 1, device=ids.device) / there.sum(1, keepdim=True).clamp(min=1)
    unit = torch.linspace(0, 1, embedded.shape[-1] + 1, device=ids.device)[1:]
    weights = (1 - place).unsqueeze(-1) - unit * (1 - 2 * place).unsqueeze(-1)
    summed: Tensor = (embedded * weights * there.unsqueeze(-1)).sum(1)
    return summed


def linear(scores: Tensor, mask: Tensor) -> Tensor:
    """No softmax: the paper's linear start."""
    return scores.masked_fill(~mask, 0)


class Asker(nn.Module):
    """Ask the memory several times, and name the answer."""

    def __init__(self, sentences: Tensor, words: int, facts: int, *, hops: int, width: int = WIDTH) -> None:
        super().__init__()
        self.facts = Facts(sentences, words, facts, tables=hops + 1, width=width)
        self.normalise: Normaliser = masked_softmax

    def forward(self, asked: Questions, *, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Give logits (B,V) and each hop's weights (B,N,T); a mask leaves facts out."""
        memories, question = self.facts(asked)
        mask = asked.mask if mask is None else mask
        recalled = recall_adjacent(question, memories, mask, normalise=self.normalise)
        return self.facts.name(recalled.answer), recalled.weights


class Averager(nn.Module):
    """The same facts, each seen by a layer of its own, averaged without a choice; then a network decides."""

    def __init__(self, sentences: Tensor, words: int, facts: int, *, inner: int, width: int = WIDTH) -> None:
        super().__init__()
        self.facts = Facts(sentences, words, facts, tables=2, width=width)
        self.see = nn.Linear(2 * width, inner)
        self.combine = nn.Linear(inner + width, width)

    def forward(self, asked: Questions) -> tuple[Tensor, Tensor]:
        """Give logits (B,V) and the same weight for each fact (B,1,T)."""
        facts, question = self.facts(asked)
        weights = uniform_weights(asked.mask)
        seen = weighted_sum(weights, self.see(torch.cat(facts, -1)).relu())
        combined = self.combine(torch.cat([seen, question], -1)).relu()
        return self.facts.name(combined), weights.unsqueeze(1)


def fit(model: nn.Module, asked: Questions, budget: Budget) -> float:
    """Learn to answer; gives the training loss at the end."""
    steps, done = budget.epochs * math.ceil(len(asked) / budget.batch), 0

    def loss() -> Tensor:
        nonlocal done
        if isinstance(model, Asker):
            model.normalise = linear if done < LINEAR * steps else masked_softmax
        done += 1
        batch = asked.rows(torch.randint(len(asked), (budget.batch,), device=asked.answers.device))
        return F.cross_entropy(model(batch)[0], batch.answers)

    learn(model, loss, steps=steps, rate=budget.rate)
    with torch.no_grad():
        return F.cross_entropy(model(asked)[0], asked.answers).item()


def best_of(make: Callable[[], nn.Module], asked: Questions, budget: Budget) -> Any:
    """The start whose training loss ends lowest."""
    tried = []
    for _ in range(budget.starts):
        model = make().to(asked.answers.device)
        tried.append((fit(model, asked, budget), model))
    return min(tried, key=lambda pair: pair[0])[1]


@torch.no_grad()
def error(model: nn.Module, asked: Questions) -> float:
    """The share of questions that are answered wrongly."""
    return float((model(asked)[0].argmax(-1) != asked.answers).double().mean())


@dataclass(frozen=True)
class Learnt:
    """The models of one task, all after the same budget."""

    memory: Asker
    mean: Averager
    fewer: dict[int, Asker]  # by their hops


def learn_task(babi: Babi, budget: Budget, *, seed: int, device: str) -> Learnt:
    """Train hops, the mean and fewer hops on the questions of one task."""
    asked, given = babi.train.to(device), (babi.sentences, len(babi.words), babi.train.facts.shape[1])
    with one_thread(), seeded(seed):
        memory = best_of(lambda: Asker(*given, hops=HOPS), asked, budget)
        parameters = parameters_of(memory)
        mean = best_of(
            lambda: as_large(lambda inner: Averager(*given, inner=inner), parameters, widest=256),
            asked,
            budget,
        )
        fewer = {hops: best_of(partial(Asker, *given, hops=hops), asked, budget) for hops in budget.hops}
    return Learnt(memory, mean, fewer)


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train on each task alone, and look where the hops read."""
    budget = BUDGETS[size]
    table: dict[str, float] = {}
    errors: dict[str, list[float]] = {"memory": [], "mean": [], "commonest answer": []}
    questions, reads = [], []
    for task in budget.tasks:
        babi = read_babi(folder, task, most=budget.questions)
        learnt, tested = learn_task(babi, budget, seed=seed, device=device), babi.test.to(device)
        commonest = int(babi.train.answers.mode().values)
        errors["memory"].append(error(learnt.memory, tested))
        errors["mean"].append(error(learnt.mean, tested))
        errors["commonest answer"].append(float((babi.test.answers != commonest).double().mean()))
        read = read_attention(learnt.memory, tested)
        named = {
            **{f"error, {name}": values[-1] for name, values in errors.items()},
            **{f"error, {hops} hop": error(model, tested) for hops, model in learnt.fewer.items()},
            **{f"weight on needed facts, hop {hop}": value for hop, value in enumerate(read.hops, 1)},
            **{name: getattr(read, field) for field, name in NAMES.items()},
        }
        table |= {f"task {task}: {name}": value for name, value in named.items()}
        questions.append(shown(learnt.memory, babi, device))
        reads.append(read)
    return Outcome(
        figure=float(np.mean(errors["memory"])),
        baseline=float(np.mean(errors["mean"])),
        parameters=parameters_of(learnt.memory),
        baseline_parameters=parameters_of(learnt.mean),
        table=table,
        picture={
            "questions": questions,
            "tasks": list(budget.tasks),
            "hops": [read.hops for read in reads],
            "uniform": [read.uniform for read in reads],
        },
        yardstick=float(np.mean(errors["commonest answer"])),
    )


@torch.no_grad()
def shown(model: Asker, babi: Babi, device: str) -> dict[str, Any]:
    """The first test question of 6 to 12 facts with what each hop reads."""
    length = babi.test.mask.sum(-1)
    fits = ((length >= 6) & (length <= 12)).nonzero()
    row = fits[0] if len(fits) else length.argmax().unsqueeze(0)
    asked = babi.test.rows(row)
    logits, weights = model(asked.to(device))
    there = asked.mask[0]
    return {
        "facts": [babi.texts[fact] for fact in asked.facts[0][there]],
        "question": babi.texts[int(asked.questions[0])],
        "answer": babi.words[int(logits.argmax())],
        "right": babi.words[int(asked.answers[0])],
        "needed": asked.support[0][there].tolist(),
        "weights": weights[0].cpu()[:, there].tolist(),
    }


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """A question of each task with what each hop reads (first seed), and the weight on needed facts (all)."""
    questions = outcomes[0].picture["questions"]
    figure.set_size_inches(4.6 * len(questions) + 3.4, 4.6)
    figure.set_layout_engine("constrained")
    *asked, precision = figure.subplots(1, len(questions) + 1, width_ratios=[*(1 for _ in questions), 1.3])
    for axes, question, task in zip(asked, questions, outcomes[0].picture["tasks"], strict=True):
        draw_question(axes, question, task)
    figure.colorbar(
        asked[0].images[0], ax=asked, label="weight of a fact", shrink=0.8, location="bottom", aspect=50
    )
    draw_precision(precision, outcomes)


def draw_question(axes: "Axes", asked: dict[str, Any], task: int) -> None:
    weights = np.array(asked["weights"])
    axes.imshow(weights.T, vmin=0, vmax=1, cmap="viridis", aspect="auto")
    axes.set_xticks(range(len(weights)), [f"hop {hop + 1}" for hop in range(len(weights))])
    axes.set_yticks(range(len(asked["facts"])), asked["facts"], fontsize=8)
    for needed, label in zip(asked["needed"], axes.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if needed else "normal")
    wrong = "" if asked["answer"] == asked["right"] else f" (right: {asked['right']})"
    axes.set_title(f"task {task}: {asked['question']}\n{asked['answer']}{wrong}", fontsize=8)


def draw_precision(axes: "Axes", outcomes: Sequence[Outcome]) -> None:
    tasks = outcomes[0].picture["tasks"]
    hops = np.array([outcome.picture["hops"] for outcome in outcomes])  # (seeds, tasks, hops)
    for hop, colour in zip(range(hops.shape[2]), (BLUE, ORANGE, SKY), strict=True):
        mean, bar = mean_and_bar(hops[..., hop])
        across = np.arange(len(tasks)) + 0.26 * (hop - 1)
        axes.bar(across, mean, 0.24, yerr=bar, capsize=2, color=colour, label=f"hop {hop + 1}")
    for place, uniform in enumerate(outcomes[0].picture["uniform"]):
        axes.hlines(
            uniform,
            place - 0.42,
            place + 0.42,
            color=GREY,
            ls="--",
            label="" if place else "all facts alike",
        )
    axes.set_xticks(range(len(tasks)), [f"task {task}" for task in tasks])
    axes.set_ylim(0, 1.25)
    axes.set_yticks(np.arange(6) / 5)
    axes.set_ylabel("weight on needed facts")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper right")


REAL = RealTask(
    files=(FILE,),
    obtain=(
        "bAbI's tasks_1-20_v1-2 (Weston et al., 2015) is public: docs/gallery/memory.md says where, and how "
        "to write the table."
    ),
    task="Answer bAbI's questions that need one, two and three facts (tasks 1–3, 1,000 of each).",
    without="the mean of all memories, each seen by a layer of its own, and a deeper network to decide",
    measure="error, mean of the tasks",
    better="lower",
    yardstick="the commonest answer",
    train=train,
    draw=draw,
    published=Published(
        figure=(0.001 + 0.082 + 0.418) / 3,
        source="Sukhbaatar et al. (2015): errors of 0.1, 8.2 and 41.8 % on tasks 1, 2 and 3",
        difference="Theirs is the best of ten starts of 100 epochs; the quick size has three, of 60.",
    ),
)
