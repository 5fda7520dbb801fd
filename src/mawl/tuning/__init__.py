"""Compares settings with what the profiles recommend, ranked by what limited the run."""
