"""Hardware threads of a core: the mode of each node, and whether the next one is worth a try.

The rule is the papers' (REDP-5288, SMT8 considerations): enough parallel threads, and the system above
70 % busy (docs/design/threads.md).
"""

from __future__ import annotations

from mawl.base.units import counted_noun, format_percent, format_ratio
from mawl.figures.host_parts import CPU_KINDS, busy_ratio
from mawl.figures.threads import is_aix, power_model, threads_per_core
from mawl.figures.view import RunView
from mawl.records.model.run import NodeFacts
from mawl.records.model.summary.judgement import Finding, Smt, ThreadMode
from mawl.records.model.thresholds import value_of

NAME = "smt"
LEAST_BUSY_RATIO = value_of("smt.least_busy_ratio")
SMT_CONTROL_FILE = "/sys/devices/system/cpu/smt/control"
MOST_THREADS = {"POWER5": 2, "POWER6": 2, "POWER7": 4}
"""Hardware threads of a core of older processors; later ones of the family have eight."""


def smt_of(reading: RunView, missing: dict[str, str]) -> Smt | None:
    """``smt`` of the summary; None where the run names no node."""
    nodes = {node.name: _thread_mode(reading, node) for node in reading.facts.machines()}
    if not nodes:
        missing["smt"] = "the run names no node"
        return None
    found = [one for node in reading.facts.machines() if (one := _finding(reading, node, nodes[node.name]))]
    return Smt(nodes=nodes, findings=found)


def _thread_mode(reading: RunView, node: NodeFacts) -> ThreadMode:
    busy = runnable = None
    if reading.samples is not None and reading.windows is not None:
        edges = reading.windows.active_edges
        span = (edges[0], edges[-1])
        changes = {
            kind: reading.samples.changes(node.name, f"host.cpu_{kind}_seconds", span)[0]
            for kind in CPU_KINDS
        }
        busy = busy_ratio({kind: change and change.per_second for kind, change in changes.items()})
        runnable = reading.samples.means(node.name, "host.runnable", span)[0]
    return ThreadMode(
        threads_per_core=threads_per_core(reading.facts, node),
        hardware_threads=node.logical_cpus,
        mode=node.smt,
        busy_ratio=busy,
        runnable=runnable,
    )


def _finding(reading: RunView, node: NodeFacts, block: ThreadMode) -> Finding | None:
    """The next mode, where the processors are busy and more threads could run than there are places."""
    busy, runnable, places = block.busy_ratio, block.runnable, block.hardware_threads
    if busy is None or runnable is None or not places or busy <= LEAST_BUSY_RATIO or runnable <= places:
        return None
    following = _next_mode_on_aix(node, block) if is_aix(reading.facts, node) else _next_mode_on_linux(node)
    if following is None:
        return None
    mode, command = following
    have = counted_noun(block.threads_per_core, "thread") if block.threads_per_core else "threads"
    return Finding(
        rule=NAME,
        severity="remark",
        sentence=f"processors of {node.name} were busy for {format_percent(busy)} of the active phase, and "
        f"{format_ratio(runnable)} threads were runnable for {places} hardware threads ({have} a core)",
        cure=f"try {mode} ({command}) and compare runs before and after: it may help, and it may not",
    )


def _next_mode_on_aix(node: NodeFacts, block: ThreadMode) -> tuple[str, str] | None:
    threads = block.threads_per_core
    most = MOST_THREADS.get(power_model(node) or "", 8)
    if threads is None or threads >= most:
        return None
    return f"SMT-{2 * threads}", f"smtctl -t {2 * threads} -w now"


def _next_mode_on_linux(node: NodeFacts) -> tuple[str, str] | None:
    """``on`` has all threads already; a number is the mode of a POWER machine that has more."""
    mode = node.smt or ""
    if mode == "off":
        return "all hardware threads", f"echo on > {SMT_CONTROL_FILE}"
    if mode == "forceoff":
        return "all hardware threads", "start the kernel without nosmt=force"
    if mode.isdigit() and int(mode) < 8:
        return f"SMT-{2 * int(mode)}", f"echo {2 * int(mode)} > {SMT_CONTROL_FILE}"
    return None
