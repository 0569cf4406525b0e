"""What the sanity checks must come to for attention to pass, as claims; and their summary, a line a check.

Thresholds are ours. Where something random is drawn, |τ| may be this much above a random ranking's; where the
meaning stays, attention may move by this much.
"""

from collections.abc import Sequence

import pandas as pd

from heedful.records import Claim, Finding
from heedful.study.pooling import cells, shown
from heedful.study.sanity import ABOVE, ALL, NOISE, PERMUTED, RANDOMISED, sanity_findings

GONE = 0.1  # of |τ|, above a random ranking's
STILL = 0.01  # nats
SHORT = {
    "divergence from the run's attention": "JSD, nats",
    "Kendall's τ with the run's attention": "τ-b",
    "Kendall's |τ| with the run's attention": "|τ-b|",
    "share of texts with the run's decision": "same decision",
}


def sanity_claims(findings: Sequence[Finding]) -> list[Claim]:
    """Random parameters and permuted labels must leave no ranking, noise must leave attention alone."""
    claims = []
    for finding in findings:
        check, what = finding.coordinates["check"], finding.coordinates["what"]
        if finding.name == ABOVE and (check == PERMUTED or what == ALL):
            after = "With random parameters" if check == RANDOMISED else "Trained on permuted labels,"
            claims.append(
                Claim.decided(
                    f"{after} attention no longer ranks words as it did (|τ| at most {GONE:g} above a random "
                    "ranking's)",
                    "sanity check, after Adebayo et al. (2018)",
                    effect=finding,
                    comparison="<=",
                    threshold=GONE,
                )
            )
        elif finding.name.startswith("divergence") and check == NOISE:
            claims.append(
                Claim.decided(
                    f"Noise that keeps the meaning ({what}) leaves attention as it was (JSD ≤ "
                    f"{STILL:g} nats)",
                    "sanity check",
                    effect=finding,
                    comparison="<=",
                    threshold=STILL,
                )
            )
    return claims


def sanity_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Each check with its numbers and their intervals, the random ranking's |τ| beside."""
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for where, rows in cells(table):
        for finding in sanity_findings(rows, **where):
            about = {**where, "check": finding.coordinates["check"], "what": finding.coordinates["what"]}
            line = lines.setdefault(tuple(map(str, about.values())), {k: str(v) for k, v in about.items()})
            if finding.name in SHORT:
                line[SHORT[finding.name]] = shown(finding)
            if SHORT.get(finding.name) == "|τ-b|":
                line["|τ-b|, random"] = f"{finding.baselines['random'].value:.2f}"
    return pd.DataFrame(list(lines.values())).fillna("–")
