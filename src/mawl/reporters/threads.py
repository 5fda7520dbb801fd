"""Hardware threads of the cores in words: modes of the nodes, busy cores with their bounds, scaled times."""

from __future__ import annotations

from mawl.model.summary.judgement import ThreadMode
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import ABSENT, figure, figures, format_count
from mawl.units import counted_noun, format_ratio, format_seconds

MOST_NODES = 8
BASES = {
    "exact": "exact: one thread a core",
    "estimate": "an estimate: the run was recorded before samples held bounds",
    "dispatched": "the time PowerVM dispatched the processors",
}


def modes(summary: Summary) -> list[str]:
    """A sentence for each node whose mode is known."""
    nodes = summary.smt.nodes if summary.smt else {}
    known = {name: node for name, node in nodes.items() if node.threads_per_core is not None}
    told = [f"{name}: {mode_of(node)}" for name, node in list(known.items())[:MOST_NODES]]
    more = len(known) - len(told)
    return [*told, *([f"and {counted_noun(more, 'more node')} (--format json lists all)"] if more else [])]


def mode_of(node: ThreadMode) -> str:
    """``2 a core (SMT on), 16 in all; busy for 0.83 of the active phase, 20.1 runnable``."""
    busy, runnable = figures((node.busy_ratio, format_ratio), (node.runnable, format_ratio))
    mode = f" (SMT {node.mode})" if node.mode else ""
    places = figure(node.hardware_threads, format_count)
    return (
        f"{node.threads_per_core} a core{mode}, {places} in all; "
        f"busy for {busy} of the active phase, {runnable} runnable"
    )


def busy_cores(summary: Summary) -> str | None:
    """Core-busy seconds with what they are; None where they are not known."""
    host = summary.host
    if host is None or host.core_busy_seconds is None:
        return None
    seconds, least, most = figures(
        *(
            (getattr(host, f"core_busy_{name}"), format_seconds)
            for name in ("seconds", "least_seconds", "most_seconds")
        )
    )
    words = BASES.get(host.core_busy_basis or "")
    if words is None:
        words = f"an estimate between {least} and {most}: the kernel counts each thread alone"
    return f"{seconds} ({words})"


def adjusted_cpu(summary: Summary) -> str | None:
    """The range of the jobs' CPU time without AIX's scaling; None for any other source."""
    span = summary.time.adjusted_cpu_seconds
    if span is None:
        return None
    raw = figure(summary.time.cpu_seconds, format_seconds)
    low, high = figures((span.low, format_seconds), (span.high, format_seconds))
    both = low if low == high else f"{low} to {high}"
    return f"{both} (raw {raw or ABSENT})"


def findings(summary: Summary) -> list[str]:
    """What the rule of the next mode found, with its cure."""
    found = summary.smt.findings if summary.smt else []
    return [f"{one.sentence}; {one.cure}" for one in found]
