"""The facts that make up a side's configuration, and those in which two sides differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from mawl.analysis.comparison.sides import ComparedRun, Side
from mawl.model.run import NodeFacts, RunFacts
from mawl.units import format_memory


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A fact in which the sides differ and which may be the reason of all else."""

    name: str
    reference: str
    candidate: str


Reader = Callable[[ComparedRun], object]

OWN: tuple[tuple[str, Reader], ...] = (
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
        if one != other
    ]


def shown(value: object) -> str:
    """A fact as text, ``-`` where it is not known."""
    return "-" if value is None else str(value)


def _listed(value: object) -> str:
    """A fact in a list: of the output of a command its first line."""
    first, *more = shown(value).strip().splitlines() or [""]
    return f"{first.strip()} ... ({len(more) + 1} lines)" if more else shown(value)


def _options(run: ComparedRun) -> str:
    return ", ".join(f"{name}={value}" for name, value in _option_table(run.facts).items())


def _option_table(facts: RunFacts) -> Mapping[str, object]:
    options = facts.workload.options
    return {} if options is None else msgspec.structs.asdict(options)


def _arm_settings(facts: RunFacts) -> Mapping[str, object]:
    """What a campaign changed outside mawl for the run's arm, as it was read back."""
    return {} if facts.campaign is None else {one.name: one.read for one in facts.campaign.settings}


def _machine(node: NodeFacts) -> str:
    cores = f"{node.cores or '-'} {node.core_basis or 'core'}s"
    memory = "-" if node.memory_bytes is None else format_memory(node.memory_bytes)
    limits = [] if node.cpus_used is None else [f"{len(node.cpus_used)} CPUs used"]
    limits += [] if node.cpu_quota is None else [f"CPU quota {node.cpu_quota:g}"]
    limits += (
        [] if node.memory_limit_bytes is None else [f"limited to {format_memory(node.memory_limit_bytes)}"]
    )
    return f"{node.name}: {', '.join([node.cpu_model or '-', cores, memory, *limits])}"


def _file_systems(run: ComparedRun) -> str:
    return ", ".join(f"{volume.role} {volume.file_system or '-'}" for volume in run.facts.volumes)


def _directories(run: ComparedRun) -> str:
    return "; ".join(f"{role} {', '.join(places)}" for role, places in run.facts.roles.items())
