"""heedful: does your model mean what it attends to?

Train attention-based text classifiers, see what their attention has learnt, and test whether it may be read
as an explanation.
"""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.auditing.result import Audit as Audit
    from heedful.auditing.whole import audit as audit
    from heedful.comparing.card import model_card as model_card
    from heedful.comparing.comparison import Comparison as Comparison
    from heedful.comparing.comparison import compare as compare
    from heedful.data.corpus import Corpus as Corpus
    from heedful.data.named import load_data as load_data
    from heedful.highlights.making import highlight as highlight
    from heedful.highlights.result import Highlights as Highlights
    from heedful.models.subject import Subject as Subject
    from heedful.models.trace import Trace as Trace
    from heedful.training.estimator import AttentionClassifier as AttentionClassifier
    from heedful.training.from_corpus import train as train
    from heedful.training.run import Run as Run
    from heedful.training.run import load_run as load_run
    from heedful.trials.explaining import explain as explain
    from heedful.understanding.one_text import Explanation as Explanation

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazily(__name__)
