"""Two sides of runs held against each other: what changed, and whether it is more than noise."""
