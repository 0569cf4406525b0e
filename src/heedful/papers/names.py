"""What corpora and models are called in tables and figures: each name once, as the papers write it."""

CORPORA = {
    "sst": "SST",
    "imdb": "IMDB",
    "imdb-ratings": "IMDB, ratings",
    "20news": "20 Newsgroups",
    "20news-1": "20News I",
    "20news-2": "20News II",
    "agnews": "AG News",
    "amazon": "Amazon",
    "yelp": "Yelp",
    "yahoo": "Yahoo Answers",
    "data-1": "Data I",
    "data-2": "Data II",
    "data-k": "three classes",
    "data-symmetric": "symmetric data",
}
ENCODERS = {"bilstm": "biLSTM", "cnn": "CNN"}
SCORES = {"tanh": "additive"}


def corpus_label(corpus: str) -> str:
    """The corpus as its authors write it, and that it is a sample; any other name stays."""
    name = corpus.removesuffix("-sample")
    return CORPORA.get(name, name) + (" (sample)" if name != corpus else "")


def model_label(model: str) -> str:
    """han-rnn as HANrnn, jain-wallace-bilstm-tanh as biLSTM, additive; any other name stays."""
    model = model.removeprefix("sun-lu-synthetic-")
    family, _, rest = model.partition("-")
    if family in ("han", "flan"):
        return f"{family.upper()}{rest}"
    if model.startswith("jain-wallace-"):
        encoder, score = model.split("-")[2:]
        return f"{ENCODERS.get(encoder, encoder)}, {SCORES.get(score, score)}"
    return model
