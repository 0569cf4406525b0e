"""What counts as a word, and whose words have vectors: Table 2 at small λ (Sun & Lu, 2020, §5).

Ours of `dp` at λ = 0.001 and 1 lie above the printed accuracies. Two things differ from the authors' code:

    marks       20 Newsgroups' cleaning leaves the last mark of a run of marks and spaces as a word
                ("don ' t", "( so"), which gives their average of 185 words
    vocabulary  theirs has the words of all splits, and those of dev and test alone keep the vectors they
                start with; ours has train's, and all others are one unknown word. Where λ is small one word
                has all weight, and one that was never seen says nothing

All four combinations are trained, with the same seeds.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pandas as pd

from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.drawing import COLOURS, new_figure
from heedful.papers.names import corpus_label
from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.accuracies import (
    NEAR,
    OURS,
    accuracy_from,
    draw_ours,
    draw_printed,
    printed_accuracies,
    with_ends,
)
from heedful.papers.sun_lu.effects import error_over_texts
from heedful.papers.sun_lu.measures import hits
from heedful.records import Claim
from heedful.study.experiment import Experiment, Tables
from heedful.study.grid import Study
from heedful.study.workbench import Bench, Measure
from heedful.training.settings import VOCABULARIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = "Sun & Lu (2020), §5, Table 2, and the authors' code"
MARKED = ("20news-1", "20news-2")  # corpora whose texts have marks
WORDS = ("plain", "marks")
SCALES = (0.001, 1.0, 10.0)
SETTING = ["corpus", "words", "vocabulary", "scale"]
PLAIN = ("plain", "train")  # what all other experiments have
BETWEEN = re.compile(r"[^\w]+")


def with_marks(corpus: Corpus) -> Corpus:
    """The corpus with the last mark of each run of marks and spaces spelt as a word: `_apostrophe_`."""

    def spelt(run: re.Match[str]) -> str:
        mark = run[0].strip()[-1:]
        return f" _{re.sub(r'[^a-z]+', '_', unicodedata.name(mark, 'mark').lower())}_ " if mark else " "

    return replace(corpus, texts=tuple(BETWEEN.sub(spelt, text) for text in corpus.texts))


def measure(bench: Bench) -> Tables:
    """`dp` on 20News I, and on others where they are asked for."""
    corpora = bench.chosen("corpora", trainings.CORPORA) if bench.corpora else MARKED[:1]
    bench.chosen("models", ("dp",))
    seeds = trainings.seeds(bench, quick=trainings.QUICK_SEEDS)
    frames = []
    for corpus in corpora:
        places = {"plain": corpus}
        if corpus in MARKED:
            marked = with_marks(load_data(corpus, data_dir=bench.data_dir))
            places["marks"] = bench.keep_corpus(f"marks/{corpus}", marked)
        for (words, place), vocabulary in product(places.items(), VOCABULARIES):
            study = Study(
                f"Sun & Lu, {corpus}, {words}, {vocabulary}",
                (place,),
                seeds=seeds,
                settings={"vocabulary": vocabulary}
                | ({"epochs": trainings.QUICK_EPOCHS[corpus]} if bench.quick else {}),
                grid={"scale": list(SCALES)},
                base=bench.folder,
            )
            found = bench.measured(study, Measure(hits))
            frames.append(found.assign(words=words, vocabulary=vocabulary))
    judged = pd.concat(frames, ignore_index=True)
    kept = [*SETTING, "seed", "epoch", "dev_accuracy", "test_accuracy", "texts"]
    runs, errors = judged[kept], errors_of(judged)
    return {"summary": summary(runs, errors), "runs": runs, "errors": errors}


def errors_of(judged: pd.DataFrame) -> pd.DataFrame:
    """Errors over texts: of each setting's accuracy (`than` empty), and of its lead over the plain one."""
    rows = []
    for (corpus, scale), own in judged.groupby(["corpus", "scale"], sort=False):
        settings = dict(list(own.groupby(["words", "vocabulary"], sort=False)))
        for (words, vocabulary), one in settings.items():
            about = {"corpus": corpus, "words": words, "vocabulary": vocabulary, "scale": scale}
            rows.append({**about, "than": None, "error": error_over_texts(one)})
            if (words, vocabulary) != PLAIN:
                rows.append({**about, "than": "plain", "error": error_over_texts(one, settings[PLAIN])})
    return pd.DataFrame(rows)


def summary(runs: pd.DataFrame, errors: pd.DataFrame) -> pd.DataFrame:
    """One row a setting, in %: our mean with its interval, the printed number, the difference."""
    lines = []
    for key, own in runs.groupby(SETTING, sort=False):
        about = dict(zip(SETTING, key, strict=True))
        found = with_ends(own, _error(errors, own.iloc[0], None))
        printed = _printed(str(about["corpus"]), float(str(about["scale"])))
        beside = {"printed": printed, "difference": found["accuracy"] - printed}
        lines.append({**about, **found, **beside, "seeds": own["seed"].nunique()})
    return pd.DataFrame(lines)


def _error(errors: pd.DataFrame, setting: pd.Series, than: str | None) -> float:
    same = (errors[SETTING] == setting[SETTING]).all(axis=1)
    return float(
        errors.loc[same & (errors["than"].isna() if than is None else errors["than"] == than), "error"].item()
    )


def _printed(corpus: str, scale: float) -> float:
    table = printed_accuracies().query("corpus == @corpus and model == 'dp' and scale == @scale")
    return float(table["printed"].item())


def claims(tables: Tables) -> Iterator[Claim]:
    """What each thing does at each small λ, and whether with both the printed number is had."""
    runs, errors = tables["runs"], tables["errors"]
    told = {
        ("plain", "all"): "Vectors of their own for words that train has not",
        ("marks", "train"): "Marks as words",
        ("marks", "all"): "Both, marks as words and vectors for words that train has not,",
    }
    for (corpus, scale), own in runs[runs["scale"] < SCALES[-1]].groupby(["corpus", "scale"], sort=False):
        settings = {key: one.sort_values("seed") for key, one in own.groupby(["words", "vocabulary"])}
        where = f"({corpus_label(str(corpus))}, dp, λ = {scale:g})"
        for key, what in told.items():
            if key not in settings:
                continue
            one, plain = settings[key], settings[PLAIN]
            lower = accuracy_from(
                f"accuracy, {key[0]} words, vocabulary of {key[1]} − plain, of train",
                one["test_accuracy"] - plain["test_accuracy"].to_numpy(),
                one,
                _error(errors, one.iloc[0], "plain"),
                f"{OURS}, the same seeds and texts on both sides.",
            )
            yield Claim.decided(
                f"{what} lower accuracy {where}", SOURCE, effect=lower, comparison="<", threshold=0
            )
            beside = accuracy_from(
                f"accuracy − printed, {key[0]} words, vocabulary of {key[1]}",
                one["test_accuracy"] - _printed(str(corpus), float(str(scale))) / 100,
                one,
                _error(errors, one.iloc[0], None),
                f"{OURS}; the printed one is taken as it stands.",
                alone=True,
            )
            statement = f"{what} give the printed accuracy, within {NEAR:g} points {where}"
            yield Claim.decided(statement, SOURCE, effect=beside, comparison="within", threshold=NEAR)


def draw(tables: Tables) -> "Figure":
    """Accuracy by λ, a line a setting, beside the printed one; a panel a corpus."""
    table = tables["summary"]
    corpora = list(table["corpus"].unique())
    figure = new_figure(max(4.8, 3.4 * len(corpora)), 3.2)
    for axis, corpus in zip(figure.subplots(1, len(corpora), squeeze=False)[0], corpora, strict=True):
        own = table[table["corpus"] == corpus]
        for place, ((words, vocabulary), rows) in enumerate(own.groupby(["words", "vocabulary"], sort=False)):
            at = [SCALES.index(scale) + 0.08 * (place - 1.5) for scale in rows["scale"]]
            label = f"{'marks are words' if words == 'marks' else 'no marks'}, vocabulary of {vocabulary}"
            draw_ours(axis, at, rows, colour=COLOURS[place], label=label)
        printed = own.drop_duplicates("scale")
        places = [SCALES.index(scale) for scale in printed["scale"]]
        draw_printed(axis, places, printed)
        axis.set_xticks(range(len(SCALES)), [f"{scale:g}" for scale in SCALES])
        axis.set_xlabel("λ")
        axis.set_ylabel("test accuracy, %")
        axis.set_title(corpus_label(corpus))
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=8)
    return figure


EXPERIMENT = Experiment(
    "sun-lu-words",
    "What counts as a word, and whose words have vectors: Table 2 at small λ",
    SOURCE,
    measure,
    claims,
    {"sun-lu-words": draw},
)
