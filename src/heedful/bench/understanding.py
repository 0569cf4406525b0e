"""What the flow terms of a whole split cost beside one evaluation pass, and how fast words are scored."""

from dataclasses import dataclass

from heedful.bench.timing import take_turns
from heedful.data.encoded import EncodedTexts
from heedful.models.building import Classifier
from heedful.training.devices import one_thread
from heedful.training.evaluation import evaluate
from heedful.understanding.flow import flow_terms
from heedful.understanding.scores import token_scores


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
