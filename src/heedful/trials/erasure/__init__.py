"""What happens when words or items go: flips, smallest sets, deletions, and what predicts them."""
