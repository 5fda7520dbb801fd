"""I/O by role: a library loaded before a job's own (C), its counter file, and what reads it.

docs/design/io-by-role.md says how it works and what it cannot see.
"""
