"""jobs: every job finished, and its answer was checked.

scale: standard or larger.

duration: an active phase of 20 minutes.

repeats: five runs of the same.

simulated: the only rule for a simulated run, because such a run was never made.

reach: what programs moved reached the devices.

residency: the input tables were not in memory before the start.
"""

from __future__ import annotations

from mawl.advice.validity.imported import Said, no_file_says, with_cure
from mawl.base.units import format_percent, format_seconds
from mawl.figures.io import REACHES_STORAGE_RATIO, cached_directions
from mawl.figures.open_jobs import bad_jobs, failed
from mawl.figures.recordings import NO_JOBS
from mawl.figures.view import RunView
from mawl.plan.spec import SCALES
from mawl.records.model.summary.judgement import Finding, Severity, Unmeasured
from mawl.records.model.thresholds import count_of, value_of

JOBS_NAME = "jobs"


def check_jobs(reading: RunView) -> list[Finding]:
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


def check_import_jobs(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """Logs tell of errors, not of right answers."""
    found = reading.summary.jobs
    if not found.total:
        return [Unmeasured(rule=JOBS_NAME, severity="preliminary", reason=NO_JOBS)]
    bad = found.total - found.counted
    if bad:
        sentence = f"{bad} of {found.total} imported jobs failed or are cut short: their time does not count"
        cure = "see their reasons (mawl report lists them), and import the logs of a time when all went well"
        return [_finding("invalid", sentence, cure)]
    if found.unverified:
        reason = f"no log says whether an answer was right; those of {found.unverified} jobs have no ERROR"
        return [Unmeasured(rule=JOBS_NAME, severity="preliminary", reason=reason)]
    return []


def _finding(severity: Severity, sentence: str, cure: str) -> Finding:
    return Finding(rule=JOBS_NAME, severity=severity, sentence=sentence, cure=cure)


SCALE_NAME = "scale"


def check_scale(reading: RunView) -> list[Finding]:
    """Below scale standard, fixed costs and smaller memory options are a part of every time."""
    scale = reading.facts.workload.scale
    if scale is not None and scale >= SCALES["standard"]:
        return []
    standard = plain(SCALES["standard"])
    what = "is not known" if scale is None else f"{plain(scale)} is below standard ({standard})"
    return [
        Finding(
            rule=SCALE_NAME,
            severity="preliminary",
            sentence=f"the scale {what}",
            cure="run with --scale standard or larger",
        )
    ]


def plain(scale: float) -> str:
    """A scale in plain decimals: ``0.00005``, never ``5e-05``."""
    return f"{scale:.12f}".rstrip("0").rstrip(".")


check_import_scale = no_file_says(SCALE_NAME, "a load that mawl did not run has no scale")


DURATION_NAME = "duration"
LEAST_ACTIVE_SECONDS = value_of("validity.duration.least_active_seconds")
"""Write caches, burst credits and heat show within minutes, not within seconds."""


def check_duration(reading: RunView) -> list[Finding]:
    """In a shorter active phase, a write cache, burst credits or a cool machine can hide a limit."""
    active = reading.summary.time.active_seconds
    if active is not None and active >= LEAST_ACTIVE_SECONDS:
        return []
    lasted = "is not known" if active is None else f"lasted {format_seconds(active)}"
    return [
        Finding(
            rule=DURATION_NAME,
            severity="preliminary",
            sentence=f"the active phase {lasted}; {format_seconds(LEAST_ACTIVE_SECONDS)} required",
            cure="choose a larger --scale or more sessions",
        )
    ]


def check_import_duration(reading: RunView) -> Said:
    """The same rule, where the files are of one run and say when it was."""
    if reading.line is not None and reading.line.periods:
        return _unmeasured("the files are not of one run: import each period by itself")
    if reading.summary.time.active_seconds is None:
        return _unmeasured("no file names the times of jobs or of a host")
    return with_cure(check_duration(reading), "import the files of a longer time")


def _unmeasured(reason: str) -> list[Unmeasured]:
    return [Unmeasured(rule=DURATION_NAME, severity="preliminary", reason=reason)]


REPEATS_NAME = "repeats"
FEWEST_REPEATS = count_of("validity.repeats.fewest_runs")


def check_repeats(reading: RunView) -> list[Finding]:
    """One run does not show how far its figures scatter."""
    repeats = reading.facts.repeats
    if repeats >= FEWEST_REPEATS:
        return []
    runs = "a single run" if repeats == 1 else f"one of {repeats} runs"
    return [
        Finding(
            rule=REPEATS_NAME,
            severity="preliminary",
            sentence=f"this is {runs} of its workload; {FEWEST_REPEATS} required",
            cure=f"run it {FEWEST_REPEATS} times under the same conditions (mawl run --repeat "
            f"{FEWEST_REPEATS}), and give median and range; a single run is only preliminary",
        )
    ]


def check_import_repeats(_: RunView) -> list[Finding]:
    """Files are of one run."""
    return [
        Finding(
            rule=REPEATS_NAME,
            severity="preliminary",
            sentence=f"these are files of one run; {FEWEST_REPEATS} runs of the same required",
            cure="import other days of the same load as separate runs, and compare them (mawl compare)",
        )
    ]


SIMULATED_NAME = "simulated"


def check_simulated(_: RunView) -> list[Finding]:
    """A forecast is an indication, however well it fits."""
    return [
        Finding(
            rule=SIMULATED_NAME,
            severity="preliminary",
            sentence="the run was simulated, not made: its figures are a forecast",
            cure="make the run where it can be made, and hold both together (mawl simulate --against)",
        )
    ]


REACH_NAME = "reach"


def check_reach(reading: RunView) -> list[Finding]:
    """Below a reach of 0.8 in a direction, the page cache and not the storage gave its figures. Direct I/O
    has a reach of 1."""
    io = reading.summary.io
    directions = cached_directions(io)
    if directions:
        shares = " and ".join(
            f"{format_percent(getattr(io.reach, f'{name}_ratio'))} of the bytes {verb}"
            for name, verb in (("read", "read"), ("write", "written"))
            if name in directions
        )
        return [
            Finding(
                rule=REACH_NAME,
                severity="preliminary",
                sentence=f"only {shares} reached a device ({format_percent(REACHES_STORAGE_RATIO)} "
                "required): "
                "the page cache served the rest",
                cure="run with --cache none, a larger --scale or a lower --memory-limit",
            )
        ]
    if None in (io.reach.read_ratio, io.reach.write_ratio):
        return [
            Finding(
                rule=REACH_NAME,
                severity="preliminary",
                sentence="how much of the load reached a device is not known",
                cure="run on a kernel that accounts for I/O (CONFIG_TASK_IO_ACCOUNTING)",
            )
        ]
    return []


check_import_reach = no_file_says(
    REACH_NAME, "no file says both what programs asked for and what devices moved"
)


RESIDENCY_NAME = "residency"
MOST_RESIDENT_RATIO = value_of("validity.residency.most_resident_ratio")


def check_residency(reading: RunView) -> list[Finding | Unmeasured]:
    """If inputs are in the page cache at the start, jobs read them from memory even the first time."""
    cache = reading.facts.cache
    if cache is None or (cache.input_bytes and cache.resident_bytes is None):
        reason = "it was not measured" if cache is None else cache.reason or "the kernel did not say"
        return [
            Finding(
                rule=RESIDENCY_NAME,
                severity="remark",
                sentence=f"how much of the inputs was cached before the start is not known: {reason}",
                cure="run with --cache cold",
            ),
            Unmeasured(rule=RESIDENCY_NAME, severity="remark", reason=reason),
        ]
    resident = cache.resident_bytes or 0
    if cache.mode == "warm" or not cache.input_bytes or resident <= MOST_RESIDENT_RATIO * cache.input_bytes:
        return []
    return [
        Finding(
            rule=RESIDENCY_NAME,
            severity="preliminary",
            sentence=f"{format_percent(resident / cache.input_bytes)} of the input files were already "
            "cached before the start",
            cure="run with --cache cold, or say that the start was warm (--cache warm)",
        )
    ]


check_import_residency = no_file_says(
    RESIDENCY_NAME, "no file says what was in the page cache before", "remark"
)
