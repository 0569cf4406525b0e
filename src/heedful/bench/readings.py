"""Real models read again: does the reading hang on the seed of the training, or on which texts are read?

A model is trained with each seed, and attention is read on two halves of the test texts that share none. Of
the real MiniLM encoder (`bench.minilm`) only the head learns, and it is read on fewer texts of a half. One
file a training is kept, so that a restart goes on.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heedful.auditing.reading import ReadSettings, ReadSubject, read_subject
from heedful.bench.found import Found, Table
from heedful.bench.minilm import learnt_minilm
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.files import write_atomically
from heedful.records.stored import load_json
from heedful.training.from_corpus import train

CORPORA = ("sst", "imdb", "20news-1", "agnews")
MINILM, MINILM_CORPUS, MINILM_TEXTS = "minilm", "sst", 60  # texts of a half that it is read on


def pairs(corpora: Sequence[str], models: Sequence[str]) -> list[tuple[str, str]]:
    """Each of the models (by default dp and MiniLM) with each of the corpora; MiniLM is read on its own."""
    return [
        (source, model)
        for model in models or ("dp", MINILM)
        for source in ([MINILM_CORPUS] if model == MINILM else corpora or CORPORA)
    ]


def readings(
    chosen: Sequence[tuple[str, str]],
    *,
    seeds: int,
    out: Path,
    data_dir: str | Path | None = None,
    done: Callable[[], None] = lambda: None,
) -> Found:
    """The readings of these (corpus, model), each trained `seeds` times and read on two halves."""
    rows = []
    for source, model in chosen:
        corpus: Corpus | None = None
        for seed in range(seeds):
            path = out / f"{source}-{model}-{seed}.json"
            if not path.exists():
                corpus = corpus or load_data(source, data_dir=data_dir)
                path.parent.mkdir(parents=True, exist_ok=True)
                found = _read_halves(corpus, model, seed)
                with write_atomically(path) as file:
                    json.dump({"corpus": source, "model": model, "seed": seed, "halves": found}, file)
            rows.append(load_json(path))
            done()
    return Found({"readings": rows}, (_table(rows),))


def _read_halves(corpus: Corpus, model: str, seed: int) -> list[dict[str, Any]]:
    subject = (
        learnt_minilm(corpus, seed=seed) if model == MINILM else train(corpus, model=model, seed=seed).model
    )
    texts = list(corpus.split("test").texts)
    order = np.random.default_rng([seed, 14]).permutation(len(texts))
    settings = ReadSettings(texts=MINILM_TEXTS) if model == MINILM else ReadSettings()
    return [
        _numbers(read_subject(subject, [texts[row] for row in half], settings=settings, seed=seed))
        for half in np.array_split(order, 2)
    ]


def _numbers(found: ReadSubject) -> dict[str, Any]:
    verdict = found.verdict
    numbers = {"skill": verdict.skill, "paint": verdict.paint, "first": verdict.first}
    return {
        "reading": verdict.reading,
        "reason": verdict.reasons[0] if verdict.reasons else "",
        "texts": len(found.rows),
        "instead": found.instead.ranking if found.instead else "",
        **{name: None if one is None else round(one.value, 4) for name, one in numbers.items()},
    }


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    """One row per training: how each half reads, with C, P and F."""
    lines = []
    for one in rows:
        halves = [f"{half['reading']} ({_said(half)})" for half in one["halves"]]
        better = dict.fromkeys(half["instead"] or "–" for half in one["halves"])
        lines.append([one["corpus"], one["model"], str(one["seed"]), *halves, ", ".join(better)])
    columns = ["corpus", "model", "seed", "first half (C, P, F)", "second half (C, P, F)", "instead"]
    return Table("Attention of real models, read on two halves of the test texts", columns, lines, left=6)


def _said(half: dict[str, Any]) -> str:
    return ", ".join(
        "–" if half[name] is None else f"{half[name]:.2f}" for name in ("skill", "paint", "first")
    )
