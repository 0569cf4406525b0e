"""Is attention explanation? The tests of Jain & Wallace and Wiegreffe & Pinter, on any corpus or run."""
