"""Scheduler, numbers of processes, the active profile of tuned-adm, limits of this process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from mawl.measure.machine import limit_of_process
from mawl.measure.settings.reading import Subject

BILLION = 10**9
ARGUMENTS = {
    "mitigations", "processor.max_cstate", "intel_idle.max_cstate", "idle", "transparent_hugepage",
    "isolcpus", "nohz_full", "rcu_nocbs", "numa_balancing", "preempt", "nosmt", "intel_pstate", "amd_pstate",
    "elevator",
    "nvme_core.multipath", "nvme_core.iopolicy", "nvme_core.io_timeout", "nvme.poll_queues", "hugepages",
    "hugepagesz", "cpufreq.default_governor", "scsi_mod.use_blk_mq", "pcie_aspm", "iommu", "intel_iommu",
}  # fmt: skip
LIMITS = {
    "open_files": "Max open files",
    "processes": "Max processes",
    "locked_memory_bytes": "Max locked memory",
    "stack_bytes": "Max stack size",
    "file_size_bytes": "Max file size",
}


def read(proc: Path, sys: Path, root: Path) -> Iterator[Subject]:
    """The kernel, and the limits."""
    kernel = Subject("kernel")
    kernel.number("sched_autogroup_enabled", proc / "sys/kernel/sched_autogroup_enabled")
    debug = sys / "kernel/debug/sched"
    for name, later in (
        ("sched_min_granularity", ("min_granularity_ns", "base_slice_ns")),
        ("sched_wakeup_granularity", ("wakeup_granularity_ns",)),
        ("sched_migration_cost", ("migration_cost_ns",)),
    ):
        # Until Linux 5.13 a sysctl; then in debugfs, since 6.6 under another name (kernel/sched/debug.c).
        places = [proc / f"sys/kernel/{name}_ns", *(debug / one for one in later)]
        there = next((place for place in places if os.access(place, os.R_OK)), places[-1])
        kernel.seconds(f"{name}_seconds", there, BILLION)
    kernel.number("pid_max", proc / "sys/kernel/pid_max")
    kernel.number("threads_max", proc / "sys/kernel/threads-max")
    kernel.read("preemption", sys / "kernel/debug/sched/preempt", _preemption)
    kernel.text("tuned_profile", root / "etc/tuned/active_profile")
    kernel.read("command_line", proc / "cmdline", _of_tuning)
    yield kernel
    yield _limits(proc)


def _of_tuning(text: str) -> str:
    """The arguments that are settings of performance; others may tell what is nobody's business."""
    kept = [word for word in text.split() if word.partition("=")[0] in ARGUMENTS]
    return " ".join(kept) or "none of them"


def _preemption(text: str) -> str | None:
    match = re.search(r"\(([a-z]+)\)", text)
    return match[1] if match else None


def _limits(proc: Path) -> Subject:
    found = Subject("limits")
    for figure, name in LIMITS.items():
        found.read(figure, proc / "self/limits", lambda text, name=name: limit_of_process(text, name, 1))  # type: ignore[misc]
    found.read(
        "open_files_most", proc / "self/limits", lambda text: limit_of_process(text, "Max open files", 2)
    )
    found.number("file_max", proc / "sys/fs/file-max")
    found.number("aio_max_requests", proc / "sys/fs/aio-max-nr")
    return found
