"""What an answer is of: the machine, its devices, when and how it was asked and measured."""

from __future__ import annotations

from mawl.model.qualification import AnswerSystem, Qualification
from mawl.reporters.qualification.nodes import nodes_words
from mawl.reporters.qualification.storage import lies_on
from mawl.units import counted_noun, format_instant, format_memory, format_plain, format_seconds


def basis_rows(record: Qualification) -> list[tuple[str, str]]:
    """Who was asked, when, and how."""
    machine, choice = record.machine, record.choice
    answer = record.answer
    system = None if answer is None else answer.system
    seen = f"{machine.cores} cores" if system is None else _system(system)
    name = machine.name or "unnamed"
    rows = [
        ("nodes", f"{nodes_words(record.nodes)}; asked from {name}")
        if record.nodes
        else ("machine", f"{name}: {machine.cpu_model or 'unknown processor'}, {seen}"),
        *([("devices", "; ".join(map(lies_on, answer.during)))] if answer and answer.during else []),
        (
            "places",
            "; ".join(f"{role} {' '.join(places)}" for role, places in record.asked.roles.items()),
        ),
        ("asked", f"{_minute(record.created_at)}, {record.asked.minutes:g} minutes"),
    ]
    if choice is not None:
        answered = record.answer is not None
        runs = counted_noun(len(record.runs_for("measured")) if answered else choice.repeats, "run")
        seconds = sum(phase.seconds for phase in record.phases) if answered else choice.total_seconds
        what = f"{runs} of {choice.jobs} jobs in {counted_noun(choice.sessions, 'session')}"
        if record.nodes:
            ones = len(record.runs_for("one-node")) if answered else choice.one_node_runs
            with_one = counted_noun(ones, "run")
            what = f"{runs} with all nodes and {with_one} with one, {what.partition(' of ')[2]} a node,"
        how = (
            f"scale {format_plain(choice.scale)} of full, cache {choice.cache}; "
            f"{format_seconds(seconds)} in all"
        )
        rows.append(("measured" if answered else "planned", f"{what} at {how}"))
    return [*rows, ("mawl", record.mawl_version)]


def _system(system: AnswerSystem) -> str:
    """Processors, memory, and whether it is a virtual machine."""
    cores = "cores" if system.core_basis is None else f"{system.core_basis}s"
    parts = [
        *([] if system.cores is None else [f"{system.cores} {cores}"]),
        *([] if system.logical_cpus in (None, system.cores) else [f"{system.logical_cpus} threads"]),
        *([] if system.cpu_quota is None else [f"CPU quota {system.cpu_quota:g}"]),
        *([] if system.memory_bytes is None else [f"{format_memory(system.memory_bytes)} of memory"]),
        *(
            []
            if system.memory_limit_bytes is None
            else [f"jobs held to {format_memory(system.memory_limit_bytes)}"]
        ),
        "no virtual machine" if system.virtual is None else f"virtual machine ({system.virtual})",
        *([] if system.kernel is None else [f"Linux {system.kernel}"]),
    ]
    return ", ".join(parts)


def _minute(at: float) -> str:
    """``2026-11-24 22:55 UTC``."""
    return f"{format_instant(at)[:16].replace('T', ' ')} UTC"
