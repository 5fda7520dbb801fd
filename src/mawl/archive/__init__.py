"""Results that others can check: packs, their rules and their site; and runs over time."""
