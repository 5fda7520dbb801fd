"""A machine for the engine of qualify on which nothing takes time: closed formulas instead of runs.

What a run leaves is a file in its folder, as with a real one, so that a qualification that is killed and
continued finds what was made.  ``die_after`` calls that take time end in an interrupt, before or after their
file is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.campaigns.qualify.choice import SMOKE
from mawl.campaigns.qualify.engine import Engine
from mawl.campaigns.qualify.interface import Mix, Model, ObservedMachine, ObservedRun, RunWish, WritableSpace
from mawl.campaigns.qualify.nodes import NodesEngine
from mawl.plan.catalogue import CATALOGUE
from mawl.records.model.qualification import Fits, Qualification, QualifyNode
from mawl.records.model.records import RunOutcome
from mawl.records.spec.run_spec import NodesSpec
from mawl.records.store.campaign import read_qualification, write_qualification
from tests.fakes.qualifications import qualification

WRITES = "mawl.campaigns.qualify.interface.write_qualification"
ALONE_SECONDS = 20.0
"""Of all programs at smoke, which the calibration runs."""

RUN_SECONDS_PER_SESSION = 5.0
BUSY = "other programs used 30 % of the processors"
OVERHEAD_SECONDS = 4.0


class FakeModel:
    """The formulas of ``FakeWork`` as forecasts."""

    overhead_seconds = OVERHEAD_SECONDS
    input_bytes_per_second = 200e6
    core_speed = 1.0
    mutual_slowing_ratio: float | None = 1.05
    others_cpu_ratio: float | None = 0.0
    read_reach_ratio: float | None = 0.97
    write_reach_ratio: float | None = 1.0

    def __init__(self, per_session: float) -> None:
        self.per_session = per_session

    def cpu_seconds(self, program: str, scale: float) -> float:
        return CATALOGUE[program].cpu_seconds(scale)

    def mix(self, sessions: int, scale: float) -> Mix:
        seconds = RUN_SECONDS_PER_SESSION * sessions * scale / SMOKE
        return Mix(
            elapsed_seconds=seconds,
            active_seconds=0.9 * seconds,
            slowdown=self.per_session * sessions,
        )


class Clock:
    """Seconds that only the fake machine lets go by."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


class FakeWork:
    """See ``Work``; slowdown is ``per_session`` times the sessions.

    ``made`` lists every run and other piece of work that was finished, in order.  ``disturbed``
    is the number of first attempts of a run during which other work used 30 % of the processors.  A run with
    all nodes takes ``all_ratio`` times as long as one with one node.  In the calibration
    ``bad_jobs_alone`` jobs fail.  The probe has ``targets``.  ``uneven`` has runs that take so many
    times as long as others: measured-2, and measured-2-2 for what is made after it ended once.
    ``failing`` has the folders of runs with a failed job.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        per_session: float = 0.25,
        forecast: int | None = None,
        slower: float = 1.0,
        seen: ObservedMachine | None = None,
        refuse_above: int | None = None,
        die_after: int | None = None,
        die_late: bool = False,
        disturbed: Mapping[str, int] | None = None,
        all_ratio: float = 1.0,
        bad_jobs_alone: int = 0,
        targets: int = 1,
        uneven: Mapping[str, float] | None = None,
        failing: Sequence[str] = (),
    ) -> None:
        self.clock, self.per_session, self.slower = clock, per_session, slower
        self.forecast = int(2.0 / per_session) if forecast is None else forecast
        self.seen = seen or machine()
        self.refuse_above, self.die_after, self.die_late = refuse_above, die_after, die_late
        self.disturbed, self.all_ratio = disturbed or {}, all_ratio
        self.bad_jobs_alone, self.targets = bad_jobs_alone, targets
        self.uneven, self.failing = uneven or {}, failing
        self.made: list[str] = []
        self.streams = 0
        self._calls = 0

    def look(self) -> ObservedMachine:
        return self.seen

    def probe(self, folder: Path, seconds: float, streams: int, finished: Callable[[], None]) -> str:
        self.streams = streams
        for number in range(self.targets):
            file = folder / f"probe-{number}.json"
            if not file.exists():
                self._dying("probe", partial(_kept, file, finished), seconds)
        (folder / "probe.json").write_text("{}")
        return "probed"

    def generate(self, wish: RunWish, log: Path) -> None:
        self._dying("generate", lambda: log.write_text("made"), 3.0)

    def run(self, wish: RunWish, folder: Path, log: Path) -> None:
        if self.refuse_above is not None and (wish.sessions or 0) > self.refuse_above:
            raise UnsuitableMachineError("the jobs need more memory than there is")
        model = FakeModel(self.per_session)
        alone = wish.sessions is None
        seconds = ALONE_SECONDS if alone else model.mix(wish.sessions or 0, wish.scale).elapsed_seconds
        ratio = self.all_ratio if wish.all_nodes else 1.0
        run, ended = _run_of(folder)
        uneven = self.uneven.get(f"{run}-{ended + 1}" if ended else run, 1.0)
        seconds = ratio * self.slower * uneven * seconds + OVERHEAD_SECONDS
        folder.mkdir()
        others = 0.3 if ended < self.disturbed.get(run, 0) else 0.01
        content = {"sessions": wish.sessions, "seconds": seconds, "others": others, "ratio": ratio}
        name = "alone" if alone else f"mix-{wish.sessions}{'-all' if wish.all_nodes else ''}"
        self._dying(name, lambda: (folder / "run.json").write_text(json.dumps(content)), seconds)

    def outcome(self, folder: Path) -> RunOutcome | None:
        if not (folder / "run.json").exists():
            return None
        return "failed" if folder.name in self.failing else "completed"

    def read(self, folder: Path, repeats: int) -> ObservedRun:
        plain = json.loads((folder / "run.json").read_text())
        sessions, seconds = plain["sessions"], plain["seconds"]
        bad = folder.name in self.failing if sessions else self.bad_jobs_alone
        return ObservedRun(
            run_id=folder.name,
            outcome="failed" if bad else "completed",
            reason=f"{bad} jobs did not finish well" if bad else None,
            seconds=seconds,
            elapsed_seconds=seconds - OVERHEAD_SECONDS,
            active_seconds=0.9 * seconds,
            slowdown=plain["ratio"] * self.per_session * sessions if sessions else None,
            others_cpu_ratio=plain["others"],
            disturbance=BUSY if plain["others"] > 0.1 else None,
            heavy=["burn (pid 4711)"] if plain["others"] > 0.1 else [],
        )

    def model(self, calibration: Path, mix: Path, probe: Path) -> Model:
        return FakeModel(self.per_session)

    def fitting(self, runs: Sequence[Path], probe: Path, sessions: int, answer_bound: float) -> Fits:
        return Fits(sessions=self.forecast, low=self.forecast - 1, high=self.forecast + 1)

    def _dying(self, name: str, keep: Callable[[], object], seconds: float) -> None:
        """Finish a piece of work, or be interrupted in it: before its result is kept, or just after."""
        self._calls += 1
        dies = self._calls == self.die_after
        if dies and not self.die_late:
            raise KeyboardInterrupt
        self.clock.seconds += seconds
        keep()
        self.made.append(name)
        if dies:
            raise KeyboardInterrupt


def _run_of(folder: Path) -> tuple[str, int]:
    """The run of a folder, such as measured-2 (second attempt: measured-2-2), and how many attempts ended."""
    name = re.sub(r"(-[0-9]+)-[0-9]+$", r"\1", folder.name)
    return name, len([*folder.parent.glob(f"{name}/run.json"), *folder.parent.glob(f"{name}-*/run.json")])


def _kept(file: Path, finished: Callable[[], None]) -> None:
    file.write_text("{}")
    finished()


def machine(cores: int = 6, **changes: object) -> ObservedMachine:
    """A machine with room for everything, or with what is named."""
    plain: dict[str, object] = {
        "cores": cores,
        "memory_bytes": 64 * 2**30,
        "systems": [
            WritableSpace(roles=["data", "work", "util"], directories=["/mnt/a"], free_bytes=500_000_000_000)
        ],
    }
    return ObservedMachine(**{**plain, **changes})  # type: ignore[arg-type]


def cluster(count: int = 4, cores: int = 6) -> ObservedMachine:
    """Nodes that are alike, with room for everything and no probe."""
    nodes = [
        QualifyNode(name=f"node{number}", cpu_model="a CPU", cores=cores, memory_bytes=64 * 2**30)
        for number in range(1, count + 1)
    ]
    return machine(cores, nodes=nodes, has_fio=False)


def begun(
    folder: Path, minutes: float = 60.0, *, nodes: Sequence[QualifyNode] = (), **asked: object
) -> Qualification:
    """A record as the verb begins it, on disk; ``asked`` is what was asked beside the minutes."""
    plain = qualification()
    if nodes:
        asked["nodes"] = NodesSpec(cluster="tcp://x:8786")
    record = Qualification(
        name=plain.name,
        created_at=plain.created_at,
        outcome="running",
        mawl_version=plain.mawl_version,
        machine=plain.machine,
        directory=plain.directory,
        asked=msgspec.structs.replace(plain.asked, minutes=minutes, **asked),
        nodes=list(nodes),
    )
    folder.mkdir(exist_ok=True)
    write_qualification(folder, record)
    return record


def engine_over(folder: Path, record: Qualification, work: FakeWork) -> tuple[Engine, list[str]]:
    """The engine for one machine, or for the nodes of the record, and the lines that it shows."""
    lines: list[str] = []
    kind = NodesEngine if record.nodes else Engine
    return kind(folder, record, work, work.clock, lambda: 1.7e9, lines.append), lines


def to_the_end(folder: Path, record: Qualification, work: FakeWork) -> Qualification:
    engine, _ = engine_over(folder, record, work)
    engine.until_choice()
    return engine.to_the_end()


def qualified(folder: Path, work: FakeWork, minutes: float = 60.0, **asked: object) -> Qualification:
    """A whole qualification, on nodes where the fake machine has some."""
    return to_the_end(folder, begun(folder, minutes, nodes=work.seen.nodes, **asked), work)


def continued(folder: Path, work: FakeWork) -> Qualification:
    """Goes on from the record on disk."""
    return to_the_end(folder, read_qualification(folder), work)


def ended(record: Qualification) -> list[tuple[object, ...]]:
    """The runs that came to their end, as far as they must be alike after a kill."""
    return [
        (run.purpose, run.position, run.sessions, run.state, round(run.seconds or 0.0, 6))
        for run in record.runs
        if run.state in ("finished", "disturbed", "left out")
    ]


def killed_after_each_change(
    monkeypatch: pytest.MonkeyPatch,
    begin: Callable[[int], Qualification],
    go_on: Callable[[int], Qualification],
) -> Iterator[tuple[int, Qualification]]:
    """A qualification for every change of its record: killed after that change, continued, and at its end.

    The last one is not killed, because its record does not change so often.
    """
    killed = True
    for after in count(1):
        monkeypatch.setattr(WRITES, _Dying(after))
        try:
            record, killed = begin(after), False
        except KeyboardInterrupt:
            monkeypatch.setattr(WRITES, write_qualification)
            record = go_on(after)
        yield after, record
        if not killed:
            return


class _Dying:
    """Writes the record, and is interrupted after that was done so many times."""

    def __init__(self, after: int) -> None:
        self._left = after

    def __call__(self, folder: Path, record: Qualification) -> None:
        write_qualification(folder, record)
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt
