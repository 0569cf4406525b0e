"""Do two ways to score words agree? Rank correlations and overlaps."""
