"""Costs of mawl's own parts, each beside its peer in one run (``make bench``)."""
