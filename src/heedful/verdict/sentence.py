"""The verdict as one sentence for somebody who shows attention to people."""

from heedful.verdict.rule import Verdict

_SENTENCES = {
    "faithful": "You may show this attention as an explanation: it points to the words that decide.",
    "use with care": "Show this attention with care, if at all: it points to some of what decides, but not "
    "reliably.",
    "do not show as an explanation": "Do not show this attention as an explanation: it does not point to "
    "the words "
    "that decide.",
    "cannot say": "It cannot be said whether this attention explains anything.",
}


def sentence(verdict: Verdict) -> str:
    """One plain sentence, and the first reason where there is one to know."""
    said = _SENTENCES[verdict.reading]
    if verdict.reading == "use with care" and not verdict.failed and verdict.caps:
        said = "Nothing that was asked speaks against this attention, but not everything could be asked."
    if verdict.reading in ("cannot say", "use with care") and verdict.reasons:
        said = f"{said} {verdict.reasons[0]}"
    return said
