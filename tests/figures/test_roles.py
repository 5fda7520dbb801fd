"""I/O by role and waits in the summary and on the screen."""

from __future__ import annotations

import msgspec
import pytest

from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import WAIT_FIELDS, Waits
from mawl.reports.paragraphs import waits
from mawl.reports.run_tables.roles import ROLE_DEVICES, ROLES
from mawl.reports.tables import table_lines
from tests.fakes.host_run import apart_facts
from tests.fakes.measured_run import IDLE, samples
from tests.fakes.stored_run import facts, job, jobs
from tests.fakes.views import BARE, as_summary, summary_of

REASON = {"io.by_role": "not measured: no C compiler"}


def without(records: list[JobRecord], **changes: object) -> list[JobRecord]:
    """The records with something else in all of them."""
    return [msgspec.structs.replace(record, **changes) for record in records]


def test_bytes_shares_and_latencies_are_of_the_jobs_that_count() -> None:
    io = summary_of(facts(), jobs())["io"]
    data, work, util = (io["by_role"][role] for role in ("data", "work", "util"))
    assert (data["read_bytes"], work["written_bytes"]) == (5 * 400_000_000, 5 * 120_000_000)
    assert [role["share_ratio"] for role in (data, work, util)] == pytest.approx([0.4, 0.42, 0.18])
    assert data["sequential_ratio"] == 0.9
    latency = data["read_latency_seconds"]
    assert latency["mean"] == pytest.approx(0.001)
    assert latency["p50"] == pytest.approx(0.001, rel=0.06)
    assert latency["max"] == 0.02
    assert data["write_latency_seconds"]["p99"] is None
    assert data["volumes"] == ["data"]
    assert data["read_request_bytes"]["mean"] == data["read_bytes"] / data["reads"]
    assert set(data["write_request_bytes"].values()) == {None}
    assert any(
        line.startswith("median request: data read ")
        for line in table_lines(ROLES, BARE, as_summary(summary_of(facts(), jobs())))
    )
    assert io["coverage_ratio"] == 1.0


def test_a_job_that_could_not_be_counted_lowers_the_coverage() -> None:
    remark = "no program of the job could be counted: static"
    some = jobs()
    some[0] = without(
        some[:1], io=None, counted_read_bytes=None, counted_written_bytes=None, io_remark=remark
    )[0]
    summary = summary_of(facts(), some)
    assert summary["io"]["coverage_ratio"] == pytest.approx(0.8)
    assert summary["io"]["unseen"] == [remark]
    assert summary["io"]["by_role"]["data"]["read_bytes"] == 4 * 400_000_000
    lines = table_lines(ROLES, BARE, as_summary(summary))
    assert "counted: 80 % of the bytes that the kernel saw; no program of the job" in lines[-1]


def test_where_no_job_could_be_counted_the_jobs_say_why() -> None:
    some = without(
        jobs(),
        io=None,
        counted_read_bytes=None,
        counted_written_bytes=None,
        io_remark="every program is static",
    )
    summary = summary_of(facts(), some)
    assert summary["io"]["by_role"] is summary["io"]["coverage_ratio"] is None
    more = summary["jobs"]["counted"] - 1
    reason = f"not measured: every program is static (and in {more} more jobs)"
    assert summary["missing"]["io.by_role"] == summary["missing"]["io.coverage_ratio"] == reason
    assert table_lines(ROLE_DEVICES, BARE, as_summary(summary))[0].startswith(f"I/O by role: {reason}")


def test_remarks_of_one_kind_are_said_once() -> None:
    some = [job("s1-1", 0, 9, io_remark=f"{count} MB were mapped; it used io_uring") for count in (1, 2, 3)]
    assert summary_of(facts(), some)["io"]["unseen"] == [
        "1 MB were mapped (and in 2 more jobs)",
        "it used io_uring (and in 2 more jobs)",
    ]


def test_without_a_compiler_the_run_says_so() -> None:
    reason = "not measured: no C compiler"
    summary = summary_of(facts(missing={"io.by_role": reason}, volumes=[]), without(jobs(), io=None))
    assert summary["io"]["by_role"] is None
    assert summary["missing"]["io.by_role"] == reason
    assert table_lines(ROLE_DEVICES, BARE, as_summary(summary)) == [
        f"I/O by role: {reason}; nor can devices split it: no device of data is known"
    ]
    assert table_lines(ROLES, BARE, as_summary(summary)) == []


def test_devices_split_what_the_calls_cannot_where_each_role_has_its_own() -> None:
    rates = {"device.sda.read_bytes": 3e6, "device.sda.written_bytes": 0.0}
    rates |= {
        f"device.{disk}.{figure}_bytes": 1e6 for disk in ("sdb", "sdc") for figure in ("read", "written")
    }
    some = without(jobs(), io=None)
    summary = summary_of(apart_facts(missing=REASON), some, samples=samples(61, IDLE | rates))
    devices = summary["io"]["devices_by_role"]
    assert devices["data"] == pytest.approx({"read_bytes": 3e6 * 60.5, "written_bytes": 0.0})
    assert devices["util"]["written_bytes"] == pytest.approx(60.5e6)
    lines = table_lines(ROLE_DEVICES, BARE, as_summary(summary))
    assert lines[0] == "I/O by role: not measured: no C compiler"
    assert lines[2].split() == ["data", "182", "MB", "0", "B"]
    one = apart_facts(["util"], missing=REASON)
    image = [msgspec.structs.replace(volume, layers=["loop0", "sdc"]) for volume in one.volumes[1:2]]
    one = msgspec.structs.replace(one, volumes=[one.volumes[0], *image, one.volumes[2]])
    shared = summary_of(one, some, samples=samples(61, IDLE | rates))
    assert shared["io"]["devices_by_role"] is None, "work is an image file on util's disk"
    assert "work shares a device with util" in table_lines(ROLE_DEVICES, BARE, as_summary(shared))[-1]


def test_waits_are_sums_and_their_shares_are_shown() -> None:
    some = [job("s1-1", 0.0, 10.5), job("s2-1", 0.0, 20.5)]
    some = without(
        some,
        waits=Waits(
            on_cpu_seconds=4.0,
            run_queue_seconds=2.0,
            blocked_data_seconds=3.0,
            blocked_work_seconds=0.0,
            blocked_util_seconds=0.5,
            blocked_other_seconds=0.5,
        ),
    )
    summary = summary_of(facts(), some)
    sums = {
        "on_cpu_seconds": 8.0,
        "run_queue_seconds": 4.0,
        "blocked_seconds": {"data": 6.0, "work": 0.0, "util": 1.0, "other": 1.0},
    }
    nothing = {"jobs": 0, "roles": [], "page_faults": 0, "at_most_seconds": 0}
    own = {"blocked_at_most_seconds": 11.0, "mapped_files": nothing, **sums}
    assert summary["wait"].items() >= own.items()
    assert sum(summary["wait"]["shares"].values()) == pytest.approx(1.0)
    assert summary["cpu_real_ratio"]["without_run_queue"] == pytest.approx(15.0 / (30.0 - 4.0))
    text = " ".join(waits(as_summary(summary)))
    assert "waiting for processors 4.00 s (13 %), data 6.00 s (20 %)" in text
    assert "not known 10.0 s (33 %)" in text, "of the real time, not of what is known of it"


def test_waiting_for_mapped_files_is_no_more_than_other_waiting_of_their_jobs() -> None:
    waited = Waits(**dict.fromkeys(WAIT_FIELDS, 1.5))
    some = without([job("s1-1", 0.0, 10.5), job("s2-1", 0.0, 20.5)], waits=waited)
    assert some[1].io is not None
    maps = {role: msgspec.structs.replace(some[1].io[role], mapped_bytes=4096) for role in ("data", "other")}
    some[1] = without(some[1:], io=some[1].io | maps)[0]
    summary = summary_of(facts(), some)
    found = summary["wait"]["mapped_files"]
    assert (found["jobs"], found["roles"], found["at_most_seconds"]) == (1, ["data"], 12.5)
    text = " ".join(" ".join(waits(as_summary(summary))).split())
    assert "up to 12.5 s blocked elsewhere or not known may be for mapped files of data (in 1 job)" in text
    some[0] = without(some[:1], io=None)[0]
    assert summary_of(facts(), some)["wait"]["mapped_files"] == found
    unknown = summary_of(facts(), some[:1])
    assert unknown["missing"]["wait.mapped_files"] == "no job's calls were counted"


def test_a_job_without_its_waits_leaves_no_sum() -> None:
    some = jobs()
    some[0] = without(some[:1], waits=Waits(on_cpu_seconds=1.0))[0]
    summary = summary_of(facts(), some)
    assert summary["wait"]["run_queue_seconds"] is None
    assert summary["missing"]["wait.run_queue_seconds"].startswith("1 of the 5 jobs")
    assert summary["cpu_real_ratio"]["without_run_queue"] is None


def test_a_run_of_an_older_mawl_has_neither() -> None:
    summary = summary_of(facts(), without(jobs(), io=None, waits=Waits()))
    assert summary["wait"] is None
    assert "format 1.0" in summary["missing"]["wait"]
    assert "format 1.0" in summary["missing"]["io.by_role"]
    assert waits(as_summary(summary)) == []
