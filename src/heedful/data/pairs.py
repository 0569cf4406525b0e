"""Two texts that are decided together: a question and its answer, a premise and what may follow from it.

A pair is one text with a sign between the two that stands in no word, so words are counted through both.
"""

PAIR = "\x1e"  # the record separator: white space to whatever splits words


def paired(first: str, second: str) -> str:
    """Two texts as one; the sign between them is taken out of either."""
    return f"{first.replace(PAIR, ' ')}{PAIR}{second.replace(PAIR, ' ')}"


def both(text: str) -> tuple[str, str]:
    """The two texts of a pair; a text that is none is followed by an empty one."""
    first, _, second = text.partition(PAIR)
    return first, second
