"""An option that takes one value, given twice: refused, where click would silently keep the last."""

from collections.abc import Sequence
from typing import Any

from heedful.errors import UserError

ADVICE = {"--text": "the second text of a pair goes with --text-pair"}


def refuse_repeated(command: Any, args: Sequence[str]) -> None:
    """Refuse an option of this command, or of the one below it that is called, that stands there twice."""
    below = getattr(command, "commands", None)
    if below is not None:
        called = next((place for place, word in enumerate(args) if word in below), None)
        if called is not None:
            refuse_repeated(below[args[called]], args[called + 1 :])
        return
    single = {
        name: option
        for option in command.params
        if getattr(option, "opts", None) and not getattr(option, "multiple", False)
        for name in option.opts
        if name.startswith("-") and not getattr(option, "is_flag", False)
    }
    met: set[str] = set()
    words = iter(args)
    for word in words:
        if word == "--":
            return
        name, _, given = word.partition("=")
        if name not in single:
            continue
        option = single[name].name
        if option in met:
            advice = ADVICE.get(name, "leave one out")
            raise UserError(f"{name} was given twice, and takes one value: {advice}.")
        met.add(option)
        if not given:
            next(words, None)  # its value, whatever that looks like
