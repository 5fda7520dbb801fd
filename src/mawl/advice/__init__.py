"""Judgements: what limits a run, whether the system carries it, whether to believe it."""
