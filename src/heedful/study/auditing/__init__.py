"""What an audit measures, stage by stage: each leaves records, and `heedful.verdict` reads nothing else."""

from typing import TYPE_CHECKING

from heedful.lazy import lazily

if TYPE_CHECKING:
    from heedful.study.auditing.measuring import Measured as Measured
    from heedful.study.auditing.measuring import measure as measure
    from heedful.study.auditing.own_rankings import captum_ranking as captum_ranking
    from heedful.study.auditing.plan import AuditSettings as AuditSettings
    from heedful.study.auditing.subjects import Audited as Audited
    from heedful.study.auditing.subjects import open_subject as open_subject

_HOMES = {
    "AuditSettings": "heedful.study.auditing.plan",
    "Audited": "heedful.study.auditing.subjects",
    "captum_ranking": "heedful.study.auditing.own_rankings",
    "Measured": "heedful.study.auditing.measuring",
    "measure": "heedful.study.auditing.measuring",
    "open_subject": "heedful.study.auditing.subjects",
}
__all__ = list(_HOMES)
__getattr__ = lazily(__name__, _HOMES)
