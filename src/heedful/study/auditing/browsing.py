"""The texts that a person may browse: each with its words, rankings, smallest set, paths and an adversary.

At most `MOST` texts and `MOST_WORDS` words are kept, in four groups: where attention agrees best with leaving
words out, where it agrees least, around the middle, and where the model is wrong. Numbers are rounded to four
digits: what is judged was measured before.

Axes: B texts, T words, K classes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batches import Batch
from heedful.data.vocabulary import UNKNOWN_ID
from heedful.models.subject import Subject
from heedful.models.trace import Trace, decisions, probabilities
from heedful.models.word_attention import word_attention
from heedful.study.auditing.plan import Plan
from heedful.study.auditing.trial import EPSILON, LEAVE_ONE_OUT, rankings_of
from heedful.trials.adversary import exact_adversary
from heedful.trials.deletion import delete_words
from heedful.trials.erased import logits_without
from heedful.trials.rankings import order_of
from heedful.trials.rereading import Reader, log_odds, rank_of
from heedful.trials.search import beam_flips
from heedful.trials.small_sets import SmallSets
from heedful.trials.smallest import smallest_flips
from heedful.trials.stream import batch_of
from heedful.trials.word_rankings import OwnRanking

MOST, MOST_WORDS, STEPS = 300, 25_000, 60
SHARES = {"best": 0.2, "worst": 0.25, "wrong": 0.25}  # of the texts kept; the rest are typical
SHOWN = ("gradient", "contribution", LEAVE_ONE_OUT)
LENGTHS = 120  # words of a text beyond which it is not chosen while shorter ones are left


def choose(frame: pd.DataFrame, labels: NDArray, *, most: int = MOST) -> pd.DataFrame:
    """Which instances to keep, with their tags and how far attention disagrees with leaving out (0 to 2)."""
    table = pd.DataFrame(
        {
            "instance": frame["instance"],
            "words": frame["words"],
            "wrong": frame["decided"].to_numpy() != labels,
            "disagreement": 1 - frame["tau_attention"].fillna(0.0),
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
        for place in places[: counts.get(tag, most)]:
            if place in tags or len(tags) < most:
                tags.setdefault(place, []).append(tag)
    chosen = table.loc[list(tags)]
    chosen = chosen.assign(tags=[tags[place] for place in chosen.index])
    # A few of each tag rather than all of one: the cut by words goes round robin.
    turn = chosen.groupby(chosen["tags"].str[0]).cumcount()
    chosen = chosen.assign(turn=turn).sort_values("turn", kind="stable")
    return chosen[(chosen["words"].cumsum() <= MOST_WORDS) | (np.arange(len(chosen)) < 4)]


def instances(
    plan: Plan, chosen: pd.DataFrame, *, extra: Mapping[str, OwnRanking] | None = None, seed: int = 0
) -> list[dict[str, Any]]:
    """What the page shows of each chosen text, in plain JSON types; scores of the rankings in `extra` too."""
    labels = dict(zip(plan.rows.tolist(), plan.labels.tolist(), strict=True))
    found: list[dict[str, Any]] = []
    size = max(1, plan.places // max(1, int(chosen["words"].max())) // 4)
    subject = plan.audited.subject
    texts = plan.audited.corpus.split(plan.settings.split).texts
    for start in range(0, len(chosen), size):
        part = chosen.iloc[start : start + size]
        rows = part["instance"].to_numpy()
        # Made from the texts themselves: what is encoded for speed may have dropped the words.
        batch = batch_of(subject, list(texts), rows)
        entries = entries_of(subject, batch, extra=extra, seed=seed)
        for entry, row in zip(entries, part.itertuples(index=False), strict=True):
            number = int(row.instance)
            found.append(
                {
                    "id": number,
                    "text_id": number,
                    "gold": labels[number],
                    **entry,
                    "tags": list(row.tags),
                    "disagreement": _short(row.disagreement),
                }
            )
    return found


def entries_of(
    subject: Subject, batch: Batch, *, extra: Mapping[str, OwnRanking] | None = None, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """What the page shows of each text of a batch. What erasing in the page needs keeps all its digits."""
    weights, read = word_attention(subject, batch)
    kept = delete_words(batch, batch.mask & ~read) if (batch.mask & ~read).any() else batch
    reader = Reader(subject, kept)
    shown = (*SHOWN, *(extra or {}))
    scores = {name: values for name, values in rankings_of(reader, extra, seed=seed).items() if name in shown}
    trace = subject.trace(batch)
    by_words = batch.sentences is None
    small = smallest_flips(trace) if trace.linear is not None else beam_flips(trace, width=4, depth=4)
    adversary = None
    if by_words and trace.linear is not None and trace.linear.out_features <= 2:
        adversary = exact_adversary(trace, EPSILON)
    logits = reader.logits
    shares = probabilities(logits)
    live = by_words and trace.linear is not None  # the page then computes paths itself
    order = order_of("attention", trace, seed=seed)
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
            "known": _known(subject, batch, row, count),
            "decided": int(reader.decided[row]),
            "probabilities": [float(f"{share:.6g}") for share in shares[row].tolist()],  # 0.99996 is not 1
            "weights": weights[row, :count].tolist(),
            "rankings": {name: _spread(values[row].tolist(), there) for name, values in scores.items()},
            "token_logits": None,
            "bias": None,
            "smallest": _smallest(small, row) if by_words else None,
            "smallest_kind": small.kind,
            "paths": None
            if live
            else {"attention": _path(trace, order, row), "exact": _exact_path(trace, small, row)},
            "unit": "word" if by_words else "sentence",  # what the paths erase
            "adversary": None,
        }
        if live:
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


def _path(trace: Trace, order: Tensor, row: int) -> list[float]:
    """The decided class's log-odds at the layer after erasing 0, 1, 2 … items in this order."""
    one = trace.take(torch.tensor([row]))
    count = min(int(one.item_counts[0]), STEPS - 1)
    rank = rank_of(order[row : row + 1, : one.present.shape[1]])
    gone = torch.stack([(rank < number) & one.present for number in range(count + 1)])
    logits = logits_without(one, gone)[:, 0].double()
    decided = decisions(logits[:1]).expand(len(logits))
    return _shorts(log_odds(logits, decided).clamp(-50, 50).tolist())


def _exact_path(trace: Trace, small: SmallSets, row: int) -> list[float] | None:
    """The same in the order of the smallest set, which ends where the decision flips."""
    if int(small.sizes[row]) < 1:
        return None
    one = trace.take(torch.tensor([row]))
    items = small.items[row]
    gone = torch.zeros(len(items) + 1, 1, one.present.shape[1], dtype=torch.bool)
    for step in range(len(items)):
        gone[step + 1 :, 0, items[step]] = True
    logits = logits_without(one, gone)[:, 0].double()
    decided = decisions(logits[:1]).expand(len(logits))
    return _shorts(log_odds(logits, decided).clamp(-50, 50).tolist())[:STEPS]


def _smallest(small: SmallSets, row: int) -> dict[str, Any] | None:
    if int(small.sizes[row]) < 1:
        return None
    return {"words": small.items[row].tolist(), "to": int(small.to_class[row])}


def _known(subject: Subject, batch: Batch, row: int, count: int) -> list[bool]:
    if (
        not hasattr(subject, "vocabulary")
        or getattr(getattr(subject, "settings", None), "encoder", "") == "pretrained"
    ):
        return [True] * count
    return (batch.ids[row, :count] != UNKNOWN_ID).tolist()


def _gaps(text: str, starts: NDArray, ends: NDArray) -> list[str]:
    """The text before each word, and after the last one."""
    befores = [0, *ends.tolist()]
    afters = [*starts.tolist(), len(text)]
    return [text[before:after] for before, after in zip(befores, afters, strict=True)]


def _spread(values: Sequence[float], read: Sequence[bool]) -> list[float]:
    """Scores of the words read, with 0 for the others."""
    left = iter(values)
    return [_short(next(left)) if there else 0.0 for there in read]


def _shorts(values: Sequence[float]) -> list[float]:
    return [_short(value) for value in values]


def _short(value: float) -> float:
    return float(f"{value:.4g}")
