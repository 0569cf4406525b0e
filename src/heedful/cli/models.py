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
        ["name", "model", "training: rate; dropout of words, head"],
        [
            [
                name,
                f"{preset.model.levels}, {preset.model.encoder}, {preset.model.attention}"
                + (f" λ = {preset.model.scale:g}" if preset.model.scale not in (None, 1) else ""),
                f"{preset.training.optimiser} {preset.training.rate:g}; "
                f"{preset.model.dropout_words:g}, {preset.model.dropout_head:g}",
            ]
            for name, preset in PRESETS.items()
        ],
        whole=["name"],
    )
