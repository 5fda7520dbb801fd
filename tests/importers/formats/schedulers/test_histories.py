"""Histories of schedulers as documented: what each format tells of a job, and what no job can be."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from mawl.importers.formats.scheduler_history import (
    DEPENDED,
    NEVER_STARTED,
    STILL_RUNS,
    Entry,
    HistoryDoubt,
    HistoryEnd,
    HistoryJob,
    OrchestratorJson,
    SacctJson,
    Times,
    clock_of,
    read_lsb_acct,
    read_sacct,
    read_sasgsub,
    times_of,
)
from tests.fakes.schedulers import HEADING, Ran, grid_status, lsb_record, orchestrator, sacct, sacct_json

AT = 1_772_481_600.0
"""2026-03-02 20:00 UTC."""

LOAD = Ran(4711, "load", AT, AT + 300, AT + 900)
QUIET = Times(AT, AT, AT + 300, AT + 900, True)
LOCAL = msgspec.structs.replace(QUIET, zoned=False)

OF_LSF_5 = (
    '"JOB_FINISH" "5.1" 1089407406 699195 283 33554482 1 1089290023 0 0 1089406862 "user1" "8nm" "" "" "" '
    '"login15" "prog/step3c" "" "/log/bstep3c-362.txt" "/log/berr-step3c-362.txt" "1089290023.699195" 0 1 '
    '"tbed0079" 64 3.3 "" "/prog/step3c/startEachset.pl 362 7 8" 277.210000 17.280000 0 0 -1 0 0 927804 '
    '87722 0 0 0 -1 0 0 0 0 0 -1 "" "default" 0 1 "" "" 0 310424 339112 "" "" ""'
)
"""A record that LSF 5.1 wrote, of the documentation of an accounting tool (APEL), names shortened."""


OF_LSF_10 = (
    '"JOB_FINISH" "10.1" 1527327585 7610 1000 33554438 1 1527326745 0 0 1527326765 "user1" "normal" "" "" "" '
    '"login1" "" "" "" "" "10/1527326745.7610" 1 "pac" 1 "host1.localdomain" 32 60.0 "" "sleep 1000" '
    "-1.000000 -1.000000 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 "
    '"" "default" 65280 1 "" "" 0 2048 0 "" "" "" "" 0 "" 0 "" -1 "/user1" "" "" "" -1 "" "" 5136 "" '
    '1527326746 "" "" 2 1032 "0" 1033 "0" 0 0 0 2048 "select[type == any] order[r15s:pg] " "" -1 "" -1 0 "" '
    '0 0 "" 839 "" 0 "" 0.000000 0.00 0.00 0.00 0.00 1 "host1.localdomain" {} 0 {} 0'
)
"""A record that LSF 10.1 wrote, with places for the time in which it could not run and of its requeue."""


def lines(content: str) -> Iterable[tuple[int, str]]:
    return enumerate(content.splitlines(), 1)


def of_lsf(job: Ran, **fields: object) -> Entry:
    [entry] = read_lsb_acct(lines(lsb_record(job, **fields)))  # type: ignore[arg-type]
    return entry


def of_slurm(row: str, heading: str = HEADING) -> list[Entry]:
    return list(read_sacct(lines(f"{heading}\n{row}\n")))


def test_every_format_tells_the_same_of_the_same_job() -> None:
    assert of_lsf(LOAD) == HistoryJob(1, "4711", "load", "", None, QUIET)
    assert list(read_sacct(lines(sacct([LOAD])))) == [HistoryJob(2, "4711", "load", "", None, LOCAL)]
    told = HistoryJob(None, "4711", "load", "", None, QUIET)
    assert list(msgspec.json.decode(sacct_json([LOAD]), type=SacctJson).entries()) == [told]
    assert list(msgspec.json.decode(orchestrator([LOAD]), type=OrchestratorJson).entries()) == [told]
    assert list(read_sasgsub(lines(grid_status([LOAD])))) == [HistoryJob(2, "4711", "load", "", None, LOCAL)]


def test_a_record_of_an_old_lsf_has_its_times() -> None:
    [job] = read_lsb_acct([(1, OF_LSF_5)])
    assert isinstance(job, HistoryJob)
    assert job.times == Times(1089290023, 1089290023, 1089406862, 1089407406, True)
    assert (job.number, job.name, job.command) == ("699195", "", "/prog/step3c/startEachset.pl 362 7 8")


@pytest.mark.parametrize(
    ("ineligible", "requeued", "waited"),
    [(-1, 0, 20), (5, 0, 15), (0, 0, 20), (-1, 1527326755, 10), (5, 1527326755, 10), (-1, 1527327000, 20)],
)
def test_a_record_of_lsf_10_tells_other_waits_and_the_time_of_its_requeue(
    ineligible: int, requeued: int, waited: float
) -> None:
    [job] = read_lsb_acct([(1, OF_LSF_10.format(ineligible, requeued))])
    assert isinstance(job, HistoryJob)
    assert job.times.started - job.times.eligible == waited


@pytest.mark.parametrize(
    ("hosts", "asked"), [(("a",), ("b",)), (("a", "b", "c"), ()), (("16*a",), ("x", "y"))]
)
@pytest.mark.parametrize("usage_of_hosts", [False, True])
def test_lists_of_hosts_do_not_move_the_fields_behind_them(
    hosts: tuple[str, ...], asked: tuple[str, ...], usage_of_hosts: bool
) -> None:
    command = 'sas -sysin "/shop/load.sas" -set A ""'
    job = of_lsf(
        LOAD._replace(command=command, task=7),
        hosts=hosts, asked=asked, requeued=AT + 60, usage_of_hosts=usage_of_hosts,
    )  # fmt: skip
    assert isinstance(job, HistoryJob)
    assert (job.command, job.task, job.times.eligible) == (command, "7", AT + 60)


def test_a_job_of_lsf_could_run_at_its_earliest_start_or_when_it_was_requeued() -> None:
    for told, eligible in (
        (of_lsf(LOAD._replace(eligible=AT + 120)), AT + 120),
        (of_lsf(LOAD, requeued=AT + 200), AT + 200),
        (of_lsf(LOAD, ineligible=100), AT + 100),
        (of_lsf(LOAD, ineligible=301), AT + 300),  # whole seconds
        (of_lsf(LOAD, ineligible=0), AT),
    ):
        assert isinstance(told, HistoryJob)
        assert (told.times.eligible, told.times.submitted, told.why_unknown) == (eligible, AT, None)


def test_a_job_that_depended_on_others_has_a_queue_time_only_where_the_record_tells_that_wait() -> None:
    unknown = of_lsf(LOAD, depends="done(12)")
    assert isinstance(unknown, HistoryJob)
    assert unknown.why_unknown == DEPENDED
    known = of_lsf(LOAD, depends="done(12)", ineligible=240)
    assert isinstance(known, HistoryJob)
    assert (known.why_unknown, known.times.eligible) == (None, AT + 240)


@pytest.mark.parametrize(
    ("state", "exit_status", "stopped"),
    [
        (64, 0, None),
        (32, 256, None),  # SAS ended with warnings
        (32, 255 << 8, None),
        (32, 9, "signal 9"),
        (32, 128 + 11, "signal 11"),  # with a core file
        (32, 140 << 8, "signal 12"),  # TERM_RUNLIMIT
        (32, -1, None),
        (64, 9, None),
    ],
)
def test_a_job_of_lsf_that_a_signal_ended_says_so(state: int, exit_status: int, stopped: str | None) -> None:
    job = of_lsf(LOAD, state=state, exit_status=exit_status)
    assert isinstance(job, HistoryJob)
    assert job.stopped == stopped


def test_an_lsf_record_that_ends_before_the_exit_status_has_none() -> None:
    record, exited = OF_LSF_5.replace(" 64 3.3", " 32 3.3"), '"" "default" 9 1'
    [job] = read_lsb_acct([(1, record.replace('"" "default" 0 1', exited))])
    assert isinstance(job, HistoryJob) and job.stopped == "signal 9"
    [job] = read_lsb_acct([(1, record.partition('"" "default" 0')[0])])
    assert isinstance(job, HistoryJob) and job.stopped is None


@pytest.mark.parametrize(
    ("state", "exit_code", "stopped"),
    [
        ("COMPLETED", "0:0", None),
        ("FAILED", "1:0", None),
        ("FAILED", "0:9", "signal 9"),
        ("FAILED", "137:0", "signal 9"),
        ("FAILED", "255:0", None),
        ("TIMEOUT", "0:0", "TIMEOUT"),
        ("CANCELLED by 1000", "0:15", "CANCELLED by 1000"),
        ("FAILED", "?", None),
    ],
)
def test_a_job_that_slurm_or_a_signal_ended_says_so(state: str, exit_code: str, stopped: str | None) -> None:
    row = sacct([LOAD]).splitlines()[1].removesuffix("COMPLETED")
    [job] = of_slurm(f"{row}{state}|{exit_code}", f"{HEADING}|ExitCode")
    assert isinstance(job, HistoryJob) and job.stopped == stopped
    [job] = of_slurm(f"{row}{state}")
    assert isinstance(job, HistoryJob) and job.stopped == (None if state == "FAILED" else stopped)


@pytest.mark.parametrize(
    ("state", "stopped"),
    [
        ({"current": ["OUT_OF_MEMORY"], "reason": "None"}, "OUT_OF_MEMORY"),
        ({"current": "NODE_FAIL"}, "NODE_FAIL"),
        ({"current": ["COMPLETED"]}, None),
        ({"current": [1, None]}, None),
        ("TIMEOUT", None),
        (None, None),
    ],
)
def test_the_json_of_slurm_says_what_ended_a_job(state: object, stopped: str | None) -> None:
    plain = msgspec.json.decode(sacct_json([LOAD]))
    plain["jobs"][0]["state"] = state
    [job] = msgspec.convert(plain, SacctJson).entries()
    assert isinstance(job, HistoryJob) and job.stopped == stopped


def test_jobs_without_a_start_or_an_end_are_counted() -> None:
    assert of_lsf(LOAD._replace(started=0)) == HistoryEnd(NEVER_STARTED)
    cancelled = "8|load|2026-03-02T20:00:00|2026-03-02T20:00:00|Unknown|2026-03-02T20:01:00|CANCELLED by 0"
    running = "9|load|2026-03-02T20:00:00|2026-03-02T20:00:00|2026-03-02T20:01:00|Unknown|RUNNING"
    assert of_slurm(cancelled) == [HistoryEnd(NEVER_STARTED)]
    assert of_slurm(cancelled.replace("Unknown", "None assigned")) == [HistoryEnd(NEVER_STARTED)]
    assert of_slurm(running) == [HistoryEnd(STILL_RUNS)]
    of_json = msgspec.json.decode(
        sacct_json([LOAD._replace(started=0), LOAD._replace(ended=0)]), type=SacctJson
    )
    assert list(of_json.entries()) == [HistoryEnd(NEVER_STARTED), HistoryEnd(STILL_RUNS)]
    pending = b'{"jobs": [{"id": 1, "processingInfo": {"submitTime": "2026-03-02T20:00:00Z"}}]}'
    assert list(msgspec.json.decode(pending, type=OrchestratorJson).entries()) == [HistoryEnd(NEVER_STARTED)]
    waits = "  Job 1 (load) is Submitted:  Submitted: 06Jan2011:10:28:57"
    assert list(read_sasgsub([(1, waits)])) == [HistoryEnd(NEVER_STARTED)]


def test_elements_of_arrays_have_the_number_of_their_task() -> None:
    element = LOAD._replace(task=3)
    for entry in (
        of_lsf(element),
        next(read_sacct(lines(sacct([element])))),
        next(msgspec.json.decode(sacct_json([element]), type=SacctJson).entries()),
    ):
        assert isinstance(entry, HistoryJob)
        assert (entry.number, entry.task) == ("4711", "3")


def test_sacct_tells_when_a_job_became_eligible() -> None:
    for entry in (
        next(read_sacct(lines(sacct([LOAD._replace(eligible=AT + 240)])))),
        next(msgspec.json.decode(sacct_json([LOAD._replace(eligible=AT + 240)]), type=SacctJson).entries()),
    ):
        assert isinstance(entry, HistoryJob)
        assert entry.times.eligible == AT + 240
    unknown = "4711|load|2026-03-02T20:00:00|Unknown|2026-03-02T20:05:00|2026-03-02T20:15:00|COMPLETED"
    [job] = of_slurm(unknown)
    assert isinstance(job, HistoryJob)
    assert job.times == LOCAL


def test_a_job_is_doubted_if_the_time_at_which_it_could_run_is_none() -> None:
    """Without it, all the time since the submission would count as queue."""
    damaged = LOAD._replace(eligible=5.0)
    for entry in (
        of_lsf(damaged),
        next(read_sacct(lines(sacct([damaged])))),
        next(msgspec.json.decode(sacct_json([damaged]), type=SacctJson).entries()),
    ):
        assert isinstance(entry, HistoryDoubt)
        assert entry.reason == "a time is missing or is not a date"


def test_the_heading_names_the_columns_of_sacct_in_any_order() -> None:
    [job] = of_slurm(
        "2026-03-02T20:15:00|x|load|4711|2026-03-02T20:05:00|2026-03-02T20:00:00|",
        "End|User|JobName|JobID|Start|Submit|",
    )
    assert isinstance(job, HistoryJob)
    assert job.times == LOCAL
    [doubt] = of_slurm("1|2026-03-02T20:05:00", "JobID|Start")
    assert isinstance(doubt, HistoryDoubt)
    assert doubt.reason.startswith("sacct without JobName, Submit, End: give `sacct -P -o JobID,")


def test_files_of_sacct_that_were_put_together_are_read() -> None:
    content = sacct([LOAD]) + sacct([LOAD._replace(number=4712)])
    assert [entry.number for entry in read_sacct(lines(content)) if isinstance(entry, HistoryJob)] == [
        "4711",
        "4712",
    ]


def test_a_time_with_a_zone_is_absolute() -> None:
    [job] = of_slurm(
        "4711|load|2026-03-02T21:00:00+0100|2026-03-02T21:00:00+0100|2026-03-02T21:05:00+0100|"
        "2026-03-02T21:15:00+0100|COMPLETED"
    )
    assert isinstance(job, HistoryJob)
    assert job.times == QUIET
    epoch = "|".join(["4711", "load", *(str(int(at)) for at in (AT, AT, AT + 300, AT + 900)), "COMPLETED"])
    assert of_slurm(epoch) == [HistoryJob(2, "4711", "load", "", None, QUIET)]


def test_names_of_the_orchestrator_have_no_case() -> None:
    content = (
        orchestrator([LOAD]).replace("processingInfo", "processinginfo").replace("startTime", "StartTime")
    )
    [job] = msgspec.json.decode(content, type=OrchestratorJson).entries()
    assert isinstance(job, HistoryJob)
    assert job.times == QUIET


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ((AT, None, AT - 1, AT + 9), "it starts before it was submitted"),
        ((AT, None, AT + 9, AT + 8), "it ends before its start"),
        ((AT, AT + 9, AT + 8, AT + 10), "it starts before it could run"),
        ((AT, None, AT + 9, AT + 400 * 86400), "more than a year from submission to end is doubtful"),
        ((None, None, AT + 9, AT + 10), "a time is missing or is not a date"),
    ],
)
def test_times_that_no_job_can_have_are_doubted(values: tuple[float | None, ...], why: str) -> None:
    assert times_of(*values) == why


def test_times_of_two_clocks_are_doubted() -> None:
    assert times_of(AT, None, "2026-03-02T20:00:00", AT) == (
        "some of its times have a zone and some have none"
    )


@pytest.mark.parametrize(
    "value",
    [
        "2026-02-30T10:00:00", "2026-13-01T10:00:00", "03/04/2026 10:00:00", "relative", "", "0",
        "99999999999999999999", 0, -5, 1e300, float("nan"), True, None, [], 10**400,
    ],
)  # fmt: skip
def test_what_is_no_time_gives_none(value: object) -> None:
    assert clock_of(value) is None


@pytest.mark.parametrize(
    "damaged",
    [
        '"JOB_FINISH" "10.1"',
        '"JOB_FINISH" "10.1" x',
        lsb_record(LOAD).replace(" 0 1 ", " 9999 1 ", 1),
        lsb_record(LOAD).replace(" 0 1 ", " -3 1 ", 1),
        lsb_record(LOAD)[:150],
        "noise",
    ],
)
def test_a_damaged_record_of_lsf_is_doubted_and_others_are_not_of_jobs(damaged: str) -> None:
    [entry] = read_lsb_acct([(1, damaged)])
    assert isinstance(entry, HistoryDoubt)
    assert list(read_lsb_acct([(1, '"EVENT_ADRSV_FINISH" "10.1" 1'), (2, ""), (3, "# 12")])) == []


def test_a_record_that_ends_early_still_has_what_comes_first() -> None:
    """Version 9.1 ends before the time in which a job could not run."""
    whole = lsb_record(LOAD._replace(task=2), ineligible=100)
    entry = next(read_lsb_acct([(1, whole[: whole.index('"select[')])]))
    assert isinstance(entry, HistoryJob)
    assert (entry.task, entry.times.eligible) == ("2", AT)


@pytest.mark.parametrize(
    "row", ["4711|load", "a|b|c|d|e|f|g|h", "4711|load|yesterday|x|2026-03-02T20:05:00|z|C"]
)
def test_a_damaged_row_of_sacct_is_doubted(row: str) -> None:
    [entry] = of_slurm(row)
    assert isinstance(entry, HistoryDoubt)


@pytest.mark.parametrize("job", ["{}", '{"time": 3}', '{"time": {"start": "x", "end": {"set": true}}}'])
def test_damaged_jobs_in_json_are_doubted_one_by_one(job: str) -> None:
    content = sacct_json([LOAD]).replace('"jobs": [', f'"jobs": [{job}, ', 1)
    first, second = msgspec.json.decode(content, type=SacctJson).entries()
    assert isinstance(first, HistoryDoubt)
    assert isinstance(second, HistoryJob)
