"""`heedful ledger`: every claim of the published results on one page; tables and figures made again."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import AsJson
from heedful.cli.output import print_json, print_table, say
from heedful.errors import UserError
from heedful.files import regular, write_atomically

SCHEMA = 1


def ledger(
    results: Annotated[Path, typer.Argument(help="A folder of published results.")] = Path("docs/results"),
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the page, its rows, tables and figures.")
    ] = Path("runs/ledger"),
    latex: Annotated[bool, typer.Option("--latex", help="Tables as LaTeX too.")] = False,
    page: Annotated[
        list[Path] | None,
        typer.Option("--page", help="Fill the marked blocks of this page from the results. Repeatable."),
    ] = None,
    pictures: Annotated[
        bool, typer.Option("--pictures", help="Renew the published figures that these pages show.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make the ledger of claims, all tables and figures again from published results; nothing is trained.

    Example: `heedful ledger docs/results --latex`
    """
    from heedful.gallery.pages import fill_gallery, read_written
    from heedful.papers.ledger import PAGE, make_ledger
    from heedful.papers.published_page import fill_page, shown_pictures
    from heedful.study.published import read_published

    if pictures and not page:
        raise UserError("--pictures renews what pages show: name them with --page.")
    published = read_published(results)
    written = read_written(results / "gallery")
    filled = {path: fill_gallery(fill_page(_text(path), published), written) for path in page or ()}
    rows = make_ledger(results, out, latex=latex)
    for path, text in filled.items():
        with write_atomically(path) as file:
            file.write(text)
        for place, made in shown_pictures(text, published).items() if pictures else ():
            with write_atomically(path.parent / place, "wb") as image:
                image.write((out / made).read_bytes())
    if as_json:
        claims = rows.astype(object).where(rows.notna(), None).to_dict("records")
        print_json({"schema": SCHEMA, "folder": str(out), "claims": claims})
        return
    counts = rows.groupby(["experiment", "outcome"], sort=False).size().reset_index(name="claims")
    print_table(
        "Claims of the published results",
        ["experiment", "outcome", "claims"],
        [[str(value) for value in row] for row in counts.itertuples(index=False)],
    )
    say(f"The page is {out / PAGE}; tables and figures are beside it.")


def _text(path: Path) -> str:
    try:
        return regular(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The page {path} cannot be read ({error}): name a text file.") from None
