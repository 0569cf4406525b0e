"""An audit folder made by hand for tests of the page: small texts, a real closed form, hostile words.

Weights, token logits, smallest sets and adversaries belong together as an audit's do; the findings are
invented.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

from heedful.records import Estimate, Finding, Interval

POSITIVE = {"gorgeous": 3.1, "witty": 2.4, "moving": 1.9, "delight": 2.8, "fine": 0.8, "heartfelt": 2.2}
NEGATIVE = {"dull": -2.9, "tedious": -3.2, "mess": -2.5, "lifeless": -2.7, "predictable": -1.6, "flat": -1.4}
NEUTRAL = [
    "film",
    "story",
    "the",
    "a",
    "and",
    "with",
    "but",
    "plot",
    "an",
    "it",
    "is",
    "by",
    "actors",
    "scene",
    "of",
    "in",
]
POLARITY = {**POSITIVE, **NEGATIVE, **{word: 0.05 * (place % 5 - 2) for place, word in enumerate(NEUTRAL)}}
OPENINGS = ["the film is", "a story of the actors", "it is", "the plot is", "an actors film and"]
HOSTILE = [
    "<script>alert('one')</script>",
    "</script><img src=x onerror=alert(2)>",
    "\u202eevil\u202d",
    "x" * 100_000,
    "😀",
    "{{script}}",
    '"><b>bold</b>',
    "=1+1",
    "&lt;",
    "\u2028",
]


def make_audit(
    *,
    classes: tuple[str, ...] = ("negative", "positive"),
    count: int = 41,
    linear: bool = True,
    texts: bool = True,
    mixes: bool = False,
    long: bool = False,
    reading: str = "do not show as an explanation",
    seed: int = 7,
) -> dict[str, Any]:
    """The content of `audit.json`: two classes have one score; `long` adds a text of 397 words."""
    generator = np.random.default_rng(seed)
    instances = [_instance(row, generator, classes, linear) for row in range(count)] if texts else []
    if texts:
        instances.append(_instance(count, generator, classes, linear, words=[*HOSTILE, "a", "witty", "film"]))
    if texts and long:
        instances.append(_instance(count + 1, generator, classes, linear, words=_long(generator)))
    instances.sort(key=lambda text: -text["disagreement"])
    for text, tag in zip(
        instances, itertools.cycle(["worst", "typical", "best", "typical", "typical"]), strict=False
    ):
        text["tags"].append(tag)
    skill = _finding("word skill", 0.18, 0.14, 0.22, shuffled=0.02, random=0.0)
    return {
        "schema": 1,
        "heedful": "0.1.0",
        "made": "2026-01-02T03:04:05+00:00",
        "seconds": {"erasure": 1.25, "words": 13.0, "page": 0.4},
        "subject": {
            "name": "dp on films",
            "kind": "run",
            "model": "dp",
            "classes": list(classes),
            "linear_head": linear,
            "mixes_tokens": mixes,
            "device": "cpu",
        },
        "data": {
            "name": "films",
            "split": "test",
            "instances": 1821,
            "accuracy": _finding("accuracy", 0.819, 0.801, 0.836),
            "majority": 0.501,
            "class_counts": {name: 607 + 2 * place for place, name in enumerate(classes)},
            "notes": ["3 texts without words were left out."],
            "texts_kept": texts,
        },
        "verdict": {
            "reading": reading,
            "sentence": "Deleting the words that attention ranks first moves the decision hardly more than "
            "deleting words by chance.",
            "reasons": [
                "Word skill is 0.18 [0.14, 0.22], below 0.25.",
                "Attention needs 14 times as many words as the smallest set.",
            ],
            "failed": ["decides"],
            "caps": ["Seeds were not compared, so the reading cannot be better than “use with care”."],
            "instead": {
                "ranking": "gradient × input",
                "key": "gradient",
                "why": "It measured best on this model: its first words decide.",
                "command": 'heedful explain runs/films-dp "a text of yours" --by gradient',
                "skill": _finding("word skill", 0.93, 0.91, 0.95, shuffled=0.02, random=0.0),
            },
        },
        "questions": _questions(skill),
        "figures": {
            "deletion": {"title": "decisions kept", "count": 1811, "measured": "by deleting words"},
            "single": {"title": "top words", "count": 1787, "measured": "by deleting one word"},
        },
        "words": _words(generator, classes) if texts else [],
        "instances": instances,
        "sampling": {"stored": len(instances), "of": 1821, "how": "drawn by seed 0, and the extremes"},
        "methods": {"seed": 0, "shares": [0.05, 0.1, 0.2, 0.5], "level": 0.95, "epsilon": 0.01},
    }


def write_audit(folder: Path, **options: Any) -> dict[str, Any]:
    """Write `audit.json` and its two figures into the folder."""
    audit = make_audit(**options)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    (folder / "audit.json").write_text(json.dumps(audit, ensure_ascii=False), encoding="utf-8")
    from matplotlib.figure import Figure

    for stem in ("deletion", "single"):
        figure = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.add_subplot(xlabel="share of words deleted", ylabel="decision kept")
        axes.plot([0, 0.1, 0.2, 0.5], [1, 0.9, 0.8, 0.7], label="attention")
        axes.legend()
        figure.savefig(folder / "figures" / f"{stem}.png", dpi=100)
    return audit


def logits_of(
    weights: np.ndarray, token_logits: np.ndarray, bias: np.ndarray, kept: np.ndarray
) -> np.ndarray:
    """The oracle: logits (K,), (0, s) for one score, with only the kept words attended."""
    left = np.where(kept, weights, 0)
    logits = bias + (left @ token_logits / left.sum() if left.sum() > 0 else 0)
    return np.array([0.0, logits[0]]) if len(logits) == 1 else logits


def _instance(
    row: int,
    generator: np.random.Generator,
    classes: tuple[str, ...],
    linear: bool,
    words: list[str] | None = None,
) -> dict[str, Any]:
    if words is None:
        opening = OPENINGS[row % len(OPENINGS)].split()
        drawn = generator.choice(list(POLARITY), size=int(generator.integers(4, 19))).tolist()
        words = [*opening, *drawn]
    columns = 1 if len(classes) == 2 else len(classes)
    scores = np.array([0.5 * abs(POLARITY.get(word, 0.3)) for word in words]) + generator.normal(
        0, 1, len(words)
    )
    read = np.ones(len(words), dtype=bool)
    if len(words) > 12 and row % 5 == 0:
        read[-2:] = False  # beyond what the model reads
    weights = np.where(read, np.exp(scores), 0)
    weights = weights / weights.sum()
    base = np.array([POLARITY.get(word, 0.4) for word in words])
    token_logits = base[:, None] if columns == 1 else base[:, None] * np.linspace(-1, 1, columns)[None]
    token_logits = token_logits + generator.normal(0, 0.2, token_logits.shape)
    bias = np.linspace(0.1, -0.1, columns) if columns > 1 else np.array([0.05])
    everything = np.ones(len(words), dtype=bool)
    logits = logits_of(weights, token_logits, bias, everything)
    decided = int(logits.argmax())
    chances = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    two = np.concatenate([np.zeros((len(words), 1)), token_logits], 1) if columns == 1 else token_logits
    both = np.array([0.0, bias[0]]) if columns == 1 else bias
    rivals = {
        k: weights * (two[:, decided] + both[decided] - two[:, k] - both[k])
        for k in range(len(both))
        if k != decided
    }
    second = max(rivals, key=lambda k: logits[k])
    leave = np.array(
        [
            _margin(logits, decided) - _margin(_without(weights, token_logits, bias, {i}), decided)
            for i in range(len(words))
        ]
    )
    gold = decided if generator.random() < 0.8 else (decided + 1) % len(classes)
    paths = {
        name: [
            _margin(_without(weights, token_logits, bias, set(order[:gone])), decided)
            for gone in range(len(words) + 1)
        ]
        for name, order in (
            ("attention", np.argsort(-weights, kind="stable").tolist()),
            ("exact", np.argsort(-rivals[second], kind="stable").tolist()),
        )
    }
    return {
        "id": row,
        "text_id": str(row),
        "words": words,
        "gaps": ["", *["  " if place % 7 else ", \u202e" for place in range(1, len(words))], "."],
        "read": read.tolist(),
        "known": [word in POLARITY for word in words],
        "gold": gold,
        "decided": decided,
        "probabilities": chances.tolist(),
        "weights": weights.tolist(),
        "rankings": {
            "gradient": rivals[second].tolist(),
            "contribution": rivals[second].tolist(),
            "leave-one-out": leave.tolist(),
        },
        "token_logits": token_logits.tolist() if linear else None,
        "bias": bias.tolist() if linear else None,
        "smallest": _smallest(weights, token_logits, bias, rivals, decided),
        "paths": paths,
        "adversary": _adversary(weights, token_logits[:, 0], read) if columns == 1 else None,
        "tags": ["wrong"] if gold != decided else [],
        "disagreement": float(1 - np.corrcoef(weights, leave)[0, 1]) if len(words) > 1 else 0.0,
    }


def _long(generator: np.random.Generator) -> list[str]:
    return generator.choice(list(POLARITY), size=397).tolist()


def _without(weights: np.ndarray, token_logits: np.ndarray, bias: np.ndarray, gone: set[int]) -> np.ndarray:
    return logits_of(
        weights, token_logits, bias, np.array([place not in gone for place in range(len(weights))])
    )


def _margin(logits: np.ndarray, decided: int) -> float:
    return float(logits[decided] - np.delete(logits, decided).max())


def _smallest(
    weights: np.ndarray,
    token_logits: np.ndarray,
    bias: np.ndarray,
    rivals: dict[int, np.ndarray],
    decided: int,
) -> dict[str, Any] | None:
    """For each rival the largest contributions first, until the decision moves."""
    best: dict[str, Any] | None = None
    for added in rivals.values():
        order = [place for place in np.argsort(-added, kind="stable").tolist() if weights[place] > 0]
        for size in range(1, len(order) + 1):
            to = int(_without(weights, token_logits, bias, set(order[:size])).argmax())
            if to != decided and (best is None or size < len(best["words"])):
                best = {"words": sorted(order[:size]), "to": to}
                break
    return best


def _adversary(weights: np.ndarray, scores: np.ndarray, read: np.ndarray) -> dict[str, Any] | None:
    """The farthest mixture of two words with the same score."""
    target, places, best = float(weights @ scores), np.flatnonzero(read)[:11], None
    for i, j in itertools.permutations(places.tolist(), 2):
        if not scores[i] < target < scores[j]:
            continue
        other = np.zeros_like(weights)
        other[j] = (target - scores[i]) / (scores[j] - scores[i])
        other[i] = 1 - other[j]
        far = _divergence(weights, other)
        if best is None or far > best["divergence"]:
            best = {"weights": other.tolist(), "divergence": far, "change": 0.0, "exact": True}
    return best


def _divergence(first: np.ndarray, second: np.ndarray) -> float:
    middle = (first + second) / 2
    return float(
        sum(
            0.5 * (part[part > 0] * np.log(part[part > 0] / middle[part > 0])).sum()
            for part in (first, second)
        )
    )


def _finding(
    name: str, value: float, low: float, high: float, *, better: Any = "higher", **baselines: float
) -> dict[str, Any]:
    return Finding(
        name,
        value,
        count=1821,
        measured=f"{name} over all texts of the test split.",
        interval=Interval(low, high, level=0.95, method="paired bootstrap over instances"),
        baselines={key: Estimate(number) for key, number in baselines.items()},
        better=better,
        coordinates={"ranking": "attention"},
    ).to_dict()


def _questions(skill: dict[str, Any]) -> list[dict[str, Any]]:
    asked = [
        (
            "decides",
            "Does attention find the words that decide?",
            "Hardly: deleting them changes little.",
            "no",
            True,
        ),
        (
            "top",
            "Does its top word matter more than by chance?",
            "A little more than shuffled weights.",
            "unsure",
            True,
        ),
        (
            "agreement",
            "Do independent measures agree with it?",
            "Less than they agree with each other.",
            "no",
            True,
        ),
        (
            "adversary",
            "Could very different attention decide alike?",
            "Yes, as for almost any model.",
            "yes",
            False,
        ),
        ("needed", "Is attention needed at all?", "Uniform weights do as well.", "no", False),
        ("stable", "Is it stable over seeds?", "Seeds were not compared.", "not asked", True),
        ("labels", "Do the words it attends to carry the label?", "Mostly.", "yes", False),
    ]
    questions = []
    for number, (name, question, answer, outcome, decides) in enumerate(asked, start=1):
        found = outcome != "not asked"
        you = 0.1 + 0.17 * number
        questions.append(
            {
                "id": name,
                "number": number,
                "question": question,
                "answer": answer,
                "outcome": outcome,
                "decides": decides,
                "finding": skill
                if number == 1
                else _finding(name, you, you - 0.05, you + 0.06)
                if found
                else None,
                "scale": {
                    "low": 0.02,
                    "high": 1.0,
                    "you": 0.18 if number == 1 else you,
                    "you_low": 0.14 if number == 1 else you - 0.05,
                    "you_high": 0.22 if number == 1 else you + 0.06,
                    "random": 0.0,
                    "shuffled": 0.02,
                    "best": 1.0,
                    "best_name": "leave-one-out",
                }
                if found
                else None,
                "evidence": [
                    _finding(f"share {share}", 0.1 + share, 0.05 + share, 0.2 + share, random=0.0)
                    for share in (0.05, 0.5)
                ]
                if found
                else [],
                "figures": {1: ["deletion", "gone"], 2: ["single"]}.get(number, []),
                "measured": "Words are deleted in the order of a ranking and the text is read again.",
            }
        )
    return questions


def _words(generator: np.random.Generator, classes: tuple[str, ...]) -> list[dict[str, Any]]:
    width = 1 if len(classes) == 2 else len(classes)
    return [
        {
            "word": word,
            "count": int(generator.integers(1, 900)),
            "type": "positive" if polarity > 0.5 else "negative" if polarity < -0.5 else "neutral",
            "polarity": [polarity * (place + 1) / width for place in range(width)],
            "attention": float(abs(polarity) + generator.normal(0, 0.1)),
            "weight": float(generator.random() * 0.2),
            "stability": float(generator.random()),
        }
        for word, polarity in [*POLARITY.items(), *((word, 0.4) for word in HOSTILE)]
    ]
