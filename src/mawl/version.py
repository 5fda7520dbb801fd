"""The version of mawl, below all floors: every record and report states it."""

__version__ = "0.2.0"
