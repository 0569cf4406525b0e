"""`heedful models`: which models and presets there are."""

from heedful.cli.options import AsJson
from heedful.cli.output import print_json, print_table


def models(as_json: AsJson = False) -> None:
    """List the models and the papers' presets that `heedful train --model` takes.

    Example: `heedful models`
    """
    from dataclasses import asdict

    from heedful.training.presets import PRESETS

    if as_json:
        presets = {
            name: {"model": preset.model.to_dict(), "training": asdict(preset.training)}
            for name, preset in PRESETS.items()
        }
        print_json({"schema": 1, "presets": presets})
        return
    print_table(
        "",
        ["name", "levels", "encoder", "attention", "scale", "optimiser", "rate", "dropout"],
        [
            [
                name,
                preset.model.levels,
                preset.model.encoder,
                preset.model.attention,
                f"{preset.model.scale or 1:g}",
                preset.training.optimiser,
                f"{preset.training.rate:g}",
                f"{preset.model.dropout_words:g}/{preset.model.dropout_head:g}",
            ]
            for name, preset in PRESETS.items()
        ],
    )
