"""Made-up words as the experiments beyond Sun & Lu measure them: one row a word and seed."""

import numpy as np
import pandas as pd

WORDS = 211
STARTS = ("scratch", "word2vec", "word2vec, evened", "word2vec, frozen")
ABOUT = {"corpus": "sst", "model": "dp", "scale": 10.0}


def words(*, seeds=5, luck=0.1, polarity_luck=0.1, seed=0, **about):
    """Words with a polarity and an attention of their own, and so much luck in each training."""
    draw = np.random.default_rng(seed)
    own = draw.standard_normal((2, WORDS))
    # Half of the words occur once, the rest 2 to 106 times.
    counts = np.concatenate([np.ones(WORDS // 2, int), np.arange(2, WORDS - WORDS // 2 + 2)])
    frames = []
    for number in range(seeds):
        noise = draw.standard_normal((2, WORDS))
        frames.append(
            pd.DataFrame(
                {
                    "seed": number,
                    "word": [f"w{place}" for place in range(WORDS)],
                    "count": counts,
                    "type": np.where(own[0] > 1, "positive", np.where(own[0] < -1, "negative", "neutral")),
                    "polarity": own[0] + polarity_luck * noise[0],
                    "attention": 3 + number + own[1] + luck * noise[1],
                    "gamma": np.clip(own[0] / 3, -1, 1),
                }
            )
        )
    return pd.concat(frames, ignore_index=True).assign(**{**ABOUT, **about})


def lifts(*, gain=0.3, seeds=5, seed=0):
    """What `beyond_vectors.measure` leaves, with so much more ρ from word2vec than from scratch."""
    draw = np.random.default_rng(seed)
    rows, pairs = [], []
    for corpus in ("sst", "imdb"):
        for start, more in zip(STARTS, (0.0, gain, gain, 2 * gain), strict=True):
            for number in range(seeds):
                noise = 0.01 * draw.standard_normal(6)
                row = {"corpus": corpus, "start": start, "seed": number, "words": 101}
                row |= {"polarity near": 0.1 + more + noise[0], "polarity other": noise[1]}
                row |= {"attention near": 0.1 + more + noise[2], "attention other": noise[3]}
                row |= {"human": 0.2 + noise[4]} if corpus == "sst" else {}
                rows.append(
                    {
                        **row,
                        "test accuracy": 0.8 + noise[5],
                        "texts": 307,
                        "error": 0.01,
                        "labelled words": 97,
                    }
                )
            near = draw.standard_normal(101)
            polarity = near + draw.standard_normal(101)
            pairs.append(
                pd.DataFrame({"polarity": polarity, "polarity near": near}).assign(corpus=corpus, start=start)
            )
    return {"lifts": pd.DataFrame(rows), "pairs": pd.concat(pairs, ignore_index=True)}
