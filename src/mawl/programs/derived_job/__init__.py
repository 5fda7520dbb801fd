"""Derived jobs: steps of a shop's logs, reproduced by kernels that do checked work on generated tables."""
