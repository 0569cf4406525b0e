"""So, may I show it? The rule, the seven answers and what to show instead: from records, without torch."""

from heedful.verdict.evidence import Evidence
from heedful.verdict.instead import Instead, instead, nothing_better
from heedful.verdict.questions import QUESTIONS, Answer, Scale, answers
from heedful.verdict.rule import READINGS, Thresholds, Verdict, judge
from heedful.verdict.sentence import sentence

__all__ = [
    "QUESTIONS",
    "READINGS",
    "Answer",
    "Evidence",
    "Instead",
    "Scale",
    "Thresholds",
    "Verdict",
    "answers",
    "instead",
    "judge",
    "nothing_better",
    "sentence",
]
