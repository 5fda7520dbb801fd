"""What ``mawl simulate`` answers: a run on another system, and forecasts of the papers' systems."""
