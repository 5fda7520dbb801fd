"""jobs: every job finished, and its answer was checked."""

from __future__ import annotations

from mawl.analysis.endings import bad_jobs, failed
from mawl.analysis.recordings import NO_JOBS
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Severity, Unmeasured

NAME = "jobs"


def check(reading: RunView) -> list[Finding]:
    """A job that did not finish with a right answer makes the run invalid. An unchecked answer makes it
    preliminary."""
    jobs, facts = reading.summary.jobs, reading.facts
    bad = max(jobs.total, facts.workload.jobs) - jobs.counted
    if facts.outcome == "running":
        return [
            _finding(
                "invalid", "the run is in progress: its figures cover what ended so far", "wait for its end"
            )
        ]
    if bad or facts.outcome != "completed":
        planned = max(jobs.total, facts.workload.jobs)
        sentence = f"the figures lack {bad} of {planned} jobs, which did not finish with a right answer"
        if not bad:
            sentence = f"the run did not complete: {facts.outcome_reason or facts.outcome}"
        return [_finding("invalid", sentence, _cure(reading))]
    if jobs.unverified:
        return [
            _finding(
                "preliminary",
                f"{jobs.unverified} jobs finished with an unchecked answer",
                "run programs of the catalogue, which check theirs",
            )
        ]
    return []


def _cure(reading: RunView) -> str:
    """What to fix: the jobs by name, and where their logs are."""
    found = [job for job in bad_jobs(reading.jobs) if failed(job)]
    if not found:
        return "run it again to its end"
    one = found[0]
    place = f"nodes/{one.node}/logs" if reading.facts.node_runs else f"logs/{one.job}.log"
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"fix {one.job}{more} (see {place} in the run folder) and run again"


def check_import(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """Logs tell of errors, not of right answers."""
    found = reading.summary.jobs
    if not found.total:
        return [Unmeasured(rule=NAME, severity="preliminary", reason=NO_JOBS)]
    bad = found.total - found.counted
    if bad:
        sentence = f"{bad} of {found.total} imported jobs failed or are cut short: their time does not count"
        cure = "see their reasons (mawl report lists them), and import the logs of a time when all went well"
        return [_finding("invalid", sentence, cure)]
    if found.unverified:
        reason = f"no log says whether an answer was right; those of {found.unverified} jobs have no ERROR"
        return [Unmeasured(rule=NAME, severity="preliminary", reason=reason)]
    return []


def _finding(severity: Severity, sentence: str, cure: str) -> Finding:
    return Finding(rule=NAME, severity=severity, sentence=sentence, cure=cure)
