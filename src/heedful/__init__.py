"""heedful: does your model mean what it attends to?

Train attention-based text classifiers, see what their attention has learnt, and test whether it may be read
as an explanation.

The names below are public, and docs/api.md tells of each. What else the guides use from the parts may move
in a minor version, and the changelog says so.
"""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.auditing.erasing import erase_split as erase_split
    from heedful.auditing.own_rankings import captum_ranking as captum_ranking
    from heedful.auditing.own_rankings import piece_scores as piece_scores
    from heedful.auditing.plan import AuditSettings as AuditSettings
    from heedful.auditing.reading import read_subject as read_subject
    from heedful.auditing.result import Audit as Audit
    from heedful.auditing.whole import audit as audit
    from heedful.comparing.card import model_card as model_card
    from heedful.comparing.comparison import Comparison as Comparison
    from heedful.comparing.comparison import compare as compare
    from heedful.data.batches import Batch as Batch
    from heedful.data.corpus import Corpus as Corpus
    from heedful.data.named import load_data as load_data
    from heedful.data.synthetic import Synthetic as Synthetic
    from heedful.data.synthetic import make_synthetic as make_synthetic
    from heedful.data.vocabulary import Vocabulary as Vocabulary
    from heedful.errors import UserError as UserError
    from heedful.highlights.making import highlight as highlight
    from heedful.highlights.result import Highlights as Highlights
    from heedful.models.adapters import ModuleSubject as ModuleSubject
    from heedful.models.black_box import BlackBox as BlackBox
    from heedful.models.building import build_model as build_model
    from heedful.models.settings import ModelSettings as ModelSettings
    from heedful.models.subject import Subject as Subject
    from heedful.models.trace import Trace as Trace
    from heedful.papers.debate.holding import debate as debate
    from heedful.records.claim import Claim as Claim
    from heedful.records.finding import Finding as Finding
    from heedful.training.estimator import AttentionClassifier as AttentionClassifier
    from heedful.training.from_corpus import train as train
    from heedful.training.opening import open_any as open_any
    from heedful.training.run import Run as Run
    from heedful.training.run import load_run as load_run
    from heedful.training.settings import TrainingSettings as TrainingSettings
    from heedful.trials.agreement.ranks import kendall_tau as kendall_tau
    from heedful.trials.erasure.erased import leave_one_out as leave_one_out
    from heedful.trials.erasure.smallest import smallest_flips as smallest_flips
    from heedful.trials.erasure.until_flip import erase as erase
    from heedful.trials.erasure.word_erasures import word_erasures as word_erasures
    from heedful.trials.explaining import explain as explain
    from heedful.trials.rankings.word_rankings import word_scores as word_scores
    from heedful.trials.weights.adversary import exact_adversary as exact_adversary
    from heedful.understanding.one_text import Explanation as Explanation
    from heedful.understanding.watch import Watch as Watch
    from heedful.understanding.word_scoring import token_scores as token_scores

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazily(__name__)
