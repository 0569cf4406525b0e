"""What the flow terms of a whole split cost beside one evaluation pass, and how fast words are scored."""

from dataclasses import dataclass
from pathlib import Path

from heedful.bench.found import Found, numbers_of
from heedful.bench.preparing import prepared
from heedful.bench.timing import take_turns
from heedful.data.encoded import EncodedTexts
from heedful.data.named import load_data
from heedful.models.building import Classifier, build_model
from heedful.training.devices import one_thread
from heedful.training.evaluation import evaluate
from heedful.understanding.flow import flow_terms
from heedful.understanding.word_scoring import token_scores


@dataclass(frozen=True)
class FlowCost:
    """Least seconds of each, and the flow terms' in evaluation passes."""

    texts: int
    occurrences: int
    vocabulary: int
    evaluation_seconds: float
    flow_seconds: float
    scores_seconds: float
    ratio: float  # flow / evaluation


def measure_flow(model: Classifier, encoded: EncodedTexts, *, rounds: int = 5) -> FlowCost:
    """Time one evaluation pass, all flow terms, and the scores of all words, in turn on one thread."""
    with one_thread():
        seconds = take_turns(
            {
                "evaluation": lambda: evaluate(model, encoded),
                "flow": lambda: flow_terms(model, encoded),
                "scores": lambda: token_scores(model),
            },
            rounds=rounds,
        )
    return FlowCost(
        texts=len(encoded),
        occurrences=len(encoded.ids),
        vocabulary=len(model.vocabulary),
        evaluation_seconds=seconds["evaluation"],
        flow_seconds=seconds["flow"],
        scores_seconds=seconds["scores"],
        ratio=seconds["flow"] / seconds["evaluation"],
    )


def flow(source: str, model: str, *, rounds: int, data_dir: str | Path | None = None) -> Found:
    """Flow terms and scores beside an evaluation pass."""
    corpus = load_data(source, data_dir=data_dir)
    given = prepared(corpus, model)
    # Untrained: the same work whatever the weights are.
    made = build_model(given.model, given.vocabulary, corpus.label_names, rules=given.rules)
    cost = measure_flow(made, given.splits["train"], rounds=rounds)
    told = (
        f"{cost.texts:,} training texts of {source}, {cost.occurrences:,} words, {cost.vocabulary:,} "
        f"different: all flow terms take {cost.flow_seconds:.2f} s, {cost.ratio:.2f} × an evaluation "
        f"pass of {cost.evaluation_seconds:.2f} s (aim: at most 2). The scores of all different words "
        f"take {cost.scores_seconds:.3f} s (aim: under 1 s)."
    )
    return Found(numbers_of(cost, corpus=source), (told,))
