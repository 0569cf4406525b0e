"""Serrano & Smith (2019), "Is Attention Interpretable?", and one experiment of ours: the exact smallest sets.

All experiments but Table 3 read the same rows (`rows`), so each model is trained and tested once: the first
experiment that is run takes long, the others seconds.
"""
