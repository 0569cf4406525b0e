"""Does attention agree with other measures of importance? (Jain & Wallace, 2019, section 4.1.)

Kendall's τ-b, text by text, between attention, |gradient × input| with the attention held constant, and the
total variation distance of the output when a word is left out; gradients against leave-one-out is the
yardstick, and a random ranking stands beside each. Axes: N texts, T words, K classes.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, empty_figure, new_figure
from heedful.papers.debate.panels import (
    class_colours,
    class_legend,
    grid_of,
    label_edges,
    panels,
    rows_of,
    width_of,
)
from heedful.papers.debate.stage import Stage
from heedful.papers.debate.trainings import QUICK_LIMIT, Trainings, main_cells
from heedful.papers.jain_wallace.printed import NEAR, beside_printed, printed_tau
from heedful.papers.names import model_label
from heedful.records import Claim, Finding
from heedful.records.crossed import crossed_mean
from heedful.study.experiment import Tables
from heedful.study.pooling import (
    cells,
    defined,
    groups,
    lead_over_texts,
    mean_over_texts,
    say_undefined,
    share_of_texts,
    shown,
)
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

    from heedful.data.batches import Batch
    from heedful.papers.debate.stage import Held

PAIRS = {
    ("attention", "gradient"): BLUE,
    ("attention", "leave-one-out"): ORANGE,
    ("gradient", "leave-one-out"): GREEN,
}
SCORES = ("attention", "gradient", "leave-one-out")
PLACE = "Jain & Wallace (2019), 4.1"
PRINTED = "Jain & Wallace (2019), published experiments"
WEAK = 0.5  # they call the agreement weak; a τ below this leaves a quarter of all pairs of words turned round
COLUMNS = ("tau", "significant", "spearman", "overlap")
NAMES = {"tau": "Kendall's τ-b", "spearman": "Spearman's ρ", "overlap": "overlap of the top 5"}


def agreement_rows(run: "Held", corpus: Corpus, *, limit: int | None = None) -> pd.DataFrame:
    """A measure: one row for each text and pair of scores, with τ, ρ, overlap and the random ranking's.

    Gradients are taken with the attention held constant; of a subject that cannot do that, through it too.
    """
    import torch

    from heedful.models.trace import decisions
    from heedful.trials.agreement.correlations import agreement
    from heedful.trials.erasure.rereading import Reader
    from heedful.trials.rankings.word_gradients import can_hold
    from heedful.trials.rankings.word_rankings import attention, gradient, jain_wallace, left_out_change
    from heedful.trials.stream import sample_rows, texts_for, walk

    part = corpus.split("test")
    rows = sample_rows(len(part), limit)
    slope = jain_wallace if can_hold(run.model) else gradient
    parts: list[tuple[Batch, list[Tensor], Tensor, Tensor]] = []
    for batch in walk(run.model, texts_for(run.model, part.take(rows)), np.arange(len(rows)), places=4096):
        reader = Reader(run.model, batch)
        ranked = [attention(reader), slope(reader).abs(), left_out_change(reader)]
        read = (batch.mask & reader.attention[1]).cpu()
        parts.append((batch, [one.cpu() for one in ranked], read, decisions(reader.logits).cpu()))
    longest = max(batch.mask.shape[1] for batch, *_ in parts)
    scores = {name: torch.zeros(len(rows), longest, dtype=torch.float64) for name in SCORES}
    mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    decided = torch.zeros(len(rows), dtype=torch.long)
    for batch, ranked, read, classes in parts:
        places, width = torch.from_numpy(batch.rows), batch.mask.shape[1]
        for name, values in zip(SCORES, ranked, strict=True):
            scores[name][places, :width] = values.double()
        mask[places, :width] = read
        decided[places] = classes
    frames = []
    for first, second in PAIRS:
        compared = agreement(scores[first], scores[second], mask, names=(first, second))
        own = {name: getattr(compared, name).numpy() for name in COLUMNS}
        beside = {f"random_{name}": getattr(compared, f"random_{name}").numpy() for name in COLUMNS}
        about = {"instance": rows, "words": mask.sum(1).numpy(), "decided": decided.numpy()}
        about["decided_class"] = np.array(run.model.classes)[decided.numpy()]
        frames.append(pd.DataFrame({"first": first, "second": second, **about, **own, **beside}))
    return pd.concat(frames, ignore_index=True)


def measure(bench: Bench, trainings: Trainings) -> Tables:
    """Agreement on every cell of the trainings."""
    table = bench.measured(trainings.study("agreement"), Measure(agreement_rows, {"limit": trainings.limit}))
    say_undefined(bench, table, "tau", "no text has a rank correlation (one word each, or constant scores)")
    return {"agreement": table, "summary": summary(table)}


def means(rows: pd.DataFrame, column: str = "tau", **coordinates: str) -> list[Finding]:
    """Mean τ (or ρ, or overlap) of each pair of scores over a cell's rows, beside a random ranking."""
    found = []
    for first, second in PAIRS:
        own = rows[(rows["first"] == first) & (rows["second"] == second)]
        finding = mean_over_texts(
            own,
            column,
            name=f"{NAMES[column]}, {first} and {second}",
            measured=f"mean over texts between {first} and {second}",
            baselines={"random": f"random_{column}"},
            within=(0.0 if column == "overlap" else -1.0, 1.0),
            better="higher",
            coordinates=coordinates,
        )
        if finding is not None:
            found.append(finding)
    return found


def significant(rows: pd.DataFrame, first: str, second: str, **coordinates: str) -> Finding | None:
    """The share of texts with a significant τ, the false-discovery rate controlled over all of a run's.

    Beside it stands the share that a random ranking reaches against the first of the two scores, its own
    false-discovery rate controlled over the same texts.
    """
    return share_of_texts(
        rows[(rows["first"] == first) & (rows["second"] == second)],
        "significant",
        name=f"share of significant τ, {first} and {second}",
        measured="share of texts whose τ-b differs from 0, false-discovery rate 0.05 over all texts of a run",
        baselines={"random": "random_significant"},
        better="higher",
        coordinates=coordinates,
    )


def findings(tables: Tables) -> list[Finding]:
    """All findings of the table, cell by cell."""
    found = []
    for where, rows in cells(tables["agreement"]):
        found += means(rows, "tau", **where)
        found += defined(*(significant(rows, first, second, **where) for first, second in PAIRS))
        found += means(rows, "spearman", **where) + means(rows, "overlap", **where)
        for group, own in groups(rows):
            found += means(own, "tau", **where, **group) if group else []
    return found


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean τ and share of significant ones, a line a pair of scores, a random ranking beside both."""
    lines = []
    for where, rows in cells(table):
        for tau in means(rows):
            pair = tau.name.partition(", ")[2]
            first, _, second = pair.partition(" and ")
            share = significant(rows, first, second)
            printed = printed_tau(where["corpus"], where["model"], (first, second))
            lines.append(
                {
                    **where,
                    "pair": pair,
                    "mean τ-b": shown(tau),
                    "random τ-b": _random(tau),
                    "printed τ": "–" if printed is None else f"{printed:.2f}",
                    "significant": shown(share),
                    "significant, random": _random(share),
                    "texts": rows["instance"].nunique(),
                    "seeds": rows["seed"].nunique(),
                }
            )
    return pd.DataFrame(lines)


def _random(finding: Finding | None) -> str:
    random = finding.baselines.get("random") if finding is not None else None
    return "–" if random is None else f"{random.value:.3f}"


def claims(tables: Tables) -> Iterator[Claim]:
    """Weak agreement, the yardstick, and encoders compared, corpus by corpus; then the printed numbers."""
    table = tables["agreement"]
    yield from _papers_claims(table)
    for where, rows in cells(table):
        if rows["instance"].nunique() <= QUICK_LIMIT:
            continue  # a quick look trains smaller models, which the paper does not have
        for finding in means(rows, **where):
            first, _, second = finding.name.partition(", ")[2].partition(" and ")
            printed = printed_tau(where["corpus"], where["model"], (first, second))
            if printed is not None:
                own = f"{where['corpus']}, {model_label(where['model'])}, τ({first}, {second})"
                yield Claim.decided(
                    f"On {own} is the printed {printed:.2f}, within {NEAR:g}",
                    PRINTED,
                    effect=beside_printed(finding, printed),
                    comparison="within",
                    threshold=NEAR,
                )


def _papers_claims(table: pd.DataFrame) -> Iterator[Claim]:
    for where, rows in main_cells(table):
        corpus, model = where["corpus"], where["model"]
        for finding in means(rows, **where):
            if " gradient and " in finding.name:
                continue  # the yardstick
            second = finding.name.rpartition(" and ")[2]
            statement = f"On {corpus}, attention agrees only weakly with {second} (mean τ below {WEAK:g})"
            yield Claim.decided(statement, PLACE, effect=finding, comparison="<", threshold=WEAK)
        yardstick = lead(rows, ("gradient", "leave-one-out"), ("attention", "leave-one-out"), **where)
        if yardstick is not None:
            statement = f"On {corpus}, gradients agree better with leave-one-out than attention does"
            yield Claim.decided(statement, PLACE, effect=yardstick, comparison=">", threshold=0)
        own, simple = table[table["corpus"] == corpus], model.replace("bilstm", "average")
        if simple != model:
            gain = between_models(own, simple, model, corpus=corpus)
            if gain is not None:
                statement = f"On {corpus}, attention agrees better with gradients without a recurrent encoder"
                yield Claim.decided(statement, PLACE, effect=gain, comparison=">", threshold=0)


def lead(rows: pd.DataFrame, one: tuple[str, str], other: tuple[str, str], **where: str) -> Finding | None:
    """How much further one pair of scores agrees than another on the same texts."""
    return lead_over_texts(
        rows[(rows["first"] == one[0]) & (rows["second"] == one[1])],
        rows[(rows["first"] == other[0]) & (rows["second"] == other[1])],
        "tau",
        name=f"lead of τ({one[0]}, {one[1]}) over τ({other[0]}, {other[1]})",
        measured="difference of the two τ-b, mean over texts, paired",
        within=(-2.0, 2.0),
        coordinates=where,
    )


def between_models(table: pd.DataFrame, one: str, other: str, **where: str) -> Finding | None:
    """How much further attention and gradients agree in one model than in another, on the same texts."""
    chosen = table[(table["first"] == "attention") & (table["second"] == "gradient")]
    return lead_over_texts(
        chosen[chosen["model"] == one],
        chosen[chosen["model"] == other],
        "tau",
        name=f"τ(attention, gradient) of {one} above that of {other}",
        measured="difference of the mean τ-b of two models, paired over texts",
        within=(-2.0, 2.0),
        coordinates=where,
    )


def agreement_figure(tables: Tables) -> "Figure":
    """Mean τ-b of each pair of scores with its 95 % interval, model by model, a panel a corpus."""
    table = tables["agreement"]
    corpora = list(dict.fromkeys(table["corpus"]))
    models = list(dict.fromkeys(table["model"]))
    figure = new_figure(width_of(len(corpora)), 1.5 + 0.55 * len(models) * rows_of(len(corpora)))
    axes = grid_of(figure, len(corpora), sharex=True, sharey=True)
    for axis, corpus in zip(axes, corpora, strict=True):
        of_corpus = table[table["corpus"] == corpus]
        for place, model in enumerate(models):
            own = of_corpus[of_corpus["model"] == model]
            for step, ((first, second), colour) in enumerate(PAIRS.items()):
                rows = own[(own["first"] == first) & (own["second"] == second)].dropna(subset=["tau"])
                if not len(rows):
                    continue
                of = {"seeds": rows["seed"], "texts": rows["instance"]}
                mean = crossed_mean(rows["tau"], **of, alone=True, within=(-1.0, 1.0))
                y = place + 0.22 * (step - 1)
                if mean.interval is not None and mean.interval.bounded:
                    axis.plot([mean.interval.low, mean.interval.high], [y, y], color=colour)
                axis.plot(mean.value, y, "os^"[step], color=colour, markersize=5)
        axis.axvline(0, color=GREY, linewidth=0.8)
        axis.set_title(f"{corpus}, {of_corpus['instance'].nunique()} texts")
        axis.set_yticks(range(len(models)), [model_label(model) for model in models])
        axis.set_ylim(len(models) - 0.5, -0.5)
        axis.set_xlabel("mean Kendall's τ-b (0: a random ranking)")
    label_edges(axes)
    handles = [
        figure.axes[0].plot([], [], "os^"[step], color=colour, label=f"{first} and {second}")[0]
        for step, ((first, second), colour) in enumerate(PAIRS.items())
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=1 if len(corpora) == 1 else 3)
    return figure


def taus_figure(tables: Tables) -> "Figure":
    """Histograms of τ between attention and gradients by decided class, beside a random ranking's."""
    table = tables["agreement"]
    table = table[(table["first"] == "attention") & (table["second"] == "gradient")].dropna(subset=["tau"])
    figure, cells_drawn = panels(table, 1.7, sharex=True, sharey=True)
    if not cells_drawn:
        return empty_figure("No text has a rank correlation: constant scores, or a single item each.")
    colours = class_colours(table)
    bins = np.linspace(-1, 1, 41)
    beside: dict[str, Any] = {"histtype": "step", "color": BLACK, "linestyle": ":", "label": "random ranking"}
    for axis, rows in cells_drawn:
        classes = [name for name in colours if name in set(rows["decided_class"])]
        # Filled areas of more than two classes hide each other.
        drawn: dict[str, Any] = (
            {"alpha": 0.45} if len(classes) <= 2 else {"histtype": "step", "linewidth": 1.2}
        )
        for name in classes:
            own = rows.loc[rows["decided_class"] == name, "tau"]
            axis.hist(own, bins, density=True, color=colours[name], **drawn)
        random = axis.hist(rows["random_tau"].dropna(), bins, density=True, **beside)[2]
        axis.set_xlabel("τ-b of attention and gradient, text by text")
        axis.set_ylabel("density")
    label_edges(figure.axes)
    class_legend(figure, colours, random[0])
    return figure


STAGE = Stage(
    "agreement",
    "Attention against gradients and leave-one-out",
    PLACE,
    measure,
    findings,
    claims,
    {"jain-wallace-agreement": agreement_figure, "jain-wallace-taus": taus_figure},
    asks=("attention", "embed"),
)
EXPERIMENT = STAGE.in_paper("jain-wallace", place=": Table 2, Figures 2 to 5")
