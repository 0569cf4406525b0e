"""The texts of a run, loaded again: the same corpus, in the words and ids that its model was trained on."""

from pathlib import Path

from heedful.data.catalogue import CATALOGUE
from heedful.data.corpus import Corpus
from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.training.run import Run


def corpus_of(run: Run, *, data_dir: str | Path | None = None) -> Corpus:
    """Load the corpus of a run from where its recipe says; one that has changed since is refused."""
    about = run.recipe.corpus
    source = about.get("source")
    if source is None:
        raise UserError(
            f"This run was trained on the corpus {about.get('name')} in memory, and its recipe does not say "
            "where to load it from: hand over the texts in Python."
        )
    corpus = load_data(
        source if _is_named(source) else str(base_of(run) / source),
        data_dir=data_dir,
        text=about.get("text"),
        label=about.get("label"),
        split=about.get("split"),
        encoding=about.get("encoding"),
        test_share=about.get("test_share"),
    )
    if corpus.fingerprint != about.get("fingerprint"):
        raise UserError(
            f"The corpus {source} is not the one that this run was trained on (its fingerprint is "
            f"{corpus.fingerprint}, and was {about.get('fingerprint')}): bring that back, or train again."
        )
    return corpus


def base_of(run: Run) -> Path:
    """The folder that the path of a run's corpus begins in, which is empty for a name or a whole path.

    A relative path was true where the training was started. That is looked for here first, and then in the
    folders around the run, which by default lies below the place it was started from.
    """
    source = str(run.recipe.corpus.get("source", ""))
    path = Path(source).expanduser()
    if _is_named(source) or path.is_absolute() or path.exists():
        return Path()
    around = [] if run.folder is None else list(run.folder.resolve().parents)
    for folder in around:
        if (folder / path).exists():
            return folder
    raise UserError(
        f"This run was trained on {source}, which is neither here nor in a folder around the run: go to the "
        "folder that it was trained from."
    )


def _is_named(source: str) -> bool:
    return source in CATALOGUE or source.startswith("hf:")
