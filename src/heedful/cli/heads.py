"""`heedful heads`: every layer and head of a transformer on a grid, with intervals."""

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.asked import how_to_decide
from heedful.cli.flags import gathers
from heedful.cli.options import (
    AsJson,
    DataDir,
    Device,
    Seed,
    TextColumn,
    TextPairColumn,
    count,
)
from heedful.cli.output import print_json, print_table, progress, say

SHOWN = 8  # heads that the terminal lists


@gathers(asked=how_to_decide)
def heads(
    model: Annotated[str, typer.Argument(help="hf:FOLDER_OR_NAME, a transformer that classifies texts.")],
    data: Annotated[str, typer.Argument(help="Texts: a file, or a corpus by name. Labels are not needed.")],
    text: TextColumn = None,
    text_pair: TextPairColumn = None,
    limit: Annotated[int, count("--limit", least=2, help="Texts, drawn by the seed.")] = 60,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for table and figure. Default: heads/MODEL.")
    ] = None,
    asked: Any = None,
    data_dir: DataDir = None,
    seed: Seed = 0,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Measure what the attention of each layer and head predicts, and what its top word does there.

    Skill is 0 for a blank map and 1 for the best map of words; erased is how much further the log-odds
    of the decision fall without the head's first word, in that head alone, than without another word.
    p-values are adjusted for the whole grid.

    Example: `heedful heads hf:my-classifier reviews.csv --limit 100`
    """
    from heedful.drawing import draw_to
    from heedful.files import check_folder, write_atomically
    from heedful.study.heads_figure import CLEAR, draw_heads
    from heedful.training.opening import is_of_hub, open_model
    from heedful.trials.heads import HeadRows, check_heads, head_grid, head_rows
    from heedful.trials.stream import sample_rows

    folder = out or Path("heads") / Path(model.removeprefix("hf:")).name
    check_folder(folder)
    name = model if is_of_hub(model) or (Path(model) / "settings.toml").exists() else f"hf:{model}"
    texts = _texts(data, text=text, text_pair=text_pair, data_dir=data_dir)
    subject = check_heads(open_model(name, device=device, asked=asked))
    rows = sample_rows(len(texts), limit, seed=seed)
    parts = []
    with progress("heads", len(rows)) as advance:
        for begin in range(0, len(rows), 16):
            some = rows[begin : begin + 16]
            parts.append(head_rows(subject, subject.encode([texts[row] for row in some]), seed=seed))
            advance(len(some))
    grid = head_grid(HeadRows.joined(parts), seed=seed)
    frame = grid.to_frame()
    with write_atomically(folder / "heads.csv") as file:
        frame.to_csv(file, index=False)
    figure, _ = draw_to(folder / "heads", draw_heads, frame, grid.texts)
    if as_json:
        print_json({"schema": 1, "texts": grid.texts, "heads": frame.to_dict("records")})
        return
    best = frame.sort_values("skill", ascending=False).head(SHOWN)
    print_table(
        f"The {len(best)} of {len(frame)} heads and layers that predict most, {grid.texts} texts",
        ["layer", "head", "skill", "95 %", "clear", "erased", "95 %", "clear"],
        [
            [
                str(row["layer"]),
                str(row["head"]) if row["head"] else "all",
                *_shown(row, "skill", CLEAR),
                *_shown(row, "erased", CLEAR),
            ]
            for row in best.to_dict("records")
        ],
    )
    say(f"Table: {folder / 'heads.csv'}. Figure: {figure}.")


def _texts(data: str, *, text: str | None, text_pair: str | None, data_dir: Path | None) -> list[str]:
    """The texts of a file, which needs no labels, or of the test split of a corpus."""
    from heedful.data.named import load_data, load_texts
    from heedful.data.pairs import paired

    if not Path(data).is_file():
        corpus = load_data(data, data_dir=data_dir, learn=False, text=text, text_pair=text_pair)
        return list(corpus.split("test").texts)
    found = load_texts(data, text=text)
    if text_pair is not None:
        found = [paired(*both) for both in zip(found, load_texts(data, text=text_pair), strict=True)]
    return [one for one in found if one.strip()]


def _shown(row: dict, name: str, clear: float) -> list[str]:
    interval = f"{row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f}"
    return [f"{row[name]:.2f}", interval, "yes" if row[f"{name}_adjusted"] < clear else "no"]
