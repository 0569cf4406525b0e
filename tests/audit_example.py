"""An audit folder made by hand for tests of the page: small texts, a real closed form, hostile words.

Weights, token logits, smallest sets and adversaries belong together as an audit's do; the findings are
invented.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

from heedful.auditing.instead import Instead
from heedful.auditing.names import no_word_decides
from heedful.auditing.questions.answer import Answer, Scale
from heedful.auditing.result import SCHEMA, AuditVerdict, sentence_of
from heedful.auditing.rule import ClassReading
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
    reading: Any = "do not show as an explanation",
    shown: str = "attention",
    default: int | None = None,
    seed: int = 7,
) -> dict[str, Any]:
    """The content of `audit.json`: two classes have one score; `long` adds a text of 397 words.

    `default` is the number of a class that no word decides.
    """
    generator = np.random.default_rng(seed)
    instances = [_instance(row, generator, classes, linear) for row in range(count)] if texts else []
    if texts:
        instances.append(_instance(count, generator, classes, linear, words=[*HOSTILE, "a", "witty", "film"]))
    if texts and long:
        instances.append(_instance(count + 1, generator, classes, linear, words=_long(generator)))
    instances.sort(key=lambda text: -text["disagreement"])
    for text in instances:
        if text["decided"] == default:
            text["said"] = no_word_decides(classes[default])
    for text, tag in zip(
        instances, itertools.cycle(["worst", "typical", "best", "typical", "typical"]), strict=False
    ):
        text["tags"].append(tag)
    return {
        "schema": SCHEMA,
        "heedful": "0.1.0",
        "made": "2026-01-02T03:04:05+00:00",
        "seconds": {"deletions-1": 1.25, "browsing": 0.4},
        "subject": {
            "name": "dp on films",
            "kind": "run",
            "model": "dp",
            "called": "runs/films-dp",
            "classes": list(classes),
            "mixes_tokens": mixes,
            "device": "cpu",
            "way": None,
            "cannot": {},
        },
        "data": {
            "name": "films",
            "split": "test",
            "instances": 1821,
            "accuracy": _finding("accuracy", 0.819, 0.801, 0.836).to_dict(),
            "majority": 0.501,
            "class_counts": {name: 607 + 2 * place for place, name in enumerate(classes)},
            "confusion": [
                [500 - 31 * abs(label - code) for code in range(len(classes))]
                for label in range(len(classes))
            ],
            "notes": ["3 texts without words were left out."],
            "texts_kept": texts,
        },
        "verdict": _verdict(classes, reading, shown, default).to_dict(),
        "questions": [answer.to_dict() for answer in _answers()],
        "figures": {
            "foretells": {"title": "heat-map skill of every map", "count": 251, "measured": "by deletions"},
            "top": {"title": "top items", "count": 1787, "measured": "by erasing one item"},
        },
        "plausibility": None,
        "words": _words(generator, classes) if texts else [],
        "instances": instances,
        "sampling": {"stored": len(instances), "of": 1821, "how": "the extremes, and some that are wrong"},
        "methods": {
            "seed": 0,
            "shown": "",
            "closed_form": linear,
            "maps": ["attention", "gradient", "leave-one-out", "contribution", "shuffled", "random"],
        },
    }


def write_audit(folder: Path, **options: Any) -> dict[str, Any]:
    """Write `audit.json` and its two figures into the folder."""
    audit = make_audit(**options)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    (folder / "audit.json").write_text(json.dumps(audit, ensure_ascii=False), encoding="utf-8")
    from matplotlib.figure import Figure

    for stem in ("foretells", "top"):
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
        "unread": 0,
        "unread_tail": False,
        "unit": "word",
        "smallest_kind": "exact",
        "disagreement": float(1 - np.corrcoef(weights, leave)[0, 1]) if len(words) > 1 else 0.0,
        "said": "",
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
    name: str,
    value: float,
    low: float,
    high: float,
    *,
    better: Any = "higher",
    ranking: str = "attention",
    **baselines: float,
) -> Finding:
    return Finding(
        name,
        value,
        count=1821,
        measured=f"{name} over all texts of the test split.",
        interval=Interval(low, high, level=0.95, method="paired bootstrap over instances"),
        baselines={key: Estimate(number) for key, number in baselines.items()},
        better=better,
        coordinates={"ranking": ranking},
    )


def _verdict(classes: tuple[str, ...], reading: Any, shown: str, default: int | None) -> AuditVerdict:
    skill = _finding("heat-map skill", 0.18, 0.14, 0.22, ranking=shown)
    paint = _finding("paint on words that matter", 0.26, 0.21, 0.31, ranking=shown)
    read = [
        ClassReading(
            name, "cannot say", 97, default=True, why=f"No word decides “{name}”: show nothing there."
        )
        if place == default
        else ClassReading(name, reading, 101 + place, skill, paint, skill)
        for place, name in enumerate(classes)
    ]
    better = _finding("heat-map skill", 0.93, 0.91, 0.95, ranking="gradient")
    signed = _finding("signed heat-map skill", 0.88, 0.85, 0.91, ranking="gradient")
    return AuditVerdict(
        reading=reading,
        sentence=sentence_of(reading, shown),
        reasons=(
            "Only 26 % [21, 31] of its paint lies on words that matter.",
            "It predicts 18 % [14, 22] of what the best map could.",
            f"For texts decided “{classes[0]}”: its strongest word is one that matters in 18 % [14, 22] of "
            "texts, not surely 60 %.",
        ),
        shown=shown,
        level=0.995,
        skill=skill,
        paint=paint,
        first=skill,
        operator=None,
        limit=Estimate(0.97),
        room=Estimate(0.5),
        linear_share=0.61,
        classes=tuple(read),
        groups=(),
        instead=None
        if reading in ("faithful", "cannot say")
        else Instead(
            "gradient", better, Estimate(0.75, Interval(0.7, 0.8, 0.95, "paired")), "faithful", 0.97, signed
        ),
    )


def _answers() -> list[Answer]:
    """Some of all outcomes: one decides, one was not asked, one speaks against though it says yes."""
    asked: list[tuple[str, str, str, Any, bool | None]] = [
        ("foretells", "Does it predict what the model does?", "No. It predicts 18 %.", "no", False),
        ("top", "Does its top item matter more than by chance?", "A little more.", "unsure", None),
        ("agreement", "Does it agree with leaving items out?", "No better than shuffled.", "no", False),
        ("adversary", "Could very different attention decide alike?", "Yes.", "yes", False),
        ("stable", "Is it stable over seeds?", "Seeds were not compared.", "not asked", None),
        ("labels", "Do the words it stresses carry the label?", "Mostly.", "yes", True),
    ]
    answers = []
    for number, (name, question, words, outcome, good) in enumerate(asked, start=1):
        you = 0.01 + 0.17 * number
        skill = _finding("heat-map skill", 0.18, 0.14, 0.22, shuffled=0.02, random=0.0)
        finding = skill if number == 1 else _finding(name, you, you - 0.05, you + 0.06)
        # The yardstick of one lies left of it, and another's range falls.
        scale = Scale(0.0, 1.0, you, you - 0.05, you + 0.06, 0.0, 0.02, 1.0, "best map")
        if name == "agreement":
            scale = Scale(0.0, you, you, you - 0.05, you + 0.06, None, 0.48, 0.3, "gradient")
        if name == "adversary":
            scale = Scale(0.69, 0.0, you, you - 0.05, you + 0.06, 0.67, 0.66, 0.0, "no other weights")
        found = outcome != "not asked"
        answers.append(
            Answer(
                name,
                question,
                outcome,
                words,
                "Words are deleted at random and the text is read again." if found else "Not measured.",
                finding if found else None,
                scale if found else None,
                evidence=tuple(
                    _finding(f"share {share}", 0.1 + share, 0.05 + share, 0.2 + share, random=0.0)
                    for share in (0.05, 0.5)
                )
                if found
                else (),
                good=good,
                decides=number == 1,
                number=number,
                figures={1: ("foretells", "gone"), 2: ("top",)}.get(number, ()),
            )
        )
    return answers


def _words(generator: np.random.Generator, classes: tuple[str, ...]) -> list[dict[str, Any]]:
    width = 1 if len(classes) == 2 else len(classes)
    return [
        {
            "word": word,
            "count": int(generator.integers(1, 900)),
            "type": classes[-1] if polarity > 0.5 else classes[0] if polarity < -0.5 else "neutral",
            "polarity": [polarity * (place + 1) / width for place in range(width)],
            "attention": float(abs(polarity) + generator.normal(0, 0.1)),
            "weight": float(generator.random() * 0.2),
            "stability": float(generator.random()),
        }
        for word, polarity in [*POLARITY.items(), *((word, 0.4) for word in HOSTILE)]
    ]
