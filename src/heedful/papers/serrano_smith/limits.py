"""What section 6 leaves open, asked: lower layers, scaled dot products, several heads, and any class.

The paper's tests at other layers of attention than final additive ones:

    HANs, words                 the lower layer of the same models, the network above it run again
    FLANs, scaled dot           the same models with scaled dot products instead of additive attention
    self-attention, its layer   four heads of scaled dot products below a FLAN's attention, by which every
                                word has an attended vector of its own; erasing a word hides it from them all
    self-attention, above       the final layer of that model

And importance for any class: the item whose erasure lowers a class's probability most is the most influential
towards it. Is attention's top item the most influential towards some class, not only the decided one? More
classes are more chances, so what an item drawn by chance would reach is taken off, and texts are left out in
which every item is the most influential towards one of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from heedful.data.corpus import Corpus
from heedful.drawing import GREY, new_figure
from heedful.papers.names import corpus_label
from heedful.papers.serrano_smith.layout import COLOUR, LABELS
from heedful.papers.serrano_smith.over_models import (
    PAIR,
    differences,
    lowest,
    mean_over_models,
    paper,
    pick,
    share_of_models,
)
from heedful.papers.serrano_smith.removed import multi_table
from heedful.papers.serrano_smith.rows import (
    MODELS,
    PAPER,
    architecture,
    cells,
)
from heedful.papers.serrano_smith.single_items import single_table
from heedful.records import Claim, Estimate, Finding, paired_difference
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from heedful.models.trace import Trace
    from heedful.training import Run

SOURCE = paper("section 6")
MOST, QUICK_MOST = 500, 60  # test texts: below the final layer the network is run again for each erasure
FEW_PLACES = 2_000  # words of a batch where a text has a row of weights for each word and head
ALIKE = 0.1  # of the items


@dataclass(frozen=True)
class Layer:
    """Models, what is changed in their settings, and the layer of attention that is tried."""

    name: str
    models: tuple[str, ...]
    level: str = "final"
    settings: tuple[tuple[str, Any], ...] = ()


HANS = tuple(model for model in MODELS if model.startswith("han"))
FLANS = tuple(model for model in MODELS if model.startswith("flan"))
SELF = (("encoder", "self-attention"), ("hidden", 200))
FINAL, WORDS, SCALED = "final, additive", "words", "scaled dot"
BELOW, ABOVE = "self-attention, its layer", "self-attention, above"
LAYERS = (
    Layer(FINAL, MODELS),
    Layer(WORDS, HANS, level="words"),
    Layer(SCALED, FLANS, settings=(("attention", "scaled-dot"),)),
    Layer(BELOW, ("flan-noenc",), level="encoder", settings=SELF),
    Layer(ABOVE, ("flan-noenc",), settings=SELF),
)


def measure(bench: Bench) -> Tables:
    """Each layer's rows, their findings, and what its top item does to any class."""
    bench.chosen("models", MODELS)
    most = QUICK_MOST if bench.quick else MOST
    rows = []
    for layer in LAYERS:
        models = tuple(name for name in layer.models if not bench.models or name in bench.models)
        if not models:
            continue
        options = {"level": layer.level, "most": most}
        for study in cells(replace(bench, models=()), models):
            own = replace(study, settings={**study.settings, **dict(layer.settings)})
            found = bench.measured(own, Measure(layer_rows, options))
            rows.append(found.assign(layer=layer.name, model=found["model"].map(architecture)))
    for row in bench.trained:
        row["model"] = architecture(row["model"])
    findings = pd.concat([found(own) for found in (_findings, _class_findings) for own in rows])
    return {"summary": _summary(findings), "findings": findings.reset_index(drop=True)}


def layer_rows(run: "Run", corpus: Corpus, *, level: str, most: int) -> pd.DataFrame:
    """A measure: the paper's erasures at a layer of attention, and `pushes`; a row a text that is drawn."""
    from heedful.training.evaluation import encode_for
    from heedful.trials.stream import PLACES, sample_rows, trace_trial, tried
    from heedful.trials.streamed_trials import layer_trial

    test = corpus.split("test")
    texts, chosen = encode_for(run.model, test), sample_rows(len(test), most)
    places = FEW_PLACES if level == "encoder" else PLACES
    erased = layer_trial(run.model, PAPER, level=level, samples=1)
    pushed = trace_trial(run.model, pushes, level=level)
    first, second = (tried(trial, run.model, texts, chosen, places=places) for trial in (erased, pushed))
    return first.merge(second, on=["instance", "items"])


def pushes(trace: "Trace") -> pd.DataFrame:
    """A row an instance: is the top item the most influential towards the decided class, or towards any?

    `chance_…` is how often an item drawn by chance would be: of N items one, and those that are the most
    influential towards one of the classes.
    """
    from heedful.models.trace import probabilities
    from heedful.trials.erasure.erased import decided, leave_one_out, whole_logits
    from heedful.trials.rankings.layer_rankings import order_of

    whole = probabilities(whole_logits(trace).double())  # (B,K)
    fall = whole[:, None] - probabilities(leave_one_out(trace).double())  # (B,N,K)
    best = fall.masked_fill(~trace.present[..., None], -2).argmax(1)  # (B,K) the item for each class
    top = order_of("attention", trace)[:, :1]  # (B,1)
    own = best.gather(1, decided(trace)[:, None])  # (B,1)
    items = trace.item_counts.cpu().numpy()
    return pd.DataFrame(
        {
            "items": items,
            "top_decided": (own == top)[:, 0].cpu().numpy(),
            "top_any": (best == top).any(1).cpu().numpy(),
            "chance_decided": 1 / items,
            "chance_any": [len(set(row)) for row in best.tolist()] / items,
        }
    )


def _findings(rows: pd.DataFrame) -> pd.DataFrame:
    tables = [single_table(rows)]
    if (rows.filter(regex=r"^size_") >= 0).any(axis=None):
        tables.append(multi_table(rows))
    return pd.concat(tables, ignore_index=True).assign(layer=rows["layer"].iloc[0])


def _class_findings(rows: pd.DataFrame) -> pd.DataFrame:
    found = []
    for (corpus, model, seed), every in rows.groupby(["corpus", "model", "seed"], sort=False):
        # Where every item is the most influential towards some class (two items mostly), nothing is asked.
        own = every[every["chance_any"].astype(float) < 1]
        if own.empty:
            continue
        beyond = {
            name: own[f"top_{name}"].astype(float) - own[f"chance_{name}"] for name in ("any", "decided")
        }
        about = {"corpus": corpus, "model": model, "seed": seed}
        for name, first, second, measured in (
            ("top towards any class", own["top_any"].astype(float), 0 * beyond["any"], "share of instances"),
            ("top towards the decided class", own["top_decided"].astype(float), 0 * beyond["any"], "share"),
            ("towards any class, beyond chance", beyond["any"], 0 * beyond["any"], "share − chance's"),
            ("any − decided, beyond chance", beyond["any"], beyond["decided"], "difference of both"),
        ):
            estimate: Estimate = paired_difference(first, second)
            found.append(
                Finding.of(
                    name,
                    estimate,
                    count=len(own),
                    measured=f"{measured}: attention's top item is the one whose erasure lowers a class most",
                    unit="of instances",
                    coordinates=about,
                ).to_row()
            )
    return pd.DataFrame(found).assign(layer=rows["layer"].iloc[0])


SHOWN = {
    "flips by the top item": "top flips",
    "flips by the top item beyond a random other": "beyond a random other",
    "top towards the decided class": "top towards the decided",
    "top towards any class": "towards any",
    "towards any class, beyond chance": "towards any, beyond chance",
}


def _summary(findings: pd.DataFrame) -> pd.DataFrame:
    """A row a layer, corpus and model: shares of texts, and the items that gradient saves over attention."""
    keys = ["layer", "corpus", "model", "seed"]
    shown = findings[findings["name"].isin(SHOWN)].drop_duplicates([*keys, "name"])
    table = shown.pivot_table(index=keys, columns="name", values="value", sort=False)
    saved = _saved(findings).set_index(keys)["value"]
    table = table[[name for name in SHOWN if name in table]].rename(columns=SHOWN)
    return table.assign(**{"gradient saves": saved}).round(3).reset_index()


def claims(tables: Tables) -> Iterator[Claim]:
    """What the paper finds of final additive layers, asked of the others; then importance for any class."""
    findings = tables["findings"]
    for layer in LAYERS[1:]:
        own = findings[findings["layer"] == layer.name]
        if own.empty:
            continue
        about = partial(_claim, where=layer.name)
        name = "flips by the top item beyond a random other"
        yield about(
            "The top item alone flips the decision more often than a random other item alone, in every model",
            lowest(pick(own, name), name),
            ">",
            0,
        )
        saved = _saved(own)
        yield about(
            "Gradient needs fewer items than attention before the first flip, on average over models",
            mean_over_models(saved, "fraction of the items that gradient saves over attention"),
            ">",
            0,
        )
    final = _saved(findings[findings["layer"] == FINAL])
    scaled = _saved(findings[findings["layer"] == SCALED])
    if len(final) and len(scaled):
        yield _claim(
            "Attention is as far behind gradient with scaled dot products as with additive scores: within "
            f"{ALIKE:.0%} of the items, on average over the FLANs",
            mean_over_models(
                differences(scaled, final, by=(*PAIR, "model")), "fraction saved, scaled dot − additive"
            ),
            "within",
            ALIKE,
        )
    own = findings[findings["layer"] == FINAL]
    if own.empty:
        return
    any_class = pick(own, "top towards any class")
    yield _claim(
        "The highest attention weight identifies the most influential item towards some class in most texts, "
        "in most models",
        share_of_models(any_class, "the top item is the most influential towards some class", above=0.5),
        ">",
        0.5,
        where=FINAL,
    )
    name = "towards any class, beyond chance"
    yield _claim(
        "It does so more often than an item drawn by chance, in every model",
        lowest(pick(own, name), name),
        ">",
        0,
        where=FINAL,
    )
    name = "any − decided, beyond chance"
    yield _claim(
        "Asked about any class instead of the decided one, attention finds more than the further chances "
        "give, on average over models",
        mean_over_models(pick(own, name), name),
        ">",
        0,
        where=FINAL,
    )


def _saved(findings: pd.DataFrame) -> pd.DataFrame:
    """What gradient saves over attention, one row a model; none where no decision ever flips."""
    known = "faster" in findings
    return pick(findings, "fraction saved", faster="gradient", slower="attention") if known else findings[:0]


def _claim(statement: str, effect: Finding, comparison: str, threshold: float, *, where: str = "") -> Claim:
    said = f"{statement} ({where})" if where else statement
    return Claim.decided(said, SOURCE, effect=effect, comparison=comparison, threshold=threshold)


def draw_limits(tables: Tables) -> "Figure":
    """Left, the share of the items gone at the first flip, by ranking; right, the top item by any class."""
    findings = tables["findings"]
    removed = findings[findings["name"] == "fraction removed"]
    keys = list(dict.fromkeys(zip(findings["layer"], findings["corpus"], findings["model"], strict=True)))
    places = {key: place for place, key in enumerate(keys)}
    figure = new_figure(9.4, 0.24 * len(keys) + 1.3)
    left, right = figure.subplots(1, 2, sharey=True)
    marks = {"random": "s", "attention": "o", "gradient": "^", "product": "D"}
    for ranking, mark in marks.items():
        own = removed[removed["ranking"] == ranking]
        _points(left, own, places, label=LABELS[ranking], colour=COLOUR[ranking], mark=mark)
    for name, colour, mark in (
        ("top towards the decided class", GREY, "s"),
        ("top towards any class", COLOUR["attention"], "o"),
    ):
        own = findings[findings["name"] == name]
        _points(right, own, places, label=name, colour=colour, mark=mark)
    labels = [f"{layer}: {model}, {corpus_label(corpus)}" for layer, corpus, model in keys]
    left.set_yticks(range(len(keys)), labels, fontsize=7)
    left.set_ylim(len(keys) - 0.5, -0.5)
    left.set_xlabel("share of the items gone at the first flip")
    right.set_xlabel("texts whose top item is the most influential")
    for axes in (left, right):
        axes.set_xlim(-0.02, 1.02)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=7)
    return figure


def _points(
    axes: Any, rows: pd.DataFrame, places: dict[Any, int], *, label: str, colour: str, mark: str
) -> None:
    """The mean over seeds of each row's value, with the ends of its intervals."""
    means = rows.groupby(["layer", "corpus", "model"], sort=False)[["value", "low", "high"]].mean().clip(0, 1)
    axes.errorbar(
        means["value"],
        [places[key] for key in means.index],
        xerr=[means["value"] - means["low"], means["high"] - means["value"]],
        linestyle="none",
        marker=mark,
        markersize=4,
        color=colour,
        label=label,
    )


EXPERIMENT = Experiment(
    "serrano-smith-limits",
    "What section 6 leaves open: lower layers, scaled dot products, several heads, and any class",
    SOURCE,
    measure,
    claims,
    {"serrano-smith-limits": draw_limits},
)
