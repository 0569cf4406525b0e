"""What happens when the weights are others: adversaries and permutations."""
