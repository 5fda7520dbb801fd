"""What the kernel writes while jobs go on: how much of it a run shows, and who waits in the simulation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mawl.simulation.activity import Way, with_write_behind
from mawl.simulation.demand import StepDemand
from mawl.simulation.system import Device
from tests.simulation.scenes import MB, demands, device, flow, side_by_side, simulated, step, system

GB = 1e9


def behind_ratio(*steps: StepDemand, on: Device | None = None) -> float:
    """Of what the last of the steps writes, the part that it writes behind."""
    own = system(on or device())
    found = with_write_behind(demands({"j": list(steps)}), Way(own, own.nodes[0]))
    return found["j"].steps[-1].flows[-1].behind_ratio


def writer(megabytes: float, cpu: float = 0.0, ratio: float = 1.0) -> StepDemand:
    """It writes to the page cache; ``ratio`` of it is written behind."""
    return step(cpu, replace(flow(megabytes), behind_ratio=ratio), memory_bytes=0.0)


def test_a_run_shows_what_was_written_behind_by_how_long_steps_waited() -> None:
    """100 MB at 100 MB/s: after a wait of 1 s nothing was written behind, of 0.25 s three quarters."""
    assert behind_ratio(step(0.0, flow(100), blocked=1.0)) == 0.0
    assert behind_ratio(step(0.0, flow(100), blocked=0.25)) == pytest.approx(0.75)
    assert behind_ratio(step(0.0, flow(100))) == 1.0
    assert behind_ratio(step(0.0, flow(100), blocked=0.4)) == 0.0, "it was held back"
    in_memory = replace(flow(100), device_bytes=0.0)
    assert behind_ratio(step(0.0, in_memory)) == 1.0
    assert behind_ratio(step(0.0, flow(100), blocked=5.0)) == 0.0


def test_steps_that_only_write_tell_it_and_others_less_the_time_of_their_reads() -> None:
    both = step(0.0, flow(100, direction="read"), flow(100), blocked=1.25)
    assert behind_ratio(both) == pytest.approx(0.75)
    assert behind_ratio(step(0.0, flow(100)), both) == 1.0


def test_what_other_nodes_share_is_written_when_a_file_is_closed() -> None:
    assert behind_ratio(step(0.0, flow(100)), on=device("array", local=False)) == 0.0


def test_direct_writes_are_waited_for_and_do_not_tell_what_is_written_behind() -> None:
    """50 MB direct took the 0.5 s that the step waited, so all of the other 50 MB was written behind."""
    assert behind_ratio(step(0.0, replace(flow(100), direct_ratio=0.5), blocked=0.5)) == 1.0
    assert replace(flow(100), behind_ratio=1.0, direct_ratio=1.0).behind_bytes == 0.0
    assert replace(flow(100), behind_ratio=0.5, direct_ratio=0.4).behind_bytes == pytest.approx(30.0 * MB)


def test_steps_whose_waits_nobody_measured_tell_nothing() -> None:
    unknown = step(0.0, flow(100), waits_known=False)
    assert behind_ratio(unknown) == 0.0
    assert behind_ratio(unknown, step(0.0, flow(100), blocked=0.25)) == pytest.approx(0.75)


def test_a_step_waits_in_the_simulation_as_long_as_it_did() -> None:
    """What it waits for has the device before what the kernel writes: 25 MB at 100 MB/s take 0.25 s."""
    own = system()
    measured = demands({"j": [step(0.0, flow(100), blocked=0.25)]})
    (job,) = with_write_behind(measured, Way(own, own.nodes[0])).values()
    found = simulated(own, *side_by_side([list(job.steps)]))
    assert found.elapsed_seconds == pytest.approx(0.25)
    assert found.jobs[0].steps[0].blocked()["work"] == pytest.approx(0.25)


def test_a_job_goes_on_and_ends_while_its_bytes_are_written() -> None:
    """1 s of CPU and 500 MB at 100 MB/s: 1 s; with nothing behind it takes 5 s."""
    found = simulated(system(), *side_by_side([[writer(500, cpu=1.0)]]))
    assert found.elapsed_seconds == pytest.approx(1.0)
    waiting = simulated(system(), *side_by_side([[writer(500, cpu=1.0, ratio=0.0)]]))
    assert waiting.elapsed_seconds == pytest.approx(5.0)


def test_what_is_written_behind_has_what_steps_leave_of_the_device_and_is_no_job() -> None:
    """500 MB are written behind; another job waits for 100 MB of its own: 1 s, with all of the device."""
    sessions = side_by_side([[writer(500, cpu=10.0)], [step(0.0, flow(100))]])
    found = simulated(system(), *sessions)
    assert found.jobs[1].ended == pytest.approx(1.0)
    assert found.elapsed_seconds == pytest.approx(10.0)
    assert found.recording.running(0).max() == 2.0
    assert found.recording.cumulative(0, "device.write")[-1] == pytest.approx(600 * MB)


def test_a_writer_waits_for_what_is_more_than_may_be_dirty() -> None:
    """2 GB in a memory of 10 GB: 1.5 GB may be dirty, so it waits for 0.5 GB at 100 MB/s."""
    small = system(memory_bytes=10 * GB)
    found = simulated(small, *side_by_side([[writer(2000)]]))
    assert found.elapsed_seconds == pytest.approx(5.0)
    assert found.jobs[0].steps[0].blocked()["work"] == pytest.approx(5.0)


def test_steps_in_a_row_share_what_may_be_dirty() -> None:
    """After 1 s 100 MB are written, so 600 MB of the second GB have room, and 400 MB take 4 s."""
    steps = [writer(1000, cpu=1.0), writer(1000, cpu=1.0)]
    found = simulated(system(memory_bytes=10 * GB), *side_by_side([steps]))
    first, second = found.jobs[0].steps
    assert first.ended - first.started == pytest.approx(1.0)
    assert second.ended - second.started == pytest.approx(4.0, abs=0.01)


def test_the_kernel_has_one_writer_for_a_role_however_many_steps_wrote() -> None:
    """20 steps wrote 50 MB each in 20 s: a writer of 100 MB/s keeps up, whoever comes after."""
    steps = [writer(50, cpu=1.0) for _ in range(20)]
    found = simulated(system(), *side_by_side([steps]))
    assert found.elapsed_seconds == pytest.approx(20.0)
    assert found.recording.cumulative(0, "device.write")[-1] == pytest.approx(1000 * MB)
    late = simulated(system(), *side_by_side([[*steps, step(0.0, flow(100, direction="read"))]]))
    assert late.elapsed_seconds == pytest.approx(21.0)


def test_a_part_of_a_machine_may_be_dirty_up_to_its_own_memory() -> None:
    resources = simulated(system(memory_bytes=2 * GB), *side_by_side([[step(1.0)]])).resources
    assert resources.dirty_bytes(0, 1 * GB) == pytest.approx(0.15 * GB)
    resources.machine_bytes = 24 * GB
    assert resources.dirty_bytes(0, 1 * GB) == pytest.approx(1 * GB)
    resources.machine_bytes = 1 * GB
    assert resources.dirty_bytes(0, 1 * GB) == pytest.approx(0.3 * GB), "a node has no less than its own"
    resources.machine_bytes = 4 * GB
    assert resources.dirty_bytes(0, 1 * GB) == pytest.approx(0.6 * GB)
    assert resources.dirty_bytes(0, 3 * GB) == 0.0
