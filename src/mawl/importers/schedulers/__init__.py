"""Histories of batch schedulers, joined to the jobs of the logs (docs/design/queue-time.md)."""
