"""The process of a node: makes its part of the inputs and runs its sessions with the local runner.

The agent starts it as ``python -m mawl.run.cluster`` with pipes as its standard input and output.  A storage
server is a node without sessions: it claims and starts nothing, and its collectors write samples while the
others run theirs.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import msgspec

from mawl.base.errors import InterruptedRunError, MawlError, UnsuitableMachineError
from mawl.measure.host.collector import HostCollector
from mawl.measure.machine import network_namespace, read_machine
from mawl.measure.space import in_memory_bytes, space_of
from mawl.plan.environment import with_values
from mawl.plan.needs import needs
from mawl.plan.run_plan import parse_cores, processors_of, reference_of, with_threads
from mawl.programs.datagen.workers import usual_processes
from mawl.records.model.records import JobRecord, RunOutcome
from mawl.records.model.run import NodeFacts, Reference, RunFacts, WorkloadFacts
from mawl.records.spec.program_options import ROLES, Role, StartMode
from mawl.records.spec.task import TaskFailure
from mawl.records.store.folder import RunWriter
from mawl.records.store.without_pandas import arrow_alone
from mawl.records.volumes import Volumes
from mawl.run.cluster.messages import (
    AgentConnection,
    AgreedOpening,
    Ended,
    InputShare,
    InputsReady,
    NodeProgress,
    NodeResources,
    NodeTask,
    Notice,
    Refused,
    StartPlan,
    TokenSearch,
    VisibleTokens,
)
from mawl.run.cluster.node_facts import PREFIX, own_token
from mawl.run.launch.setup import kill_run
from mawl.run.runner.facts import check_space, make_inputs
from mawl.run.runner.loop import Interrupts
from mawl.run.runner.preparation import check_memory, core_speed_for, free_space, load_before
from mawl.run.runner.request import Listener, RunRequest, Status
from mawl.run.runner.run import run_plan
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

    def execute(self) -> None:
        """Watch until told to stop; UnsuitableMachineError where a device is not there."""
        machine = read_machine()
        for given, name in zip(self.task.watch or [], self.devices, strict=True):
            if not (BLOCK / name).exists():
                raise UnsuitableMachineError(
                    f"has no block device {given}", cure="name one as lsblk does: --storage-node NAME=sdb,sdc"
                )
        resources = NodeResources(
            folder=str(self.folder),
            boot_id=machine.boot_id,
            network=network_namespace(),
            devices=self.devices,
        )
        self.line.say(resources)
        while not isinstance(self.line.word(), StartPlan):
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
                    cloud=machine.cloud,
                    instance_type=machine.instance_type,
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
            opening = AgreedOpening(self.line, self.now)
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


STATUS_SECONDS = 2.0


class Teller(Listener):
    """Tells the controller what a terminal would show; ended jobs it reads from the journal."""

    def __init__(self, line: AgentConnection) -> None:
        self._line = line
        self._next_seconds = 0.0

    def launching(self, mode: StartMode, jobs: int) -> None:
        """The controller says it for all nodes."""

    def status(self, status: Status) -> None:
        if status.elapsed_seconds >= self._next_seconds:
            self._next_seconds = status.elapsed_seconds + STATUS_SECONDS * 0.9
            self._line.say(NodeProgress(status))

    def job_ended(self, record: JobRecord) -> None:
        """The journal has it."""

    def notice(self, text: str) -> None:
        self._line.say(Notice(text))


def _write(token: Path, content: bytes) -> None:
    """Some file systems refuse only what is written, without the name of the file."""
    try:
        token.write_bytes(content)
        token.chmod(0o600)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UnsuitableMachineError("cannot be written", where=str(token.parent), why=why) from None


class Node:
    """One task, step by step, as the controller's words come."""

    def __init__(self, task: NodeTask, line: AgentConnection) -> None:
        plan = with_values(task.plan, task.workload, os.environ)
        plan = with_threads(plan, len(processors_of(task.spec.cores)))
        self.task, self.line = msgspec.structs.replace(task, plan=plan), line
        self.volumes = Volumes(
            {role: [Path(path) for path in paths] for role, paths in task.spec.directories().items()}
        )
        self.needed = needs(
            task.plan,
            spawn=task.spec.start == "spawn",
            keeps_outputs=task.spec.keep_outputs,
        )
        self.cpus = parse_cores(task.spec.cores) if task.spec.cores else None
        self.folder = Path(task.folder).absolute()
        self._inputs_seconds = self._inputs_cpu_seconds = 0.0

    def execute(self) -> None:
        """Do as the controller says until the run is over; raises MawlError where it cannot go on."""
        with self._tokens():
            self._look()
            while not isinstance(word := self.line.word(), StartPlan):
                if isinstance(word, TokenSearch):
                    self.line.say(self._visible_tokens())
                elif isinstance(word, InputShare):
                    self._make(word)
        self._run()

    def _look(self) -> None:
        self.volumes.ensure()
        content = own_token()
        for token in self._token_paths():
            _write(token, content)
        machine = read_machine()
        self.line.say(
            NodeResources(
                folder=str(self.folder),
                boot_id=machine.boot_id,
                network=network_namespace(),
                warning=check_memory(
                    self.needed,
                    self.task.spec.memory_limit_bytes,
                    in_memory_bytes(
                        self.volumes.directories,
                        self.needed.space_bytes,
                        by_free_space=self.task.spec.volume_order == "free-space",
                    ),
                ),
                needed_bytes=self.needed.space_bytes,
                free_bytes={role: self._free_bytes(role) for role in ROLES},
            )
        )

    def _free_bytes(self, role: Role) -> int:
        """On the volumes of a role, each file system once."""
        places = self.volumes.directories[role]
        return sum({place.stat().st_dev: space_of(place).free_bytes for place in places}.values())

    def _token_paths(self) -> list[Path]:
        name = f"{PREFIX}{self.task.run_id}"
        return [place / name for role in ROLES for place in self.volumes.directories[role]]

    @contextlib.contextmanager
    def _tokens(self) -> Iterator[None]:
        """Whatever happens, no token stays."""
        try:
            yield
        finally:
            for token in self._token_paths():
                with contextlib.suppress(OSError):
                    token.unlink()

    def _visible_tokens(self) -> VisibleTokens:
        for token in self._token_paths():
            # A file that comes and goes: what this machine remembers of the directory is out of date then.
            fresh = token.with_name(f"{token.name}-fresh")
            _write(fresh, own_token())  # whoever is killed here leaves a token that clean finds
            fresh.unlink()
        return VisibleTokens(
            {
                role: [
                    sorted(path.name.removeprefix(PREFIX) for path in place.glob(f"{PREFIX}*"))
                    for place in self.volumes.directories[role]
                ]
                for role in ROLES
            }
        )

    def _make(self, word: InputShare) -> None:
        part = msgspec.structs.replace(self.needed, tables=tuple(word.tables))
        check_space(self.task.plan, part, self.volumes, self.task.spec.volume_order)
        inputs = make_inputs(
            self.task.plan,
            self.volumes,
            part,
            order=self.task.spec.volume_order,
            processes=self._processes(),
        )
        self._inputs_seconds, self._inputs_cpu_seconds = inputs.seconds, inputs.cpu_seconds
        self.line.say(InputsReady())

    def _processes(self) -> int:
        return self.task.spec.processes or usual_processes(self.cpus)

    def _run(self) -> None:
        task = self.task
        check_space(task.plan, self.needed, self.volumes, task.spec.volume_order)
        inputs = make_inputs(
            task.plan, self.volumes, self.needed, order=task.spec.volume_order, processes=self._processes()
        )
        reference, reference_seconds = reference_of(task.plan)
        if (file := task.spec.reference) is not None:  # it is the controller's
            reference, reference_seconds = Reference(version=None, file=Path(file).name), {}
        facts = run_plan(
            RunRequest(
                run_id=task.run_id,
                node=task.node,
                folder=self.folder,
                plan=task.plan,
                reference=reference,
                reference_seconds=reference_seconds,
                inputs=inputs.directories,
                spec=task.spec,
                cpus=self.cpus,
                core_speed=core_speed_for(task.plan),
                load_before=load_before(),
                free_space=free_space(self.volumes, self.needed, task.spec.volume_order),
            ),
            self.volumes,
            Teller(self.line),
            command=task.command,
            generate_seconds=self._inputs_seconds + inputs.seconds,
            generate_cpu_seconds=self._inputs_cpu_seconds + inputs.cpu_seconds,
            opening=AgreedOpening(self.line, time.time),
        )
        self.line.say(Ended(facts.outcome, facts.outcome_reason))


def main() -> int:
    """Run one task from standard input; exit status 1 where it could not be carried to its end."""
    signal.signal(signal.SIGTERM, _interrupted)  # until the runner takes the signals over
    signal.signal(signal.SIGINT, _interrupted)
    arrow_alone()
    # Whatever else prints must not get between the words.
    words = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    run_ids: list[str] = []

    def last_resort() -> None:
        for run_id in run_ids:
            kill_run(run_id)
        os._exit(1)

    line = AgentConnection(sys.stdin.fileno(), words, last_resort)
    first = line.first()
    if not first:
        return 1
    task = msgspec.json.decode(first, type=NodeTask)
    run_ids.append(task.run_id)
    line.listen(task.lease_seconds)
    try:
        (Node if task.watch is None else StorageNode)(task, line).execute()
    except MawlError as error:
        line.say(Refused(TaskFailure.of(error)))
        return 1
    except KeyboardInterrupt:
        line.say(Refused(TaskFailure.of(InterruptedRunError("stopped before its jobs began"))))
        return 1
    except OSError as error:
        what, where = (error.strerror or str(error)).lower(), str(error.filename or "") or None
        line.say(Refused(TaskFailure.of(UnsuitableMachineError(what, where=where))))
        return 1
    return 0


def _interrupted(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
