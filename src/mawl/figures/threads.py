"""Hardware threads of a core: how many are on, how long cores were busy, and AIX's scaled accounting undone.

docs/design/threads.md says why each figure is what it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from mawl.figures.missing import Missing, total
from mawl.figures.published import unscaled_cpu_seconds
from mawl.figures.series import CounterChange, RunSamples, Span, gain
from mawl.figures.sessions import added
from mawl.records.model.published import PaperRange, thread_shares
from mawl.records.model.records import JobRecord
from mawl.records.model.run import NodeFacts, RunFacts
from mawl.records.model.series_metrics import MACHINE
from mawl.records.model.summary.time import CpuRange

EXACT, BOUNDS, ESTIMATE, DISPATCHED = "exact", "bounds", "estimate", "dispatched"
"""What ``host.core_busy_basis`` says: one thread a core; bounds with an estimate between them; an estimate
alone (runs before there were bounds); time in which PowerVM dispatched the processors."""

NO_BOUNDS = "the run was recorded before samples held bounds: the time of several threads is an estimate"
NO_CORES = "of a node neither samples of busy cores nor its number of cores are known"
NOT_AIX = "the adjustment applies to AIX sources only"
SCALED = "AIX scaled these times by PURR: they are raw, since"

_AIX_MODE = re.compile(r"SMT-([0-9]{1,3})")
_POWER = re.compile(r"POWER[0-9]{1,2}")


def threads_per_core(facts: RunFacts, node: NodeFacts) -> int | None:
    """Hardware threads of a core that are on; where cores differ the most of one; None where nobody says.

    AIX tells its mode in the recording; Linux by the siblings of each processor, older runs by
    processors over cores.
    """
    if node.smt is not None and (mode := _AIX_MODE.fullmatch(node.smt)):
        return int(mode[1])
    inventory = facts.inventories.get(node.name)
    told = inventory.families.get("cpu", {}).get(MACHINE, {}) if inventory is not None else {}
    threads = told.get("threads_per_core")
    if isinstance(threads, int):
        return threads
    if node.logical_cpus and node.physical_cores:
        return -(-node.logical_cpus // node.physical_cores)
    return 1 if node.smt in ("off", "forceoff", "notsupported") else None


def is_aix(facts: RunFacts, node: NodeFacts) -> bool:
    """Whether the node's CPU times are AIX's: its recording or its log says so."""
    return f"{node.name}.cpu_accounting" in facts.settings or (node.kernel or "").startswith(("AIX", "VIOS"))


class CoreBusy(msgspec.Struct, frozen=True, kw_only=True):
    """``host.core_busy_*`` of a summary."""

    core_busy_seconds: float | None = None
    core_busy_least_seconds: float | None = None
    core_busy_most_seconds: float | None = None
    core_busy_ratio: float | None = None
    core_busy_basis: str | None = None


def core_busy(facts: RunFacts, samples: RunSamples, span: Span, missing: Missing) -> CoreBusy:
    """``host.core_busy_*``: seconds in which a core was busy because any of its threads was.

    Estimate and bounds are sums over the machines, none above cores times the seconds that samples cover.
    """
    machines = [node for node in facts.machines() if node.name in samples.nodes]
    sampled = [node for node in machines if any(map(_is_host, samples.names(node.name)))]
    rows = [
        _of_node(facts, samples, node, span)
        for node in sampled
        if samples.times(node.name, "host.core_busy_seconds") is not None
    ]
    names = ("seconds", "least_seconds", "most_seconds")
    if not rows or len(rows) < len(sampled):
        missing.update({f"host.core_busy_{name}": NO_CORES for name in (*names, "basis")})
        return CoreBusy()
    sums = {name: added([row[0][name] for row in rows]) for name in names}
    if sums["seconds"] is not None and sums["least_seconds"] is None:
        missing.update({f"host.core_busy_{name}": NO_BOUNDS for name in names[1:]})
    whole = added([row[1] for row in rows])
    return CoreBusy(
        **{f"core_busy_{name}": value for name, value in sums.items()},
        core_busy_ratio=sums["seconds"] / whole if sums["seconds"] is not None and whole else None,
        core_busy_basis=", ".join(sorted({row[2] for row in rows})),
    )


Row = tuple[dict[str, float | None], float | None, str]
"""Figures, cores times the known seconds, and the basis of one node."""


def _of_node(facts: RunFacts, samples: RunSamples, node: NodeFacts, span: Span) -> Row:
    busy, least, most = (
        gain(facts, samples, node.name, f"host.core_busy_{name}", span)
        for name in ("seconds", "least_seconds", "most_seconds")
    )
    cores = node.physical_cores or node.cores
    whole = None if busy is None or not cores else cores * busy.seconds
    if is_aix(facts, node):
        basis = DISPATCHED
    elif least is not None and most is not None:
        basis = BOUNDS
    else:
        basis = EXACT if threads_per_core(facts, node) == 1 else ESTIMATE
    if basis in (EXACT, DISPATCHED):
        least = most = busy
    figures = {
        "seconds": _bounded(busy, whole),
        "least_seconds": _bounded(least, whole),
        "most_seconds": _bounded(most, whole),
    }
    return figures, whole, basis


def _bounded(change: CounterChange | None, whole: float | None) -> float | None:
    """Never more than there was: ticks are counted by processor and may run a little ahead of the clock."""
    if change is None:
        return None
    return change.amount if whole is None else min(change.amount, whole)


def adjusted_cpu_block(facts: RunFacts, jobs: Sequence[JobRecord], missing: Missing) -> CpuRange | None:
    """``time.adjusted_cpu_seconds``: CPU time of AIX jobs over the share of a core that a thread can use.

    The share is a published range for the processor and its SMT mode (180 s with SMT8 / 0.56 = 321 s,
    REDP-5288, appendix B), and so is the result.  None, with the reason, for any other source.
    """
    nodes = {node.name: node for node in facts.nodes if is_aix(facts, node)}
    reason = NOT_AIX if not nodes else None
    low = high = 0.0
    for name in sorted({job.node for job in jobs}) if nodes else ():
        cpu = total([job for job in jobs if job.node == name], "cpu_seconds", "cpu_seconds", {})
        share = _share(facts, nodes[name]) if name in nodes else f"jobs of {name} did not run on AIX"
        if cpu is None or isinstance(share, str):
            reason = reason or (share if isinstance(share, str) else "not every job has its CPU time")
            continue
        adjusted = unscaled_cpu_seconds(cpu, share)
        low, high = low + adjusted.low, high + adjusted.high
    if reason is None and jobs:
        return CpuRange(low=low, high=high)
    missing["time.adjusted_cpu_seconds"] = (
        NOT_AIX if not nodes else f"{SCALED} {reason or 'no job with a CPU time belongs to the recording'}"
    )
    return None


def power_model(node: NodeFacts) -> str | None:
    """The generation of a node's POWER processor, such as ``POWER8``; None for others."""
    found = _POWER.search((node.cpu_model or "").upper())
    return None if found is None else found[0]


def _share(facts: RunFacts, node: NodeFacts) -> PaperRange | str:
    threads = threads_per_core(facts, node)
    if threads is None:
        return f"no file says the SMT mode of {node.name}"
    model = power_model(node)
    if model is None:
        return f"no file says the processor of {node.name}"
    published = thread_shares().get(model)
    span = None if published is None else published.smt.get(str(threads))
    return span or f"no share of a core is published for a thread of {model} with SMT-{threads}"


def _is_host(name: str) -> bool:
    return name.startswith("host.cpu_")
