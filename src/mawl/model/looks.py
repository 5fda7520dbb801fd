"""How the runner's look once a second spares itself work; what reads its samples has to know."""

from __future__ import annotations

MOST_JOBS_READ_AT_ONCE = 8
"""Beside more running jobs CPU, memory and run delay are read of every other job, in turns."""
