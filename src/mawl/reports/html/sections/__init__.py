"""Sections of the report of a run, one a file: a judged summary in, HTML out."""
