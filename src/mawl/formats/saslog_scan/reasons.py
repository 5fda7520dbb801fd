"""Why a scan stops: the last enum of ``scan.c``."""

FOREIGN, UNFINISHED, FULL, DONE = range(4)
"""Why it stops: at a line that is Python's, at a note that may go on behind the bytes, where no room is left
(any line), behind the last line that matters."""
