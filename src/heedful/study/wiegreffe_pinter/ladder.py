"""The guide's worth: the diagnostic's F1 under each kind of weights (Wiegreffe & Pinter, 2019, 3.3 and 4)."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from heedful.records import Claim, Finding
from heedful.study.controls import MEASURES
from heedful.study.diagnostic import GUIDES
from heedful.study.experiment import Tables
from heedful.study.ground import QUICK_SETTINGS, Ground, main_model
from heedful.study.pooling import cells, headed, mean_over_seeds, shown
from heedful.study.wiegreffe_pinter.errors import error_in, errors_of, of_cell
from heedful.study.workbench import Bench, Measure

PLACE = "Wiegreffe & Pinter (2019), 3.3"
OTHER = "Jain & Wallace (2019), 4.2.2, as read by Wiegreffe & Pinter (2019), 4"
ALIKE = 0.02
STRENGTH = 5e-3  # of the trained adversary that is a guide
TRAINED, ADVERSARIES = "trained model", ("adversary, trained", "adversary, exact")
PAIRS = [(TRAINED, guide) for guide in ("uniform", *ADVERSARIES)]


def measure_diagnostic(bench: Bench, ground: Ground) -> Tables:
    """The ladder of every cell, one rung a guide."""
    settings = dict(QUICK_SETTINGS) if bench.quick else {}
    measure = Measure("heedful.study.diagnostic:diagnose", {"strength": STRENGTH, "settings": settings})
    study = ground.study("diagnostic")
    table = bench.measured(study, measure)
    corpora = study.check(data_dir=bench.data_dir)
    labels = {Path(name).stem: corpus.split("test").labels for name, corpus in corpora.items()}
    errors = errors_of(table.rename(columns={"guide": "kind"}), labels, pairs=PAIRS)
    table = table.drop(columns="decided", errors="ignore")
    return {"ladder": table, "errors": errors, "summary": summary({"ladder": table, "errors": errors})}


def rung(
    rows: pd.DataFrame, errors: pd.DataFrame, guide: str, *, measure: str = "macro_f1", **where: str
) -> Finding:
    """The diagnostic's accuracy or macro F1 under one guide, over seeds."""
    own, name = rows[rows["guide"] == guide], MEASURES[measure]
    return mean_over_seeds(
        own[measure],
        name=f"diagnostic's {name}, guide: {guide}",
        measured=f"{name} on the test split of a classifier of single words under these weights",
        count=int(own["texts"].iloc[0]),
        error=error_in(errors, guide, measure=measure),
        alone=True,
        within=(0, 1),
        better="higher",
        coordinates={**where, "guide": guide},
    )


def above(rows: pd.DataFrame, errors: pd.DataFrame, one: str, other: str, **where: str) -> Finding:
    """How much better one guide is than another, seed by seed."""
    wide = rows.pivot(index="seed", columns="guide", values="macro_f1")[[one, other]].dropna()
    return mean_over_seeds(
        wide[one] - wide[other],
        name=f"diagnostic's macro F1, {one} above {other}",
        measured=f"macro F1 under the guide {one} minus that under {other}, seed by seed, on the same texts",
        count=int(rows["texts"].iloc[0]),
        error=error_in(errors, one, than=other),
        within=(-1, 1),
        coordinates=where,
    )


def guides_in(rows: pd.DataFrame) -> list[str]:
    return [guide for guide in GUIDES if guide in set(rows["guide"])]


def diagnostic_findings(tables: Tables) -> list[Finding]:
    """All rungs of the table, cell by cell."""
    return [
        rung(rows, of_cell(tables, where), guide, measure=measure, **where)
        for where, rows in cells(tables["ladder"])
        for measure in MEASURES
        for guide in guides_in(rows)
    ]


def summary(tables: Tables) -> pd.DataFrame:
    """Macro F1 under each guide, by corpus and model."""
    return pd.DataFrame(
        [
            {
                **headed(where),
                **{guide: shown(rung(rows, of_cell(tables, where), guide)) for guide in guides_in(rows)},
                "seeds": rows["seed"].nunique(),
            }
            for where, rows in cells(tables["ladder"])
        ]
    )


def diagnostic_claims(tables: Tables) -> Sequence[Claim]:
    """That trained weights guide better than uniform and adversarial ones; and the reading against it."""
    claims = []
    for corpus, own in tables["ladder"].groupby("corpus", sort=False):
        model = main_model(own["model"])
        rows = own[own["model"] == model]
        where = {"corpus": str(corpus), "model": model}
        errors = of_cell(tables, where)
        claims.append(
            Claim.decided(
                f"On {corpus}, a trained model's attention guides a classifier of single words better than "
                "uniform weights",
                PLACE,
                effect=above(rows, errors, TRAINED, "uniform", **where),
                comparison=">",
                threshold=0,
            )
        )
        for guide in ADVERSARIES:
            if guide not in guides_in(rows):
                continue
            effect = above(rows, errors, TRAINED, guide, **where)
            claims.append(
                Claim.decided(
                    f"On {corpus}, a trained model's attention guides better than {_named(guide)}",
                    PLACE,
                    effect=effect,
                    comparison=">",
                    threshold=0,
                )
            )
            claims.append(
                Claim.decided(
                    f"On {corpus}, a trained model's attention and {_named(guide)} guide alike (F1 within "
                    f"{ALIKE:g})",
                    OTHER,
                    effect=effect,
                    comparison="within",
                    threshold=ALIKE,
                )
            )
    return claims


def _named(guide: str) -> str:
    trained = f"adversarially trained twin (λ = {STRENGTH:g})"
    return f"that of its {trained if guide == 'adversary, trained' else 'exact adversary'}"
