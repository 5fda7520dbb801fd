"""The summary of a run as types: each field carries the definition of its figure."""
