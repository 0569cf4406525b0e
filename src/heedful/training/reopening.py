"""The texts of a run, loaded again: the same corpus, in the words and ids that its model was trained on."""

from pathlib import Path

from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts, encode_texts
from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.models.building import Classifier
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
        source,
        data_dir=data_dir,
        text=about.get("text"),
        label=about.get("label"),
        split=about.get("split"),
    )
    if corpus.fingerprint != about.get("fingerprint"):
        raise UserError(
            f"The corpus {source} is not the one that this run was trained on (its fingerprint is "
            f"{corpus.fingerprint}, and was {about.get('fingerprint')}): bring that back, or train anew."
        )
    return corpus


def encode_for(model: Classifier, corpus: Corpus) -> EncodedTexts:
    """The texts of a corpus as this model reads them, with their labels."""
    settings = model.settings
    return encode_texts(
        corpus.texts,
        corpus.labels,
        model.vocabulary,
        rules=model.rules,
        sentences=settings.hierarchical,
        max_length=settings.max_length,
        keep_texts=settings.encoder == "pretrained",
    )
