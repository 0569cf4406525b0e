"""Speed, as ratios taken in one run against the best ordinary way. Never asserted in unit tests."""
