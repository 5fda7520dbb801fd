"""Every reason of a null figure is that of a situation, and says what is so there (reasons.toml)."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import mawl
from mawl.advice.judge import judged
from mawl.commands.measure import _why_missing
from mawl.figures.view import RunView
from mawl.records.model.node import IoCap
from mawl.records.model.records import BOUNDED, STATES, JobRecord, Usage
from mawl.records.model.role_io import WAIT_FIELDS, RoleIo, Waits
from mawl.records.model.run import NodeFacts, Reference, VolumeFacts
from mawl.run.runner.measured_command import MeasuredCommand, StorageCounters
from tests.advice.limit.test_device import SLEPT
from tests.fakes.altered_runs import CAP, capped_run
from tests.fakes.measured_run import AT_REFERENCE, WORKLOAD, Rate, four_jobs, reading_of
from tests.fakes.stored_run import NOTHING_LEFT, ON_SDA, by_role, facts, job, role_io
from tests.figures.test_device_bytes import on_btrfs

JOBS = four_jobs(60.0)


def jobs(
    usage: Mapping[str, Any] | None = None, some: Sequence[JobRecord] = JOBS, **changes: Any
) -> list[JobRecord]:
    """Four jobs of a minute, of which ``some`` are changed."""
    changed = {one.job: replace(one, usage=replace(one.usage, **(usage or {})), **changes) for one in some}
    return [changed.get(one.job, one) for one in JOBS]


def waited(**seconds: float) -> Waits:
    return Waits(
        **dict.fromkeys(WAIT_FIELDS, 0.0) | {f"{name}_seconds": one for name, one in seconds.items()}
    )


def volumes(**changes: Any) -> list[VolumeFacts]:
    return [replace(one, **changes) for one in ON_SDA]


def run(
    rates: Mapping[str, Rate] | None = None,
    of: list[JobRecord] = JOBS,
    *,
    without: str = " ",
    samples: bool = True,
    skip: Sequence[int] = (),
    **changes: Any,
) -> RunView:
    """Four jobs with what a situation changes."""
    about = facts(**{"outcome": "completed", "workload": WORKLOAD, **changes})
    reading = reading_of(rates, of=about, without=without, skip=skip, alone=False)
    return RunView(about, of, reading.samples if samples else None)


def measured() -> dict[str, str]:
    """What ``mawl measure`` says without --sync, of a device that the kernel does not count."""
    looks: dict[str, Any] = {"before": {}, "at_end": {}, "after": {}}
    looks |= dict.fromkeys(("dirty_at_end", "dirty"), NOTHING_LEFT)
    storage = StorageCounters(volumes=ON_SDA, seconds=1.0, **looks)
    return _why_missing(MeasuredCommand(record=JOBS[0], no_roles=None, storage=storage))


FIRST = JOBS[:1]
NODE = facts().nodes[0]
HELD = replace(NODE, cpus_used=[0])
WORK: dict[str, Rate] = {"jobs.on_cpu_seconds": 1.0, "role.work.waited_seconds": 2.5}
IN_WORK = waited(blocked_work=59.5)
STILL = {f"device.sda.{way}_bytes": 0.0 for way in ("read", "written")}
NOTHING = {name: 0 for name in Usage.__struct_fields__ if "read_bytes" in name or "written_bytes" in name}
NO_IO = {role: RoleIo() for role in by_role()}
NO_CPU = dict.fromkeys(("user_cpu_seconds", "system_cpu_seconds"))
NO_COUNTS: dict[str, Any] = dict.fromkeys(("io", "counted_read_bytes", "counted_written_bytes"))
NOT_LEFT = replace(NOTHING_LEFT, own_at_end_bytes=None, machine_at_end_bytes=None)
TWO = VolumeFacts(role="work", node="bench1", directory="/two", devices=["sdb"], layers=["sdb"])
ALIKE = by_role() | {"work": role_io(250_000_000, 250_000_000)}
UNSEEN = jobs(io_remark="static", waits=Waits(on_cpu_seconds=1.0, run_queue_seconds=1.0))
MOVED = {"own_read_bytes": 2 * 10**9, "charged_written_bytes": 2 * 10**9, "cancelled_written_bytes": 0}
AT_DEVICE = jobs(MOVED, UNSEEN)
AT_CAP = IoCap(device="sda", direction="write", bytes_per_second=45_000_000, file="/a", carries=["sda"])
FOLLOWED = {f"jobs.{which}.{state}_seconds": 0.0 for which in ("followed", "joined") for state in STATES}
FOLLOWED |= {f"jobs.joined.{name}_{end}_seconds": 0.0 for name in BOUNDED for end in ("least", "most")}
OPEN = {"jobs.joined.work_seconds": 1.0, "jobs.joined.io_most_seconds": 4.0}
OPEN_IO = {"jobs.joined.work_seconds": 1.2, "jobs.joined.io_least_seconds": 0.1}
OPEN_IO |= {"jobs.joined.io_most_seconds": 1.2}
AT_ONCE = [replace(one, ended_at=one.started_at) for one in JOBS]
NIGHTS = [job("s1-1", 0.0, 60.0), job("s2-1", 2e5, 2e5 + 60.0)]
QUEUED: dict[str, Rate] = {"jobs.on_cpu_seconds": 1.0, "jobs.run_queue_seconds": 2.0}

BEHIND: dict[str, Rate] = {"jobs.on_cpu_seconds": 0.2, "jobs.run_queue_seconds": 0.9}
BEHIND |= {"role.work.waited_seconds": 1.8}

VIEWS: dict[str, Callable[[], Any]] = {
    "btrfs": lambda: RunView(on_btrfs("zstd:1"), JOBS),
    "unseen": lambda: capped_run(0.5 * CAP, waits=SLEPT, unseen=4),
    "open second": lambda: capped_run(0.5 * CAP, waits=BEHIND, unseen=1),
    "one unseen": lambda: capped_run(0.5 * CAP, waits=QUEUED, unseen=1),
    "measure": measured,
}

RUNS: dict[str, dict[str, Any]] = {
    "usual": {},
    "no job finished": {"of": jobs(outcome="failed")},
    "nothing ran": {"of": []},
    "no times": {"of": jobs(started_at=None, ended_at=None)},
    "no time": {"of": AT_ONCE},
    "no real time": {"of": jobs({"real_time_seconds": None})},
    "first without real time": {"of": jobs({"real_time_seconds": None}, FIRST)},
    "two without CPU time": {"of": jobs(NO_CPU, JOBS[:2])},
    "no waits": {"of": jobs(waits=Waits())},
    "first without waits": {"of": jobs(some=FIRST, waits=Waits())},
    "only the queue": {"of": jobs(waits=waited(run_queue=59.5))},
    "no cost": {
        "of": jobs({"real_time_seconds": 15.0}, waits=waited(on_cpu=15.0)),
        "planned_jobs": AT_REFERENCE,
    },
    "work in two": {
        "rates": WORK,
        "of": jobs(waits=IN_WORK, **NO_COUNTS, io_remark="static"),
        "volumes": [*ON_SDA, TWO],
    },
    "alike": {"rates": WORK, "of": jobs(MOVED, waits=IN_WORK, io=ALIKE)},
    "no volumes": {"rates": WORK, "of": jobs(waits=IN_WORK), "volumes": []},
    "no device": {"rates": WORK, "volumes": volumes(devices=[])},
    "unsampled device": {
        "rates": WORK,
        "of": jobs(waits=IN_WORK),
        "volumes": volumes(devices=["sdz"], layers=["sdz"]),
    },
    "memory": {"rates": WORK, "of": jobs(waits=IN_WORK), "volumes": volumes(devices=[], file_system="tmpfs")},
    "memory without samples": {"samples": False, "volumes": volumes(devices=[], file_system="tmpfs")},
    "network": {"volumes": volumes(devices=[], network=True, file_system="nfs4")},
    "FUSE": {"volumes": volumes(file_system="fuse.sshfs")},
    "roles at caps": {"rates": SLEPT, "of": AT_DEVICE, "volumes": volumes(caps=[AT_CAP])},
    "own file": {"reference": Reference(version=None, file="mine.toml@ab")},
    "solo": {"reference": Reference(version=None), "planned_jobs": []},
    "old": {"reference": None, "format_version": "2.6"},
    "simulated": {"kind": "simulated", "reference": None},
    "one planned": {"planned_jobs": facts().planned_jobs[:1]},
    "no samples": {"samples": False},
    "no window": {"skip": range(1, 62)},
    "no samples of waits": {"without": "jobs."},
    "too many waits": {"rates": {"jobs.on_cpu_seconds": 40.0}},
    "open bounds": {"rates": FOLLOWED | OPEN},
    "memory limit": {"nodes": [replace(NODE, memory_limit_bytes=2**30)]},
    "unknown memory": {"nodes": [replace(NODE, memory_bytes=None)]},
    "no idle time": {"without": "host.cpu_idle"},
    "held": {
        "rates": FOLLOWED | {"jobs.followed.on_cpu_seconds": 4.0},
        "without": "jobs.on_cpu",
        "nodes": [replace(HELD, logical_cpus=64)],
    },
    "held, physical": {"nodes": [replace(HELD, core_basis="physical core")]},
    "one held": {"nodes": [HELD, NodeFacts(name="n2")]},
    "two bases": {"nodes": [NODE, NodeFacts(name="n2", cores=2, core_basis="physical core")]},
    "no node": {"nodes": []},
    "no account of reads": {"of": jobs({"own_read_bytes": None}, FIRST)},
    "no kernel count": {"of": jobs({"application_read_bytes": None})},
    "not looked": {"dirty": {"bench1": NOT_LEFT}},
    "still": {"rates": STILL, "of": jobs(NOTHING, io=NO_IO)},
    "no peak": {"of": jobs(dict.fromkeys(("os_memory_bytes", "memory_bytes")), FIRST)},
    "lost": {"of": jobs(dict.fromkeys(Usage.__struct_fields__), FIRST, outcome="lost")},
    "all lost": {"of": jobs(outcome="lost"), "launcher": Usage()},
    "unsplit": {"of": jobs({**NO_CPU, "unsplit_cpu_seconds": 30.0})},
    "recording": {"kind": "imported", "of": [], "volumes": []},
    "logs": {"kind": "imported", "samples": False, "of": jobs(waits=Waits(), **NO_COUNTS)},
    "nights": {"kind": "imported", "of": NIGHTS},
    "AIX": {"kind": "imported", "nodes": [replace(NODE, kernel="AIX 7.2")]},
    "other host": {"kind": "imported", "of": jobs(node="n2")},
    "logs without times": {"kind": "imported", "of": jobs(started_at=None, ended_at=None)},
    "logs without CPU time": {"kind": "imported", "of": jobs(NO_CPU)},
    "logs of no time": {"kind": "imported", "of": AT_ONCE},
    "recorded before": {"kind": "imported", "skip": range(1, 62)},
    "no processor recorded": {"kind": "imported", "without": "host.cpu"},
    "undecided": {"kind": "imported"},
    "import": {"kind": "imported", "of": jobs({"user_cpu_seconds": 59.0})},
}


@cache
def missing_of(situation: str) -> dict[str, str]:
    found = VIEWS[situation]() if situation in VIEWS else run(**RUNS[situation])
    found = judged(found) if isinstance(found, RunView) else found
    return found if isinstance(found, dict) else found.missing


REASONS = tomllib.loads(Path(__file__).with_name("reasons.toml").read_text())


@pytest.mark.parametrize("situation", REASONS)
def test_a_null_figure_has_the_reason_of_its_situation(situation: str) -> None:
    found = missing_of(situation)
    assert {path: found.get(path) for path in REASONS[situation]} == REASONS[situation]


MODULES = (
    *("advice/answer.py", "advice/headroom.py", "advice/limit/verdict.py", "advice/limit/imports.py"),
    *("figures/io.py", "figures/throughput.py", "figures/roles.py", "figures/waits.py"),
    *("figures/job_sums.py", "figures/missing.py", "commands/measure.py"),
)
NO_REASONS = re.compile(
    "of unknown length|provisional reference|min are needed|limited the run|group's io|smaller of device"
    "|what a summary does not have"
)
"""Other sentences of functions that give reasons: of preliminary answers, and sources of figures."""


def patterns(module: str) -> Iterator[str]:
    """The sentences of functions that fill ``missing`` or say why, and of ``return None, REASON``."""
    tree = ast.parse((Path(mawl.__file__).parent / module).read_text())
    constants = {
        ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)
    }
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        parts: list[ast.AST] = [*function.body[ast.get_docstring(function) is not None :]]
        if not re.search("why|_not_", function.name) and "Missing" not in ast.unparse(function.args):
            ends = (node.value for node in ast.walk(function) if isinstance(node, ast.Return))
            pairs = [node.elts for node in ends if isinstance(node, ast.Tuple)]
            parts = [pair[-1] for pair in pairs if ast.unparse(pair[0]) == "None"]
        nodes = [node for part in parts for node in ast.walk(part)]
        within = {one for node in nodes if isinstance(node, ast.JoinedStr) for one in node.values}
        named = [constants[node.id] for node in nodes if isinstance(node, ast.Name) and node.id in constants]
        for node in [*named, *(node for node in nodes if node not in within)]:
            pieces = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [one.value if isinstance(one, ast.Constant) else "{}" for one in pieces]
            yield re.sub(r"\\{\w*\\}", ".+", re.escape("".join(map(str, texts))).replace("\\ ", " "))


@pytest.mark.parametrize("module", MODULES)
def test_each_reason_is_that_of_a_situation(module: str) -> None:
    given = [reason for reasons in REASONS.values() for reason in reasons.values()]
    sentences = {one for one in patterns(module) if one.count(" ") > 1 and not NO_REASONS.search(one)}
    assert sentences
    assert not [one for one in sentences if not any(re.search(one, reason) for reason in given)]
