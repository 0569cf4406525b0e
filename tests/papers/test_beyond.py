"""Beyond Sun & Lu: what repeats over seeds, what people say, what similar words and context change."""

import gzip

import beyond_tables as made
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from heedful.data.synthetic import data_one
from heedful.errors import UserError
from heedful.models.embeddings import read_vectors
from heedful.papers import find_experiments
from heedful.papers.sun_lu import contextual, stability, vectors
from heedful.papers.sun_lu import human as people
from heedful.papers.sun_lu.effects import rank_correlation
from heedful.papers.sun_lu.measures import all_words, evened, hits, occurring_words, similar_words
from heedful.papers.sun_lu.repeats import (
    consistency,
    consistency_gain,
    repeated,
    sign_again,
    sign_by_chance,
    top_again,
)
from heedful.study.experiment import Reproduction, reproduce
from heedful.study.workbench import Bench
from heedful.training.from_corpus import train

NAMES = ("sun-lu-stability", "sun-lu-human", "sun-lu-vectors", "sun-lu-contextual")
# Four judges of six things (Shrout & Fleiss, 1979, Table 2), whose ICC(3,1) they print as 0.71.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)


def outcomes(claims):
    return {claim.statement: claim.outcome for claim in claims}


def outcome_of(claims, beginning):
    (found,) = {outcome for name, outcome in outcomes(claims).items() if name.startswith(beginning)}
    return found


@pytest.mark.parametrize("name", NAMES)
def test_each_experiment_is_found_by_its_name_and_has_its_figure(name):
    (experiment,) = find_experiments(name)
    assert list(experiment.figures) == [name]


def test_the_consistency_is_the_intraclass_correlation_that_was_printed():
    words = repeated(SHROUT_FLEISS, "score")
    assert consistency(words, "score", seeds=4).value == pytest.approx(0.71, abs=0.005)


def test_a_score_that_is_the_same_but_for_a_shift_repeats_perfectly():
    own = np.array([3.0, -1, 4, 1, -5, 9, 2])
    shifted = np.stack([own, own + 2, own - 7], axis=1)
    words = repeated(shifted, "score")
    assert consistency(words, "score", seeds=3).value == pytest.approx(1)
    assert set(words["score above"]) == {0, 3}


def test_mean_interval_and_top_of_a_word_are_those_of_its_runs():
    scores = np.random.default_rng(0).normal(size=(23, 5))
    words = repeated(scores, "score")
    centred = scores - scores.mean(0)
    low, high = stats.t.interval(0.95, 4, loc=centred[7].mean(), scale=stats.sem(centred[7]))
    assert words["score low"][7] == pytest.approx(low)
    assert words["score high"][7] == pytest.approx(high)
    assert words["score top"].sum() == 2 * 5  # a tenth of 23 words, in each run
    strong = repeated(np.stack([[-9.0, 1, 2, 3, 1, 1, 1, 1, 1, 0]] * 2, axis=1), "score", strong=True)
    assert strong["score top"].tolist() == [2, 0, 0, 0, 0, 0, 0, 0, 0, 0]


def test_being_at_the_top_again_is_counted_over_pairs_of_runs():
    words = pd.DataFrame({"score top": [3, 2, 1, 0]})
    # 3 runs: 6 ordered pairs stay of the first word's, 2 of the second's, 0 of the third's; 2 chances each.
    assert top_again(words, "score", seeds=3).value == pytest.approx((6 + 2) / (2 * (3 + 2 + 1)))


def test_being_on_the_same_side_again_is_counted_over_pairs_of_runs():
    words = pd.DataFrame({"score above": [3, 2, 0, 1]})
    # Of 3 pairs of runs each: 3, 1, 3 and 1 agree.
    assert sign_again(words, "score", seeds=3).value == pytest.approx(8 / 12)
    assert sign_by_chance(words, "score", seeds=3) == pytest.approx(0.5)


def test_polarity_that_repeats_better_than_attention_has_the_larger_consistency():
    words = stability.word_table(made.words(luck=1.0))
    gain = consistency_gain(words, "polarity", "attention", seeds=5)
    assert gain.interval.low > 0
    apart = [consistency(words, name, seeds=5).value for name in ("polarity", "attention")]
    assert gain.value == pytest.approx(apart[0] - apart[1])


@pytest.mark.parametrize(("luck", "outcome"), [(0.1, "holds"), (5.0, "does not hold")])
def test_attention_repeats_when_there_is_little_luck_and_not_when_there_is_much(luck, outcome):
    words = stability.word_table(made.words(luck=luck))
    claims = list(stability.claims({"words": words}))
    assert outcome_of(claims, "Attention of words that occur 20 times") == outcome
    assert outcome_of(claims, "A word among the tenth") == outcome
    assert outcome_of(claims, "Three of four pairs") == outcome
    assert outcome_of(claims, "Polarity of words that occur 20 times") == "holds"
    luckless = "does not hold" if outcome == "holds" else "holds"
    assert outcome_of(claims, "Attention of words that occur once") == luckless


def test_words_are_read_as_stable_or_unsure_and_summed_up_by_their_frequency():
    words = stability.word_table(made.words(luck=0.1))
    assert set(words["reading"]) == {"stable high", "stable low", "unsure"}
    assert (words.loc[words["reading"] == "stable high", "attention low"] > 0).all()
    assert words.loc[words["word"] == "w0", "band"].item() == "once"
    summary = stability.by_band(words)
    assert summary["occurrences"].unique().tolist() == [
        *("all", "once", "2 to 4", "5 to 19", "20 to 99", "100 or more")
    ]
    assert summary.loc[summary["occurrences"] == "all", "words"].tolist() == [made.WORDS] * 2
    assert summary["sign again by chance"][:2].to_numpy() == pytest.approx([0.5, 0.5], abs=0.05)  # of all


def test_one_seed_is_too_few_for_stability(tmp_path):
    with pytest.raises(UserError, match="seeds 2"):
        stability.measure(Bench(tmp_path, seeds=(0,)))


def test_the_correlation_is_spearmans_and_its_interval_holds_it():
    draw = np.random.default_rng(1)
    first = pd.Series(draw.integers(0, 5, 97))
    second = first + pd.Series(draw.normal(size=97))
    found = rank_correlation(first, second)
    assert found.value == pytest.approx(stats.spearmanr(first, second).statistic)
    assert found.interval.low < found.value < found.interval.high
    with pytest.raises(UserError, match="the same"):
        rank_correlation(first, second * 0)


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "extra" / "sst_word_labels.csv.gz"
    path.parent.mkdir()
    rows = ["Good,positive,3", "good,very positive,1", "bad,negative,2", "the,neutral,9"]
    path.write_bytes(gzip.compress("\n".join(["word,label,count", *rows]).encode()))
    return tmp_path


def test_human_polarity_is_the_mean_over_spellings_by_their_counts(labels):
    found = people.human_polarity(labels)
    assert found.to_dict() == {"bad": -1.0, "good": 1.25, "the": 0.0}


def test_without_the_labels_one_sentence_says_which_file_is_needed(tmp_path):
    with pytest.raises(UserError, match=r"sst_word_labels\.csv\.gz"):
        people.human_polarity(tmp_path)


@pytest.fixture
def judged():
    """Words whose human polarity is that of the model, and whose attention is its size."""
    found = made.words(luck=0.1, seeds=3)
    human = found.groupby("word")["polarity"].mean().round().rename("human")
    found["attention"] = found["polarity"].abs() + np.random.default_rng(2).normal(size=len(found))
    return people.with_human(pd.concat([found, found.assign(scale=100.0, attention=0.1)]), human)


def test_scores_are_compared_with_people_for_each_run(judged):
    noisy = judged.assign(attention=judged["attention"] + 1e-9 * np.arange(len(judged)))
    table = people.correlations(noisy)
    assert len(table) == 2 * 3 * 2 * 5  # λ, seeds, all or frequent words, comparisons
    own = noisy[(noisy["seed"] == 1) & (noisy["scale"] == 10)]
    row = table[(table["seed"] == 1) & (table["scale"] == 10) & (table["words"] == "all")]
    expected = stats.spearmanr(own["attention"], own["human"].abs()).statistic
    assert row.set_index("score")["correlation"]["attention"] == pytest.approx(expected)
    assert row["count"].unique() == [made.WORDS]
    claims = list(people.claims({"correlations": table}))
    assert outcome_of(claims, "Learnt polarity goes with human") == "holds"
    assert outcome_of(claims, "Attention goes with the strength") == "holds"
    assert outcome_of(claims, "The size of polarity finds") == "holds"
    assert outcome_of(claims, "Attention is nearer to people at λ = 10") == "holds"
    assert outcome_of(claims, "Attention finds the words") == "does not hold"
    assert set(people.summarise(table)["scale"]) == {10, 100}


def test_one_seed_has_an_interval_over_words_and_decides_no_difference(judged):
    own = judged[(judged["scale"] == 10) & (judged["seed"] == 0)]
    claims = list(people.claims({"correlations": people.correlations(own)}))
    assert outcome_of(claims, "Learnt polarity goes with human") == "holds"
    assert outcome_of(claims, "Learnt polarity is nearer") == "undecided"


def test_the_interval_of_a_correlation_ends_at_one(judged):
    table = people.correlations(judged[judged["scale"] == 10])
    of = table["score"] == "polarity"
    table.loc[of, "correlation"] = table.loc[of, "seed"].map({0: 0.99, 1: 0.6, 2: 0.9})
    claim = next(people.claims({"correlations": table}))
    assert claim.effect.interval.high == 1
    assert claim.effect.seeds == 3


def test_rare_words_stand_beside_the_mean_of_their_neighbours_and_of_anothers():
    words = pd.DataFrame(
        {
            "word": ["a", "b", "x", "y", "z"],
            "count": [2, 3, 20, 30, 40],
            "gamma": 0.0,
            "polarity": [1.0, -1.0, 2.0, 4.0, 6.0],
            "attention": [0.0, 1.0, 3.0, 5.0, 7.0],
        }
    )
    near = pd.DataFrame({"word": ["a", "a", "b", "b"], "neighbour": ["x", "y", "y", "z"]})
    found = vectors.beside_neighbours(words, near).set_index("word")
    assert found["polarity"].to_dict() == {"a": 1.0, "b": -1.0}
    assert found["polarity near"].to_dict() == {"a": 3.0, "b": 5.0}
    assert found["attention near"].to_dict() == {"a": 4.0, "b": 6.0}
    assert found["polarity other"].to_dict() == {"a": 5.0, "b": 3.0}


@pytest.mark.parametrize(("gain", "outcome"), [(0.3, "holds"), (-0.3, "does not hold")])
def test_similar_words_lift_each_other_where_pretrained_beats_scratch(gain, outcome):
    claims = list(vectors.claims(made.lifts(gain=gain)))
    assert outcome_of(claims, "Similar words lift each other's polarity") == outcome
    people = [name for name in outcomes(claims) if "nearer to people" in name]
    assert len(people) == 3  # SST alone has people's labels
    counts = {claim.effect.count for claim in claims if "accuracy" in claim.statement}
    assert counts == {307}


@pytest.fixture(scope="module")
def run():
    corpus = data_one(neutral=47, polar=11, per_class=40, held_out=11)
    return train(corpus, embedding=13, epochs=2), corpus


def test_every_word_has_scores_and_what_counting_says(run):
    trained, corpus = run
    found = all_words(trained, corpus)
    assert len(found) == len(trained.vocabulary) - 2
    assert found[["polarity", "attention", "gamma"]].notna().all().all()
    assert set(found.loc[found["gamma"].abs() == 1, "type"].dropna()) == {"positive", "negative"}
    local = occurring_words(trained, corpus)
    # Without an encoder a word has the same scores everywhere.
    assert local["polarity"].to_numpy() == pytest.approx(found["polarity"].to_numpy(), abs=1e-5)


def test_hits_are_what_the_accuracy_counts(run):
    trained, corpus = run
    (row,) = hits(trained, corpus).to_dict("records")
    assert row["texts"] == len(corpus.split("test"))
    assert np.mean(row["hits"]) == pytest.approx(row["test_accuracy"])


def test_neighbours_of_rare_words_are_frequent_words(run):
    pytest.importorskip("gensim", reason="the extra word2vec is not installed")
    trained, corpus = run
    counts = dict(zip(trained.vocabulary.words, trained.vocabulary.counts, strict=True))
    cut = sorted(counts.values())[len(counts) // 2]
    found = similar_words(trained, corpus, rare=(1, cut - 1), frequent=cut, neighbours=3, passes=1, seed=7)
    assert (found.groupby("word").size() == 3).all()
    assert all(counts[word] < cut for word in found["word"])
    assert all(counts[word] >= cut for word in found["neighbour"])
    assert not found.duplicated().any()


def test_evened_vectors_have_one_length_and_no_direction_in_common():
    draw = np.random.default_rng(4)
    vectors = (5 + draw.normal(size=(101, 13))) * np.arange(1, 102)[:, None]
    found = evened(vectors, np.arange(2, 101))
    assert np.linalg.norm(found[2:], axis=1) == pytest.approx(np.ones(99))
    assert np.linalg.norm(found[2:].mean(0)) < 0.15
    assert not found[:2].any()


def test_evened_vectors_are_written_as_long_as_the_papers_and_read_again(run, tmp_path):
    pytest.importorskip("gensim", reason="the extra word2vec is not installed")
    trained, corpus = run
    path = tmp_path / "evened.txt"
    vectors.write_evened(corpus, path)
    found = read_vectors(path, trained.vocabulary)
    assert found.coverage == 1
    lengths = found.table[2:].norm(dim=1)
    assert lengths.numpy() == pytest.approx(np.full(len(lengths), 0.1 * (100 / 3) ** 0.5), abs=1e-4)


def test_vectors_of_a_file_are_evened_and_words_that_it_has_not_are_left_out(run, tmp_path):
    trained, corpus = run
    words = trained.vocabulary.words[2:8]
    lines = [
        f"{word} {' '.join(str(1.0 + (row * column) % 7) for column in range(100))}"
        for row, word in enumerate(words)
    ]
    (tmp_path / "glove.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    vectors.write_evened(corpus, tmp_path / "evened.txt", tmp_path / "glove.txt")
    found = read_vectors(tmp_path / "evened.txt", trained.vocabulary)
    assert found.found.nonzero()[:, 0].tolist() == list(range(2, 8))
    assert found.table[2:8].norm(dim=1).numpy() == pytest.approx(np.full(6, 0.1 * (100 / 3) ** 0.5), abs=1e-4)


def test_the_starts_from_glove_are_there_where_its_vectors_are_and_missed_aloud(tmp_path, monkeypatch):
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    monkeypatch.setattr(
        vectors, "_evened_file", lambda bench, corpus, path, vectors=None: {"vectors_file": path}
    )
    said = []
    bench = Bench(tmp_path / "bench", data_dir=str(tmp_path / "data"), say=said.append)
    (tmp_path / "data").mkdir()
    assert "GloVe" not in vectors.starts(bench, "sst")
    assert "left out" in said[0]
    assert "vectors/glove.6B.100d.txt" in said[0]
    (tmp_path / "data" / "vectors").mkdir()
    (tmp_path / "data" / "vectors" / "glove.6B.100d.txt").write_text("a 1\n", encoding="utf-8")
    found = vectors.starts(bench, "sst")
    assert found["GloVe"] == {"embedding_source": "file", "vectors_file": "vectors/glove.6B.100d.txt"}
    assert found["GloVe, evened"] == {"vectors_file": "vectors/sst-glove-evened.txt"}
    assert (tmp_path / "bench" / "vectors" / "glove.6B.100d.txt").exists()
    assert len(said) == 1


def test_a_part_of_a_corpus_has_so_many_texts_of_each_class_and_split():
    corpus = data_one(neutral=47, polar=11, per_class=40, held_out=11)
    part = contextual.part_of(corpus, {"train": 7, "dev": 3, "test": 2})
    found = pd.crosstab(part.splits, part.labels)
    assert found.loc["train"].tolist() == [7, 7]
    assert found.loc["dev"].tolist() == [3, 3]
    assert found.loc["test"].tolist() == [2, 2]


@pytest.mark.parametrize(("error", "raised"), [(0.01, "holds"), (0.03, "undecided")])
def test_the_encoder_is_compared_with_no_encoder_on_the_same_seeds_and_texts(error, raised):
    plain = made.words(seeds=3)
    polar = (plain["type"] != "neutral").to_numpy()
    plain["attention"] = 3.0 * polar + np.random.default_rng(3).normal(size=len(plain))
    over = plain.assign(model=contextual.MINILM, attention=plain["attention"] - 2.0 * polar)
    found = pd.concat([over, plain]).assign(cell="", measure="", id=0)
    words = contextual.typed(found)
    runs = pd.DataFrame(
        [
            {
                "model": model,
                "seed": seed,
                "test_accuracy": accuracy + 0.001 * seed,
                "texts": 307,
                "error": error,
            }
            for model, accuracy in ((contextual.MINILM, 0.85), ("dp", 0.8))
            for seed in range(3)
        ]
    )
    runs.loc[0, "test_accuracy"] += 0.001
    claims = list(contextual.claims({"words": words, "runs": runs}))
    assert outcome_of(claims, "Attention to polar words stands out less") == "holds"
    assert outcome_of(claims, "A contextual encoder raises") == raised
    assert outcome_of(claims, "Positive words generally have larger attention") == "holds"
    summary = contextual.summarise(words, runs)
    assert len(summary) == 6
    tuned = words[words["model"] == contextual.MINILM].assign(model=contextual.TUNED)
    reached = runs[runs["model"] == contextual.MINILM].assign(model=contextual.TUNED)
    both = {"words": pd.concat([words, tuned]), "runs": pd.concat([runs, reached])}
    more = list(contextual.claims(both))
    assert len(more) == 2 * len(claims)
    assert outcome_of(more, "A fine-tuned contextual encoder raises") == raised
    assert outcome_of(more, "A contextual encoder raises") == raised


@pytest.mark.slow
@pytest.mark.corpora
def test_stability_is_measured_on_sst_and_read_again(tmp_path, data_dir):
    bench = Bench(tmp_path, quick=True, seeds=(0, 1), workers=1, data_dir=str(data_dir))
    (experiment,) = find_experiments("sun-lu-stability")
    done = reproduce(experiment, bench)
    words = Reproduction.load(tmp_path / "sun-lu-stability").tables["words"]
    assert len(words) == len(done.tables["words"]) > 10_000
    assert words["seeds"].unique() == [2]
    assert len(done.claims) == 6
