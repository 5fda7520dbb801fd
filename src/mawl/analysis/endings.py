"""How jobs that do not count ended, in words: which they are, and what happened to each."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.model.records import JobRecord

MOST_NAMED = 3
"""Jobs that a sentence names; a report lists all."""
FAILED = ("failed", "timed_out")

_OUTCOMES = {
    "timed_out": "ran into its time limit",
    "stopped": "stopped with the run",
    "lost": "its end was not recorded",
    "not_started": "never started",
}


def what_happened(job: JobRecord) -> str:
    """How a job that does not count ended: a wrong answer, a signal, an exit status, or its outcome."""
    if job.verified is False:
        return "wrong answer"
    if job.outcome in _OUTCOMES:
        return _OUTCOMES[job.outcome]
    if job.signal is not None:
        return f"killed by signal {job.signal}"
    return f"exit status {job.exit_code}" if job.exit_code else "failed"


def bad_jobs(jobs: Sequence[JobRecord]) -> list[JobRecord]:
    """The jobs that do not count: first those that failed, then the stopped, lost and not started."""
    found = [job for job in jobs if job.outcome != "finished" or job.verified is False]
    return sorted(found, key=lambda job: not failed(job))


def failed(job: JobRecord) -> bool:
    """Whether the job itself failed (a wrong answer, an error, a time limit), and was not only stopped."""
    return job.verified is False or job.outcome in FAILED


def named(jobs: Sequence[JobRecord], more: int = 0) -> str:
    """``s3-1 (wrong answer), s4-1 (killed by signal 9) and 2 more``: ``more`` are jobs without a record."""
    words = ", ".join(f"{job.job} ({what_happened(job)})" for job in jobs[:MOST_NAMED])
    more += max(len(jobs) - MOST_NAMED, 0)
    if not words:
        return f"{more} never started"
    return f"{words} and {more} more" if more else words


def bad_sentence(jobs: Sequence[JobRecord], planned: int, bad: int) -> str:
    """``1 of 6 jobs failed: s3-1 (wrong answer)``, of ``bad`` jobs of ``planned``."""
    found = bad_jobs(jobs)
    word = "failed" if len(found) >= bad and all(map(failed, found)) else "did not finish"
    return f"{bad} of {planned} jobs {word}: {named(found, max(bad - len(found), 0))}"
