"""Sections of the report of a run: a judged summary in, HTML out."""
