"""Frozen records that several packages share.  No I/O here, and no import from a package above."""
