"""What the figures of a run mean: what limits it, whether the system carries it, whether to believe it."""
