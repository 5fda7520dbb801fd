"""A static site of packs: what they say, by whom, and which may be compared."""
