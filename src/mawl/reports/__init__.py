"""Summaries and records in, text out.  Nothing here prints, measures or works figures out."""

from pathlib import Path

try:
    Path.home()
except RuntimeError:
    import mawl.reports.without_home  # noqa: F401
