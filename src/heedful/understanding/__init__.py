"""What has attention learnt? So far: one text at a time."""

from heedful.understanding.one_text import Explanation, WordReading, explain

__all__ = ["Explanation", "WordReading", "explain"]
