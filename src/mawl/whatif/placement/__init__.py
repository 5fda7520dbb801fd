"""Where the roles should live: what a run asked of each, against what probed targets can do."""
