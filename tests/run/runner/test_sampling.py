"""The budget of samples: so many series a second, whatever a machine has.

Host figures into the samples of a run.

Jobs that a signal has stopped, as the samples show them.

The series of the jobs' time, where each job is read in its turn.
"""

from __future__ import annotations

from pathlib import Path

from mawl.measure.accounting import ProcessSampler, TreeSample
from mawl.measure.host.collector import HostCollector
from mawl.records.model.role_io import FILE_ROLES
from mawl.records.model.series_metrics import SERIES_METRICS, registry_name
from mawl.records.store import open_run
from mawl.records.store.folder import RunWriter
from mawl.run.runner.counting import RoleSampling
from mawl.run.runner.sampling import (
    JOB_SERIES,
    MOST_SELDOM_A_SECOND,
    MOST_SERIES,
    SELDOM_SECONDS,
    HostSampling,
    SampleBudget,
    StoppedJobs,
)
from tests.fakes.stored_run import facts
from tests.fakes.tree import plant
from tests.measure.host.test_collector import MACHINE
from tests.measure.test_process import add_process


def test_every_series_of_a_look_is_a_row_and_is_defined(tmp_path: Path) -> None:
    plant(tmp_path, MACHINE)
    collector = HostCollector(root=tmp_path)
    writer = RunWriter(tmp_path / "run", facts())
    sampling = HostSampling("n1", collector, writer)
    sampling.look(100.0)
    plant(tmp_path, {"proc/stat": MACHINE["proc/stat"].replace("ctxt 21708031", "ctxt 21708099")})
    sampling.look(101.0)
    writer.finish(facts())
    collector.close()
    rows = open_run(tmp_path / "run").samples.to_pylist()
    switches = [row["value"] for row in rows if row["series"] == "host.context_switches"]
    assert switches == [21708031, 21708099]
    assert {row["node"] for row in rows} == {"n1"}
    assert [row["series"] for row in rows if registry_name(row["series"]) is None] == []


def test_a_series_is_found_in_the_registry_by_its_kind() -> None:
    assert registry_name("device.dm-0.reads") == "device.*.reads"
    assert registry_name("mount./data.v2/x.read_bytes") == "mount.*.read_bytes"
    assert registry_name("host.runnable") == "host.runnable"
    assert registry_name("jobs_running") is None
    names = [metric.name for metric in SERIES_METRICS]
    assert len(names) == len(set(names))


FIGURES = (
    *("reads", "read_bytes", "read_seconds", "writes", "written_bytes", "write_seconds"),
    *("in_flight", "busy_seconds", "queue_seconds", "flushes", "flush_seconds"),
)


def machine(devices: int) -> dict[str, float]:
    host = {f"host.figure_{number}": 1.0 for number in range(30)}
    host |= {f"interface.eth{number}.read_bytes": 1.0 for number in range(4)}
    return host | {f"device.dm-{number}.{figure}": 1.0 for number in range(devices) for figure in FIGURES}


def test_a_small_machine_has_all_of_its_series_each_second() -> None:
    budget, figures = SampleBudget({"dm-0"}), machine(4)
    assert all(budget.due(float(now), figures) == figures for now in range(30))
    assert budget.remarks() == []


def test_a_large_machine_has_as_many_as_the_budget_and_the_others_every_ten_seconds() -> None:
    named = {f"dm-{number}" for number in range(56)}
    budget, figures = SampleBudget(named), machine(100)
    looks = [budget.due(float(now), figures) for now in range(25)]
    whole = [now for now, look in enumerate(looks) if look == figures]
    assert whole == [0, 10, 20]
    often = looks[1]
    assert len(often) == MOST_SERIES - JOB_SERIES
    assert all(look == often for now, look in enumerate(looks) if now not in whole)
    assert {name for name in figures if name.startswith("host.")} <= set(often)
    for figure in ("read_bytes", "written_bytes", "busy_seconds"):
        assert {f"device.{name}.{figure}" for name in named} <= set(often)
    assert budget.due(25.0, figures, whole=True) == figures
    assert SELDOM_SECONDS == 10.0
    (said,) = budget.remarks()
    assert said.startswith(
        f"{len(figures) - len(often)} of {len(figures)} series of the host were sampled every 10 s"
    )


def test_however_many_series_there_are_the_mean_is_bounded_and_said() -> None:
    budget, figures, seconds = SampleBudget({"dm-0"}), machine(300), 600
    looks = [budget.due(float(now), figures) for now in range(seconds)]
    whole = [now for now, look in enumerate(looks) if len(look) == len(figures)]
    assert whole == list(range(0, seconds, 31))
    most = MOST_SERIES - JOB_SERIES + MOST_SELDOM_A_SECOND
    assert sum(map(len, looks[1:])) / (seconds - 1) <= most
    (said,) = budget.remarks()
    assert "were sampled every 31 s, not each second" in said


def test_series_that_come_later_never_push_others_out() -> None:
    budget, figures = SampleBudget(()), machine(25)
    budget.due(0.0, figures)
    later = figures | {f"device.sd{number}.reads": 1.0 for number in range(100)}
    budget.due(1.0, later)
    often = budget.due(2.0, later)
    assert figures.keys() <= often.keys() and len(often) == MOST_SERIES - JOB_SERIES


def test_a_series_that_goes_leaves_the_others_as_they_were() -> None:
    budget, figures = SampleBudget(()), machine(100)
    budget.due(0.0, figures)
    before = budget.due(1.0, figures)
    less = {name: value for name, value in figures.items() if not name.startswith("device.dm-3.")}
    after = budget.due(2.0, less)
    assert after == {name: value for name, value in before.items() if name in less}


def test_a_process_that_is_stopped_is_named_once_after_five_seconds(tmp_path: Path) -> None:
    add_process(tmp_path, 100, below="200")
    add_process(tmp_path, 200)
    sampler = ProcessSampler(tmp_path)
    stopped = StoppedJobs()

    def looks(first: int, count: int) -> list[tuple[int | None, list[str]]]:
        found = []
        for second in range(first, first + count):
            live = sampler.sample({"job": 100})
            found.append((live["job"].stopped, stopped.look(live, float(second))))
        return found

    assert looks(0, 4) == [(None, [])] * 4
    add_process(tmp_path, 200, state="T")
    found = looks(4, 8)
    assert [pid for pid, _ in found] == [200] * 8
    assert [len(sentences) for _, sentences in found] == [0, 0, 0, 0, 0, 1, 0, 0], "after 5 s, and once"
    assert "kill -CONT 200 lets it go on" in found[5][1][0]
    add_process(tmp_path, 200)
    assert looks(12, 1) == [(None, [])]
    add_process(tmp_path, 100, below="200", state="T")
    assert looks(13, 11) == [(None, [])] * 11, "the launcher ends the job of a keeper that is stopped"
    sampler.close()


class Ended:
    """Counters of a job whose processes end: what these waited for a CPU."""

    reason = None
    seconds = 0.0

    def run_delay_seconds(self, job: str) -> float:
        return self.seconds

    def waited_seconds(self, job: str) -> tuple[dict[str, float], dict[str, float]]:
        return dict.fromkeys(FILE_ROLES, 0.0), dict.fromkeys(FILE_ROLES, 0.0)

    def live(self) -> int:
        return 0


def test_a_process_that_ends_between_turns_does_not_wait_twice() -> None:
    counting = Ended()
    sampling = RoleSampling(counting)  # type: ignore[arg-type]
    tree = TreeSample(0, 0, 0, 0, 1.0, 0.0, 0, 2, 5.0, read_at=10.0, living_run_delay_seconds=5.0)

    def delay(tree: TreeSample) -> float:
        return dict(sampling.series({"job": tree}))["jobs.run_queue_seconds"]

    assert delay(tree) == 5.0
    counting.seconds = 3.0  # it was in the 5 s, which are not read anew out of turn
    assert delay(tree) == 5.0
    # The largest sum of the living stays 5 s; 2.5 s are of what lives now.
    assert delay(tree._replace(living_run_delay_seconds=2.5, read_at=11.0)) == 5.5
