"""Several nodes' runs merged into one: the facts, and the controller's copy of each node's run folder.

The copy, ``nodes/NAME``, grows as the node's own folder does.  What the node appended to its journal is
appended there, byte for byte, so that a node that is lost leaves a folder like that of any killed run.
When a node ends well, its whole folder replaces the copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.removal import remove_tree
from mawl.plan.mix import LOAD_VERSION
from mawl.plan.workload import Plan
from mawl.records.model.node import LoadBefore, NodeRun, OtherProgram, StorageRun
from mawl.records.model.records import JobRecord, RunOutcome, Usage
from mawl.records.model.run import (
    CacheFacts,
    OutsideCpu,
    Overhead,
    Phases,
    RunFacts,
    VolumeFacts,
    WorkloadFacts,
)
from mawl.records.spec.program_options import ROLES
from mawl.records.store.files import (
    FACTS,
    JOURNAL,
    JOURNAL_FILES,
    LOGS,
    PLAN,
    lock,
    replace_file,
    sync_directory,
)
from mawl.records.store.folder import make_folder
from mawl.records.store.journal import Appender
from mawl.records.store.tail import EverySample, Fresh, Tail

SEVERAL = "it differs from node to node: see each node's own run under nodes"


class NodePart(msgspec.Struct, frozen=True, kw_only=True):
    """One node: what the controller knows, and the facts of its own run (None: it never got that far)."""

    run: NodeRun
    facts: RunFacts | None = None


def same_machine(parts: Sequence[NodePart]) -> dict[str, str]:
    """Node to the first node before it that is the same machine."""
    first: dict[str, str] = {}
    found = {}
    for part in parts:
        machine = part.run.machine
        if machine is not None and first.setdefault(machine, part.run.node) != part.run.node:
            found[part.run.node] = first[machine]
    return found


class OwnSeries(msgspec.Struct, frozen=True, kw_only=True):
    """Which series of a node the merged run has: all except those whose names begin as in ``left_out``.

    ``kept`` has exceptions: series whose names begin so stay, even if ``left_out`` has them.
    """

    left_out: Sequence[str] = ()
    kept: Sequence[str] = ()


def own_series(parts: Sequence[NodePart], node: str) -> OwnSeries:
    """The series that the merged run takes from a node, so that it has each series of a machine once.

    Each node samples all devices of its machine.  The merged run takes a device from the first node with a
    role on it; if no node has a role on it, from the first node of the machine.
    """
    first = same_machine(parts).get(node)
    owners = _owners(parts, node)
    if first is None:
        return OwnSeries(left_out=[_device_prefix(name) for name, owner in owners.items() if owner != node])
    networks = {part.run.node: part.run.network for part in parts}
    left_out = ["host.", "device.", "energy."]
    if networks[node] == networks[first]:
        left_out += ["network.", "fabric."]
    return OwnSeries(
        left_out=left_out, kept=[_device_prefix(name) for name, owner in owners.items() if owner == node]
    )


def _owners(parts: Sequence[NodePart], node: str) -> dict[str, str]:
    """Each device under a role on the machine of a node, and the first node of that machine that has it."""
    first = same_machine(parts)
    machine = first.get(node, node)
    found: dict[str, str] = {}
    for part in parts:
        if part.facts is not None and first.get(part.run.node, part.run.node) == machine:
            for volume in part.facts.volumes:
                for layer in volume.layers:
                    found.setdefault(layer, part.run.node)
    return found


def _device_prefix(name: str) -> str:
    return f"device.{name}."


def workload_of(plans: Mapping[str, Plan]) -> WorkloadFacts:
    """The workload of all nodes together: ``4xmixed20``, or the names of unlike ones joined by ``+``."""
    counts: dict[str, int] = {}
    for plan in plans.values():
        counts[plan.workload] = counts.get(plan.workload, 0) + 1
    every = list(plans.values())
    scales = {plan.scale for plan in every}
    return WorkloadFacts(
        name="+".join(f"{count}x{name}" for name, count in counts.items()),
        title=f"{len(plans)} nodes: {'; '.join(dict.fromkeys(plan.title for plan in every))}",
        sessions=sum(len(plan.sessions) for plan in every),
        jobs=sum(1 for plan in every for _ in plan.jobs()),
        scale=every[0].scale if len(scales) == 1 else None,
        seed=every[0].seed,
        options=every[0].options,
        planned_peak_concurrent=sum(plan.peak_concurrent for plan in every),
        gate_jobs=sum(plan.gate_jobs for plan in every),
        load_version=LOAD_VERSION,
    )


def merged(base: RunFacts, parts: Sequence[NodePart], own: Overhead) -> RunFacts:
    """``base`` with everything that the nodes' facts add up to; ``own`` is the controller's overhead."""
    known = [(part, part.facts) for part in parts if part.facts is not None]
    every = [facts for _, facts in known]
    if not every:
        return msgspec.structs.replace(base, node_runs=[part.run for part in parts])
    others = same_machine(parts)
    first = every[0]
    missing = {key: reason for facts in every for key, reason in facts.missing.items()}
    if any(facts.compressibility is not None for facts in every):
        missing["compressibility"] = SEVERAL
    return msgspec.structs.replace(
        base,
        node_runs=[part.run for part in parts],
        controller_overhead=own,
        workload=_workload(base.workload, [facts.workload for facts in every]),
        nodes=[
            msgspec.structs.replace(node, same_machine_as=others.get(node.name))
            for facts in every
            for node in facts.nodes
        ],
        software={
            name: _shared_value(facts.software.get(name) for facts in every) for name in first.software
        },
        arrow_pool=_shared_value(facts.arrow_pool for facts in every if facts.arrow_pool) or None,
        settings=_settings(every),
        inventories={name: one for facts in every for name, one in facts.inventories.items()},
        ports={name: one for facts in every for name, one in facts.ports.items()},
        dirty={name: one for facts in every for name, one in facts.dirty.items()},
        roles={
            role: list(dict.fromkeys(path for facts in every for path in facts.roles.get(role, [])))
            for role in ROLES
        },
        volumes=[volume for part, facts in known for volume in _volumes(part, facts, parts)],
        volume_order=first.volume_order,
        cache=_cache(every),
        phases=_phases(every),
        launcher=_launchers([facts.launcher for facts in every]),
        overhead=_overhead([own, *(facts.overhead for facts in every)]),
        outside_cpu=_outside([facts.outside_cpu for facts in every]),
        load_before=_load(every),
        other_programs=_other_programs(every, others),
        free_space=[space for facts in every for space in facts.free_space],
        missing=missing,
        remarks=[*base.remarks, *_remarks(parts, others), *_remarks_on_storage(base.storage_runs)],
    )


def _workload(base: WorkloadFacts, every: Sequence[WorkloadFacts]) -> WorkloadFacts:
    """The workload with what the nodes made of it: ``cpucount=auto`` is a number where theirs is the same."""
    first = every[0].options
    return msgspec.structs.replace(
        base,
        scale_name=_shared_value(one.scale_name for one in every),
        options=first if all(one.options == first for one in every) else base.options,
    )


TOOK_NO_PART = "took no part"
"""In the remark on a node that the run began without."""
COUNTS_THERE = "its device is another node's, too, on the same machine, and counts there"


def with_reasons(jobs: Sequence[JobRecord], run: NodeRun) -> list[JobRecord]:
    """The jobs of a node that is over; those without an end say what became of a node that is not whole."""
    how = "was lost" if run.outcome == "lost" else "did not go through"
    return [
        msgspec.structs.replace(job, reason=f"{run.node} {how}: {run.reason}")
        if not run.whole and job.outcome in ("lost", "not_started")
        else job
        for job in jobs
    ]


def outcome_of(runs: Sequence[NodeRun]) -> tuple[RunOutcome, str | None]:
    """The outcome of a run that was not interrupted, by those of its nodes, with the reason."""
    bad = [f"{run.node}: {run.reason or run.outcome}" for run in runs if run.outcome != "completed"]
    if not bad:
        return "completed", None
    aborted = any(run.outcome == "aborted" for run in runs)
    return ("aborted" if aborted else "failed"), "; ".join(bad)


def _volumes(part: NodePart, facts: RunFacts, parts: Sequence[NodePart]) -> list[VolumeFacts]:
    """A node's volumes; devices that an earlier node of the same machine names already count there."""
    owners = _owners(parts, part.run.node)
    found = []
    for volume in facts.volumes:
        there = next((owners[layer] for layer in volume.layers if owners[layer] != part.run.node), None)
        if there is not None:
            volume = msgspec.structs.replace(
                volume,
                devices=[],
                layers=[],
                disks=[],
                caps=None,
                caps_reason=COUNTS_THERE,
                reason=COUNTS_THERE,
                counted_at=there,
            )
        found.append(volume)
    return found


def _settings(every: Sequence[RunFacts]) -> dict[str, str | int | float | bool | None]:
    """Settings that all nodes share under their names, others under ``NODE.NAME``."""
    found: dict[str, str | int | float | bool | None] = {}
    for name in every[0].settings:
        values = [facts.settings.get(name) for facts in every]
        if all(value == values[0] for value in values):
            found[name] = values[0]
        else:
            found |= {f"{facts.nodes[0].name}.{name}": facts.settings.get(name) for facts in every}
    return found


def _cache(every: Sequence[RunFacts]) -> CacheFacts | None:
    """Input tables in the page caches of all nodes, each node's own counted."""
    caches = [facts.cache for facts in every if facts.cache is not None]
    if len(caches) < len(every):
        return None
    resident = [cache.resident_bytes for cache in caches]
    known = [size for size in resident if size is not None]
    return CacheFacts(
        mode=caches[0].mode,
        input_bytes=sum(cache.input_bytes for cache in caches),
        resident_bytes=sum(known) if len(known) == len(caches) else None,
        source=caches[0].source,
        reason=next((cache.reason for cache in caches if cache.reason is not None), None),
        machine_wide=any(cache.machine_wide for cache in caches),
        remarks=[f"{facts.nodes[0].name}: {text}" for facts, cache in zip(every, caches, strict=True)
                 for text in cache.remarks],
    )  # fmt: skip


def _phases(every: Sequence[RunFacts]) -> Phases:
    """The longest of each phase: the nodes go through them side by side."""
    return Phases(
        **{
            name: max((value for facts in every if (value := getattr(facts.phases, name)) is not None),
                      default=None)
            for name in Phases.__struct_fields__
        }
    )  # fmt: skip


def _launchers(usages: Sequence[Usage]) -> Usage:
    """Sums of what the launchers used, and the largest peak of memory; None where one is not known."""
    found: dict[str, float | int | None] = {}
    for name in Usage.__struct_fields__:
        values = [getattr(usage, name) for usage in usages]
        combine = max if name.endswith("memory_bytes") else sum
        found[name] = None if None in values else combine(values)
    return Usage(**found)  # type: ignore[arg-type]


def _overhead(parts: Sequence[Overhead]) -> Overhead:
    return Overhead(
        cpu_seconds=_sum(part.cpu_seconds for part in parts),
        startup_cpu_seconds=_sum(part.startup_cpu_seconds for part in parts),
        peak_memory_bytes=_whole(part.peak_memory_bytes for part in parts),
        written_bytes=_whole(part.written_bytes for part in parts),
    )


def _outside(accounts: Sequence[OutsideCpu | None]) -> OutsideCpu | None:
    known = [account for account in accounts if account is not None]
    if len(known) < len(accounts):
        return None
    return OutsideCpu(
        source=", ".join(dict.fromkeys(account.source for account in known)),
        cpu_seconds=_sum(account.cpu_seconds for account in known),
        user_cpu_seconds=_sum(account.user_cpu_seconds for account in known),
        system_cpu_seconds=_sum(account.system_cpu_seconds for account in known),
    )


def _other_programs(every: Sequence[RunFacts], others: Mapping[str, str]) -> list[OtherProgram] | None:
    """Those of each machine, as its first node saw them; None where no node saw any."""
    seen = [facts.other_programs for facts in every if facts.other_programs is not None]
    return [one for some in seen for one in some if one.node not in others] if seen else None


def _load(every: Sequence[RunFacts]) -> LoadBefore | None:
    """The load of the busiest node, and what was heavy on any."""
    loads = [facts.load_before for facts in every if facts.load_before is not None]
    if not loads:
        return None
    return LoadBefore(
        seconds=max(load.seconds for load in loads),
        busy_ratio=max((load.busy_ratio for load in loads if load.busy_ratio is not None), default=None),
        heavy=list(dict.fromkeys(name for load in loads for name in load.heavy)),
    )


def _remarks(parts: Sequence[NodePart], others: Mapping[str, str]) -> list[str]:
    remarks = [f"{part.run.node} was lost: {part.run.reason}" for part in parts if part.run.outcome == "lost"]
    remarks += [
        f"{part.run.node} left its run folder behind: {part.run.left_behind}; mawl collect joins it"
        for part in parts
        if part.run.left_behind is not None
    ]
    remarks += [
        f"{part.run.node} was collected after the run, at whose end it was not whole: {part.run.collected}"
        for part in parts
        if part.run.collected is not None
    ]
    if others:
        first = next(iter(others.values()))
        names = ", ".join(dict.fromkeys([*others.values(), *others]))
        remarks.append(
            f"{names} are one machine: its processors, memory and shared devices count once, as {first}'s"
        )
    remarks += [
        f"{part.run.node}: {text}" for part in parts if part.facts is not None for text in part.facts.remarks
    ]
    return remarks


def _remarks_on_storage(runs: Sequence[StorageRun]) -> list[str]:
    bad = [run for run in runs if run.outcome not in ("completed", "running")]
    return [
        f"storage {run.node} was not watched to the end ({run.outcome}): {run.reason or 'no reason known'}"
        for run in bad
    ]


def _whole(values: Iterable[int | None]) -> int | None:
    found = _sum(values)
    return None if found is None else int(found)


def _sum(values: Iterable[float | None]) -> float | None:
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if known and len(known) == len(found) else None


def _shared_value(values: Iterable[str | None]) -> str | None:
    """The value that all share; of unlike ones all, joined."""
    found = list(dict.fromkeys(values))
    return found[0] if len(found) == 1 else ", ".join(value or "-" for value in found)


class Mirror:
    """The one writer of ``nodes/NAME`` while the run lasts; OSError where it cannot be written."""

    def __init__(self, path: Path, facts: bytes, plan: bytes) -> None:
        """Make the folder with what the node's ``run.json`` and ``plan.toml`` hold."""
        self.path = path
        make_folder(path)
        for name in (JOURNAL, LOGS):
            (path / name).mkdir(mode=0o700)
        replace_file(path / FACTS, facts)
        replace_file(path / PLAN, plan)
        self._files = {name: Appender(path / JOURNAL / name) for name in JOURNAL_FILES}
        self.offsets = dict.fromkeys(JOURNAL_FILES, 0)
        lock(self._files["events.jsonl"].fileno())
        self._samples = EverySample()
        self._tail = Tail(path, self._samples)

    def append(self, journal: Mapping[str, bytes]) -> Fresh:
        """Keep what the node's journal got, and give the records that are whole now."""
        for name, content in journal.items():
            self._files[name].append(content)
            self.offsets[name] += len(content)
        self._tail.look()
        return self._tail.fresh(self._samples.take())

    def close(self) -> None:
        """Let go: the folder then reads as that of a run that was interrupted."""
        for file in self._files.values():
            file.close()

    def begin_copy(self) -> Path:
        place = self.path.with_name(f".{self.path.name}")
        place.mkdir(mode=0o700)
        (place / FACTS).touch(mode=0o600)  # the mark by which it is removed
        return place

    def replace(self, copy: Path) -> None:
        self.close()
        remove_tree(self.path, FACTS)
        copy.rename(self.path)
        sync_directory(self.path.parent)
