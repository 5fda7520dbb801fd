"""Frozen records that several floors share.  No I/O here, and no import from a floor above."""
