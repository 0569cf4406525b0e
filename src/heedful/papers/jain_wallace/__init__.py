"""Jain & Wallace (2019), "Attention is not Explanation": one file a section, each with its figures."""
