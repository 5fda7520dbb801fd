"""How the runner's look once a second spares itself work; what reads its samples has to know."""

from __future__ import annotations

MOST_JOBS_READ_AT_ONCE = 8
"""Beside more running jobs CPU, memory and run delay are read of every other job, in turns."""

LOOKS_BETWEEN_WALKS = 5
"""At its first look and then at every so many a job's tree is walked, which reads all of it in any turn."""

NEW_LOOKS = 3
"""A process is walked at each of its first looks."""
