"""What calibration finds of a run: seeks that were made, and bytes that came from no role's devices."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import Role
from mawl.simulation.activity import Calibration
from mawl.simulation.recorded_demand import at_devices
from mawl.simulation.scenario import MOST_FASTER, MOST_HALVINGS, blocked_in_roles, calibrate, run_scenario
from tests.fakes.views import partly
from tests.simulation.scenes import MB, demands, device, flow, scenario, side_by_side, step, system

DISK = system(device(spinning_streams=2.0))
JOBS = side_by_side(
    [[step(0.5, flow(100)), step(0.2, flow(60, direction="read"))], [step(0.1, flow(200))], [step(1.0)]]
)
SPINNING = scenario(DISK, *JOBS)


@pytest.mark.parametrize("made", [0.1, 0.4, 0.8])
def test_the_seeks_that_a_run_made_are_found_and_its_disk_stays_as_it_was(made: float) -> None:
    measured = run_scenario(SPINNING, Calibration(DISK, 0.0, made))
    found, outcome = calibrate(SPINNING, blocked_in_roles(measured))
    assert found.seek_ratio == pytest.approx(made, rel=0.02)
    assert found.own == DISK
    assert found.alone_ratio == 0.0
    assert outcome.elapsed_seconds == pytest.approx(measured.elapsed_seconds, rel=0.01)


def test_a_disk_is_faster_than_described_only_where_no_seek_at_all_is_still_too_slow() -> None:
    wanted = blocked_in_roles(run_scenario(SPINNING, Calibration(DISK, 0.0, 0.0))) / 2.0
    found, outcome = calibrate(SPINNING, wanted)
    assert found.seek_ratio == 0.0
    assert found.own.device("disk").write_bytes_per_second > 100 * MB
    nearest = MOST_FASTER ** (0.5**MOST_HALVINGS) - 1.0
    assert blocked_in_roles(outcome) == pytest.approx(wanted, rel=nearest)


def test_fewer_seeks_never_slow_a_run() -> None:
    elapsed = [run_scenario(SPINNING, Calibration(DISK, 0.0, part / 4)).elapsed_seconds for part in range(5)]
    assert elapsed == sorted(elapsed)
    assert elapsed[0] < elapsed[-1]


def test_a_device_that_does_not_seek_has_no_seeks_to_save() -> None:
    plain = scenario(system(), *JOBS)
    waited = blocked_in_roles(run_scenario(plain, Calibration(plain.system, 0.0)))
    found, _ = calibrate(plain, waited / 2.0)
    assert found.seek_ratio == 1.0
    assert found.own != plain.system


def test_devices_stay_as_described_where_the_elapsed_time_is_then_nearer() -> None:
    """Jobs that wait less than the model says may have had their writes done for them, at the same rates."""
    plain = scenario(system(), *JOBS)
    as_described = run_scenario(plain, Calibration(plain.system, 0.0))
    waited = blocked_in_roles(as_described) / 2.0
    assert calibrate(plain, waited, as_described.elapsed_seconds)[0].own == plain.system
    faster, outcome = calibrate(plain, waited)
    assert faster.own != plain.system
    assert calibrate(plain, waited, outcome.elapsed_seconds)[0] == faster


def test_what_sharing_explains_is_not_taken_for_waits_that_a_step_has_alone() -> None:
    """A step reads ahead 200 MB in 2 s while it computes for 1 s, so it is blocked for 1 s more or less."""
    alone = scenario(system(), *side_by_side([[step(1.0, flow(200, direction="read"), blocked=1.05)]]))
    for waited, expected in ((0.98, 1.0), (1.0, 1.0), (1.05, 1.0), (1.24, 1.0)):
        found, outcome = calibrate(alone, waited)
        assert found.alone_ratio == 0.0 and found.own.device("disk").read_bytes_per_second >= 100 * MB
        assert blocked_in_roles(outcome) == pytest.approx(expected, abs=0.03)
    assert calibrate(alone, 1.26)[0].alone_ratio > 0.0, "sharing explains less than four fifths"


def test_waits_that_sharing_does_not_explain_are_those_that_a_step_has_alone() -> None:
    alone = scenario(system(), *side_by_side([[step(1.0, flow(100, direction="read"), blocked=1.0)]]))
    found, outcome = calibrate(alone, 1.0)
    assert found.alone_ratio == pytest.approx(1.0, abs=0.01)
    assert outcome.elapsed_seconds == pytest.approx(2.0, rel=0.01)


def _reads(shown_megabytes: float, faults: Mapping[str, int]) -> list[float]:
    """Megabytes from the devices of a job that was charged 50 and of one that was charged 10."""
    jobs = demands(
        {
            name: [step(1.0, flow(size, "data", "read"), page_faults=faults.get(name, 0))]
            for name, size in (("reads", 50), ("imports", 10))
        }
    )
    found = at_devices(jobs, _shown(shown_megabytes))
    return [found[name].steps[0].flows[0].device_bytes / MB for name in jobs]


def _shown(megabytes: float) -> Summary:
    """A summary in which the devices of all roles together read that many."""
    return partly(
        {
            "io": {"devices_by_role": None},
            "host": {"role_devices": {"read_bytes": megabytes * MB, "written_bytes": None}},
        }
    )


def test_reads_beyond_what_devices_showed_are_pages_of_programs_where_jobs_faulted() -> None:
    assert _reads(50, {"imports": 4}) == pytest.approx([50, 0])
    assert _reads(54, {"imports": 4}) == pytest.approx([50, 4])
    assert _reads(45, {"imports": 4}) == pytest.approx([45, 0])


def test_each_fault_read_as_much_as_any_other() -> None:
    assert _reads(52, {"imports": 3, "reads": 1}) == pytest.approx([48, 4])
    assert _reads(30, {"imports": 3, "reads": 1}) == pytest.approx([30, 0])


def test_the_faults_of_a_step_count_once_however_many_roles_it_reads() -> None:
    roles: tuple[Role, ...] = ("data", "work", "util")
    jobs = demands(
        {
            "three": [step(1.0, *(flow(20, role, "read") for role in roles), page_faults=2)],
            "one": [step(1.0, flow(60, "data", "read"), page_faults=2)],
        }
    )
    found = at_devices(jobs, _shown(108))
    of_job = [sum(one.device_bytes for one in found[name].steps[0].flows) / MB for name in jobs]
    assert of_job == pytest.approx([54, 54])


def test_without_faults_all_reads_are_brought_to_the_sum_alike() -> None:
    assert _reads(30, {}) == pytest.approx([25, 5])
    assert _reads(120, {"imports": 4}) == pytest.approx([100, 20])
