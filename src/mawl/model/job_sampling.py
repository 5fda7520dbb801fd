"""How the runner's look once a second spares itself work; what reads its samples has to know."""

from __future__ import annotations

MOST_JOBS_READ_AT_ONCE = 8
"""Above this many running jobs, CPU, memory and run delay of half of them are read per tick, in turns."""
