"""Histories of batch schedulers: when each job was submitted, started and ended."""
