"""Whose words or items matter most: scores of a layer's items, and of a subject's words."""
