"""What exactness adds: the measures on a small model, and the claims on tables made up."""

import numpy as np
import pandas as pd
import pytest
from drawn import drawn_to

from debated import CORPUS, bench_in, work_here, write_corpus
from heedful.errors import UserError
from heedful.papers import experiment
from heedful.papers.exactness import adversary, sets, trainings
from heedful.study.grid import Study
from heedful.study.workbench import Bench
from heedful.training import train


@pytest.fixture(scope="module")
def run():
    return train(CORPUS, model="dp", embedding=11, epochs=20, rate=0.3)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exact")
    path = str(write_corpus(folder))

    def small(bench, name, corpora):
        return Study(name, (path,), ("dp",), (0, 1), settings={"embedding": 11, "epochs": 12, "rate": 0.3})

    with pytest.MonkeyPatch.context() as patch:
        work_here(patch)
        patch.setattr(trainings, "study", small)
        bench = bench_in(folder)
        return {name: experiment(f"exactness-{name}").measure(bench) for name in ("sets", "adversary")}


def test_no_ranking_needs_fewer_words_than_the_smallest_set(run):
    rows = sets.sets_rows(run, CORPUS)
    assert (rows["items"] > 1).all()
    assert (rows["smallest"] > 0).all()
    for name in sets.tried(rows):
        assert (rows[name] >= rows["smallest"]).all()
        assert (rows[name] <= rows["items"]).all()
    assert rows["random"].mean() > rows["product"].mean()
    assert len(rows) + rows["never"].iloc[0] == len(CORPUS.split("test"))


def test_the_ascent_gets_no_farther_than_the_exact_adversary(run):
    rows = adversary.both_rows(run, CORPUS, limit=7)
    assert len(rows) == 7
    assert (rows["ascent"] <= rows["exact"] + adversary.ROUNDING).all()
    assert (rows["exact"] - rows["ascent"]).max() < np.log(2)


def test_both_experiments_leave_tables_claims_and_figures(tables, tmp_path):
    for name, found in tables.items():
        done = experiment(f"exactness-{name}")
        assert len(found["summary"]) == 1
        assert found["summary"]["seeds"].tolist() == [2]
        assert len(list(done.claims(found))) == {"sets": 3, "adversary": 2}[name]
        for stem in done.figures:
            png, _ = drawn_to(stem, found, tmp_path)
            assert png.stat().st_size > 5000
    assert set(tables["sets"]["findings"]["ranking"]) == set(sets.RANKINGS)
    assert "random" not in set(tables["sets"]["findings"].query("name == @sets.OPTIMAL")["ranking"])


def made(**columns):
    count = len(next(iter(columns.values())))
    about = {"corpus": "sst", "model": "dp", "seed": 0, "instance": np.arange(count), "never": 0}
    return pd.DataFrame({**about, "items": 20, **columns})


@pytest.mark.parametrize(
    ("attention", "outcomes"),
    [
        (4, ["holds", "holds", "holds"]),
        (2, ["does not hold", "holds", "holds"]),
        (9, ["holds"] * 2 + ["does not hold"]),
    ],
)
def test_claims_about_sets_follow_the_numbers(attention, outcomes):
    count = 40
    sizes = {"smallest": [2] * count, "random": [8] * count, "product": [2] * count}
    rows = made(**sizes, attention=[attention] * count)
    assert [claim.outcome for claim in sets.claims({"sets": rows})] == outcomes
    assert sets.gap(rows, "attention").value == attention / 2
    assert sets.optimal(rows, "attention").value == (attention == 2)


def test_claims_about_the_adversary_follow_the_numbers():
    exact = np.full(40, 0.6)
    short = made(exact=exact, ascent=exact - 0.2)
    assert [claim.outcome for claim in adversary.claims({"adversary": short})] == ["holds", "holds"]
    assert adversary.missed(short).value == 1
    farther = made(exact=exact, ascent=exact + 0.001)
    assert [claim.outcome for claim in adversary.claims({"adversary": farther})] == ["does not hold"] * 2
    assert adversary.missed(farther).value == 0
    alone = made(exact=[np.nan, 0.3], ascent=[np.nan, 0.3])
    assert adversary.shortfall(alone).count == 1
    assert adversary.missed(alone) is None


def test_the_user_chooses_among_the_papers_models(tmp_path):
    full = trainings.study(Bench(tmp_path), "all", trainings.TWO_CLASSES)
    assert (full.corpora, full.models, full.seeds) == (trainings.TWO_CLASSES, trainings.MODELS, (0, 1, 2))
    quick = trainings.study(Bench(tmp_path, quick=True), "all", trainings.TWO_CLASSES)
    assert (quick.corpora, quick.models, quick.seeds) == (("sst",), ("dp",), (0,))
    asked = Bench(tmp_path, models=("jain-wallace-cnn-dot",), corpora=("imdb",))
    assert trainings.study(asked, "one", trainings.TWO_CLASSES).models == ("jain-wallace-cnn-dot",)
    with pytest.raises(UserError, match="not agnews"):
        trainings.study(Bench(tmp_path, corpora=("agnews",)), "two", trainings.TWO_CLASSES)
