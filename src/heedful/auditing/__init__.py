"""So, may I show it? An audit of one model on one set of texts: one reading, with its reasons.

`heedful.audit` does everything; `read_subject` reads a subject in memory and gives the reading alone. `rule`
has the rule and its thresholds, `questions` what is asked besides.
"""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.auditing.own_rankings import captum_ranking as captum_ranking
    from heedful.auditing.own_rankings import piece_scores as piece_scores
    from heedful.auditing.plan import AuditSettings as AuditSettings
    from heedful.auditing.questions import QUESTIONS as QUESTIONS
    from heedful.auditing.reading import ReadSettings as ReadSettings
    from heedful.auditing.reading import ReadSubject as ReadSubject
    from heedful.auditing.reading import read_subject as read_subject
    from heedful.auditing.result import Audit as Audit
    from heedful.auditing.rule import Thresholds as Thresholds
    from heedful.auditing.rule import judge as judge

__getattr__, __dir__, __all__ = lazily(__name__)
