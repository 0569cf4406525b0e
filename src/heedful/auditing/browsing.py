"""The texts that a person may browse: each with its words, rankings, smallest set, paths and an adversary.

At most `MOST` texts and `MOST_WORDS` words are kept of those that were read many times, in four groups: where
the shown map predicts deletions best, where least, around the middle, and where the model is wrong. Numbers
are rounded to four digits: what is judged was measured before.

Axes: B texts, T words, K classes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.auditing.asking import PLACES, Asking
from heedful.auditing.maps import Maps, paint, read_only
from heedful.auditing.names import NOBODY, no_word_decides, shown_names
from heedful.auditing.questions.adversary import EPSILON
from heedful.auditing.reading import maps_of
from heedful.data.batches import Batch
from heedful.models.subject import Subject, gives, traceable
from heedful.models.trace import Trace, decisions, probabilities
from heedful.models.word_attention import known_words
from heedful.trials.erasure.erased import logits_without
from heedful.trials.erasure.flips import SmallSets
from heedful.trials.erasure.rereading import log_odds
from heedful.trials.erasure.search import beam_flips
from heedful.trials.erasure.smallest import smallest_flips
from heedful.trials.rankings.layer_rankings import order_of
from heedful.trials.rankings.regressions import REGRESSIONS
from heedful.trials.stream import batch_of
from heedful.trials.weights.adversary import exact_adversary

MOST, MOST_WORDS, STEPS = 300, 25_000, 60
SHARES = {"best": 0.2, "worst": 0.25, "wrong": 0.25}  # of the texts kept; the rest are typical
ERROR = "error of "  # before a ranking's name: the standard errors of its scores
UNTOLD = "LIME and Shapley values are unknown: the text has more words than it had deletions."
LENGTHS = 120  # words of a text beyond which it is not chosen while shorter ones are left


def choose(asking: Asking, *, most: int = MOST) -> pd.DataFrame:
    """Which texts to keep, with their tags and how far the map is from the best (0 to 2): 1 − cos(w, φ)."""
    rows = asking.read.rows
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = (rows[f"told_{asking.read.shown}"] / rows["size"]).where(rows["size"] > 0)
    place = rows["instance"].to_numpy()
    table = pd.DataFrame(
        {
            "instance": asking.plan.pool[place],
            "words": rows["words"],
            "wrong": asking.decided[place] != asking.labels[place],
            "disagreement": (1 - cosine.fillna(0.0)).clip(0, 2),
            "said": _said(asking),
        }
    )
    short = table[table["words"].between(2, LENGTHS)]
    table = (short if len(short) >= most else table).sort_values("disagreement", kind="stable")
    counts = {tag: max(1, int(share * most)) for tag, share in SHARES.items()}
    middle = (table["disagreement"] - table["disagreement"].median()).abs().sort_values(kind="stable").index
    wanted = {
        "best": table.index[: counts["best"]],
        "worst": table.index[::-1][: counts["worst"]],
        "wrong": table.index[table["wrong"]][:: max(1, int(table["wrong"].sum() // counts["wrong"]))],
        "typical": middle,
    }
    tags: dict[Any, list[str]] = {}
    for tag, places in wanted.items():
        for number in places[: counts.get(tag, most)]:
            if number in tags or len(tags) < most:
                tags.setdefault(number, []).append(tag)
    chosen = table.loc[list(tags)]
    chosen = chosen.assign(tags=[tags[number] for number in chosen.index])
    # A few of each tag rather than all of one: the cut by words goes round robin.
    turn = chosen.groupby(chosen["tags"].str[0]).cumcount()
    chosen = chosen.assign(turn=turn).sort_values("turn", kind="stable")
    return chosen[(chosen["words"].cumsum() <= MOST_WORDS) | (np.arange(len(chosen)) < 4)]


def instances(asking: Asking, chosen: pd.DataFrame) -> list[dict[str, Any]]:
    """What the page shows of each chosen text, in plain JSON types, painted by every map that was judged."""
    plan = asking.plan
    labels = dict(zip(plan.pool.tolist(), plan.labels.tolist(), strict=True))
    subject, known = plan.audited.subject, _maps_by_text(asking)
    places = PLACES[plan.audited.kind]
    size = max(1, places // max(1, int(chosen["words"].max())) // 4)
    texts = plan.audited.corpus.split(plan.settings.split).texts
    found: list[dict[str, Any]] = []
    for start in range(0, len(chosen), size):
        part = chosen.iloc[start : start + size]
        # Made from the texts themselves: what is encoded for speed may have dropped the words.
        batch = batch_of(subject, texts, part["instance"].to_numpy())
        entries = entries_of(subject, batch, painted=_kept(known, batch), seed=asking.seed)
        for entry, row in zip(entries, part.itertuples(index=False), strict=True):
            number = int(row.instance)
            about = {"id": number, "text_id": number, "gold": labels[number]}
            more = {"tags": list(row.tags), "disagreement": _short(row.disagreement), "said": row.said}
            untold = row.words > 1 and np.isnan(known[REGRESSIONS[0]][number]).any()
            found.append({**about, **entry, **more, "untold": UNTOLD if untold else ""})
    return found


def _said(asking: Asking) -> list[str]:
    """What must be said of each text that no word decides; nothing of the others."""
    read = asking.read
    defaults = {one.name for one in read.verdict.classes if one.default}
    names = [read.classes[code] for code in read.rows["decided"]]
    # Rows of an audit that an earlier version began do not know.
    nobody = (read.rows.get("decides", pd.Series(np.nan, read.rows.index)) == 0).tolist()
    return [
        no_word_decides(name) if name in defaults else NOBODY if none else ""
        for name, none in zip(names, nobody, strict=True)
    ]


def _maps_by_text(asking: Asking) -> dict[str, dict[int, NDArray]]:
    """What each ranking gave the words of each text that was read, by the text's number in the split."""
    rows = asking.read.rows
    numbers = asking.plan.pool[rows["instance"].to_numpy()].tolist()
    return {
        **{name: dict(zip(numbers, rows[f"map_{name}"], strict=True)) for name in _painted(asking)},
        **{f"{ERROR}{name}": dict(zip(numbers, rows[f"error_{name}"], strict=True)) for name in REGRESSIONS},
    }


def _painted(asking: Asking) -> list[str]:
    """The maps that were judged, and the regressions on the deletions, which are only shown."""
    return list(dict.fromkeys([*shown_names(asking.plan.maps.names), *REGRESSIONS]))


def _kept(known: Mapping[str, Mapping[int, NDArray]], batch: Batch) -> dict[str, Tensor]:
    """The scores (B,T) of each ranking; not a number where a dear one was not tried."""
    found = {}
    for name, by_text in known.items():
        own = [np.asarray(by_text[int(number)], dtype=np.float64) for number in batch.rows]
        scores = torch.zeros(len(own), max(len(one) for one in own), dtype=torch.float64)
        for row, one in enumerate(own):
            scores[row, : len(one)] = torch.from_numpy(one)
        found[name] = scores
    return found


def entries_of(
    subject: Subject, batch: Batch, *, painted: Mapping[str, Tensor] | None = None, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """What the page shows of each text of a batch. What erasing in the page needs keeps all its digits.

    `painted` has the scores of the words that are read, by ranking, where they are known already; a text
    whose scores are not numbers is not painted by them.
    """
    reader, read = read_only(subject, batch)
    scores = dict(painted or paint(reader, _cheap(subject), seed=seed))
    traced = gives(subject, "trace") and bool(traceable(subject, batch).all())
    trace = subject.trace(batch) if traced else None
    own = scores.pop("attention", None)  # a black box has none
    weights = None if own is None else _on_words(own, read)
    by_words = batch.sentences is None and trace is not None
    live = by_words and trace is not None and trace.linear is not None  # the page computes paths itself
    small = adversary = order = None
    if trace is not None:
        small = smallest_flips(trace) if trace.linear is not None else beam_flips(trace, width=4, depth=4)
        order = order_of("attention", trace, seed=seed)
        if live and trace.linear is not None and trace.linear.out_features <= 2:
            adversary = exact_adversary(trace, EPSILON)
    paths = None
    if trace is not None and small is not None and order is not None and not live:
        counts = trace.item_counts.clamp(max=STEPS - 1).tolist()
        ranked = [order[row, :count].tolist() for row, count in enumerate(counts)]
        paths = _paths(trace, ranked), _paths(trace, [items.tolist() for items in small.items])
    shares, known = probabilities(reader.logits), known_words(subject, batch)
    for row in range(len(batch)):
        assert batch.words is not None
        words = batch.words[row]
        count = len(words)
        there = read[row, :count].tolist()
        entry: dict[str, Any] = {
            "words": [words.text[start:end] for start, end in zip(words.starts, words.ends, strict=True)],
            "gaps": _gaps(words.text, words.starts, words.ends),
            "unread": int(words.unread),
            "unread_tail": bool(words.unread),
            "read": there,
            "known": known[row, :count].tolist(),
            "decided": int(reader.decided[row]),
            "probabilities": [float(f"{share:.6g}") for share in shares[row].tolist()],  # 0.99996 is not 1
            "weights": None
            if weights is None or weights[row].isnan().any()
            else weights[row, :count].tolist(),
            "rankings": _spread_all(scores, row, there, errors=False),
            "errors": _spread_all(scores, row, there, errors=True),
            "token_logits": None,
            "bias": None,
            "smallest": _smallest(small, row) if by_words and small is not None else None,
            "smallest_kind": None if small is None else small.kind,
            "paths": None,
            "unit": "word" if by_words or trace is None else "sentence",  # what the paths erase
            "adversary": None,
        }
        if paths is not None:
            found = small is not None and int(small.sizes[row]) > 0
            entry["paths"] = {"attention": paths[0][row], "exact": paths[1][row][:STEPS] if found else None}
        if live:
            assert trace is not None
            assert trace.linear is not None
            entry["token_logits"] = trace.token_logits[row, :count].tolist()
            bias = trace.linear.bias
            entry["bias"] = [0.0] * trace.linear.out_features if bias is None else bias.tolist()
        if adversary is not None:
            entry["adversary"] = {
                "weights": _shorts(adversary.weights[row, :count].tolist()),
                "divergence": _short(float(adversary.divergence[row])),
                "change": _short(float(adversary.change[row])),
                "exact": True,
            }
        yield entry


def _cheap(subject: Subject) -> Maps:
    """The maps that a few texts can be painted by at once; leaving out is all that a black box has."""
    every = maps_of(subject)
    names = [name for name in shown_names(every.names) if name not in every.dear or name == "leave-one-out"]
    return replace(every, names=tuple(names), dear=frozenset())


def _on_words(scores: Tensor, read: Tensor) -> Tensor:
    """Scores (B,T') of the words read, in their places among all words (B,T); 0 elsewhere."""
    read = read.cpu()
    found = torch.zeros(read.shape, dtype=scores.dtype)
    counts = torch.arange(scores.shape[1]) < read.sum(1, keepdim=True)
    found[read] = scores[counts]
    return found


def _paths(trace: Trace, items: Sequence[Sequence[int]]) -> list[list[float]]:
    """The decided class's log-odds at the layer of each text after erasing 0, 1, 2 … of its items."""
    gone = trace.present.new_zeros(1 + max(map(len, items)), *trace.present.shape)
    for row, own in enumerate(items):
        for step, item in enumerate(own):
            gone[step + 1 :, row, item] = True
    logits = logits_without(trace, gone).double()
    lead = log_odds(logits, decisions(logits[0]).expand(logits.shape[:2])).clamp(-50, 50)
    return [_shorts(lead[: len(own) + 1, row].tolist()) for row, own in enumerate(items)]


def _smallest(small: SmallSets, row: int) -> dict[str, Any] | None:
    if int(small.sizes[row]) < 1:
        return None
    return {"words": small.items[row].tolist(), "to": int(small.to_class[row])}


def _gaps(text: str, starts: NDArray, ends: NDArray) -> list[str]:
    """The text before each word, and after the last one."""
    befores = [0, *ends.tolist()]
    afters = [*starts.tolist(), len(text)]
    return [text[before:after] for before, after in zip(befores, afters, strict=True)]


def _spread_all(
    scores: Mapping[str, Tensor], row: int, read: Sequence[bool], *, errors: bool
) -> dict[str, list[float]]:
    """The scores of a text by ranking, or their standard errors; none where they are not known."""
    return {
        name.removeprefix(ERROR): _spread(values[row].tolist(), read)
        for name, values in scores.items()
        if name.startswith(ERROR) == errors and not values[row].isnan().any()
    }


def _spread(values: Sequence[float], read: Sequence[bool]) -> list[float]:
    """Scores of the words read, with 0 for the others."""
    left = iter(values)
    return [_short(next(left)) if there else 0.0 for there in read]


def _shorts(values: Sequence[float]) -> list[float]:
    return [_short(value) for value in values]


def _short(value: float) -> float:
    return float(f"{value:.4g}")
