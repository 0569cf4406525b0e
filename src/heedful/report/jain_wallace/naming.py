"""Short names of models, and panels side by side: shared by the figures of both papers."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

PREFIX = "jain-wallace-"
SCORES = {"tanh": "additive", "dot": "dot"}


def named(model: str) -> str:
    """biLSTM, additive for jain-wallace-bilstm-tanh; other models by their own names."""
    if not model.startswith(PREFIX):
        return model
    encoder, _, score = model.removeprefix(PREFIX).partition("-")
    return f"{encoder.replace('bilstm', 'biLSTM').replace('cnn', 'CNN')}, {SCORES.get(score, score)}"


def class_name(rows: "DataFrame", decided: Any) -> str:
    """What the class with this number is called."""
    return str(rows.loc[rows["decided"] == decided, "decided_class"].iloc[0])


def grid_of(figure: "Figure", count: int, **shared: Any) -> list[Any]:
    """So many panels, two a row; none is left empty."""
    columns = min(count, 2)
    rows = -(-count // columns)
    axes = list(figure.subplots(rows, columns, squeeze=False, **shared).flat)
    for axis in axes[count:]:
        axis.remove()
    return axes[:count]
