"""Serrano & Smith (2019), "Is Attention Interpretable?", and one experiment of ours: the exact smallest sets.

All experiments but Table 3 read the same rows (`rows`), so each model is trained and tested once. Minutes are
those of the first experiment that is run: the others then take seconds.
"""
