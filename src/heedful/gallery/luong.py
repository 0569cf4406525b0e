"""Gallery: global and local attention (Luong et al., 2015) on the task of `bahdanau`, all kinds side by side.

Here the decoder's present state h_t asks, and what it reads is joined to it: h̃_t = tanh(W_c [c_t; h_t]).
Without the paper's input feeding, so that all characters of a date are learnt at once.
Axes: B texts, T characters of a text, N characters written, H width of a state, Q characters at a time.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from heedful.attention import (
    AdditiveScore,
    Attention,
    DotScore,
    GeneralScore,
    LocalMonotonic,
    LocalPredictive,
    LocationScore,
    xavier_init,
)
from heedful.gallery.alignments import align_examples, draw_alignments
from heedful.gallery.dates import LENGTH, OUTPUTS, PADDING, write_dates
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.gallery.learning import parameters_of
from heedful.gallery.real_luong import REAL
from heedful.gallery.rewriting import BUDGETS, CHARACTERS, Encoder, Written, exact_match, learn_dates
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 32  # of the encoder, in each direction; the decoder has twice that
REACH = 8  # D
LONGEST = 32  # characters of a text
FIGURE, BASELINE = "dot", "last state"
WIDER = "last state, wider"  # the baseline of the kinds that have parameters of their own

KINDS: dict[str, Callable[[int], nn.Module | None]] = {
    "dot": lambda hidden: Attention(DotScore(hidden, query=hidden)),
    "general": lambda hidden: Attention(GeneralScore(hidden, query=hidden)),
    "concat": lambda hidden: Attention(AdditiveScore(hidden, query=hidden, width=hidden // 2, bias=False)),
    "location": lambda hidden: Attention(LocationScore(hidden, query=hidden, longest=LONGEST)),
    "local-m": lambda hidden: LocalMonotonic(DotScore(hidden, query=hidden), reach=REACH),
    "local-p": lambda hidden: LocalPredictive(
        DotScore(hidden, query=hidden), query=hidden, reach=REACH, init=xavier_init
    ),
    BASELINE: lambda hidden: None,
    WIDER: lambda hidden: None,
}
# For each kind the best of 0.01, 0.02, 0.03 and 0.04 with seed 100, which is not among the reported ones.
RATES = {
    "dot": 0.01,
    "general": 0.01,
    "concat": 0.02,
    "location": 0.02,
    "local-m": 0.02,
    "local-p": 0.01,
    BASELINE: 0.03,
    WIDER: 0.02,
}


class Source(NamedTuple):
    """An encoded text: states (B,T,H), the last of both directions (B,H) and the mask (B,T)."""

    states: Tensor
    last: Tensor
    mask: Tensor


class Rewriter(nn.Module):
    """Encode a text, then write its date, reading the encoder's states after each state of the decoder.

    Without attention it reads the encoder's last states instead.
    """

    def __init__(self, width: int, *, kind: str) -> None:
        super().__init__()
        hidden = 2 * width
        joined = hidden * 3 // 2 if kind == WIDER else hidden
        self.encoder = Encoder(width)
        self.first = nn.Linear(hidden, hidden)
        self.characters = nn.Embedding(len(OUTPUTS) + 1, CHARACTERS)  # the last: nothing written yet
        self.recurrence = nn.GRU(CHARACTERS, hidden, batch_first=True)
        self.attention = KINDS[kind](hidden)
        self.join = nn.Linear(2 * hidden, joined)
        self.decide = nn.Linear(joined, len(OUTPUTS))

    def forward(self, sources: Tensor, targets: Tensor | None = None) -> Written:
        """Write (B,N) characters for sources (B,T), each after those of the targets or else after its own."""
        states, last = self.encoder(sources)
        source = Source(states, last, sources != PADDING)
        state = self.first(source.last).tanh().unsqueeze(0)
        before = torch.full_like(sources[:, :1], len(OUTPUTS))
        if targets is not None:
            return self.write(torch.cat([before, targets[:, :-1]], 1), state, source=source, step=1)[0]
        steps = []
        for step in range(1, LENGTH + 1):
            written, state = self.write(before, state, source=source, step=step)
            before = written.logits.argmax(-1)
            steps.append(written)
        logits, weights, centres = (
            None if parts[0] is None else torch.cat(parts, 1) for parts in zip(*steps, strict=True)
        )
        assert logits is not None  # every step writes
        return Written(logits, weights, centres)

    def write(self, before: Tensor, state: Tensor, *, source: Source, step: int) -> tuple[Written, Tensor]:
        """Write the characters from `step` on that follow those `before` (B,Q), and give the state after."""
        after, state = self.recurrence(self.characters(before), state)
        context, weights, centres = source.last.unsqueeze(1).expand(-1, after.shape[1], -1), None, None
        if self.attention is not None:
            monotone = {"first": step} if isinstance(self.attention, LocalMonotonic) else {}
            attended = self.attention(source.states, source.mask, query=after, **monotone)
            context, weights = attended.context, attended.weights
        if isinstance(self.attention, LocalPredictive):
            centres = self.attention.centres(after, source.mask)
        joined = self.join(torch.cat([context, after], -1)).tanh()
        return Written(self.decide(joined), weights, centres), state


def train(seed: int, size: Size) -> Outcome:
    """Train every kind on the same batches."""
    budget = BUDGETS[size]
    dates, tested = (
        write_dates(count, test=test, seed=seed)
        for count, test in ((budget.texts, False), (budget.tested, True))
    )
    matches, parameters, picture = {}, {}, {}
    for kind in KINDS if size == "full" else (FIGURE, "local-p", BASELINE):
        with one_thread(), seeded(seed):
            model = Rewriter(WIDTH, kind=kind)
            learn_dates(model, dates, replace(budget, rate=RATES[kind]))
            matches[kind], parameters[kind] = exact_match(model, tested), parameters_of(model)
            if kind == "local-p":
                picture = align_examples(model)
    return Outcome(
        matches[FIGURE],
        matches[BASELINE],
        parameters[FIGURE],
        parameters[BASELINE],
        table=matches,
        picture={**picture, "matches": matches},
    )


def draw(outcome: Outcome, figure: "Figure") -> None:
    """Where local-p looked, with its centres p_t, and how often each kind of attention is right."""
    figure.set_size_inches(12, 4.4)
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(1, 2, width_ratios=(4, 1.5))
    draw_alignments(outcome.picture, figure.add_subfigure(grid[0]))
    draw_kinds(figure.add_subfigure(grid[1]).subplots(), outcome)


def draw_kinds(axes: "Axes", outcome: Outcome) -> None:
    """A bar a kind, the baselines' in another colour."""
    matches = outcome.picture["matches"]
    colours = ["tab:orange" if kind in (BASELINE, WIDER) else "tab:blue" for kind in matches]
    bars = axes.barh(list(matches), list(matches.values()), color=colours)
    axes.bar_label(bars, [f"{match:.1%}" for match in matches.values()], padding=3, fontsize=9)
    axes.set(xlim=(0, 1.3), xticks=(0, 0.5, 1), xlabel="exact match")
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)


ENTRY = Entry(
    name="luong",
    title="Global and local attention",
    source="Luong et al. (2015), Effective approaches to attention-based neural machine translation",
    task="Write dates that people wrote in 18 formats as ISO dates, with each kind of attention.",
    formula=(
        "dot h_tᵀh_s, general h_tᵀW h_s, concat vᵀ tanh(W[h_t; h_s]), location W h_t;  "
        "local-p: p_t = S·sigmoid(v_pᵀ tanh(W_p h_t)), a_t(s) = align(h_t, h_s)·exp(−(s − p_t)²/2σ²), σ = D/2"
    ),
    without="the same encoder–decoder reading only the encoder's last states",
    measure="exact match",
    better="higher",
    train=train,
    draw=draw,
    aim=0.98,
    real=REAL,
)
