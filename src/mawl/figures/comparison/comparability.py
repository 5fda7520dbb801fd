"""Whether two sides may be compared with each other, and in which facts they differ.

docs/design/comparison.md gives the reason of each rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from statistics import fmean
from typing import Literal, NamedTuple

import msgspec

from mawl.base.units import counted_noun, format_memory, format_percent, format_plain, format_ratio
from mawl.figures.caps import DIRECTIONS, NO_CAP, cap_in_force
from mawl.figures.comparison.sides import ComparedRun, Side, centre, same
from mawl.figures.statistics import FEWEST_RUNS
from mawl.plan.mix import mix_range
from mawl.records.model.qualification import Qualification, QualificationChoice
from mawl.records.model.run import NodeFacts, RunFacts
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A fact in which the sides differ and which may be the reason of all else."""

    name: str
    reference: str
    candidate: str


Reader = Callable[[ComparedRun], object]

CAP = "cap on "
LIMITS: tuple[tuple[str, Reader], ...] = (
    *(
        (f"{CAP}{role} {way}s", lambda run, role=role, way=way: cap_in_force(run.facts, role, way))
        for role in ROLES
        for way in DIRECTIONS
    ),
    ("CPU quota", lambda run: _of_nodes(run, "cpu_quota", "{:g} CPUs".format)),
    ("memory limit", lambda run: _of_nodes(run, "memory_limit_bytes", format_memory)),
)
"""Caps in force: settings that are listed before all others."""

OWN: tuple[tuple[str, Reader], ...] = (
    *LIMITS,
    ("options", lambda run: _options(run)),
    ("machine", lambda run: "; ".join(_machine(node) for node in run.facts.nodes)),
    ("kernel", lambda run: ", ".join(node.kernel or "-" for node in run.facts.nodes)),
    ("file systems", lambda run: _file_systems(run)),
    ("directories", lambda run: _directories(run)),
    ("volume order", lambda run: run.facts.volume_order),
    ("cache before the start", lambda run: run.facts.cache.mode if run.facts.cache else None),
    ("start of jobs", lambda run: run.facts.start_mode),
    ("mawl", lambda run: run.facts.mawl_version),
    ("format", lambda run: run.facts.format_version),
)
"""What may be the very thing that is compared, and so is listed; within a side it is a doubt."""

ARM_SETTING = "setting of the arm:"
"""What the name of a setting that a campaign changed, or checked, begins with."""

OPTION = "option"
"""What the name of an option of the runs begins with."""

TABLES: tuple[tuple[str, Callable[[RunFacts], Mapping[str, object]]], ...] = (
    (OPTION, lambda facts: _option_table(facts)),
    ("software", lambda facts: facts.software),
    ("setting", lambda facts: facts.settings),
    (ARM_SETTING, lambda facts: _arm_settings(facts)),
)
"""Facts that are listed name by name."""


def differences(reference: Side, candidate: Side) -> list[Difference]:
    """Facts in which two sides of runs differ: a fact that varies within a side shows its first value."""
    if not (reference.runs and candidate.runs):
        return []
    before, after = reference.runs[0], candidate.runs[0]
    found = [(name, read(before), read(after)) for name, read in OWN if name != "options"]
    for title, read_table in TABLES:
        one, other = read_table(before.facts), read_table(after.facts)
        found += [(f"{title} {name}", one.get(name), other.get(name)) for name in sorted({*one, *other})]
    return [
        Difference(name=name, reference=_listed(one), candidate=_listed(other))
        for name, one, other in found
        if one != other and {one, other} != {None, NO_CAP}
    ] + _environments(before, after)


def _environments(before: ComparedRun, after: ComparedRun) -> list[Difference]:
    """A line for each program whose variables differ by name, or by value, or cannot be compared."""
    found: dict[str, Difference] = {}
    for job in sorted(before.environments.keys() | after.environments.keys()):
        one, other = before.environments.get(job), after.environments.get(job)
        names = [", ".join(each.names) if each else "-" for each in (one, other)]
        if one is not None and other is not None and one.names == other.names:
            comparable = one.digest and other.digest and one.library and one.library == other.library
            if comparable and one.digest == other.digest:
                continue
            names = [
                f"values of {names[0]}",
                "other values" if comparable else "not comparable: the runs have no common key (.mawl-key)",
            ]
        if (recorded := before.jobs.get(job) or after.jobs.get(job)) is not None:
            name = f"environment of {recorded.program}"
            found.setdefault(recorded.program, Difference(name=name, reference=names[0], candidate=names[1]))
    return [found[program] for program in sorted(found)]


def shown(value: object) -> str:
    """A fact as text; ``-`` where it is not known."""
    return "-" if value is None else str(value)


def _listed(value: object) -> str:
    first, *more = shown(value).strip().splitlines() or [""]
    return f"{first.strip()} ... ({len(more) + 1} lines)" if more else shown(value)


def _options(run: ComparedRun) -> str:
    return ", ".join(f"{name}={value}" for name, value in _option_table(run.facts).items())


def _option_table(facts: RunFacts) -> Mapping[str, object]:
    options = facts.workload.options
    return {} if options is None else msgspec.structs.asdict(options)


def _arm_settings(facts: RunFacts) -> Mapping[str, object]:
    return (
        {} if facts.campaign is None else {setting.name: setting.read for setting in facts.campaign.settings}
    )


def _machine(node: NodeFacts) -> str:
    cores = f"{node.cores or '-'} {node.core_basis or 'core'}s"
    memory = "-" if node.memory_bytes is None else format_memory(node.memory_bytes)
    limits = [] if node.cpus_used is None else [f"{len(node.cpus_used)} CPUs used"]
    return f"{node.name}: {', '.join([node.cpu_model or '-', cores, memory, *limits])}"


def _of_nodes(run: ComparedRun, name: str, form: Callable[[float], str]) -> str:
    values = [getattr(node, name) for node in run.facts.nodes]
    return ", ".join("no limit recorded" if value is None else form(value) for value in values)


def _file_systems(run: ComparedRun) -> str:
    return ", ".join(f"{volume.role} {volume.file_system or '-'}" for volume in run.facts.volumes)


def _directories(run: ComparedRun) -> str:
    return "; ".join(f"{role} {', '.join(places)}" for role, places in run.facts.roles.items())


AS_COUNTED = "counted by the kernel"
SCALED = "scaled by AIX"
ADJUSTED = "adjusted for AIX's scaling"


def accounting(side: Side) -> str | None:
    """How the CPU times of a side were counted; None where a paper does not say.

    Raw times of AIX stand for a part of a core (the papers' factor); those of Linux, and of other
    systems whose FULLSTIMER was printed as logged, are what the kernel counted.
    """
    if side.published is None:
        return AS_COUNTED
    given = side.published.cpu_accounting
    if given is None:
        return None
    if given == "purr":
        return ADJUSTED
    return AS_COUNTED if side.published.system.smt is None else SCALED


Severity = Literal["refused", "doubtful", "remark"]
"""``refused``: no comparison; ``doubtful``: only with ``--anyway``; ``remark``: said beside the figures."""

APART = "the runs of the two sides did not alternate, so drift would look like an effect"
TAKE_TURNS = "run the sides in turns (A B B A): mawl run --ab A.toml B.toml does this on one machine"

MOST_APART_RATIO = value_of("comparison.most_apart_ratio")
"""A B A B differ by one."""

NEVER_MET = "no figure of one says anything about the other"


class Obstacle(msgspec.Struct, frozen=True, kw_only=True):
    """Something that stands between two sides, in one sentence with both values."""

    rule: str
    severity: Severity
    sentence: str


class MustMatch(NamedTuple):
    """What runs must share to be compared, what happens where they do not, and how to read it.

    ``over_nights``: the runs of a history must share it, too; their jobs may change.
    """

    name: str
    severity: Severity
    read: Reader
    over_nights: bool = False


MUST_MATCH: tuple[MustMatch, ...] = (
    MustMatch("jobs of the workload", "refused", lambda run: _jobs(run)),
    MustMatch("scale", "refused", lambda run: run.facts.workload.scale, True),
    MustMatch("what derived jobs do and when they start", "refused", lambda run: run.facts.derived),
    MustMatch("what mawl's programs do (version of the load)", "refused", lambda run: _load(run), True),
    MustMatch("page cache", "refused", lambda run: _page_cache(run), True),
    MustMatch("kind", "doubtful", lambda run: _kind(run), True),
    MustMatch("seed of the inputs", "doubtful", lambda run: run.facts.workload.seed),
)
"""The one list: of two sides, of the results of a site, and of the nights of a history."""


def match_of_answers(record: Qualification, choice: QualificationChoice) -> dict[str, str]:
    """The same of the answers of qualifications, whose runs are not at hand, in words."""
    mix = mix_range(choice.sessions)
    reference = None if record.answer is None else record.answer.reference
    return {
        "workload": record.asked.workload,
        "scale": format_plain(choice.scale, 6),
        "cache mode": choice.cache,
        "bound": format_ratio(record.asked.answer_bound),
        "version of the load": f"{record.load_version}",
        "reference": "none" if reference is None else f"version {reference.version}",
        "mix": f"that of {mix.fewest} to {mix.most} sessions",
    }


WARMTH_RATIO = value_of("comparison.most_warmth_difference")
"""Inputs that were in memory before the start: sides further apart than this did not read alike."""


def obstacles(reference: Side, candidate: Side) -> list[Obstacle]:
    """Everything in the way, the gravest first; published sides have no plan to be unlike in."""
    found: list[Obstacle] = []
    for side in (reference, candidate):
        found += _within(side)
    if reference.runs and candidate.runs:
        found += _between(reference, candidate)
    found += _bases(reference, candidate)
    order: tuple[Severity, ...] = ("refused", "doubtful", "remark")
    return sorted(found, key=lambda obstacle: order.index(obstacle.severity))


def _within(side: Side) -> Iterator[Obstacle]:
    for name, severity, read, _ in MUST_MATCH:
        if not same(read(run) for run in side.runs):
            yield Obstacle(
                rule=name, severity=severity, sentence=f"the runs of {side.label} differ in: {name}"
            )
    for name, read in OWN:
        values = list(dict.fromkeys(shown(read(run)) for run in side.runs))
        if len(values) > 1:
            yield Obstacle(
                rule=name,
                severity="doubtful",
                sentence=f"the runs of {side.label} are not repeats of each other: "
                f"{name} is {values[0]} and {values[1]}",
            )
    invalid = [run.facts.run_id for run in side.runs if run.summary.validity.status == "invalid"]
    if invalid:
        yield Obstacle(
            rule="validity",
            severity="remark",
            sentence=f"not trusted by their own report: {', '.join(invalid)} of {side.label}",
        )
    for run in side.runs:
        if run.facts.outcome != "completed":
            jobs = run.summary.jobs
            yield Obstacle(
                rule="outcome",
                severity="doubtful" if run.facts.outcome == "running" else "remark",
                sentence=f"run {run.facts.run_id} is {run.facts.outcome}: "
                f"{jobs.counted} of its {run.facts.workload.jobs} jobs count",
            )


def _between(reference: Side, candidate: Side) -> Iterator[Obstacle]:
    before, after = reference.runs[0], candidate.runs[0]
    shared = sorted(
        {run.facts.run_id for run in reference.runs} & {run.facts.run_id for run in candidate.runs}
    )
    if shared:
        yield Obstacle(
            rule="same run",
            severity="doubtful",
            sentence=f"run {shared[0]} is on both sides: it is compared with itself",
        )
    for name, severity, read, _ in MUST_MATCH:
        one, other = read(before), read(after)
        if one != other:
            yield Obstacle(rule=name, severity=severity, sentence=_unlike(name, one, other, before, after))
    if not alternate(reference, candidate):
        yield Obstacle(rule="order", severity="remark", sentence=APART)
    warmth = [centre(side.values("inputs.resident_ratio")) for side in (reference, candidate)]
    if None not in warmth and abs((warmth[0] or 0.0) - (warmth[1] or 0.0)) > WARMTH_RATIO:
        shares = " and ".join(format_percent(share or 0.0) for share in warmth)
        yield Obstacle(
            rule="warmth",
            severity="remark",
            sentence=f"{shares} of the input files were cached before the start: run both with --cache cold",
        )
    pools = [run.facts.arrow_pool for run in (before, after)]
    if None not in pools and pools[0] != pools[1]:
        yield Obstacle(
            rule="memory pool",
            severity="remark",
            sentence=f"Arrow used the memory pool {pools[0]} on one side and {pools[1]} on the other: "
            "peak memory and CPU time can differ for this reason alone",
        )
    for file in dict.fromkeys(run.facts.reference_file for run in (before, after)):
        if file is not None:
            yield Obstacle(
                rule="reference times",
                severity="remark",
                sentence=f"reference times are of a user's file, {file}, and not mawl's: slowdown and "
                "delivered cores compare only with runs that have the same file",
            )
    if not same(_device_source(run) for run in (before, after)):
        yield Obstacle(
            rule="device side",
            severity="remark",
            sentence=f"bytes at the device are those of {_device_source(before)} on one side and of "
            f"{_device_source(after)} on the other: figures of the device are not compared",
        )


def _bases(reference: Side, candidate: Side) -> Iterator[Obstacle]:
    cores = [core_basis(side) for side in (reference, candidate)]
    if cores[0] != cores[1]:
        yield Obstacle(
            rule="core basis",
            severity="remark",
            sentence=f"cores are counted as {cores[0] or 'not known'} and {cores[1] or 'not known'}: "
            "figures per core are not compared",
        )
    accounts = [accounting(side) for side in (reference, candidate)]
    if accounts[0] != accounts[1]:
        yield Obstacle(
            rule="CPU accounting",
            severity="remark",
            sentence=f"CPU time is {accounts[0] or 'not known'} and {accounts[1] or 'not known'}: "
            "CPU times and CPU/real are not compared",
        )


def core_basis(side: Side) -> str | None:
    """What a core of this side is; None where it is not known or its nodes differ."""
    if side.published is not None:
        basis: str | None = side.published.per_core.core_basis
        return basis
    bases = {node.core_basis for run in side.runs for node in run.facts.nodes}
    return bases.pop() if len(bases) == 1 else None


def compares_devices(reference: Side, candidate: Side) -> bool:
    """Whether both sides counted device bytes at the same place."""
    return same(_device_source(run) for side in (reference, candidate) for run in side.runs)


def _unlike(name: str, one: object, other: object, before: ComparedRun, after: ComparedRun) -> str:
    if name != "jobs of the workload":
        return f"the sides differ in {name}: {shown(one)} and {shown(other)}"
    names = [run.facts.workload.name for run in (before, after)]
    return (
        f"the sides ran other jobs ({names[0]} with {len(before.jobs)}, "
        f"{names[1]} with {len(after.jobs)}): {NEVER_MET}"
    )


class Unjudged(msgspec.Struct, frozen=True, kw_only=True):
    """Why two sides are compared in figures only, and how to get a judgement."""

    rule: Literal["validity", "runs", "order"]
    reason: str
    fix: str


def why_unjudged(reference: Side, candidate: Side) -> Unjudged | None:
    """Why no difference between two sides of runs is judged; None where it is."""
    sides = (reference, candidate)
    invalid = [
        f"{len(some)} of {counted_noun(len(side.runs), 'run')} of {side.label}"
        for side in sides
        if (some := [run for run in side.runs if run.summary.validity.status == "invalid"])
    ]
    if invalid:
        return Unjudged(
            rule="validity",
            reason=f"invalid by their own checks: {' and '.join(invalid)}",
            fix="fix what makes runs invalid; the report of each such run names it",
        )
    fewest = min(len(side.runs) for side in sides)
    if fewest < FEWEST_RUNS:
        lacking = sum(max(FEWEST_RUNS - len(side.runs), 0) for side in sides)
        return Unjudged(
            rule="runs",
            reason=f"{len(reference.runs)} against {counted_noun(len(candidate.runs), 'run')}: "
            "too few for an interval",
            fix=f"make {counted_noun(lacking, 'more run')}, the sides in turns; a statement needs "
            f"{FEWEST_RUNS} a side",
        )
    return None if alternate(reference, candidate) else Unjudged(rule="order", reason=APART, fix=TAKE_TURNS)


def alternate(reference: Side, candidate: Side) -> bool:
    """Whether runs of the sides took turns, by their start times, so that a drift acts on both sides alike.

    Blocks of runs of one side are then shorter than two runs on average, as in A B B A, and the mean places
    of the sides in the order are close.  Simulated runs have no drift; one run has no order.
    """
    sides = (reference, candidate)
    fewest = min(len(side.runs) for side in sides)
    if fewest < 2 or all(_kind(run) == "simulated" for side in sides for run in side.runs):
        return True
    starts = sorted((run.facts.started_at, at) for at, side in enumerate(sides) for run in side.runs)
    order = [at for _, at in starts]
    blocks = 1 + sum(one != other for one, other in pairwise(order))
    means = [fmean(place for place, at in enumerate(order) if at == side) for side in (0, 1)]
    return blocks > fewest and abs(means[0] - means[1]) <= max(1.0, len(order) * MOST_APART_RATIO)


def _device_source(run: ComparedRun) -> str:
    source = str(run.summary.io.device.windows_source)
    return "block devices" if source.startswith("block device") else "no known devices"


def _jobs(run: ComparedRun) -> Mapping[str, str]:
    planned = {job.job: job.program for job in run.facts.planned_jobs}
    return planned or {job: time.program for job, time in run.jobs.items()}


def _load(run: ComparedRun) -> object:
    """Without a program that it changed the version means nothing."""
    return run.facts.workload.load_version if "wide_sort" in _jobs(run).values() else None


def _page_cache(run: ComparedRun) -> str:
    """Where the page cache was denied to the roles, times and bytes are of another load."""
    denied = run.facts.cache is not None and run.facts.cache.mode == "none"
    return "denied (--cache none)" if denied else "in use"


def _kind(run: ComparedRun) -> str:
    return "simulated" if run.facts.kind == "simulated" else "measured"


class CitedSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting with another value on each side; values are text, with their unit.

    ``default`` and the fields after it are null if no compared profile names the setting, or if its source
    does not print them.  ``state`` says whether the candidate's value is the recommended one.
    """

    name: str
    subject: str
    node: str
    reference: str
    candidate: str
    default: str | None = None
    recommended: str | None = None
    state: str | None = None
    why: str | None = None
    profile: str | None = None
    source: str | None = None


class CitedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that changed.

    ``left`` counts those that did not change, ``not_checked`` those that are unknown on one side or both.
    ``before`` and ``after`` name what was compared: the first run of each side, or two collections.
    """

    before: str
    after: str
    nodes: list[str]
    changed: list[CitedSetting]
    left: int
    not_checked: int
