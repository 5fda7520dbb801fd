"""Run a workload over the arms of a bed, keep the record of the campaign, and take beds down.

All arms run again on slower volumes if the processors were too busy.  Each run is a process
(``campaigns.process``).  The campaign folder is ``RUNS/lab/CAMPAIGN_ID``.
"""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from mawl.base.errors import MawlError, RunFailedError, UnreadableRunError, UsageError
from mawl.base.foreign import read_regular
from mawl.base.units import format_percent, parse_size
from mawl.campaigns.process import run_task
from mawl.campaigns.series import in_turn
from mawl.lab.bed import ArmSpec, BedSpec
from mawl.lab.build import Bed, calibrate_all, tear_down
from mawl.lab.devices import BED_VARIABLE, own_environment
from mawl.lab.experiment.clients import Clients
from mawl.lab.experiment.figures import SavingsReader
from mawl.lab.experiment.records import LAB_FORMAT_VERSION, ArmRun, LabRecord
from mawl.lab.fabric import SERVER
from mawl.lab.state import BedState, abandoned_trials, forget, held, read_state, state_file
from mawl.measure.processes import kill_marked, started_ticks
from mawl.plan.mix import workload_toml
from mawl.records.spec.program_options import ROLES, Role, parse_options
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.task import Task
from mawl.records.store.facts import decoded, read_facts
from mawl.records.store.files import LARGEST_FACTS_BYTES, LATEST, major, replace_file, replace_link
from mawl.records.volumes import remove_leftover, run_of
from mawl.reports.layout import figure
from mawl.run.runner.counting import leftover_counters
from mawl.run.runner.restrict import leftover_groups

FOLDER = "lab"
"""Where campaigns of the lab are, in the directory of run folders."""

RECORD = "lab.json"


def write_record(folder: Path, record: LabRecord) -> None:
    text = msgspec.json.format(msgspec.json.encode(record), indent=2)
    replace_file(folder / RECORD, text + b"\n")


def new_folder(runs: Path, campaign_id: str) -> Path:
    """The folder of a new campaign, and the link to the newest."""
    folder = runs / FOLDER / campaign_id
    folder.mkdir(mode=0o700, parents=True)
    replace_link(runs / FOLDER / LATEST, folder)
    return folder.absolute()


def read_record(name: str, runs: Path) -> tuple[LabRecord, Path]:
    """A campaign by its folder, its id, or ``latest``; with its folder."""
    folder = next(
        (place for place in (Path(name), runs / FOLDER / name) if os.path.lexists(place / RECORD)), None
    )
    if folder is None:
        raise UsageError(
            "is no campaign of the lab",
            where=name or "an empty name",
            cure="name a folder that mawl lab run made, or its id",
        )
    try:
        content = read_regular(folder / RECORD, LARGEST_FACTS_BYTES, inside=folder)
        record = msgspec.convert(decoded(content), LabRecord)
        known = major(record.format_version) == major(LAB_FORMAT_VERSION)
    except (OSError, ValueError) as error:
        raise UnreadableRunError("cannot be read", where=str(folder / RECORD), why=str(error)) from None
    if not known:
        raise UnreadableRunError(
            f"has format version {record.format_version}, this mawl reads {LAB_FORMAT_VERSION}",
            where=str(folder / RECORD),
            cure="use a newer mawl",
        )
    return record, folder.resolve()


MOST_BUSY_RATIO = 0.70
"""Above this share of CPU time in a run, processors and not volumes may tell arms apart."""

BED_ALLOWANCE_RATIO = 0.20
"""Of all CPU time, what the bed's own processes and the kernel may take beside jobs and mawl."""

SLOWER = 0.6
MOST_LOWERINGS = 2
"""So often all volumes are given ``SLOWER`` times the speed; then the arms stand as they are."""

WORKLOAD = "workload.toml"
_STOP_SECONDS = 60.0


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says over the bed."""

    workload: str | None = None
    scale: str | None = None


class Busy(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of all CPU time over a run: not idle, and used by its jobs and by mawl; None: not known."""

    busy_ratio: float | None
    own_ratio: float | None

    @property
    def too_busy(self) -> bool:
        return self.busy_ratio is not None and self.busy_ratio > MOST_BUSY_RATIO

    @property
    def by_others(self) -> bool:
        """Whether that was not the run's doing, so that slower volumes would not help."""
        return self.too_busy and (self.own_ratio or 0.0) + BED_ALLOWANCE_RATIO <= MOST_BUSY_RATIO

    def severity(self) -> tuple[bool, bool, float]:
        """Orders runs: too busy by itself is worst, then by others, then the busier."""
        return self.too_busy and not self.by_others, self.too_busy, self.busy_ratio or 0.0


class Experiment:
    """One campaign over a bed that stands, its volumes fast."""

    def __init__(
        self,
        bed: Bed,
        arms: Sequence[ArmSpec],
        choices: Choices,
        runs: Path,
        busy_of: Callable[[Path], Busy],
        say: Callable[[str], None],
        remarks: Sequence[str] = (),
    ) -> None:
        """``busy_of`` reads who used the processors in a run; ``say`` gets a line of progress.

        ``remarks`` are what is known from the start to be otherwise than the bed says.
        """
        self.bed, self._arms, self._choices, self._runs = bed, arms, choices, runs.absolute()
        self._busy_of, self._say = busy_of, say
        spec, now = bed.spec, time.time()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
        campaign_id = f"{stamp}-{spec.name}-{secrets.token_hex(2)}"
        self.folder = new_folder(self._runs, campaign_id)
        self.record = LabRecord(
            campaign_id=campaign_id,
            bed=spec.name,
            title=spec.title,
            question=spec.question,
            created_at=now,
            outcome="running",
            workload=self._workload(),
            scale=spec.scale,
            description=bed.state.description,
            claims=list(spec.claims),
            verdicts=list(spec.verdicts),
            remarks=list(remarks),
        )
        self._savings = SavingsReader(bed, spec.savings, arms) if spec.savings else None
        self._clients = Clients(bed, bed.fabric, self.folder / "fabric") if bed.fabric else None
        self._note()

    def carry_out(self) -> LabRecord:
        """Run every arm; the record, which is on disk whatever happens.

        Raises ``RunFailedError`` where a run failed, and what calibration raises.
        """
        try:
            self._generate()
            factor = 1.0
            for lowering in range(MOST_LOWERINGS + 1):
                busiest = self._all_arms(factor)
                if not busiest.too_busy or not self._again(busiest, last=lowering == MOST_LOWERINGS):
                    break
                factor *= SLOWER
            self._note(outcome="completed")
        except KeyboardInterrupt:
            self._note(outcome="interrupted")
            raise
        except BaseException:
            self._note(outcome="failed")
            raise
        return self.record

    def _again(self, busiest: Busy, *, last: bool) -> bool:
        busy, own = (figure(one, format_percent) for one in (busiest.busy_ratio, busiest.own_ratio))
        most = format_percent(MOST_BUSY_RATIO)
        found = f"processors were busy for {busy} of a run, more than {most}"
        if busiest.by_others:
            remark = f"{found}, of which it used {own}: others had the rest; run again"
        elif last:
            remark = f"{found}, also after {MOST_LOWERINGS} lower speeds: processors may explain the result"
        else:
            remark = f"{found}: all volumes were given {SLOWER:g} times the speed, and all arms ran again"
        self._say(remark)
        self._note(remarks=[*self.record.remarks, remark])
        if last or busiest.by_others:
            return False
        self._note(arms=[msgspec.structs.replace(arm, repeated=True) for arm in self.record.arms])
        return True

    def _generate(self) -> None:
        """Make the inputs, once for each list of data volumes, while these are fast."""
        if self._clients is not None:
            self._say("making inputs on the shared file system")
            spec = msgspec.structs.replace(self._spec(self._arms[0]), **self._clients.roles(("data",)))
            self._mawl(Task(spec=spec, verb="generate"), inside=self._clients.at_client())
            return
        for names in dict.fromkeys(tuple(arm.data) for arm in self._arms):
            self._say(f"making inputs on {', '.join(names)}")
            for arm in self._arms:
                if tuple(arm.data) == names:
                    spec = msgspec.structs.replace(self._spec(arm), **role_places(self.bed, arm, ("data",)))
                    self._mawl(Task(spec=spec, verb="generate"))
        if self._savings is not None:
            for arm in self._arms:
                self._savings.inputs_made(arm)

    def _all_arms(self, factor: float) -> Busy:
        """Calibrate, and run the arms; the processors in the worst of these runs."""
        self.bed.at_speed(factor)
        for name in self.bed.volumes:
            self.bed.hasten(name)
            self.bed.slow(name)
        self._note(calibration=list(calibrate_all(self.bed, self._say, self._arms)), savings=[])
        busy = [self._arm(arm, factor) for arm in in_turn(self._arms, self.bed.spec.repeats)]
        return max(busy, key=Busy.severity)

    def _arm(self, arm: ArmSpec, factor: float) -> Busy:
        folder = self._runs / f"{self.record.campaign_id}-{arm.name}-{len(self.record.arms) + 1}"
        self.bed.note_run(folder)
        self._say(f"running {arm.name}: {arm.title or arm.name}")
        roles = role_places(self.bed, arm) if self._clients is None else self._clients.roles()
        self._run(arm, msgspec.structs.replace(self._spec(arm), output=str(folder), **roles))
        facts = read_facts(folder)
        busy = self._busy_of(folder)
        run = ArmRun(
            arm=arm.name,
            run_id=facts.run_id,
            folder=os.path.relpath(folder, self.folder),
            outcome=facts.outcome,
            speed_factor=factor,
            cpu_busy_ratio=busy.busy_ratio,
            own_cpu_ratio=busy.own_ratio,
        )
        self._note(arms=[*self.record.arms, run])
        return busy

    def _run(self, arm: ArmSpec, spec: RunSpec) -> None:
        if self._clients is not None:
            with self._clients.started(arm) as nodes:
                on_nodes = msgspec.structs.replace(spec, nodes=nodes)
                self._mawl(Task(spec=on_nodes), inside=self._clients.at_server())
            return
        if self._savings is None:
            self._mawl(Task(spec=spec))
            return
        with self._savings.keeper(arm) as keeper:
            self._mawl(Task(spec=spec))
        self._say(f"reading what compression saved in {arm.name}")
        self._note(savings=[*self.record.savings, *self._savings.read(arm, keeper)])

    def _workload(self) -> str:
        return self._choices.workload or workload_of(self.bed.spec, self.folder)

    def _spec(self, arm: ArmSpec) -> RunSpec:
        own = spec_of(self.bed.spec, arm, self.record.workload)
        given = self._choices
        return msgspec.structs.replace(
            own,
            workload=given.workload or own.workload,
            scale=given.scale or (None if given.workload else own.scale),
            html=False,
        )

    def _mawl(self, task: Task, inside: Sequence[str] = ()) -> None:
        """A task in the campaign folder, where no settings of the user's are; it must end well."""
        log = self.folder / "mawl.log"
        answer = run_task(
            task,
            log,
            directory=self.folder,
            environment=own_environment(self.bed.mark),
            inside=inside,
            look=self._refuse_lost,
            patience=_STOP_SECONDS,
        )
        if answer.status != 0:
            self._refuse_lost()
            why = str(answer.failure.error()) if answer.failure else None
            raise RunFailedError(
                f"mawl {task.verb} failed over the bed",
                where=str(log),
                why=why or answer.outcome_reason or f"the run is {answer.outcome}",
            )

    def _refuse_lost(self) -> None:
        """Raises where a process of the bed's network ended; what follows from it is no news."""
        lost = self._clients.lost() if self._clients is not None else None
        if lost is not None:
            raise RunFailedError(
                f"the GlusterFS process of {lost[0]} ended while the bed was in use",
                where=str(lost[1]),
                cure="if dmesg says that the kernel killed it for its memory, raise fabric.server_memory"
                if lost[0] == SERVER
                else "see its log, and run again",
            )

    def _note(self, **changes: object) -> None:
        self.record = msgspec.structs.replace(self.record, **changes)
        write_record(self.folder, self.record)


def workload_of(bed: BedSpec, folder: Path) -> str:
    """The name of a bed's workload; if the bed describes one itself, the file in ``folder`` with it."""
    if isinstance(bed.workload, str):
        return bed.workload
    file = folder / WORKLOAD
    file.write_text(workload_toml(bed.workload))
    return str(file)


def spec_of(bed: BedSpec, arm: ArmSpec, workload: str) -> RunSpec:
    """How a bed runs an arm, without the directories; ``workload`` is that of ``workload_of``."""
    return RunSpec(
        workload=arm.workload or workload,
        scale=bed.scale,
        options=parse_options({**bed.options, **arm.options}, where=bed.name),
        cache=bed.cache,
        memory_limit_bytes=None if bed.memory_limit is None else parse_size(bed.memory_limit),
        cores=bed.cores,
    )


def role_places(bed: Bed, arm: ArmSpec, roles: Sequence[Role] = ROLES) -> dict[str, tuple[str, ...]]:
    """By role a directory on each of its volumes."""
    return {role: tuple(str(bed.place(name) / role) for name in arm.volumes(role)) for role in roles}


PATIENCE_SECONDS = 120.0
GROUP_SECONDS = 2.0
_PAUSE_SECONDS = 0.2


def take_down(directory: Path, bed: str) -> list[str]:
    """Remove a bed, whatever of it there is; what was removed, in words.  Idempotent.

    A living ``mawl lab run`` or ``up`` of it is asked to stop first, and takes its bed down itself.
    """
    remove_trials(directory)
    deadline = time.monotonic() + PATIENCE_SECONDS
    asked = False
    while True:
        try:
            with held(directory, bed):
                state = read_state(directory, bed)
                if state is None:
                    forget(directory, bed)
                    return []
                return take_away(directory, state)
        except UsageError:
            state = read_state(directory, bed)
            if time.monotonic() > deadline:
                raise
            if state is not None and not asked:
                asked = _ask_to_stop(state)
            time.sleep(_PAUSE_SECONDS)


def remove_trials(directory: Path) -> None:
    """Remove what trials of needs left whose process died."""
    for trial in abandoned_trials(directory):
        tear_down(directory, trial)


def take_away(directory: Path, state: BedState) -> list[str]:
    """Clean up after the runs of a bed that the caller holds, and remove the bed."""
    return [*_after_runs(directory, state), *tear_down(directory, state)]


def _ask_to_stop(state: BedState) -> bool:
    """SIGTERM to the bed's owner, if that is still the process which wrote the state."""
    if state.owner_pid == os.getpid() or started_ticks(state.owner_pid) != state.owner_started_ticks:
        return False
    os.kill(state.owner_pid, signal.SIGTERM)
    return True


def _after_runs(directory: Path, state: BedState) -> list[str]:
    """End the processes of runs that were cut short, and remove their control groups and counters.

    Their directories under the roles go with the volumes.  A run may die after it wrote that it was
    completed, so its outcome says nothing about what it left.
    """
    mark = str(state_file(directory, state.bed))
    killed = kill_marked(BED_VARIABLE, mark)
    done = [f"{killed} processes"] if killed else []
    for folder in (Path(name) for name in state.run_folders):
        try:
            run_id = read_facts(folder).run_id
        except MawlError:
            continue  # it died before it had an id, so nothing is named by one
        for group in _groups(run_id, just_killed=bool(killed)):
            group.rmdir()
            done.append(f"control group {group}")
        for counters in leftover_counters([run_id], folder.parent):
            if run_of(counters) == run_id:
                remove_leftover(counters)
                done.append(f"counters {counters}")
    return done


def _groups(run_id: str, *, just_killed: bool) -> list[Path]:
    """Control groups of a run; what was just killed stays in them for a moment."""
    deadline = time.monotonic() + (GROUP_SECONDS if just_killed else 0.0)
    while not (paths := leftover_groups([run_id])) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    return paths
