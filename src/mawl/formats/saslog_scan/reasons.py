"""Why a scan stops: the last enum of ``scan.c``."""

FOREIGN, UNFINISHED, FULL, DONE = range(4)
"""FOREIGN: Python must read the line.  UNFINISHED: a note may go on behind the bytes.  FULL: the batch has no
room left.  DONE: no line that matters is left."""
