"""Made-up tables of every paper's experiments, and what is claimed from them: for `test_pinned_claims`."""

import math

import beyond_tables as beyond
import numpy as np
import pandas as pd
import sun_lu_tables as made
from serrano_smith_rows import NAMES as RANKED
from serrano_smith_rows import make_rows

from heedful.papers.debate import sanity
from heedful.papers.debate.sanity_rows import ALL, NOISE, PERMUTED, RANDOMISED
from heedful.papers.debate.trainings import MAIN
from heedful.papers.jain_wallace import adversary, agreement, permutation
from heedful.papers.jain_wallace.adversary import FAR
from heedful.papers.jain_wallace.moved_weights import CONCENTRATED, FEWEST
from heedful.papers.serrano_smith import flips, js_gap, over_models, removed, single_items, smallest_sets
from heedful.papers.serrano_smith.rows import each_cell
from heedful.papers.sun_lu import (
    accuracies,
    contextual,
    effects,
    human,
    inequalities,
    stability,
    terms,
    vectors,
    weights,
    word_scores,
)
from heedful.papers.wiegreffe_pinter import adversarial, diagnostic, seeds, uniform
from heedful.records import Finding, Interval
from heedful.study import pooling
from heedful.study.controls import Controls
from heedful.study.seeds import pair_columns, pairs_finding, seeds_findings

NAN = float("nan")
PAIRS = (("attention", "gradient"), ("attention", "leave-one-out"), ("gradient", "leave-one-out"))
SIMPLE = MAIN.replace("bilstm", "average")


def draw(seed=0):
    return np.random.default_rng(seed)


def cell(count=60, seed=0, model=MAIN, corpus="made", **columns):
    about = {"corpus": corpus, "model": model, "seed": seed, "instance": np.arange(count)}
    about |= {"decided": np.arange(count) % 2, "decided_class": np.where(np.arange(count) % 2, "yes", "no")}
    return pd.DataFrame({**about, **columns})


# Jain & Wallace


def agreement_table(models, *, count=60, wide=0.1, runs=2):
    """τ, ρ and overlap of each pair of scores around a mean for each model; some texts have none."""
    frames, chance = [], draw(1)
    for model, means in models.items():
        for (first, second), mean in zip(PAIRS, means, strict=True):
            for seed in range(runs):
                noise = wide * chance.standard_normal((4, count))
                tau = np.clip(mean + noise[0], -1, 1)
                tau[seed] = NAN
                columns = {"tau": tau, "spearman": np.clip(tau + 0.1, -1, 1), "overlap": np.abs(tau) % 1}
                columns |= {"random_tau": noise[1], "random_spearman": noise[2]}
                columns |= {"random_overlap": np.abs(noise[3])}
                columns["significant"] = np.where(np.isnan(tau), NAN, tau > mean)
                columns["random_significant"] = (noise[1] > 0.1).astype(float)
                columns["largest"] = (np.arange(count) % 10 + 0.5) / 10
                frames.append(cell(count, seed, model, first=first, second=second, **columns))
    return {"agreement": pd.concat(frames, ignore_index=True)}


def moved(*, kind="exact", runs=1, count=60):
    """Divergences and changes of permuted weights, some of them at the numbers that decide."""
    frames = []
    for seed in range(runs):
        chance = draw(seed + 2)
        far = chance.uniform(0.3, 0.7, count)
        far[:3] = FAR
        attainable = np.maximum(far, 0.4)
        attainable[:5], attainable[5:9] = FAR, FAR - 0.01
        change = chance.uniform(0, 0.2, count)
        change[:4] = permutation.SMALL
        far[10 + seed], change[10 + seed] = NAN, NAN
        largest = chance.uniform(0.3, 0.8, count)
        largest[:6] = CONCENTRATED
        frames.append(
            cell(count, seed, divergence=far, attainable=attainable, change=change, largest=largest,
                 kind=kind, epsilon=0.01 + 0.001 * np.arange(count))
        )  # fmt: skip
    table = pd.concat(frames, ignore_index=True)
    return {"adversary": table, "permutation": table}


def few(number):
    """Moved weights with so many concentrated texts."""
    table = moved()["permutation"].assign(change=0.1)
    return {"permutation": table.assign(largest=np.where(np.arange(len(table)) < number, 0.6, 0.4))}


# Wiegreffe & Pinter


def runs_of(kinds, *, name="kind", count=4, corpus="made"):
    rows = [
        {"corpus": corpus, "model": MAIN, "seed": seed, name: kind, "accuracy": value + 0.01 * seed,
         "macro_f1": value + 0.013 * (seed % 3), "texts": 307 + seed}
        for kind, value in kinds.items()
        for seed in range(count)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def errors_of(kinds, than):
    return pd.DataFrame(
        [
            {"corpus": "made", "model": MAIN, "kind": kind, "than": other, "measure": measure, "error": error}
            for number, (kind, other) in enumerate([*((kind, "") for kind in kinds), *than])
            for measure, error in (("macro_f1", 0.01 + 0.001 * number), ("accuracy", 0.02 + 0.001 * number))
        ]
    )


def uniform_tables(**more):
    kinds = {"trained": 0.82, "uniform": 0.79, "frozen": 0.8, **more}
    than = [("trained", kind) for kind in list(kinds)[1:]]
    return {"runs": runs_of(kinds), "errors": errors_of(kinds, than)}


def ladder(trained=0.82, **more):
    guides = {"uniform": 0.75, "trained model": trained, "adversary, trained": 0.7, "adversary, exact": 0.81}
    guides |= more
    than = [("trained model", guide) for guide in guides]
    errors = errors_of(guides, than)
    return {"ladder": runs_of(guides, name="guide"), "errors": errors}


def apart():
    """An adversary that has no text in common with other seeds."""
    tables = curve((0.01, 0.02), 0.5)
    other = tables["curve"]["kind"] == "seed"
    tables["curve"].loc[other, "instance"] += 1000
    return tables


def controls():
    chance = draw(10)
    labels = chance.integers(0, 3, 40)
    decided = {
        kind: np.where(chance.random((runs, 40)) < right, labels, (labels + 1) % 3)
        for kind, runs, right in (("uniform", 3, 0.7), ("trained", 2, 0.95), ("frozen", 1, 0.9))
    }
    perfect = {"trained": np.stack([labels, labels]), "uniform": np.stack([(labels + 1) % 3] * 2)}
    return [
        *Controls(decided, labels).findings(coordinates={"corpus": "made"}),
        *Controls(perfect, labels, "dev").findings(),
        *Controls({"uniform": perfect["trained"], "trained": perfect["uniform"]}, labels).findings(),
        *Controls({"uniform": decided["uniform"]}, labels).findings(),
    ]


def curve(change, divergence, *, others=3, how="exact", seed=3, posthoc=0.65, usual=0.05):
    """Two adversaries, other seeds, and the post-hoc adversary of 60 texts a split."""
    tables = {}
    for split in ("curve", "dev"):
        rows = []
        for kind, strength, far, apart in (
            ("adversary", 0.0, change[0], 0.1),
            ("adversary", 0.1, change[1], divergence),
            ("seed", NAN, usual, 0.2),
            ("post-hoc adversary", NAN, 0.005, posthoc),
        ):
            for other in range(others) if kind == "seed" else [NAN]:
                noise = 0.02 * draw([seed, int(10 * far)]).standard_normal((2, 60))
                apart_here = np.clip(apart + 0.01 * np.nan_to_num(other) + noise[1], 0, math.log(2))
                rows.append(
                    cell(kind=kind, strength=strength, other=other, how=how, search="as searched", same=True,
                         change=np.clip(far + noise[0], 0, 1), divergence=apart_here)
                )  # fmt: skip
        tables[split] = pd.concat(rows, ignore_index=True)
    return tables


def between_seeds(*, runs=4, adversary=0.5, kind="exact", count=60):
    chance = draw(4)
    columns = {}
    for name, middle in (("divergence", 0.3), ("overlap", 0.5)):
        pairs = np.clip(middle + 0.2 * chance.standard_normal((runs * (runs - 1) // 2, count)), 0, 0.69)
        pairs[:, 0] = NAN
        columns |= dict(zip(pair_columns(name, runs), pairs, strict=True))
        columns[name] = pairs.mean(0)
    columns |= {"shuffled_divergence": 0.6, "shuffled_overlap": 0.25, "random_overlap": 0.2}
    far = np.clip(adversary + 0.1 * chance.standard_normal(count), 0, math.log(2))
    far[1] = NAN
    more = {"adversary_divergence": far, "adversary_kind": kind, "adversary_search": "as searched"}
    largest = (np.arange(count) % 10 + 0.5) / 10
    # How many runs there were is read off the first row.
    return {"seeds": cell(count, **columns, **more, runs=runs + (np.arange(count) > 0), largest=largest)}


def agreeing(overlap, *, shuffled):
    """Seeds that always have the same top item, or never."""
    columns = dict.fromkeys(pair_columns("overlap", 3), overlap)
    columns |= {name: math.log(2) * (1 - overlap) for name in pair_columns("divergence", 3)}
    more = {"shuffled_overlap": shuffled, "random_overlap": 0.2, "shuffled_divergence": 0.5}
    return cell(20, **columns, **more)


# Sanity checks


def checked(check, what, *, apart=0.3, draws=3, count=30):
    frames = []
    for number in range(draws):
        chance = draw([5, number])
        tau = np.clip(apart + 0.3 * chance.standard_normal(count), -1, 1)
        tau[0] = NAN
        random = np.clip(0.3 * chance.standard_normal(count), -1, 1)
        divergence = np.clip(0.02 + 0.01 * chance.standard_normal(count), 0, None)
        frames.append(
            cell(count, check=check, what=what, draw=number, tau=tau, random_tau=random,
                 divergence=divergence, overlap=(tau > 0.2).astype(float),
                 random_overlap=(random > 0.2).astype(float), same=chance.random(count) < 0.7)
        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def sane(**more):
    parts = [
        checked(RANDOMISED, ALL, **more), checked(RANDOMISED, "the encoder", **more),
        checked(PERMUTED, "train and dev labels", **more), checked(NOISE, "capitals", draws=1, **more),
    ]  # fmt: skip
    return {"sanity": pd.concat(parts, ignore_index=True)}


# Serrano & Smith: findings of twelve models, as `Finding.to_row` writes them

MODELS = [f"{family}-{encoder}" for family in ("han", "flan") for encoder in ("rnn", "conv", "noenc")]
NAMES = {
    "fraction removed", "fraction saved", "late flips", "median fraction removed", "median mass removed",
    "mass saved", "wrong flips", "wrong flips − negative ΔJS", "either flips", "negative ΔJS",
    "positive ΔJS", "negative ΔJS close to 0", "ΔJS close to 0 at a large Δα", "Δα where ΔJS is negative",
    "flips beyond attention's top item", "top flips beyond a random item's", "optimality gap",
    removed.GRADIENT_WINS,
}  # fmt: skip


def findings_rows(*names, seed=6, least=0.0):
    """A value for each model and corpus, with an interval, or without one where there was too little."""
    chance, rows = draw(seed), []
    for corpus in ("amazon", "imdb", "imdb-ratings"):
        for model in MODELS:
            for name in sorted({*NAMES, *names}):
                for ranking in ("attention", "gradient", "product", "random"):
                    value = float(chance.uniform(0.05, 0.95)) + least
                    low, high = value - chance.uniform(0, 0.2), value + chance.uniform(0, 0.2)
                    slower = "gradient" if ranking == "product" and corpus == "imdb" else "attention"
                    slower = "random" if ranking == "attention" else slower
                    rows.append(
                        {"corpus": corpus, "model": model, "seed": 0, "name": name, "ranking": ranking,
                         "faster": ranking, "slower": slower, "value": value, "low": low, "high": high,
                         "count": int(chance.integers(50, 90)), "fewer": float(chance.integers(20, 40)),
                         "more": float(chance.integers(5, 20)), "measured": f"{name}; so"}
                    )  # fmt: skip
    return pd.DataFrame(rows)


def bins(*, seed=7, least=0.0):
    chance, rows = draw(seed), []
    for corpus in ("amazon", "imdb"):
        for model in MODELS:
            for tenth in range(10):
                rows.append(
                    {"corpus": corpus, "model": model, "seed": 0, "from": tenth / 10, "to": (tenth + 1) / 10,
                     "instances": int(js_gap.FEWEST + (tenth + len(model)) % 4 - 1),
                     "mean_delta_js": least + 0.05 * tenth + 0.02 * chance.random(),
                     "standard_error": 0.01 + 0.01 * chance.random(), "negatives": 3}
                )  # fmt: skip
    return pd.DataFrame(rows)


def uneven(table, *names):
    """Columns that are the same in all rows, but are read off one of them: here each row has its own."""
    own = table.reset_index(drop=True)
    return own.assign(**{name: own[name] + own[name].dtype.type(1) * np.arange(len(own)) for name in names})


def paths(violations=0, cases=40):
    checks = ("differ", "below_exact", "set_fails", "smaller_flips")
    rows = [
        {"check": check, "violations": violations * number, "cases": cases, "near_ties": number}
        for number, check in enumerate(checks)
    ]
    return pd.DataFrame([*rows, *({**row, "cases": 0} for row in rows)])


def open_ended():
    """A finding that some models have no interval of."""
    rows = findings_rows()
    rows = rows[rows["name"] == "wrong flips"].head(9).copy()
    rows.loc[rows.index[2], ["low", "high"]] = NAN
    rows.loc[rows.index[4], "high"] = NAN
    return over_models.pick(rows, "wrong flips")


def by_items():
    """What is found of five texts, and of the texts on both sides of the numbers that decide."""
    rows = make_rows()
    close, (low, high) = single_items.CLOSE, single_items.WIDE
    names = ("top_js", "other_js", "top_weight", "other_weight")
    edges = pd.concat([rows] * 4, ignore_index=True).assign(instance=np.arange(20))
    for ranking in RANKED:
        top_js, other_js, top_weight, other_weight = (f"single_{ranking}_{name}" for name in names)
        edges[other_js], edges[other_weight] = 0.25, 0.0
        edges[top_js] = 0.25 + np.resize([0, close, -close, close / 2, -close / 2, 0.2, -0.1], 20)
        edges[top_weight] = np.resize([low, high, low - 0.1, high - 0.05, low + 0.1, 0.9], 20)
    steady = rows.assign(**{f"single_{name}_top_flips": False for name in RANKED})
    steady = steady.assign(**{f"single_{name}_other_flips": False for name in RANKED})
    return [
        finding
        for table in (rows, edges, steady)
        for one in each_cell(table)
        for ranking in RANKED
        for finding in single_items._findings(one, ranking)
    ]


def by_sets():
    rows = make_rows()
    late = make_rows(attention=[10, 10, 20, 1, -1], gradient=[2, 9, 20, 1, 3], product=[5, 5, 11, 1, -1])
    never = make_rows(**{name: [-1] * 5 for name in RANKED}, random=[[-1, -1]] * 5)
    return [
        finding
        for table in (rows, late, never)
        for one in each_cell(table)
        for finding in removed._findings(one)
    ]


# Sun & Lu


def course(**ends):
    by_scale = {
        "λ = 1": made.TERMS | {("A", "positive"): 3.0, ("A", "negative"): -3.0},
        "λ = 10": made.TERMS | ends.get("ten", {}),
        "λ = 100": made.TERMS | {("D", "positive"): 9.0, ("D", "negative"): -9.0},
    }
    return {"moments": made.moments(list(by_scale), by_scale)}


def judged(**about):
    found = beyond.words(luck=0.1, seeds=3)
    people = found.groupby("word")["polarity"].mean().round().rename("human")
    noise = draw(2).normal(size=len(found))
    found["attention"] = found["polarity"].abs() + noise
    both = pd.concat([found, found.assign(scale=100.0, attention=0.1 + 0.01 * noise)])
    return {"correlations": human.correlations(human.with_human(both.assign(**about), people))}


def contextual_tables():
    plain = beyond.words(seeds=3)
    polar = (plain["type"] != "neutral").to_numpy()
    plain["attention"] = 3.0 * polar + draw(3).normal(size=len(plain))
    over = plain.assign(model=contextual.MINILM, attention=plain["attention"] - 2.0 * polar)
    words = contextual.typed(pd.concat([over, plain]).assign(cell="", measure="", id=0))
    runs = pd.DataFrame(
        [
            {"model": model, "seed": seed, "test_accuracy": accuracy + 0.003 * seed**2, "texts": 307 - seed,
             "error": error + 0.001 * seed}
            for model, accuracy, error in (("dp", 0.8, 0.07), (contextual.MINILM, 0.85, 0.01))
            for seed in (2, 0, 1)
        ]
    )  # fmt: skip
    runs.loc[1, "test_accuracy"] += 0.004
    return {"words": words, "runs": runs}


def spread(table, column):
    """Two seeds of which one loses all attention to polar words over the encoder, and one loses a little."""
    own = table[table["seed"] < 2].reset_index(drop=True)
    return own.assign(**{column: draw(11).uniform(-0.9, 0.9, len(own))})


def two_far_seeds():
    """Two seeds, of which one loses all attention to polar words over the encoder and one a little."""
    tables = contextual_tables()
    words = tables["words"][tables["words"]["seed"] < 2]
    lost = (words["model"] != "dp") & (words["type"] != "neutral") & (words["seed"] == 0)
    return {**tables, "words": words.assign(attention=words["attention"] - 20.0 * lost)}


def only(tables, *scales):
    return {name: table[table["scale"].isin(scales)] for name, table in tables.items()}


def effects_found():
    """Each statistic on words of one seed and of several, and at the ends of what it can be."""
    one, three = made.words(seeds=1), made.words(seeds=3)
    ties = one.assign(attention=one["attention"].round())
    sure = made.words(seeds=3, lift=(90.0, 90.0))
    found = []
    few = made.words(seeds=1, lift=(1.0, 1.0)).groupby("type").head(5)
    fewer = three[(three["seed"] != 1) | (three["word"] != "neutral3")]
    for words in (one, three, ties, sure, fewer, made.words(seeds=2, lift=(0.3, -0.2), seed=4), few):
        for statistic in (
            effects.above("attention", ("positive", "negative"), ("neutral",)),
            effects.above("polarity", ("negative",), ("neutral",)),
            effects.gap("attention", "positive", "negative"),
            effects.share("own", ("positive", "negative")),
            effects.share("attention", ("neutral",)),
        ):
            found.append(effects.effect("x", words, statistic, measured="So.", unit="sd"))
    for first, second in (("attention", "polarity"), ("polarity", "own"), ("strength", "polarity")):
        polar = one[one["type"] != "neutral"]
        rho = effects.rank_correlation(polar[first], polar[second])
        found.append(Finding("ρ", rho.value, interval=rho.interval, count=len(polar), measured="So."))
    four = pd.Series([1.0, 2, 3, 4])
    for other in (four, -four, pd.Series([2.0, 1, 4, 4])):
        rho = effects.rank_correlation(four, other)
        found.append(Finding("ρ of four", rho.value, interval=rho.interval, count=4, measured="So."))
    for values in ([0.2], [0.1, 0.4], [0.95, 1.0, 0.9], [-0.9, -1.0, -0.7]):
        found.append(effects.effect_of_runs("x", values, measured="So.", count=31, within=(-1, 1)))
        for alone in (False, True):
            found.append(
                effects.accuracy_effect("x", values, measured="So.", texts=101, error=0.03, alone=alone)
            )
    return found


def beside_printed(*ends):
    found = {
        scale: Finding("accuracy − printed", value, count=1821, measured="So.", unit="points",
                       interval=Interval(low, high, level=1 - 1 / scale, method=f"m at {scale}"))
        for scale, (low, value, high) in zip((10.0, 20.0, 50.0), ends, strict=True)
    }  # fmt: skip
    return [accuracies.farthest(found)]


def pooled():
    """Means, leads and shares of one seed and of several, with texts that some lack."""
    one, two = moved()["adversary"], moved(runs=2)["adversary"]
    three = moved(runs=3)["adversary"]
    about = {"name": "x", "measured": "So"}
    found = [
        pooling.mean_over_texts(rows, column, baselines={"b": "change"}, within=within, alone=alone, **about)
        for rows in (one, two, three)
        for column, within in (("divergence", (0.0, 0.5)), ("largest", (0.0, 0.58)), ("change", (-1.0, 1.0)))
        for alone in (False, True)
    ]
    found += [
        pooling.lead_over_texts(first, second, "divergence", **about)
        for first in (one, two, three)
        for second in (one, two, three)
    ]
    found += [
        pooling.share_of_texts(
            rows.assign(far=(rows["divergence"] >= FAR).where(rows["divergence"].notna()), b=1.0),
            "far", baselines={"b": "b"}, **about,
        )
        for rows in (one, two, three)
    ]  # fmt: skip
    found += [
        pooling.mean_over_seeds(values, count=53, error=error, alone=alone, within=(0.0, 1.0), **about)
        for values in ([0.5], [0.4, 0.9], [0.98, 0.99, 1.0])
        for error in (None, 0.02)
        for alone in (False, True)
    ]
    return pooling.defined(*found, None)


def cases():
    """By name, a function that gives claims or findings."""
    strong = dict(zip((MAIN, SIMPLE), ((0.3, 0.8, 0.6), (0.7, 0.8, 0.6)), strict=True))
    ends = {MAIN: (0.99, -0.99, 0.97), SIMPLE: (-0.99, 0.99, -0.99)}
    turned = {SIMPLE: (0.99, -0.99, 0.97), MAIN: (-0.99, 0.99, -0.99)}
    all_changed = moved(runs=2)["permutation"].assign(change=np.resize([0.99, 1.0, 0.98], 120))
    lifts = beyond.lifts()["lifts"]
    low, high = js_gap.MODERATE
    edges = (
        bins()
        .query("`from` in (0.0, 0.3, 0.5)")
        .assign(to=lambda table: table["from"].map({0.0: 2 * low, 0.3: 0.4, 0.5: 2 * high - 0.5}))
    )
    shares = made.shares().sort_values("pair", ascending=False, kind="stable")
    rows = findings_rows()
    lower = findings_rows(seed=8, least=-0.6)
    both = {"findings": rows, "bins": bins(), "paths": paths()}
    other = {"findings": lower, "bins": bins(seed=9, least=-0.3), "paths": paths(2)}
    words = stability.word_table(beyond.words(luck=1.0))
    far = -1.0
    return {
        "agreement": lambda: agreement.claims(agreement_table(strong)),
        "agreement, found": lambda: agreement.findings(agreement_table(strong, count=12)),
        "agreement, ends": lambda: agreement.claims(agreement_table(ends, wide=0.4, count=5, runs=3)),
        "agreement, ends, found": lambda: agreement.findings(
            agreement_table(ends, wide=0.4, count=5, runs=3)
        ),
        "agreement, other ends": lambda: agreement.claims(agreement_table(turned, wide=0.4, count=5, runs=3)),
        "agreement, printed": lambda: [
            claim
            for count in (agreement.QUICK_LIMIT, agreement.QUICK_LIMIT + 1)
            for claim in agreement.claims(
                {"agreement": agreement_table(strong, count=count)["agreement"].assign(corpus="sst")}
            )
        ],
        "agreement, one": lambda: agreement.claims(agreement_table({MAIN: (0.5, 0.5, 0.5)}, count=9, runs=1)),
        "adversary": lambda: adversary.claims(moved()),
        "adversary, found": lambda: adversary.findings(moved()),
        "adversary, bound": lambda: adversary.claims(moved(kind="lower bound", runs=3)),
        "adversary, seeds": lambda: adversary.findings(moved(kind="lower bound", runs=3)),
        "permutation": lambda: permutation.claims(moved()),
        "permutation, found": lambda: permutation.findings(moved(runs=2)),
        "permutation, too few": lambda: permutation.claims(few(FEWEST - 1)),
        "permutation, enough": lambda: permutation.claims(few(FEWEST)),
        "adversary, none": lambda: adversary.claims({"adversary": moved()["adversary"].assign(largest=0.1)}),
        "permutation, all": lambda: permutation.findings({"permutation": all_changed}),
        "uniform": lambda: uniform.claims(uniform_tables()),
        "uniform, found": lambda: uniform.findings(uniform_tables(trained=0.99, uniform=0.01)),
        "uniform, worse": lambda: uniform.findings(uniform_tables(trained=0.01, uniform=0.97)),
        "uniform, without errors": lambda: uniform.findings({"runs": uniform_tables()["runs"]}),
        "diagnostic": lambda: diagnostic.claims(ladder()),
        "diagnostic, far": lambda: diagnostic.claims(ladder(0.999, uniform=0.0)),
        "diagnostic, found": lambda: diagnostic.findings(ladder(0.99, uniform=0.001)),
        "diagnostic, worse": lambda: diagnostic.claims(ladder(0.0, uniform=0.999)),
        "diagnostic, one seed": lambda: diagnostic.findings(
            {name: table.query("seed == 0") if "seed" in table else table for name, table in ladder().items()}
        ),
        "adversarial, far off": lambda: adversarial.claims(curve((0.99, 0.99), 0.5, usual=0.0)),
        "adversarial, all alike": lambda: adversarial.claims(curve((0.0, 0.0), 0.5, usual=0.99)),
        "adversarial": lambda: adversarial.claims(curve((0.01, 0.02), 0.5)),
        "adversarial, found": lambda: adversarial.findings(curve((0.01, 0.98), 0.68)),
        "adversarial, far off, found": lambda: adversarial.findings(curve((0.0, 0.5), 0.68, usual=0.999)),
        "adversarial, otherwise": lambda: adversarial.claims(curve((0.01, 0.9), 0.5)),
        "adversarial, never alike": lambda: adversarial.claims(curve((0.9, 0.8), 0.5)),
        "adversarial, no seeds": lambda: adversarial.claims(curve((0.01, 0.02), 0.5, others=0)),
        "adversarial, one seed": lambda: adversarial.claims(curve((0.01, 0.02), 0.5, others=1)),
        "adversarial, one seed, found": lambda: adversarial.findings(curve((0.01, 0.02), 0.5, others=1)),
        "adversarial, bound": lambda: adversarial.claims(curve((0.06, 0.07), 0.3, how="lower bound")),
        "adversarial, nearer": lambda: adversarial.claims(curve((0.01, 0.02), 0.68, posthoc=0.05)),
        "adversarial, nothing in common": lambda: adversarial.claims(apart()),
        "controls": controls,
        "seeds": lambda: seeds.claims(between_seeds()),
        "seeds, found": lambda: seeds.findings(between_seeds()),
        "seeds, near": lambda: seeds.findings(between_seeds(runs=3, adversary=0.01, kind="lower bound")),
        "seeds, two": lambda: seeds.claims(between_seeds(runs=2)),
        "seeds, alone": lambda: seeds_findings(between_seeds()["seeds"], seeds=4, k=3, coordinates={"a": 1}),
        "seeds, always": lambda: [
            *seeds_findings(agreeing(1.0, shuffled=0.0), seeds=3),
            *seeds_findings(agreeing(0.0, shuffled=1.0), seeds=3),
            pairs_finding(
                agreeing(0.5, shuffled=0.5)[pair_columns("overlap", 3)],
                "overlap",
                seeds=3,
                name="x",
                measured="So",
                within=(0.0, 1.0),
            ),
        ],
        "sanity": lambda: sanity.claims(sane()),
        "sanity, found": lambda: sanity.findings(sane(apart=far)),
        "sanity, claimed": lambda: sanity.claims(sane(apart=0.02)),
        "sanity, one text": lambda: sanity.findings(sane(count=2)),
        "flips": lambda: [*flips.flip_claims(both), *flips.flip_claims(other)],
        "flips, families": lambda: [*flips.family_claims(both), *flips.family_claims(other)],
        "flips, gradient": lambda: [*flips.gradient_top_claims(both), *flips.gradient_top_claims(other)],
        "flips, product": lambda: [*flips.product_top_claims(both), *flips.product_top_claims(other)],
        "js": lambda: [*js_gap.all_js_claims(both), *js_gap.all_js_claims(other)],
        "js, negative": lambda: [*js_gap.negative_claims(both), *js_gap.negative_claims(other)],
        "removed": lambda: [*removed.encoder_claims(both), *removed.encoder_claims(other)],
        "removed, all": lambda: removed.EXPERIMENTS["serrano-smith-fig10"].claims(both),
        "removed, two": lambda: removed._claims(removed.late_claims, removed.mass_claims)(both),
        "removed, unbounded": lambda: removed.bare_claims({"findings": rows.assign(high=NAN)}),
        "js, nothing in common": lambda: js_gap.context_claims({"bins": bins().query("model == 'han-rnn'")}),
        "removed, late": lambda: [*removed.late_claims(both), *removed.late_claims(other)],
        "removed, bare": lambda: [*removed.bare_claims(both), *removed.bare_claims(other)],
        "removed, context": lambda: [*removed.context_claims(both), *removed.context_claims(other)],
        "removed, mass": lambda: [*removed.mass_claims(both), *removed.mass_claims(other)],
        "smallest sets": lambda: [*smallest_sets.exact_claims(both), *smallest_sets.exact_claims(other)],
        "smallest sets, none": lambda: smallest_sets.exact_claims({**both, "paths": paths(cases=0)}),
        "single items": by_items,
        "sets": by_sets,
        "over models": lambda: [
            combined(open_ended(), "x")
            for combined in (over_models.lowest, over_models.highest, over_models.mean_over_models)
        ],
        "over two models": lambda: [
            combined(open_ended()[:count], "x")
            for combined in (over_models.lowest, over_models.highest)
            for count in (1, 2)
        ],
        "over models, none": lambda: [
            over_models.share_of_models(open_ended().iloc[:0], "x", above=0.5),
            over_models.mean_over_models(open_ended().iloc[:0], "x"),
            over_models.lowest(open_ended().iloc[:0], "x"),
            over_models.share_of_models(open_ended(), "x", above=float(open_ended()["value"].iloc[0])),
        ],
        "accuracies": lambda: accuracies.claims(made.accuracies()),
        "accuracies, uneven": lambda: accuracies.claims(
            {
                "runs": uneven(made.accuracies()["runs"], "texts"),
                "errors": uneven(made.accuracies()["errors"].assign(error=0.01), "error").assign(
                    error=lambda table: 0.002 + 0.0001 * table["error"]
                ),
            }
        ),
        "accuracies, unsure": lambda: accuracies.claims(made.accuracies(error=0.02)),
        "accuracies, farthest": lambda: [
            *beside_printed((1.4, 1.5, 1.6), (-2.5, -0.5, 1.5), (0.0, 0.0, 0.0)),
            *beside_printed((-2.9, -2.5, -2.1), (-0.1, 0.0, 0.1), (-1.0, 2.4, 2.8)),
            *beside_printed((-1.0, 0.5, 2.0), (-3.0, -0.25, 0.5), (-0.5, -0.5, -0.5)),
            *beside_printed((-0.2, 1.0, 3.0), (0.0, 0.0, 0.0), (-1.0, 0.0, 1.0)),
            *beside_printed((-math.inf, 0.5, math.inf), (0.5, 0.5, 0.5), (-0.5, -0.5, -0.5)),
        ],
        "accuracies, two scales": lambda: [
            *accuracies.claims(only(made.accuracies(), 10.0, 10000.0)),
            *accuracies.claims(only(made.accuracies(), 0.001, 10.0)),
        ],
        "contextual": lambda: contextual.claims(contextual_tables()),
        "contextual, at the ends": lambda: contextual.claims(two_far_seeds()),
        "effects": effects_found,
        "human": lambda: human.claims(judged()),
        "human, two seeds": lambda: human.claims(
            {"correlations": uneven(judged()["correlations"].query("seed < 2"), "count")}
        ),
        "human, one seed": lambda: human.claims(
            {"correlations": uneven(judged()["correlations"].query("seed == 1"), "count")}
        ),
        "human, at the ends": lambda: human.claims(
            {"correlations": spread(judged()["correlations"], "correlation")}
        ),
        "inequalities": lambda: inequalities.claims({"shares": made.shares()}),
        "inequalities, uneven": lambda: inequalities.claims({"shares": uneven(shares, "count")}),
        "inequalities, all": lambda: inequalities.claims(
            {"shares": shares.assign(share=np.resize([0.9, 1.0, 0.97, 0.0, 0.05], len(shares)))}
        ),
        "stability, uneven": lambda: stability.claims(
            {
                "words": words.assign(
                    seeds=np.where(np.arange(len(words)) % 2, 4, 5), scale=np.arange(len(words))
                )
            }
        ),
        "stability": lambda: stability.claims({"words": words}),
        "terms": lambda: terms.claims(course()),
        "terms, otherwise": lambda: terms.claims(
            course(ten={("alignment", ""): -0.5, ("A", "positive"): 0.5, ("B", "positive"): -1.0})
        ),
        "vectors": lambda: vectors.claims(beyond.lifts()),
        "vectors, uneven": lambda: vectors.claims(
            {
                "lifts": uneven(lifts, "texts", "words", "labelled words").assign(
                    error=np.linspace(0.01, 0.02, len(lifts))
                )
            }
        ),
        "vectors, at the ends": lambda: vectors.claims({"lifts": spread(lifts.iloc[::-1], "polarity near")}),
        "weights": lambda: weights.claims({"words": made.weights(seeds=3), "text": made.text(seeds=3)}),
        "weights, by number": lambda: weights.claims(
            {
                "words": made.weights(seeds=3).assign(
                    attention=lambda table: table["attention"] - 7 - 2.4 * (table["type"] == "negative")
                ),
                "text": made.text(seeds=3),
            }
        ),
        "weights, uneven": lambda: weights.claims(
            {
                "words": made.weights(seeds=3).assign(attention=lambda table: table["attention"] - 9.0),
                "text": made.text(seeds=3).assign(
                    weight=lambda table: table["weight"] + 0.03 * (np.arange(9) % 3)
                ),
            }
        ),
        "js, at the ends": lambda: js_gap.context_claims({"bins": edges}),
        "weights, one": lambda: weights.claims({"words": made.weights(seeds=1), "text": made.text(seeds=1)}),
        "word scores": lambda: word_scores.claims({"words": made.words()}, source="here"),
        "word scores, classes": lambda: word_scores.claims({"words": made.class_words()}, source="here"),
        "pooling": pooled,
    }
