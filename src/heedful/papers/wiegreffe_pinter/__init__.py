"""Wiegreffe & Pinter (2019), "Attention is not not Explanation": one file a section, each with its figure."""
