"""The model: a run's demand on a described system, and how long it would take there."""
