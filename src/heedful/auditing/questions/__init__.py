"""What an audit asks, in its order: one file a question, with its measure, its answer and its figure.

To add one, write a file with a `QUESTION` and name it here. The first decides the reading, the others are
context. Some are only for models that cannot be trained again: what stands in for other trainings.
"""

from heedful.auditing.questions import (
    adversary,
    agreement,
    dropout,
    foretells,
    halves,
    head,
    labels,
    needed,
    noise,
    stable,
    top,
)
from heedful.auditing.questions.answer import Answer, NotAsked, Question, Scale

QUESTIONS: tuple[Question, ...] = tuple(
    module.QUESTION
    for module in (
        foretells,
        top,
        agreement,
        adversary,
        needed,
        head,
        stable,
        noise,
        dropout,
        halves,
        labels,
    )
)

__all__ = ["QUESTIONS", "Answer", "NotAsked", "Question", "Scale"]
