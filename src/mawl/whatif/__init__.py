"""What ``mawl simulate`` answers: a run on another system, and the papers' systems beside their figures."""
