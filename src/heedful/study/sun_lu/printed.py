"""What Sun & Lu (2020) print: the accuracies of their Table 2, in percent."""

import pandas as pd

SCALES = (0.001, 1.0, 10.0, 20.0, 50.0, 100.0, 10000.0)
MODELS = ("dp", "dp-l", "dp-a", "ad")  # the columns
_ROWS = {
    "sst": (
        (55.3, 79.8, 67.9, 62.8),
        (74.4, 81.2, 73.4, 73.4),
        (82.2, 81.7, 80.8, 80.3),
        (81.4, 80.9, 81.0, 81.2),
        (80.8, 82.0, 81.5, 79.9),
        (81.2, 81.1, 80.7, 80.8),
        (79.6, 81.4, 79.3, 80.8),
    ),
    "imdb": (
        (55.5, 87.7, 73.3, 69.8),
        (79.5, 88.2, 85.4, 83.7),
        (89.2, 87.8, 89.6, 88.2),
        (89.6, 88.1, 89.6, 89.6),
        (89.8, 87.2, 89.1, 88.5),
        (89.3, 88.3, 89.2, 88.8),
        (89.3, 88.4, 88.9, 88.9),
    ),
    "20news-1": (
        (54.8, 88.6, 78.6, 49.4),
        (88.4, 93.0, 85.3, 87.6),
        (92.8, 91.2, 92.8, 92.0),
        (93.5, 92.2, 93.5, 91.2),
        (93.3, 92.3, 92.2, 91.7),
        (92.8, 91.2, 92.8, 93.3),
        (92.8, 92.0, 93.0, 92.0),
    ),
    "20news-2": (
        (31.8, 90.1, 64.6, 59.2),
        (85.4, 92.3, 88.3, 86.7),
        (93.4, 93.4, 91.7, 90.0),
        (94.9, 94.2, 93.3, 92.1),
        (94.9, 92.3, 92.9, 93.8),
        (94.9, 93.1, 92.9, 92.9),
        (94.5, 93.8, 92.5, 92.9),
    ),
}
CORPORA = tuple(_ROWS)


def printed_accuracies() -> pd.DataFrame:
    """Table 2, one row a number: corpus, model, scale, printed (%)."""
    return pd.DataFrame(
        [
            {"corpus": corpus, "model": model, "scale": scale, "printed": value}
            for corpus, rows in _ROWS.items()
            for scale, row in zip(SCALES, rows, strict=True)
            for model, value in zip(MODELS, row, strict=True)
        ]
    )
