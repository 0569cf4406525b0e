"""Sun & Lu's experiments: the paper's numbers, effects with intervals, claims that come out either way."""

import itertools

import numpy as np
import pandas as pd
import pytest
import sun_lu_tables as made

from heedful.errors import UserError
from heedful.papers import PAPERS, experiment, find_experiments
from heedful.papers.sun_lu import (
    accuracies,
    inequalities,
    large_scale,
    recurrent,
    strengths,
    synthetic,
    terms,
    trainings,
    variants,
    weights,
    word_scores,
)
from heedful.papers.sun_lu.accuracies import printed_accuracies
from heedful.papers.sun_lu.effects import (
    above,
    accuracy_effect,
    effect,
    effect_of_runs,
    error_over_texts,
    gap,
    share,
)
from heedful.papers.sun_lu.words import attention_claims, polarity_claims
from heedful.records import Finding, Interval
from heedful.study.grid import Cell
from heedful.study.workbench import Bench

PAPER = ["table1", "table2", "fig2", "fig3", "fig4", "fig5", "s-table1", *(f"s-fig{n}" for n in range(1, 29))]


def outcomes(claims):
    return {claim.statement: claim.outcome for claim in claims}


def test_every_table_and_figure_of_the_paper_is_an_experiment_with_a_figure():
    assert {f"sun-lu-{name}" for name in PAPER} <= set(PAPERS["sun-lu"])
    assert [one.name for one in find_experiments("sun-lu")] == list(PAPERS["sun-lu"])
    assert all(list(one.figures) == [one.name] for one in find_experiments("sun-lu"))


def test_table_two_is_as_printed():
    table = printed_accuracies()
    assert len(table) == 4 * 4 * 7
    rows = table.set_index(["corpus", "model", "scale"])["printed"].sort_index()
    assert rows["sst", "dp", 10] == 82.2
    assert rows["imdb", "dp-a", 0.001] == 73.3
    assert rows["20news-1", "ad", 100] == 93.3
    assert rows["20news-2", "dp-l", 10000] == 93.8
    assert rows["sst", "dp"].sum() == pytest.approx(534.9)


def test_above_counts_pairs_and_halves_ties():
    frame = pd.DataFrame({"type": list("aaabbbbb"), "x": [1.0, 3.0, 5.0, 0.0, 1.0, 3.0, 4.0, 9.0], "seed": 0})
    first, second = frame.loc[frame["type"] == "a", "x"], frame.loc[frame["type"] == "b", "x"]
    pairs = [(x > y) + 0.5 * (x == y) for x, y in itertools.product(first, second)]
    found = above("x", ["a"], ["b"])(frame)
    assert found.value == pytest.approx(np.mean(pairs))
    assert 0 <= found.interval.low < found.value < found.interval.high <= 1


def test_the_interval_of_above_covers_what_it_says():
    draw = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        x, y = draw.normal(0.5, 1, 61), draw.normal(0, 1, 97)
        frame = pd.DataFrame({"type": ["a"] * 61 + ["b"] * 97, "x": np.concatenate([x, y])})
        span = above("x", ["a"], ["b"])(frame).interval
        covered.append(span.low < 0.63816 < span.high)  # Φ(0.5/√2)
    assert 0.92 < np.mean(covered) < 0.98


def test_a_gap_is_in_standard_deviations_and_a_share_counts_values_above_zero():
    frame = pd.DataFrame({"type": ["a"] * 3 + ["b"] * 3, "x": [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]})
    assert gap("x", "a", "b")(frame).value == pytest.approx(3)
    frame["x"] -= 2
    assert share("x", ["a", "b"])(frame).value == pytest.approx(4 / 6)


def test_several_seeds_give_an_interval_over_seeds_and_one_seed_one_over_words():
    statistic = above("attention", ["positive"], ["neutral"])
    many = effect("x", made.words(seeds=3), statistic, measured="So.")
    assert many.seeds == 3
    assert "3 seeds" in many.interval.method
    assert many.coordinates == {"corpus": "sst", "model": "dp", "scale": 10.0}
    one = effect("x", made.words(seeds=1), statistic, measured="So.")
    assert one.seeds == 1
    assert "words" in one.interval.method


def test_an_interval_of_a_share_over_seeds_stays_between_0_and_1():
    apart = [made.words(seeds=1, lift=(lift, 0.0)).assign(seed=n) for n, lift in enumerate((9.0, 2.0))]
    found = effect("x", pd.concat(apart), above("attention", ["positive"], ["neutral"]), measured="So.")
    assert found.interval.high == 1
    assert 0 <= found.interval.low < found.value


def test_the_pattern_holds_where_it_is_and_does_not_where_it_is_turned_round():
    good = made.words(seeds=3)
    assert set(outcomes(polarity_claims(good, "")).values()) == {"holds"}
    assert set(outcomes(attention_claims(good, "")).values()) == {"holds"}
    turned = good.assign(own=-good["own"], strength=-good["strength"], attention=-good["attention"])
    assert set(outcomes(polarity_claims(turned, "")).values()) == {"does not hold"}
    assert set(outcomes(attention_claims(turned, "")).values()) == {"does not hold"}


def test_classes_have_claims_of_their_own():
    words = made.class_words(seeds=3).drop(columns="polarity sci.med")
    found = outcomes(word_scores.claims({"words": words}, source=""))
    assert sum("Words of sci.med generally" in statement for statement in found) == 1
    assert sum("polarity for rec.motorcycles" in statement for statement in found) == 1
    assert set(found.values()) == {"holds"}


def test_taking_sides_is_judged_by_the_sign_of_vtw():
    apart = made.words(seeds=3, scale=100.0, lift=(2.0, -2.0), alignment=0.7)
    assert set(outcomes(large_scale.side_claims(apart, "")).values()) == {"holds"}
    assert "does not hold" in outcomes(large_scale.side_claims(apart.assign(alignment=-0.7), "")).values()


def test_large_scales_are_compared_with_the_words_at_ten():
    small = made.words(seeds=3, scale=100.0, lift=(2.0, -2.0))
    small["attention"] /= 10
    tables = {"words": small, "beside": made.words(seeds=3)}
    found = outcomes(large_scale.claims(tables, source=""))
    assert (
        found["Attention scores at λ = 100 are much smaller than at λ = 10: less than half (SST, dp)"]
        == "holds"
    )
    tables["beside"] = small
    again = outcomes(large_scale.claims(tables, source=""))
    assert "does not hold" in again.values()


def test_accuracies_stand_beside_the_printed_ones_with_their_claims():
    tables = made.accuracies()
    row = tables["summary"].query("corpus == 'sst' and model == 'dp' and scale == 10").iloc[0]
    assert row["accuracy"] == pytest.approx(82.2)
    assert row["low"] < row["accuracy"] < row["high"]
    assert row["difference"] == pytest.approx(0, abs=1e-9)
    found = outcomes(accuracies.claims(tables))
    assert len(found) == 2 * 2 * 4  # for each corpus and model: two small scales, a very large one, the print
    # The printed numbers themselves: of the LSTM, λ = 1 is not worse than λ = 10 on IMDB.
    # λ = 0.001 is, but by so little that the texts cannot tell.
    assert {statement: outcome for statement, outcome in found.items() if outcome != "holds"} == {
        "λ = 0.001 makes accuracy worse than λ = 10 (IMDB, dp-l)": "undecided",
        "λ = 1 makes accuracy worse than λ = 10 (IMDB, dp-l)": "does not hold",
    }
    small = 0.5 + 0.1 * (tables["runs"]["scale"] < 10)
    found = outcomes(accuracies.claims({**tables, "runs": tables["runs"].assign(test_accuracy=small)}))
    unlike = [statement for statement, outcome in found.items() if outcome == "does not hold"]
    assert len(unlike) == 2 * 2 * 3
    assert not any("very large" in statement for statement in unlike)


def test_accuracies_are_uncertain_over_texts_too():
    tables = made.accuracies(error=0.02)
    row = tables["summary"].query("corpus == 'sst' and model == 'dp' and scale == 10").iloc[0]
    assert row["high"] - row["accuracy"] > 1.96 * 2
    claims = list(accuracies.claims(tables))
    assert {claim.effect.count for claim in claims} == {1821}
    assert {claim.outcome for claim in claims if "λ ≥ 10" in claim.statement} == {"undecided"}
    one = accuracies.claims({**tables, "runs": tables["runs"].query("seed == 0")})
    assert {claim.outcome for claim in one} == {"undecided"}


def test_one_scale_that_is_off_is_not_hidden_by_the_others():
    tables = made.accuracies()
    runs = tables["runs"]
    off = runs["test_accuracy"] + np.where(runs["scale"] == 10000, 0.027, 0.0)
    found = list(accuracies.claims({**tables, "runs": runs.assign(test_accuracy=off)}))
    printed = [claim for claim in found if "every λ ≥ 10" in claim.statement]
    assert {claim.outcome for claim in printed} == {"does not hold"}
    assert all("λ 10000" in claim.effect.name for claim in printed)


def beside_printed(low, value, high):
    ends = Interval(low, high, level=0.95, method="m")
    return Finding("accuracy − printed", value, interval=ends, count=1821, measured="So.", unit="points")


def test_of_every_scale_the_worst_end_counts_also_where_the_mean_is_nearer():
    found = accuracies.farthest({10.0: beside_printed(1.4, 1.5, 1.6), 20.0: beside_printed(-2.5, -0.5, 1.5)})
    assert (found.value, found.interval.low, found.interval.high) == (1.5, 1.4, 2.5)
    assert found.name.endswith("λ 10")
    found = accuracies.farthest(
        {10.0: beside_printed(-2.9, -2.5, -2.1), 20.0: beside_printed(-0.1, 0.0, 0.1)}
    )
    assert (found.value, found.interval.low, found.interval.high) == (2.5, 2.1, 2.9)


def test_the_error_over_texts_is_that_of_the_mean_over_seeds_and_of_pairs():
    first = pd.DataFrame({"hits": [[True, True, False, True], [True, False, False, True]]})
    assert error_over_texts(first) == pytest.approx(np.std([1, 0.5, 0, 1], ddof=1) / 2)
    assert error_over_texts(first, first) == 0  # the same texts are hard on both sides
    second = pd.DataFrame({"hits": [[False, True, True, True]]})
    assert error_over_texts(first, second) == pytest.approx(np.std([1, -0.5, -1, 0], ddof=1) / 2)


def test_an_accuracy_is_in_points_and_crosses_seeds_with_texts():
    found = accuracy_effect("x", [0.80, 0.82], measured="So.", texts=400, error=0.02)
    seeds = 12.706 * 0.01  # Student's t with one degree of freedom, times the standard error
    assert found.value == pytest.approx(81)
    half = 100 * np.hypot(seeds, 1.96 * 0.02)
    assert found.interval.high - found.value == pytest.approx(half, rel=1e-3)
    assert "400 texts" in found.interval.method
    assert not accuracy_effect("x", [0.8], measured="So.", texts=400, error=0.02).interval.bounded


def test_the_interval_of_a_share_of_pairs_ends_at_1():
    span = effect_of_runs("x", [0.9, 1.0], measured="So.", count=47, within=(0, 1)).interval
    assert (span.low, span.high) == (pytest.approx(0.95 - 12.706 * 0.05, abs=1e-3), 1)
    assert not effect_of_runs("x", [0.9], measured="So.", count=47, within=(0, 1)).interval.bounded


def test_weights_follow_scores_and_outliers_stand_in_short_texts():
    tables = {"words": made.weights(seeds=3), "text": made.text(seeds=3)}
    assert set(outcomes(weights.claims(tables)).values()) == {"holds"}
    words = tables["words"]
    other = {
        "words": words.assign(**{"text length": -words["text length"]}),
        "text": made.text(seeds=3, first="is"),
    }
    found = [claim.outcome for claim in weights.claims(other)]
    assert found == ["holds", "holds", "holds", "does not hold", "holds", "does not hold"]


def test_one_seed_gets_its_intervals_over_words():
    tables = {"words": made.weights(seeds=1), "text": made.text(seeds=1)}
    found = list(weights.claims(tables))
    assert "bootstrap" in found[3].effect.interval.method
    assert [claim.outcome for claim in found] == ["holds"] * 4 + ["undecided"] * 2


def test_a_penalty_is_judged_against_the_same_seeds_without_it():
    words = made.penalties()
    rows = [
        variants.per_run(penalty, seed, run) for (penalty, seed), run in words.groupby(["penalty", "seed"])
    ]
    runs = pd.DataFrame(rows).assign(test_accuracy=0.8, texts=1821, error=0.001)
    found = outcomes(variants.claim_penalty({"words": words, "runs": runs}))
    assert len(found) == 12
    assert sum("penalty 0.0001" in statement for statement in found) == 6
    assert (
        found[
            "The penalty brings no significant accuracy: less than 1 point (SST, dp, λ = 100, penalty 0.01)"
        ]
        == "holds"
    )
    assert sorted(found.values()) == ["holds"] * 9 + ["undecided"] * 3
    gained = runs.assign(test_accuracy=0.8 + 0.03 * (runs["penalty"] == 0.01))
    again = outcomes(variants.claim_penalty({"words": words, "runs": gained}))
    changed = [statement for statement in found if found[statement] != again[statement]]
    assert changed == [
        "The penalty brings no significant accuracy: less than 1 point (SST, dp, λ = 100, penalty 0.01)"
    ]


@pytest.mark.parametrize(
    ("judge", "panels", "ends"),
    [
        (synthetic.sizes, ["Data I"], made.OMEGAS),
        (synthetic.polarity_claims, ["Data I", "Data II"], made.SCORES),
        (synthetic.attention_claims, ["Data I", "Data II"], made.SCORES),
        (synthetic.pairs, ["Data II"], made.ONE_PAIR),
        (synthetic.affine, ["affine"], made.OMEGAS | made.STATES),
        (synthetic.both, ["additive"], made.SCORES),
        (synthetic.groups, ["three"], made.CLASS_OMEGAS),
        (synthetic.rising, ["three"], made.CLASS_ATTENTION),
    ],
)
def test_claims_about_a_course_hold_where_it_goes_so_and_not_where_it_goes_the_other_way(judge, panels, ends):
    course = made.moments(panels, ends)
    held = [claim.outcome for claim in judge(course, "")]
    assert set(held) == {"holds"}
    turned = [claim.outcome for claim in judge(course.assign(mean=-course["mean"]), "")]
    assert "does not hold" in turned


def test_a_small_start_is_quicker_only_if_it_is():
    quick = made.moments(["small"], made.OMEGAS)
    slow = made.moments(["large"], made.OMEGAS)
    slow.loc[slow["step"] == 50, "mean"] *= 0.1
    quick.loc[quick["step"] == 50, "mean"] *= 1.8
    last = "A smaller start brings the dot-products apart more quickly"
    assert outcomes(synthetic.trends(pd.concat([quick, slow]), ""))[last] == "holds"
    assert outcomes(synthetic.trends(pd.concat([slow, quick]), ""))[last] == "does not hold"


def test_a_penalty_on_synthetic_data_must_close_the_gap_to_a_quarter():
    free, held = synthetic.PENALISED
    closed = made.SCORES | {("attention", "negative"): 0.99}
    course = made.moments([free, held], {free: made.SCORES, held: closed})
    assert set(outcomes(synthetic.penalty_closes(course, "")).values()) == {"holds"}
    course = made.moments([free, held], made.SCORES)
    assert list(outcomes(synthetic.penalty_closes(course, "")).values()) == ["holds", "does not hold"]


@pytest.mark.parametrize(
    ("ends", "found"),
    [
        ((-2.0, -1.0, 0.1, 1.0, 2.0), ["holds", "holds"]),
        ((2.0, 1.0, 0.1, -1.0, -2.0), ["does not hold", "holds"]),  # against the ratio
        ((-0.2, -0.1, 3.0, 0.1, 0.2), ["holds", "does not hold"]),  # largest on balanced data
    ],
)
def test_skew_makes_vtw_large_only_if_it_does(ends, found):
    assert list(outcomes(synthetic.skewed(made.skew(ends), "")).values()) == found


def test_signs_of_the_terms_are_read_from_leans():
    by_scale = {
        "λ = 1": made.TERMS | {("A", "positive"): 3.0, ("A", "negative"): -3.0},
        "λ = 10": made.TERMS,
        "λ = 100": made.TERMS | {("D", "positive"): 9.0, ("D", "negative"): -9.0},
    }
    course = made.moments(list(by_scale), by_scale)
    found = outcomes(terms.claims({"moments": course}))
    assert len(found) == 12 + 6 + 4
    assert set(found.values()) == {"holds"}
    assert terms.lean(course[course["panel"] == "λ = 10"], "B", "negative").max() < -0.9


def test_local_and_global_scores_are_judged_for_each_strength_of_l2():
    apart = {("local", 0.01): -2.0, ("global", 0.01): -2.0, ("local", 0.0001): 1.0, ("global", 0.0001): 4.0}
    words = pd.concat(
        [
            made.words(seeds=7, model="dp-l", lift=(lift, lift), kind=kind, l2=strength)
            for (kind, strength), lift in apart.items()
        ]
    )
    found = list(recurrent.claims({"words": words}))
    assert [claim.outcome for claim in found[:2]] == ["does not hold"] * 2
    assert [claim.outcome for claim in found[3:6]] == ["holds"] * 3
    assert [claim.outcome for claim in found[6:]] == ["does not hold"] * 2  # the strength does decide
    assert found[7].statement == (
        "How the global attention of polar and neutral words compares does not depend on the strength of L2 "
        "(SST, dp-l, λ = 10, L2 0.0001 and L2 0.01)"
    )


@pytest.mark.parametrize(("lift", "outcome"), [(2.0, "holds"), (0.0, "does not hold")])
def test_words_are_judged_for_each_strength_of_l2_and_then_whether_it_decides(lift, outcome):
    shown = {"seeds": 5, "model": "dp-a", "corpus": "20news-1"}
    lifts = {0.001: lift, 0.0001: 1.0, 0.0: 2.0}
    words = pd.concat([made.words(lift=(up, up), l2=l2, **shown) for l2, up in lifts.items()])
    found = list(word_scores.claims({"words": words}, source="here"))
    by_strength, across = found[:12], found[12:]
    assert [claim.effect.coordinates["l2"] for claim in by_strength] == [0.001] * 4 + [0.0001] * 4 + [0.0] * 4
    assert "(20News I, dp-a, λ = 10, no L2)" in by_strength[-1].statement
    assert [claim.outcome for claim in across] == ["holds", outcome]  # of polarity, of attention
    attention = word_scores.claims({"words": words.drop(columns=["own", "strength"])}, source="")
    assert [claim.statement for claim in attention][-1] == across[1].statement


def test_a_table_of_one_strength_says_nothing_of_others():
    words = made.words(seeds=5, model="dp-a", l2=0.001)
    assert len(list(word_scores.claims({"words": words}, source=""))) == 4


@pytest.mark.parametrize("row", [row for row in word_scores.SUPPLEMENT if row[5]], ids=lambda row: row[0])
def test_the_first_strength_of_l2_is_the_presets_so_its_trainings_are_found_again(row):
    _, corpus, model, scale, _, l2 = row
    part, own = strengths.LIES_ON[model], {"scale": float(scale), "seed": 0}
    keys = [Cell(corpus, model, {**own, part: strength}).key for strength in l2]
    assert keys[0] == Cell(corpus, model, own).key
    assert len(set(keys)) == len(keys) > 1
    assert list(l2) == sorted(l2, reverse=True)


@pytest.mark.parametrize(("quick", "found"), [(True, [0.001]), (False, [0.001, 0.0001, 0.0])])
def test_a_quick_look_takes_the_first_strength_alone(tmp_path, monkeypatch, quick, found):
    def trained(bench, corpus, measure, **more):
        assert more["models"] == ("dp-a",)
        return made.words(model="dp-a", l2_encoder=more["l2_encoder"])

    monkeypatch.setattr(trainings, "on_corpus", trained)
    bench = Bench(tmp_path, quick=quick)
    words = strengths.at_strengths(bench, "20news-1", word_scores.SCORES, strengths.AFFINE, model="dp-a")
    assert list(words["l2"].unique()) == found
    assert "l2_encoder" not in words


def test_inequalities_hold_if_they_do_for_most_pairs():
    found = outcomes(inequalities.claims({"shares": made.shares()}))
    assert list(found.values()) == ["holds", "does not hold"] * 2
    assert sum("(SST, dp, λ = 10)" in statement for statement in found) == 2


def test_a_corpus_that_an_experiment_is_not_about_is_refused(tmp_path):
    with pytest.raises(UserError, match="sst"):
        experiment("sun-lu-fig4").measure(Bench(tmp_path, corpora=("imdb",)))


def test_the_lstm_on_imdb_has_as_many_steps_as_on_sst(monkeypatch, tmp_path):
    asked = {}

    def on_corpus(bench, corpus, *measures, models, scales, seeds, **settings):
        asked[corpus, *models] = settings
        rows = [
            {"corpus": corpus, "model": models[0], "scale": scale, "seed": seed, "epoch": 2, "epochs": 3}
            | {"dev_accuracy": 0.7, "test_accuracy": 0.75, "texts": 4, "seconds": 1.0, "hits": [1, 0, 1, 1]}
            for scale in scales
            for seed in seeds
        ]
        return pd.DataFrame(rows)

    monkeypatch.setattr(accuracies.trainings, "on_corpus", on_corpus)
    tables = accuracies.measure(Bench(tmp_path))
    assert asked.pop(("imdb", "dp-l")) == {"epochs": 15}
    assert len(asked) == 15
    assert not any(asked.values())
    assert len(tables["runs"]) == 4 * 4 * 7 * 5
    accuracies.measure(Bench(tmp_path, quick=True, corpora=("imdb",), models=("dp-l",)))
    assert asked["imdb", "dp-l"] == {}  # quick has fewer already
