"""How a transformer is to decide, from the options of a command."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heedful.training.model_by_name import Asked


def asked_by(
    label: str | None,
    threshold: float | None,
    template: Path | None,
    labels: str | None,
    *,
    chat: bool,
    system: str | None,
) -> "Asked":
    """What `--audit-label`, `--threshold`, `--template`, `--labels`, `--chat` and `--system` say together."""
    from heedful.training.model_by_name import Asked

    return Asked(
        label=label,
        threshold=threshold,
        template=None if template is None else _read(template),
        labels=tuple(part.strip() for part in labels.split(",")) if labels else (),
        chat=chat,
        system=system,
    )


def _read(path: Path) -> str:
    from heedful.errors import UserError

    try:
        return path.read_text(encoding="utf-8").rstrip("\n")
    except (OSError, ValueError) as error:
        raise UserError(f"The template {path} cannot be read: {error}.") from None
