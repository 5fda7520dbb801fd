"""A storage server as a node without sessions: its collectors write samples while the others run theirs.

It hears the same words as any node (``run.cluster.messages``), claims nothing and starts nothing.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from mawl.base.errors import UnsuitableMachineError
from mawl.measure.host.collector import HostCollector
from mawl.measure.machine import network_namespace, read_machine
from mawl.records.model.records import RunOutcome
from mawl.records.model.run import NodeFacts, RunFacts, WorkloadFacts
from mawl.records.store.folder import RunWriter
from mawl.run.cluster.agent_connection import AgentConnection, AgreedOpening
from mawl.run.cluster.messages import Carry, Ended, GateReady, Looked, NodeTask
from mawl.run.runner.loop import Interrupts
from mawl.run.runner.sampling import HostSampling
from mawl.version import __version__, source_sha256

BLOCK = Path("/sys/class/block")
LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 0.05
"""Between two questions whether the gates are open."""


class StorageNode:
    """One storage server, step by step, as the controller's words come."""

    def __init__(self, task: NodeTask, line: AgentConnection, now: Callable[[], float] = time.time) -> None:
        self.task, self.line, self.now = task, line, now
        self.folder = Path(task.folder).absolute()
        self.devices = [kernel_name(name) for name in task.watch or []]

    def carry(self) -> None:
        """Watch until told to stop; UnsuitableMachineError where a device is not there."""
        machine = read_machine()
        for given, name in zip(self.task.watch or [], self.devices, strict=True):
            if not (BLOCK / name).exists():
                raise UnsuitableMachineError(
                    f"has no block device {given}", cure="name one as lsblk does: --storage-node NAME=sdb,sdc"
                )
        looked = Looked(
            folder=str(self.folder),
            boot_id=machine.boot_id,
            network=network_namespace(),
            devices=self.devices,
        )
        self.line.say(looked)
        while not isinstance(self.line.word(), Carry):
            continue
        facts = RunFacts(
            run_id=self.task.run_id,
            kind="measured",
            mawl_version=__version__,
            source_sha256=source_sha256(),
            workload=WorkloadFacts(name="storage", title="A storage server, watched", sessions=0, jobs=0),
            outcome="running",
            started_at=self.now(),
            command=list(self.task.command),
            nodes=[
                NodeFacts(
                    name=self.task.node,
                    kernel=machine.kernel,
                    cpu_model=machine.cpu_model,
                    cores=machine.cores,
                    core_basis=machine.core_basis,
                    memory_bytes=machine.memory_bytes,
                    virtual=machine.virtual,
                )
            ],
        )
        self._watch(RunWriter(self.folder, facts), facts)

    def _watch(self, writer: RunWriter, facts: RunFacts) -> None:
        """A look each second from the opening of the gates until the controller halts it, which ends the run
        well; any other end (a lost controller, a signal) cuts the watch short."""
        with writer, Interrupts() as interrupts:
            collector = HostCollector(self.devices)
            sampling = HostSampling(self.task.node, collector, writer, self.devices)
            opening = AgreedOpening(self.line, GateReady, self.now)
            opening.ready(0)
            while not interrupts.level and (pause := opening.pause_seconds()) != 0:
                _wait(interrupts, PATIENCE_SECONDS if pause is None else min(pause, PATIENCE_SECONDS))
            due = time.monotonic()
            while True:
                sampling.look(self.now(), whole=bool(interrupts.level))
                if interrupts.level:
                    break
                due += LOOK_SECONDS
                _wait(interrupts, max(due - time.monotonic(), 0.0))
            # The controller's word is level 1; SIGTERM, as of a lost lease, is 2 at once.
            outcome: RunOutcome = "completed" if interrupts.level == 1 else "interrupted"
            reason = None if outcome == "completed" else f"stopped by {interrupts.name}"
            facts = msgspec.structs.replace(
                facts,
                outcome=outcome,
                outcome_reason=reason,
                ended_at=self.now(),
                missing=collector.reasons(),
            )
            collector.close()
            writer.finish(facts)
        self.line.say(Ended(outcome, reason))


def kernel_name(given: str) -> str:
    """The kernel's name of a block device, named with or without ``/dev``; of a link where it leads."""
    return str(Path("/dev", given).resolve().relative_to("/dev")).replace("/", "!")


def _wait(interrupts: Interrupts, seconds: float) -> None:
    waiting = select.poll()
    waiting.register(interrupts.fileno(), select.POLLIN)
    waiting.poll(seconds * 1000.0)
