"""Serrano & Smith's experiments: tables from rows that a person can check, and claims that can fail."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from serrano_smith_rows import NAMES, make_rows
from torch import nn

from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.models.trace import Trace
from heedful.papers import PAPERS, find_experiments
from heedful.papers.serrano_smith import js_gap, paths, removed
from heedful.papers.serrano_smith import rows as cell_rows
from heedful.papers.serrano_smith.flips import flips, shares
from heedful.papers.serrano_smith.forms import form_tables
from heedful.papers.serrano_smith.js_gap import bins, points
from heedful.papers.serrano_smith.over_models import (
    differences,
    highest,
    lowest,
    mean_over_models,
    nothing,
    pick,
    share_of_models,
)
from heedful.papers.serrano_smith.removed import boxes, means, multi_table
from heedful.papers.serrano_smith.rows import sample_corpus
from heedful.papers.serrano_smith.single_items import single_table
from heedful.papers.serrano_smith.smallest_sets import exact_claims, exact_table, gaps_of
from heedful.records import Claim
from heedful.study.experiment import reproduce
from heedful.study.workbench import Bench


def test_a_box_has_the_quartiles_of_the_kept_texts_and_the_counts_of_the_others():
    found = boxes(make_rows()).set_index("ranking")
    # Kept: 4/10, 9/10 and 20/20; left out: the text of one item, and the one that nothing flips.
    attention = found.loc["attention"]
    assert attention[["lower_quartile", "median", "upper_quartile"]].tolist() == pytest.approx(
        [0.65, 0.9, 0.95]
    )
    assert attention[["low", "high"]].tolist() == pytest.approx([0.4, 1.0])
    assert attention["above_half"] == pytest.approx(2 / 3)
    assert (attention["excluded_one_item"], attention["excluded_never"]) == (1, 1)
    assert found.loc["random", "instances"] == 3
    assert found.loc["random", "fully_removed"] == 1
    assert found.loc["random", "mean"] == pytest.approx((0.5 + 0.7 + 1 + 1 + 1 + 1) / 6)
    assert found.loc["exact", "mean"] == pytest.approx((0.1 + 0.2 + 0.25) / 3)
    assert list(found.index) == ["random", "attention", "gradient", "product", "exact"]


def test_the_mass_of_the_smallest_set_is_left_out_because_it_is_not_one_number():
    assert "exact" not in set(boxes(make_rows(), "mass")["ranking"])


def test_a_model_whose_decisions_never_flip_has_no_box_and_does_not_stop_the_others():
    never = {name: [-1] * 5 for name in ("attention", "gradient", "product", "random")}
    rows = pd.concat([make_rows("han-rnn", **never), make_rows()], ignore_index=True)
    rows.loc[rows["model"] == "han-rnn", "size_random_0"] = -1
    assert set(boxes(rows.drop(columns="size_random", errors="ignore"))["model"]) == {"flan-conv"}


def test_flips_are_counted_as_in_table_2():
    table = flips(make_rows()).iloc[0]
    counts = table[["tested", "both", "top_only", "other_only", "neither", "one_item"]]
    assert counts.tolist() == [4, 1, 1, 1, 1, 1]
    assert table["p"] == 1
    assert shares(flips(make_rows()))["top_only_%"].tolist() == [25.0]


def test_negative_differences_are_counted_in_their_tenth_of_the_attention_gap():
    found = bins(make_rows()).set_index("from")
    assert found.loc[0.9, ["instances", "negatives"]].tolist() == [1, 0]
    assert found.loc[0.1, ["instances", "negatives"]].tolist() == [1, 1]
    assert found["instances"].sum() == 4
    assert found.loc[0.1, "mean_delta_js"] == pytest.approx(-0.02)
    assert len(points(make_rows())) == 4


def test_single_findings_are_those_of_the_rows():
    found = single_table(make_rows(), NAMES).set_index(["name", "ranking"])["value"]
    assert found["positive ΔJS", "attention"] == 0.75
    assert found["negative ΔJS close to 0", "attention"] == 1
    assert found["ΔJS close to 0 at a large Δα", "attention"] == 0.5  # 0.01 is, 0.06 is not
    assert found["either flips", "attention"] == 0.75
    assert found["wrong flips", "attention"] == 0.5
    assert found["wrong flips − negative ΔJS", "attention"] == 0.25
    assert found["Δα where ΔJS is negative", "attention"] == pytest.approx(0.12 - (0.93 + 0.38 + 0.33) / 3)
    assert found["flips beyond attention's top item", "product"] == 0.25
    assert found["flips beyond attention's top item", "gradient"] == 0


def test_multi_findings_are_those_of_the_rows():
    found = multi_table(make_rows())
    saved = pick(found, "fraction saved", faster="gradient", slower="attention")["value"].item()
    assert saved == pytest.approx((0.2 + 0.6 + 0.5) / 3)
    middle = pick(found, "median fraction removed", ranking="attention")["value"].item()
    assert middle == pytest.approx(0.9)
    gap = pick(exact_table(make_rows(), NAMES), "optimality gap", ranking="gradient")["value"].item()
    assert gap == pytest.approx((2 + 1.5 + 2) / 3)


def test_summaries_have_a_model_a_row_and_the_numbers_of_their_findings():
    rows = make_rows()
    removed = means(boxes(rows)).to_dict("records")
    told = {"corpus": "amazon", "model": "flan-conv", "seed": 0, "texts": 3, "one item": 1, "never flips": 1}
    assert [{name: row[name] for name in told} for row in removed] == [told]
    assert removed[0]["attention"] == pytest.approx((0.4 + 0.9 + 1) / 3, abs=1e-3)
    assert removed[0]["exact"] == pytest.approx((0.1 + 0.2 + 0.25) / 3, abs=1e-3)
    gaps = gaps_of(exact_table(rows, NAMES).assign(baseline_shuffled=2.345)).to_dict("records")
    assert len(gaps) == 1
    assert gaps[0]["gradient"].startswith("1.83 [")
    assert gaps[0]["shuffled"] == "2.35"


def test_texts_of_one_item_each_are_said_in_a_sentence():
    rows = make_rows()
    with pytest.raises(UserError, match="No text has two items"):
        single_table(rows[rows["items"] == 1])
    with pytest.raises(UserError, match="ever flips"):
        multi_table(rows[rows["items"] == 1])


def model_rows(name="thing", **values):
    """Rows of findings: model → (low, value, high)."""
    return pd.DataFrame(
        [
            {
                "corpus": "c",
                "seed": 0,
                "model": model,
                "name": name,
                "value": value,
                "low": low,
                "high": high,
                "count": 7,
                "measured": "m",
            }
            for model, (low, value, high) in values.items()
        ]
    )


def test_what_is_said_of_every_model_is_said_of_the_worst():
    rows = model_rows(a=(1.0, 2.0, 3.0), b=(1.5, 1.7, 1.9))
    factor = 2.241403 / 1.959964  # of the normal distribution: 0.9875 for two models, 0.975 for one
    found = lowest(rows, "x")
    assert (found.value, found.interval.low) == (1.7, 1.0)
    assert found.interval.high == pytest.approx(1.7 + 0.2 * factor)
    assert (found.count, found.coordinates["reached_by"]) == (14, "c b")
    found = highest(rows, "x")
    assert (found.value, found.interval.high) == (2.0, 3.0)
    assert found.interval.low == pytest.approx(1.7 - 0.2 * factor)


def test_of_many_models_one_that_misses_by_chance_does_not_refute_all():
    """24 models at the threshold's right side, each interval at 95 %: one lies just below it."""
    rows = model_rows(**{f"m{number}": (0.1, 0.3, 0.5) for number in range(23)}, odd=(-0.41, -0.2, -0.01))
    claim = Claim.decided("all", "nowhere", effect=lowest(rows, "x"), comparison=">", threshold=0)
    assert claim.outcome == "undecided"
    alone = Claim.decided(
        "one", "nowhere", effect=lowest(rows[rows["model"] == "odd"], "x"), comparison=">", threshold=0
    )
    assert alone.outcome == "does not hold"


def test_a_model_that_cannot_tell_leaves_the_end_open_and_is_counted():
    rows = model_rows(a=(1.0, 2.0, 3.0), b=(-np.inf, 2.5, np.inf), c=(1.5, 1.7, 1.9))
    for found in (highest(rows, "x"), mean_over_models(rows, "x")):
        assert found.interval.high == np.inf
        assert found.interval.method == "none: too few such instances in 1 of 3 models"
    assert "none" not in highest(rows[rows["model"] != "b"], "x").interval.method


def test_models_are_counted_from_those_surely_above_to_those_that_may_be():
    rows = model_rows(a=(0.6, 0.7, 0.8), b=(0.4, 0.55, 0.7), c=(0.3, 0.45, 0.6), d=(0.1, 0.2, 0.3))
    found = share_of_models(rows, "x", above=0.5)
    assert (found.interval.low, found.value, found.interval.high) == (0.25, 0.5, 0.75)
    assert "2 of 4 models" in found.measured


def test_a_difference_of_two_models_has_the_ends_of_both():
    first = model_rows(a=(4.0, 5.0, 6.0)).assign(corpus="c")
    second = model_rows(b=(1.0, 2.0, 2.0 + 3**0.5))
    found = differences(first, second, by=("corpus", "seed")).iloc[0]
    assert found[["value", "low", "high"]].tolist() == pytest.approx([3, 3 - 2, 3 + 2**0.5])
    assert differences(first, second.assign(corpus="other"), by=("corpus", "seed")).empty


def ends_of_mean(**corpora):
    """The ends of the mean over models: corpus → rows of its models."""
    found = mean_over_models(pd.concat([rows.assign(corpus=name) for name, rows in corpora.items()]), "x")
    return found.value, found.interval.low, found.interval.high


def test_a_mean_over_models_of_one_corpus_is_no_better_known_than_one_of_them():
    rows = model_rows(a=(0.0, 1.0, 3.0), b=(2.0, 3.0, 5.0), c=(4.0, 5.0, 7.0))
    assert ends_of_mean(amazon=rows) == pytest.approx((3, 3 - 1, 3 + 2))


def test_a_mean_over_models_narrows_with_the_number_of_corpora_alone():
    rows = model_rows(a=(0.0, 1.0, 2.0), b=(2.0, 3.0, 4.0))
    assert ends_of_mean(amazon=rows, yelp=rows) == pytest.approx((2, 2 - 0.5**0.5, 2 + 0.5**0.5))
    # One corpus with two models, one with one: (1 + 1) / 3 and 1 / 3.
    found = ends_of_mean(amazon=rows, yelp=rows[:1])
    assert found == pytest.approx((5 / 3, 5 / 3 - 5**0.5 / 3, 5 / 3 + 5**0.5 / 3))


def test_corpora_with_texts_in_common_count_as_one():
    rows = model_rows(a=(0.0, 1.0, 2.0))
    assert ends_of_mean(**{"imdb": rows, "imdb-ratings": rows}) == pytest.approx((1, 0, 2))


def test_nothing_measured_decides_nothing():
    tables = {"findings": pd.DataFrame(columns=["name", "ranking", "model", "faster", "slower"])}
    outcomes = {claim.outcome for claim in removed.encoder_claims(tables)}
    assert outcomes == {"undecided"}
    assert nothing("x").interval.bounded is False


@pytest.mark.parametrize(
    ("fewer", "more", "outcome"),
    [(300, 100, "holds"), (130, 100, "undecided"), (200, 200, "does not hold"), (50, 0, "holds")],
)
def test_the_claim_of_at_least_1_6_times_follows_the_worst_model_with_an_encoder(fewer, more, outcome):
    models = {"flan-rnn": (fewer, more), "han-conv": (500, 50), "flan-noenc": (1, 99)}
    rows = model_rows(removed.GRADIENT_WINS, **dict.fromkeys(models, (0.4, 0.5, 0.6)))
    findings = rows.assign(
        ranking="",
        faster="",
        slower="",
        fewer=[fewer for fewer, _ in models.values()],
        more=[more for _, more in models.values()],
    )
    claims = {claim.effect.name: claim for claim in removed.encoder_claims({"findings": findings})}
    assert claims["gradient beats attention"].outcome == outcome


@pytest.mark.parametrize(
    ("worst", "every", "most"),
    [
        ((1.3, 1.4, 1.5), "holds", "holds"),
        ((1.1, 1.3, 1.5), "undecided", "holds"),
        ((1.05, 1.1, 1.15), "does not hold", "holds"),  # more than the smallest set, and yet not far from it
    ],
)
def test_attention_is_far_from_the_smallest_sets_only_beyond_a_quarter(worst, every, most):
    gaps = {"han-rnn": worst, "flan-rnn": (2.0, 3.0, 4.0), "flan-conv": (1.6, 1.7, 1.8)}
    rows = model_rows("optimality gap", **gaps).assign(ranking="attention")
    paths = pd.DataFrame(columns=["check", "cases", "violations", "near_ties"])
    claims = {claim.effect.name: claim for claim in exact_claims({"findings": rows, "paths": paths})}
    claim = claims["optimality gap of attention"]
    assert (claim.outcome, claim.criterion) == (every, "> 1.25")
    assert claims["attention far from the smallest sets"].outcome == most


def test_attention_near_the_smallest_sets_in_most_models_is_said():
    gaps = {"han-rnn": (1.0, 1.05, 1.1), "han-conv": (1.0, 1.1, 1.2), "flan-rnn": (2.0, 3.0, 4.0)}
    rows = model_rows("optimality gap", **gaps).assign(ranking="attention")
    paths = pd.DataFrame(columns=["check", "cases", "violations", "near_ties"])
    claims = {claim.effect.name: claim for claim in exact_claims({"findings": rows, "paths": paths})}
    assert claims["attention far from the smallest sets"].outcome == "does not hold"


@pytest.mark.parametrize(("above", "outcome"), [(3, "holds"), (2, "does not hold")])
def test_the_claim_of_10_of_16_counts_models(above, outcome):
    values = {
        model: (0.6, 0.7, 0.8) if place < above else (0.1, 0.2, 0.3)
        for place, model in enumerate(removed.ENCODED)
    }
    findings = model_rows(removed.GRADIENT_WINS, **values)
    findings = findings.assign(ranking="", faster="", slower="", fewer=7, more=3)
    claims = {claim.effect.name: claim for claim in removed.encoder_claims({"findings": findings})}
    claim = claims["gradient needs fewer items for over half"]
    assert (claim.outcome, claim.effect.value) == (outcome, above / 4)


def test_the_tails_of_fig_6_are_compared_with_the_papers_on_amazon_alone():
    def rows(corpus, share):
        row = model_rows("late flips", **{"flan-noenc": (share - 0.01, share, share + 0.01)})
        return row.assign(corpus=corpus, ranking="random", faster="", slower="")

    findings = pd.concat([rows("agnews", 0.9), rows("amazon-sample", 0.13)])
    claims = [claim for claim in removed.bare_claims({"findings": findings}) if "12.4%" in claim.statement]
    assert [claim.outcome for claim in claims] == ["holds"]
    assert claims[0].effect.value == pytest.approx(0.13 - 0.124)
    assert claims[0].effect.baselines["paper"].value == 0.124


def bin_rows(model, means):
    starts = np.arange(10) / 10
    return pd.DataFrame(
        {
            "corpus": "c",
            "seed": 0,
            "model": model,
            "from": starts,
            "to": starts + 0.1,
            "instances": 20,
            "negatives": 0,
            "mean_delta_js": means,
            "standard_error": 0.01,
        }
    )


def test_an_earlier_upswing_is_a_higher_mean_at_equal_attention_gap():
    late, early = np.where(np.arange(10) >= 7, 0.3, 0.0), np.where(np.arange(10) >= 4, 0.3, 0.0)
    tables = {"bins": pd.concat([bin_rows("flan-rnn", late), bin_rows("flan-noenc", early)])}
    outcomes = {claim.effect.name: claim for claim in js_gap.context_claims(tables)}
    claim = outcomes["ΔJS at equal Δα, noenc − rnn"]
    assert claim.outcome == "holds"
    assert claim.effect.value == pytest.approx(0.3 * 2 / 5)  # two of the five bins from 0.1 to 0.6
    assert outcomes["ΔJS at equal Δα, conv − rnn"].outcome == "undecided"
    half = 1.96 * 0.01 * (2 * 5) ** 0.5 / 5  # ten bins' standard errors, over five bins
    assert claim.effect.interval.high - claim.effect.value == pytest.approx(half)
    swapped = {"bins": pd.concat([bin_rows("flan-rnn", early), bin_rows("flan-noenc", late)])}
    assert [claim.outcome for claim in js_gap.context_claims(swapped)][-1] == "does not hold"


def test_an_upswing_is_no_better_known_by_more_models_of_the_same_texts():
    means = np.arange(10) / 10
    pair = pd.concat([bin_rows("flan-rnn", means), bin_rows("flan-noenc", means)])
    nested = pair.assign(model=pair["model"].str.replace("flan", "han"))

    def half(*frames):
        claims = js_gap.context_claims({"bins": pd.concat(frames)})
        (found,) = [claim.effect for claim in claims if claim.effect.name.endswith("noenc − rnn")]
        return found.interval.high - found.value

    assert half(pair, nested) == pytest.approx(half(pair))
    assert half(pair, pair.assign(corpus="d")) == pytest.approx(half(pair) / 2**0.5)


def random_trace(seed=0, texts=23, items=7, width=5, classes=3):
    generator = torch.Generator().manual_seed(seed)
    head = nn.Linear(width, classes)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    mask = torch.arange(items) < torch.randint(1, items + 1, (texts, 1), generator=generator)
    scores = torch.randn(texts, items, generator=generator).masked_fill(~mask, -torch.inf)
    return Trace(scores.softmax(-1), torch.randn(texts, items, width, generator=generator), mask, head)


def test_the_mathematics_is_not_violated_by_random_traces():
    found = paths.check_trace(random_trace()).set_index("check")
    assert found["violations"].sum() == 0
    assert found.loc["smaller_flips", "cases"] == 23
    assert found.loc["differ", "cases"] == 23 * len(paths.CHECKED)


def test_a_set_that_is_not_smallest_is_found_out(monkeypatch):
    def all_items(trace):
        return paths.SmallSets(
            sizes=trace.item_counts,
            items=tuple(row.nonzero()[:, 0] for row in trace.present),
            to_class=torch.zeros(len(trace), dtype=torch.long),
            kind="exact",
        )

    monkeypatch.setattr(paths, "smallest_flips", all_items)
    found = paths.check_trace(random_trace()).set_index("check")["violations"]
    assert found["below_exact"] > 0
    assert found["smaller_flips"] > 0
    assert found["set_fails"] > 0


def test_every_table_and_figure_of_the_paper_is_there():
    names = {name.removeprefix("serrano-smith-") for name in PAPERS["serrano-smith"]}
    assert names == {"table2", "table3", "exact", "limits", *(f"fig{number}" for number in range(3, 14))}


def test_forms_that_have_nothing_to_show_are_left_out():
    rows = make_rows()
    assert set(form_tables(rows, corpus="c", model="m")) == {
        "flips",
        "js",
        "negatives",
        "fractions",
        "masses",
    }
    alone = rows[rows["items"] == 1]
    assert form_tables(alone, corpus="c", model="m") == {}


def topics(count=160):
    """Two or three sentences a text; one of three words tells the class."""
    words = ("ball", "vote", "chip")
    generator = np.random.default_rng(0)
    labels = generator.integers(3, size=count)
    texts = [
        f"It was {generator.choice(['a fine', 'one long', 'that dull'])} day. We saw the {words[label]} "
        f"again and then some more. Number {generator.integers(9)} is here."
        for label in labels
    ]
    splits = np.array(["train"] * (count - 60) + ["dev"] * 20 + ["test"] * 40)
    return Corpus("topics", texts, labels, splits, ("sport", "politics", "tech"))


def test_a_sample_has_so_many_texts_of_each_split_and_is_the_same_each_time():
    corpus = topics()
    drawn = sample_corpus(corpus, {"train": 31, "dev": 7, "test": 99})
    assert [len(drawn.split(name)) for name in ("train", "dev", "test")] == [31, 7, 40]
    assert drawn.fingerprint == sample_corpus(corpus, {"train": 31, "dev": 7, "test": 99}).fingerprint


def test_a_model_or_corpus_that_the_paper_has_not_is_refused(tmp_path):
    with pytest.raises(UserError, match="not dp"):
        cell_rows.cells(Bench(tmp_path, models=("dp",)))
    with pytest.raises(UserError, match="not sst"):
        cell_rows.cells(Bench(tmp_path, corpora=("sst",)))


@pytest.mark.slow
def test_experiments_share_their_trainings_and_end_in_tables_claims_and_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(cell_rows, "load_data", lambda name, data_dir=None: topics())
    own = {"epochs": 10, "rate": 0.05, "min_count": 1, "embedding": 13}  # enough to learn something
    monkeypatch.setattr(cell_rows, "QUICK_SETTINGS", own)
    bench = Bench(tmp_path, quick=True, corpora=("agnews",), models=("flan-noenc",), workers=1)
    (first,) = find_experiments("serrano-smith-fig6")
    done = reproduce(first, bench)
    assert set(done.tables["boxes"]["ranking"]) == {"random", "attention", "gradient", "product", "exact"}
    assert done.tables["boxes"]["instances"].max() <= 40
    (trained,) = (tmp_path / "runs").glob("*/weights.safetensors")
    before = trained.stat().st_mtime_ns
    for name in ("fig7", "fig13", "table3", "exact"):
        (experiment,) = find_experiments(f"serrano-smith-{name}")
        done = reproduce(experiment, bench)
        for path in experiment.draw(done):
            assert path.stat().st_size > 1000
    assert trained.stat().st_mtime_ns == before
    claims = {claim.effect.name: claim for claim in done.claims}  # of the exact smallest sets
    assert claims["violations (differ)"].outcome == "holds"
    assert claims["violations (differ)"].effect.count == 40 * len(paths.CHECKED)
    assert claims["violations (below_exact)"].outcome == "holds"
    assert json.loads((tmp_path / "serrano-smith-exact" / "experiment.json").read_text())["quick"] is True
