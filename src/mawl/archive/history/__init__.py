"""Runs of one workload over time: when a level changed, by how much, and what changed with it."""
