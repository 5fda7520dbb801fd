"""Two sides of runs compared with each other: what changed, and whether it is more than noise."""
