"""A reading for each group of texts that a user names: a language, a source, a year."""

import numpy as np
from numpy.typing import NDArray

from heedful.auditing.reading import ReadSubject
from heedful.auditing.rule import ClassReading, judge


def read_groups(read: ReadSubject, groups: NDArray) -> tuple[ClassReading, ...]:
    """How the texts of each group read; `groups` has one name for each text of the pool.

    Whether hiding words says the same as deleting them is asked of all texts: a group has too few of its own.
    """
    own = np.array([str(groups[row]) for row in read.rows["instance"]], dtype=str)
    found = []
    for name in dict.fromkeys(sorted(own)):
        part = read.rows[own == name]
        verdict = judge(
            part,
            read.shown,
            read.classes,
            operator=read.operator_rows,
            level=read.level,
            thresholds=read.verdict.thresholds,
        )
        found.append(
            ClassReading(
                name,
                verdict.reading,
                len(part),
                skill=verdict.skill,
                paint=verdict.paint,
                first=verdict.first,
                against=verdict.against,
                why=" ".join(verdict.reasons),
            )
        )
    return tuple(found)
