"""What a worker of a cluster holds for the tasks that come to it: texts and files, by their fingerprints.

Each is sent to a worker once (`study.cluster`), and a task only names it. A process of this machine holds
nothing: it reads what the paths say.
"""

from typing import Any

_HELD: dict[str, Any] = {}


class AbsentError(LookupError):
    """A task names what this worker does not hold, or no longer; whoever sent the task sends it again."""

    @property
    def fingerprint(self) -> str:
        return str(self.args[0])


def hold(fingerprint: str, content: Any) -> None:
    """Keep something for the tasks to come."""
    _HELD[fingerprint] = content


def let_go(fingerprint: str) -> None:
    """Forget it."""
    _HELD.pop(fingerprint, None)


def held(fingerprint: str) -> Any:
    """What was sent under this fingerprint."""
    try:
        return _HELD[fingerprint]
    except KeyError:
        raise AbsentError(fingerprint) from None
