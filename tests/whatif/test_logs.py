"""Forecasts of a run of logs: what may have been I/O reacts to storage, the rest does not, and it says so."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.derive.derive import LoggedRun, logged_bytes
from mawl.records.store import Run
from mawl.simulation.forecast import Base, Question, predict
from mawl.simulation.scenario import plans_of
from mawl.simulation.system import System, parse_change
from mawl.whatif.answer import (
    OF_LOGS,
    LogsBasis,
    assumptions_of_logs,
    range_of_logs,
    unknown_devices,
    validity_of,
)
from tests.derive.shop import WORDS, log, logs
from tests.derive.test_derive import run_of
from tests.fakes.fitted import based_on
from tests.importers.test_import import imported
from tests.importers.test_nights import files
from tests.simulation.scenes import device, system

MIB = 2**20
OWN = system(device(rate=100.0), cores=8)
"""Eight cores, so that no job waits for one, and a disk that takes a second for what waits for 90."""

WAITED = {"DATA": 120 - 30, "SORT": 0, "PROCPANGOLIN": 120 - 60}
"""Real time less CPU time of the steps of ``shop.log``; the sort computed in two threads all its time."""

SAME = Question()
FASTER = Question(changes=[parse_change("disk.read=2GB"), parse_change("disk.write=2GB")])


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(tmp_path_factory.mktemp("logs"), logs(WORDS))


@pytest.fixture(scope="module")
def logged(shop: Run) -> LoggedRun:
    return logged_bytes(shop)


def base(run: Run, logged: LoggedRun | None, own: System = OWN) -> Base:
    steps = None if logged is None else logged.steps
    return based_on(run, own, steps)


def elapsed(found: Base, question: Question = SAME) -> float:
    return predict(found, question)[1].elapsed_seconds


def test_steps_wait_for_their_bytes_by_role_and_for_nothing_else(shop: Run, logged: LoggedRun) -> None:
    jobs = base(shop, logged).demand.jobs.values()
    assert len(jobs) == 3
    for job in jobs:
        steps = {"DATA" if step.kind == "data" else step.name.upper(): step for step in job.steps}
        for name, waited in WAITED.items():
            step = steps[name]
            assert sum(step.blocked_seconds.values()) == pytest.approx(waited, abs=0.01)
            assert step.other_seconds == 0.0


def test_bytes_at_the_devices_are_those_of_the_block_operations(shop: Run, logged: LoggedRun) -> None:
    found = [one for (job, _), one in logged.steps.items() if WORDS["ledger"] not in job]
    assert {one.device_read_bytes for one in found} == {100 * MIB, 200 * MIB}
    assert {one.device_written_bytes for one in found} == {0, 100 * MIB, 200 * MIB}
    assert logged.without_blocks == 0
    flows = [
        flow for job in base(shop, logged).demand.jobs.values() for step in job.steps for flow in step.flows
    ]
    assert sum(flow.device_bytes for flow in flows) == pytest.approx(2.5 * 700 * MIB)


def test_jobs_keep_the_clock_of_the_night(shop: Run, logged: LoggedRun) -> None:
    """The first and the third job follow each other; the second was started by the clock 240 s later."""
    found = base(shop, logged)
    assert elapsed(found) == pytest.approx(2 * 360, rel=0.02)
    starts = sorted(job.started for job in found.outcome.jobs)
    assert starts == pytest.approx([0, 240, 360], abs=3)


def test_a_job_that_the_clock_started_waits_for_it_on_any_system(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, {f"same_{number}.log": log(WORDS, minutes) for number, minutes in enumerate((5, 30))}
    )
    found = base(run, logged_bytes(run))
    assert elapsed(found) == pytest.approx(25 * 60 + 360, rel=0.01)
    faster = elapsed(found, FASTER)
    # The second job still starts 25 minutes after the first, and then only computes.
    assert faster == pytest.approx(25 * 60 + 30 + 120 + 60, rel=0.03)
    (plan,) = plans_of(run, found.demand)
    assert sum(len(stage) for session in plan.sessions for stage in session.stages) == 2


def test_on_faster_storage_the_range_is_from_no_waiting_for_it_to_all(shop: Run, logged: LoggedRun) -> None:
    waiting, still = base(shop, logged), base(shop, None)
    ends = elapsed(still, FASTER), elapsed(waiting, FASTER)
    assert ends[0] == pytest.approx(2 * 360, rel=0.02), "nothing that waited in the logs reacts"
    # A twentieth of 90 + 60 s of waiting is left of each job; the sort computed for 120 s.  The job that the
    # clock starts after 240 s now ends last.
    assert ends[1] == pytest.approx(240 + 30 + 120 + 60 + 150 / 20, rel=0.01)
    found = range_of_logs(waiting, *ends)
    assert (found.low_seconds, found.high_seconds) == (min(ends), max(ends))


def test_on_slower_storage_the_ends_change_places(shop: Run, logged: LoggedRun) -> None:
    waiting, still = base(shop, logged), base(shop, None)
    slower = Question(changes=[parse_change("disk.read=50MB"), parse_change("disk.write=50MB")])
    ends = elapsed(still, slower), elapsed(waiting, slower)
    assert ends[1] > 1.2 * ends[0]
    found = range_of_logs(waiting, *ends)
    assert (found.low_seconds, found.high_seconds) == ends


def test_the_answer_lists_what_it_assumes_and_has_no_checked_range(shop: Run, logged: LoggedRun) -> None:
    found = base(shop, logged)
    said = list(assumptions_of_logs(found, logged.without_blocks, logged.device_share))
    assert "of 7 min 30 s that steps waited (real time less CPU time), 7 min 30 s were in steps" in said[0]
    assert "at most so much is I/O, at least 0 s" in said[0]
    assert any("mawl derive infers" in text for text in said)
    assert not any("block operations" in text or "not known" in text for text in said)
    made, outcome = predict(found, FASTER)
    logs_range = range_of_logs(found, outcome.elapsed_seconds, 720.0)
    block = validity_of(found, FASTER, made, outcome.elapsed_seconds, None, LogsBasis(logs_range, said))
    assert block.range.low_seconds is None and OF_LOGS in block.reasons
    assert block.logs_range == logs_range and block.assumptions == said
    assert block.lacks == []


def test_without_block_operations_all_bytes_reach_the_devices(tmp_path: Path) -> None:
    texts = {
        name: "\n".join(line for line in text.splitlines() if "Block " not in line)
        for name, text in logs(WORDS).items()
    }
    run = run_of(tmp_path, texts)
    logged = logged_bytes(run)
    assert logged.without_blocks == len(logged.steps) == 9
    found = base(run, logged)
    said = " ".join(assumptions_of_logs(found, 9, None))
    assert "9 of 9 steps have no block operations in the logs" in said
    flows = [flow for job in found.demand.jobs.values() for step in job.steps for flow in step.flows]
    assert flows and all(flow.device_bytes == flow.application_bytes for flow in flows)


def test_without_the_devices_there_is_no_range_and_a_sentence_names_the_file(
    shop: Run, logged: LoggedRun
) -> None:
    found = base(shop, logged)
    unseen = replace(found, unknown={"disk": ["read"]})
    assert unknown_devices(unseen) == ["data", "work", "util"]
    assert range_of_logs(unseen, 1.0, 2.0).low_seconds is None
    said = " ".join(assumptions_of_logs(unseen, 0, None))
    assert "import the logs together with a recording of their host (nmon, sar)" in said
    assert "--measured-on FILE, which mawl probe --system writes there" in said


@pytest.mark.parametrize("named", [True, False])
def test_a_recording_beside_the_logs_tells_cores_and_where_roles_are_named_the_devices(
    tmp_path: Path, named: bool
) -> None:
    disks = re.compile("hdisk[1-3]")
    roles = {"data": [disks], "work": [disks], "util": [disks]} if named else {}
    _, run = imported(tmp_path, *files(tmp_path), roles=roles)
    logged = logged_bytes(run)
    found = based_on(run, None, logged.steps)
    kind = found.seen.nodes[0]
    assert kind.cores >= 1 and not found.described
    assert [name.startswith("hdisk") for name in kind.roles["work"]] == ([True] * 2 if named else [False])


def test_logs_without_cores_name_the_files_that_have_them(shop: Run, logged: LoggedRun) -> None:
    with pytest.raises(UsageError, match="does not say how many cores") as refused:
        based_on(shop, None, logged.steps)
    assert "--measured-on FILE" in str(refused.value) and "nmon, sar" in str(refused.value)
