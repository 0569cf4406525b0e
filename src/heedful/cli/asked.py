"""Options that come together: each function's arguments are options, and a command gets what it returns."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import Encoding, LabelColumn, TextColumn, TextPairColumn

if TYPE_CHECKING:
    from heedful.training.opening import Asked

SplitColumn = Annotated[
    str | None,
    typer.Option(
        "--split", help="Column with train, dev or test. Default: guessed; without one, a seeded split."
    ),
]
TestShare = Annotated[
    float | None,
    typer.Option(
        "--test-share",
        help="Part of the rows kept for test if the file has no split. Default: a tenth, more of few rows.",
    ),
]


def how_to_decide(
    audit_label: Annotated[
        str | None,
        typer.Option("--audit-label", help="The label to decide, where a model gives several at once."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Decide a regression by whether it is above this number."),
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option("--template", help="File with a prompt around {text}: a language model decides by it."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", help='Answers of a prompted language model, such as "good,bad".'),
    ] = None,
    chat: Annotated[
        bool, typer.Option("--chat", help="Give the template in the model's own chat format.")
    ] = False,
    system: Annotated[
        str | None, typer.Option("--system", help="With --chat: the system message that comes first.")
    ] = None,
) -> "Asked":
    """How a transformer is to decide."""
    from heedful.training.opening import Asked

    return Asked(
        label=audit_label,
        threshold=threshold,
        template=None if template is None else _read(template),
        labels=tuple(part.strip() for part in labels.split(",")) if labels else (),
        chat=chat,
        system=system,
    )


def _read(path: Path) -> str:
    from heedful.errors import UserError
    from heedful.files import regular

    try:
        return regular(path).read_text(encoding="utf-8").rstrip("\n")
    except UserError:
        raise
    except (OSError, ValueError) as error:
        raise UserError(f"The template {path} cannot be read: {error}.") from None


def how_to_read(
    text: TextColumn = None,
    label: LabelColumn = None,
    split: SplitColumn = None,
    encoding: Encoding = None,
    test_share: TestShare = None,
) -> dict[str, Any]:
    """How a file of texts is to be read."""
    from heedful.data.columns import reading_options

    return reading_options(text=text, label=label, split=split, encoding=encoding, test_share=test_share)


def how_to_read_pairs(
    text: TextColumn = None,
    text_pair: TextPairColumn = None,
    label: LabelColumn = None,
    split: SplitColumn = None,
    encoding: Encoding = None,
    test_share: TestShare = None,
) -> dict[str, Any]:
    """How a file of texts, or of pairs of texts, is to be read."""
    from heedful.data.columns import reading_options

    return reading_options(
        text=text, text_pair=text_pair, label=label, split=split, encoding=encoding, test_share=test_share
    )
