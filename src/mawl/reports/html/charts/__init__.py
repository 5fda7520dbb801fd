"""Charts of a run, one a file: each draws from named sources that a live page can replace."""
