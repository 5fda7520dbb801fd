"""Summaries and records in, text out.  Nothing here prints, measures or works figures out."""
