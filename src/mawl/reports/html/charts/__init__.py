"""Charts of a run: each draws from named sources that a live page can replace."""
