"""Rules on the load: its jobs, scale, duration and repeats, and whether it reached the storage."""

from __future__ import annotations

from mawl.advice.validity.rule import RuleResults, ValidityRule, no_file_says, with_cure
from mawl.base.units import format_percent, format_seconds
from mawl.figures.io import REACHES_STORAGE_RATIO, cached_directions
from mawl.figures.open_jobs import bad_jobs, failed
from mawl.figures.recordings import NO_JOBS
from mawl.figures.view import RunView
from mawl.plan.spec import SCALES
from mawl.records.model.summary.judgement import Finding, Severity, Unmeasured
from mawl.records.model.thresholds import count_of, value_of


def _check_jobs(reading: RunView) -> list[Finding]:
    """A job that did not finish with a right answer makes the run invalid. An unchecked answer makes it
    preliminary."""
    jobs, facts = reading.summary.jobs, reading.facts
    bad = max(jobs.total, facts.workload.jobs) - jobs.counted
    if facts.outcome == "running":
        return [
            _jobs_finding(
                "invalid", "the run is in progress: its figures cover what ended so far", "wait for its end"
            )
        ]
    if bad or facts.outcome != "completed":
        planned = max(jobs.total, facts.workload.jobs)
        sentence = f"the figures lack {bad} of {planned} jobs, which did not finish with a right answer"
        if not bad:
            sentence = f"the run did not complete: {facts.outcome_reason or facts.outcome}"
        return [_jobs_finding("invalid", sentence, _jobs_cure(reading))]
    if jobs.unverified:
        return [
            _jobs_finding(
                "preliminary",
                f"{jobs.unverified} jobs finished with an unchecked answer",
                "run programs of the catalogue, which check theirs",
            )
        ]
    return []


def _jobs_cure(reading: RunView) -> str:
    found = [job for job in bad_jobs(reading.jobs) if failed(job)]
    if not found:
        return "run it again to its end"
    one = found[0]
    place = f"nodes/{one.node}/logs" if reading.facts.node_runs else f"logs/{one.job}.log"
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"fix {one.job}{more} (see {place} in the run folder) and run again"


def _check_import_jobs(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """Logs tell of errors, not of right answers."""
    found = reading.summary.jobs
    if not found.total:
        return [Unmeasured(rule=JOBS.name, severity="preliminary", reason=NO_JOBS)]
    bad = found.total - found.finished
    if bad:
        what = "failed or are cut short: their time does not count"
        if bad == found.counted - found.finished:
            what = "ended with errors: their time counts, their answers do not"
        sentence = f"{bad} of {found.total} imported jobs {what}"
        cure = "see their reasons (mawl report lists them), and import the logs of a time when all went well"
        return [_jobs_finding("invalid", sentence, cure)]
    if found.unverified:
        reason = f"no log says whether an answer was right; those of {found.unverified} jobs have no ERROR"
        return [Unmeasured(rule=JOBS.name, severity="preliminary", reason=reason)]
    return []


def _jobs_finding(severity: Severity, sentence: str, cure: str) -> Finding:
    return Finding(rule=JOBS.name, severity=severity, sentence=sentence, cure=cure)


JOBS = ValidityRule("jobs", _check_jobs, _check_import_jobs)


def _check_scale(reading: RunView) -> list[Finding]:
    """Below scale standard, fixed costs and smaller memory options are a part of every time."""
    scale = reading.facts.workload.scale
    if scale is not None and scale >= SCALES["standard"]:
        return []
    standard = plain_scale(SCALES["standard"])
    what = "is not known" if scale is None else f"{plain_scale(scale)} is below standard ({standard})"
    return [
        Finding(
            rule=SCALE.name,
            severity="preliminary",
            sentence=f"the scale {what}",
            cure="run with --scale standard or larger",
        )
    ]


def plain_scale(scale: float) -> str:
    """A scale in plain decimals: ``0.00005``, never ``5e-05``."""
    return f"{scale:.12f}".rstrip("0").rstrip(".")


SCALE = ValidityRule(
    "scale", _check_scale, no_file_says("scale", "a load that mawl did not run has no scale")
)


LEAST_ACTIVE_SECONDS = value_of("validity.duration.least_active_seconds")
"""Write caches, burst credits and heat show within minutes, not within seconds."""


def _check_duration(reading: RunView) -> list[Finding]:
    """In a shorter active phase, a write cache, burst credits or a cool machine can hide a limit."""
    active = reading.summary.time.active_seconds
    if active is not None and active >= LEAST_ACTIVE_SECONDS:
        return []
    lasted = "is not known" if active is None else f"lasted {format_seconds(active)}"
    return [
        Finding(
            rule=DURATION.name,
            severity="preliminary",
            sentence=f"the active phase {lasted}; {format_seconds(LEAST_ACTIVE_SECONDS)} required",
            cure="choose a larger --scale or more sessions",
        )
    ]


def _check_import_duration(reading: RunView) -> RuleResults:
    if reading.line is not None and reading.line.periods:
        return _duration_unmeasured("the files are not of one run: import each period by itself")
    if reading.summary.time.active_seconds is None:
        return _duration_unmeasured("no file names the times of jobs or of a host")
    return with_cure(_check_duration(reading), "import the files of a longer time")


def _duration_unmeasured(reason: str) -> list[Unmeasured]:
    return [Unmeasured(rule=DURATION.name, severity="preliminary", reason=reason)]


DURATION = ValidityRule("duration", _check_duration, _check_import_duration)


FEWEST_REPEATS = count_of("validity.repeats.fewest_runs")


def _check_repeats(reading: RunView) -> list[Finding]:
    """One run does not show how far its figures scatter."""
    repeats = reading.facts.repeats
    if repeats >= FEWEST_REPEATS:
        return []
    runs = "a single run" if repeats == 1 else f"one of {repeats} runs"
    return [
        Finding(
            rule=REPEATS.name,
            severity="preliminary",
            sentence=f"this is {runs} of its workload; {FEWEST_REPEATS} required",
            cure=f"run it {FEWEST_REPEATS} times under the same conditions (mawl run --repeat "
            f"{FEWEST_REPEATS}), and give median and range; a single run is only preliminary",
        )
    ]


def _check_import_repeats(_: RunView) -> list[Finding]:
    return [
        Finding(
            rule=REPEATS.name,
            severity="preliminary",
            sentence=f"these are files of one run; {FEWEST_REPEATS} runs of the same required",
            cure="import other days of the same load as separate runs, and compare them (mawl compare)",
        )
    ]


REPEATS = ValidityRule("repeats", _check_repeats, _check_import_repeats)


def check_simulated(_: RunView) -> list[Finding]:
    """A forecast is an indication, however well it fits."""
    return [
        Finding(
            rule="simulated",
            severity="preliminary",
            sentence="the run was simulated, not made: its figures are a forecast",
            cure="make the run where it can be made, and hold both together (mawl simulate --against)",
        )
    ]


def _check_reach(reading: RunView) -> list[Finding]:
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
                rule=REACH.name,
                severity="preliminary",
                sentence=f"only {shares} reached a device ({format_percent(REACHES_STORAGE_RATIO)} "
                "required): "
                "the page cache served the rest",
                cure="run with --cache none, a larger --scale or a lower --memory-limit",
            )
        ]
    for name, moved in (("read", io.application.read_bytes), ("write", io.application.written_bytes)):
        if getattr(io.reach, f"{name}_ratio") is None and moved != 0:
            why = reading.summary.missing.get(f"io.reach.{name}_ratio", "it was not measured")
            return [
                Finding(
                    rule=REACH.name,
                    severity="preliminary",
                    sentence=f"how much of the load reached a device is not known: {why}",
                    cure="run on local file systems, with a kernel that accounts for I/O "
                    "(CONFIG_TASK_IO_ACCOUNTING)",
                )
            ]
    return []


REACH = ValidityRule(
    "reach",
    _check_reach,
    no_file_says("reach", "no file says both what programs asked for and what devices moved"),
)


MOST_RESIDENT_RATIO = value_of("validity.residency.most_resident_ratio")


def _check_residency(reading: RunView) -> list[Finding | Unmeasured]:
    """If inputs are in the page cache at the start, jobs read them from memory even the first time."""
    cache = reading.facts.cache
    if cache is None or (cache.input_bytes and cache.resident_bytes is None):
        reason = "it was not measured" if cache is None else cache.reason or "the kernel did not say"
        return [
            Finding(
                rule=RESIDENCY.name,
                severity="remark",
                sentence=f"how much of the inputs was cached before the start is not known: {reason}",
                cure="run with --cache cold",
            ),
            Unmeasured(rule=RESIDENCY.name, severity="remark", reason=reason),
        ]
    resident = cache.resident_bytes or 0
    if cache.mode == "warm" or not cache.input_bytes or resident <= MOST_RESIDENT_RATIO * cache.input_bytes:
        return []
    return [
        Finding(
            rule=RESIDENCY.name,
            severity="preliminary",
            sentence=f"{format_percent(resident / cache.input_bytes)} of the input files were already "
            "cached before the start",
            cure="run with --cache cold, or say that the start was warm (--cache warm)",
        )
    ]


RESIDENCY = ValidityRule(
    "residency",
    _check_residency,
    no_file_says("residency", "no file says what was in the page cache before", "remark"),
)
