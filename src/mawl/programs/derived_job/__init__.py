"""Derived jobs: steps of a shop's logs, reproduced by checked work on generated tables."""
