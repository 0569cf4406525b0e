"""Made-up tables of Sun & Lu's experiments, with the columns that the real ones have."""

import numpy as np
import pandas as pd

from heedful.papers.sun_lu.trainings import CORPORA, MODELS, SCALES
from heedful.papers.sun_lu.weights import outliers

SIZES = {"positive": 23, "negative": 19, "neutral": 61}
CLASSES = {"rec.motorcycles": 11, "sci.med": 13, "talk.politics.guns": 17, "neutral": 61}


def words(*, corpus="sst", model="dp", scale=10.0, seeds=2, alignment=1.0, lift=(2.0, 2.0), seed=0, **more):
    """Words whose polarity has their class's sign; polar words' attention lies `lift` above neutral ones'."""
    draw = np.random.default_rng(seed)
    frames = []
    for number in range(seeds):
        for (kind, size), sign, up in zip(SIZES.items(), (1, -1, 0), (*lift, 0.0), strict=True):
            polarity = 3.0 * sign + 0.5 * draw.standard_normal(size)
            frames.append(
                pd.DataFrame(
                    {
                        "seed": number,
                        "word": [f"{kind}{place}" for place in range(size)],
                        "type": kind,
                        "count": 7,
                        "polarity": polarity,
                        "attention": up + draw.standard_normal(size),
                        "own": sign * polarity if sign else np.nan,
                        "strength": np.abs(polarity),
                    }
                )
            )
    frame = pd.concat(frames, ignore_index=True)
    return frame.assign(corpus=corpus, model=model, scale=scale, alignment=alignment, **more)


def class_words(*, seeds=2):
    """The same of three classes, with a polarity for each."""
    draw = np.random.default_rng(3)
    frames = []
    for number in range(seeds):
        for kind, size in CLASSES.items():
            frame = pd.DataFrame(
                {"seed": number, "word": [f"{kind}{place}" for place in range(size)], "type": kind}
            )
            for name in list(CLASSES)[:3]:
                frame[f"polarity {name}"] = 2.0 * (name == kind) + draw.standard_normal(size)
            frame["attention"] = 2.0 * (kind != "neutral") + draw.standard_normal(size)
            frames.append(frame)
    return pd.concat(frames, ignore_index=True).assign(corpus="20news-2", model="dp-a", scale=10.0)


def weights(*, seeds=2):
    """Words of a test split; a few neutral ones have large weights in short texts."""
    draw = np.random.default_rng(5)
    frame = words(seeds=seeds, lift=(2.0, 4.0))
    short = (frame["type"] == "neutral") & frame["word"].str.endswith(("3", "7"))
    frame["weight"] = 0.05 + 0.01 * frame["attention"] + np.where(short, 0.4, 0.0)
    frame["text length"] = np.where(short, 4.0, 20.0) + draw.uniform(-1, 1, len(frame))
    return frame.assign(outlier=outliers(frame))


def text(*, seeds=2, first="progress"):
    """The weights of the paper's short text."""
    rows = [
        {
            "seed": seed,
            "word": word,
            "weight": 0.5 + 0.01 * seed if word == first else 0.25,
            "attention": -0.1 if word == first else -0.8 - 0.01 * seed,
        }
        for seed in range(seeds)
        for word in ("is", "this", "progress")
    ]
    return pd.DataFrame(rows)


def moments(panels, ends, *, seeds=3, steps=(0, 50, 100)):
    """A course that runs straight from 0 to an end: ends by (quantity, group), or by panel and that."""
    rows = []
    for panel in panels:
        own = ends.get(panel, ends)
        for seed in range(seeds):
            for step in steps:
                for (quantity, group), end in own.items():
                    mean = end * (1 + 0.01 * seed) * step / steps[-1]
                    rows.append(
                        {
                            "panel": panel,
                            "corpus": "data-1",
                            "model": "dp",
                            "scale": 10.0,
                            "seed": seed,
                            "epoch": step,
                            "step": step,
                            "quantity": quantity,
                            "group": group,
                            "mean": mean,
                            "size": abs(mean) + 0.01,
                            "low": mean - 0.1,
                            "middle": mean,
                            "high": mean + 0.1,
                            "count": 41,
                            "words": "a, b",
                        }
                    )
    return pd.DataFrame(rows)


SCORES = {
    ("polarity", "positive"): 2.0,
    ("polarity", "negative"): -2.0,
    ("polarity", "neutral"): 0.02,
    ("attention", "positive"): 1.0,
    ("attention", "negative"): 0.8,
    ("attention", "neutral"): -0.1,
    ("alignment", ""): 0.5,
}
OMEGAS = {
    ("omega", "positive-positive"): 1.2,
    ("omega", "negative-negative"): 1.1,
    ("omega", "negative-positive"): -0.9,
    ("omega", "positive-neutral"): 0.02,
    ("omega", "negative-neutral"): -0.02,
    ("omega", "neutral-neutral"): 0.01,
}
STATES = {("states", group): end for (_, group), end in OMEGAS.items()}
ONE_PAIR = {("omega of one pair", group): end for (_, group), end in OMEGAS.items()}
CLASS_OMEGAS = {
    ("omega", f"{first}-{second}"): 1.0 if first == second else -0.4
    for first, second in ("00", "11", "22", "01", "02", "12")
}
CLASS_ATTENTION = {("attention", kind): 1.0 for kind in "012"} | {("attention", "neutral"): -0.2}
TERMS = {
    (letter, kind): sign * size
    for letter, size, up, down in (
        ("A", 0.01, 1, -1),
        ("B", 1.0, 1, -1),
        ("C", 1.0, 1, -1),
        ("D", 0.5, 1, -1),
        ("E", 1.0, 1, 1),
        ("F", 1.0, 1, 1),
        ("pi", 1.0, 1, -1),
        ("rho", 1.0, 1, 1),
    )
    for kind, sign in (("positive", up), ("negative", down), ("neutral", 0))
} | {("alignment", ""): 0.5}


def accuracies(*, seeds=3, error=0.001):
    """Runs that reach about what is printed, of two corpora and models."""
    from heedful.papers.sun_lu.accuracies import COMPARED, compared, printed_accuracies

    table = printed_accuracies()
    table = table[table["corpus"].isin(CORPORA[:2]) & table["model"].isin(MODELS[:2])]
    runs = pd.concat(
        [
            table.assign(seed=seed, test_accuracy=table["printed"] / 100 + 0.002 * (seed - 1), texts=1821)
            for seed in range(seeds)
        ]
    )
    assert set(runs["scale"]) == set(SCALES)
    cells = table[["corpus", "model", "scale"]]
    pairs = pd.DataFrame(COMPARED, columns=["scale", "than"])
    errors = pd.concat([cells.assign(than=np.nan), cells.merge(pairs, on="scale")], ignore_index=True)
    errors["error"] = error
    return {"summary": compared(runs, errors), "runs": runs, "errors": errors}


def skew(ends=(-2.0, -1.0, 0.1, 1.0, 2.0), *, seeds=3):
    """VᵀW at five ratios: |VᵀW| grows with the skew."""
    frames = [
        moments([f"{ratio:g}"], {("alignment", ""): end}, seeds=seeds).assign(ratio=ratio)
        for ratio, end in zip((0.25, 0.5, 1.0, 2.0, 4.0), ends, strict=True)
    ]
    return pd.concat(frames, ignore_index=True)


def penalties():
    """Words at three strengths: the gap closes."""
    parts = [
        words(scale=100.0, lift=lift, penalty=penalty, seed=9)
        for penalty, lift in ((0.0, (2.0, -2.0)), (0.0001, (1.0, 0.8)), (0.01, (1.0, 0.9)))
    ]
    return pd.concat(parts, ignore_index=True)


def shares():
    """Two inequalities of B.2: one holds for most pairs, one for few."""
    rows = [
        {
            "corpus": corpus,
            "equation": equation,
            "statement": statement,
            "pair": pair,
            "seed": seed,
            "share": share + 0.01 * seed,
        }
        for corpus in ("data-symmetric", "sst")
        for seed in range(3)
        for equation, statement, pair, share in (
            ("50", "dΩ/dτ > B + B > 0", "positive-positive", 0.9),
            ("53", "0 > dΩ/dτ > B + B", "negative-positive", 0.1),
        )
    ]
    return pd.DataFrame(rows).assign(count=47)
