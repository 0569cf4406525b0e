"""Models whose truth is known, made and audited: how often the verdict errs.

`planting` makes texts with known deciding words, `built`, `trained` and `transformed` make models that decide
by them and attend where they are told, `labels` says whether that attention is right before anything is
audited, `catalogue` has the recipes, `running` makes and audits them, `tables` has what is published.
"""
