"""fio's JSON of both generations, with text around it, cut short at any place, or not fio's at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.base.errors import InvalidFileError
from mawl.importers.formats.fio import parse_fio, probe_test

NOTHING = {"io_bytes": 0, "io_kbytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0}


def read_of_fio_3(**changes: object) -> dict[str, Any]:
    return {
        "io_bytes": 1048576000,
        "io_kbytes": 1024000,
        "bw_bytes": 104857600,
        "bw": 102400,
        "iops": 400.0,
        "runtime": 10000,
        "clat_ns": {
            "min": 100000,
            "max": 98000000,
            "mean": 2500000.0,
            "N": 4000,
            "percentile": {"50.000000": 2400000, "99.900000": 97000000},
        },
        "lat_ns": {"min": 1, "max": 2, "mean": 3.0, "N": 4000},
        **changes,
    }


def document(**changes: object) -> dict[str, Any]:
    """As fio 3 writes it: one job that read 256 KiB by two streams at 100 MiB/s for 10 s."""
    job = {
        "jobname": "probe",
        "groupid": 0,
        "error": 0,
        "job options": {"rw": "read", "bs": "256k", "numjobs": "2", "direct": "1", "ioengine": "psync"},
        "read": read_of_fio_3(),
        "write": NOTHING,
        "usr_cpu": 1.0,
        "sys_cpu": 4.0,
        "job_runtime": 20000,
        **changes,
    }
    return {"fio version": "fio-3.33", "timestamp": 1700000000, "timestamp_ms": 1700000000500, "jobs": [job]}


OF_FIO_2 = """fio: this platform does not support process shared mutexes, forcing use of threads.
{
  "fio version" : "fio-2.16",
  "timestamp" : 1500000000,
  "global options" : { "bs" : "8k", "direct" : "1" },
  "jobs" : [ {
      "jobname" : "old", "groupid" : 0, "error" : 0,
      "job options" : { "rw" : "randwrite" },
      "read" : { "io_bytes" : 0, "bw" : 0, "iops" : 0.00, "runtime" : 0 },
      "write" : { "io_bytes" : 81920, "bw" : 8192, "iops" : 1024.00, "runtime" : 10000,
        "clat" : { "min" : 100, "max" : 9000, "mean" : 950.5, "stddev" : -nan,
                   "percentile" : { "50.000000" : 900, "99.000000" : 8000, "0.00" : 0, "0.00" : 0 } } },
      "usr_cpu" : 1.5, "sys_cpu" : 2.5
  } ]
}
Run status group 0 (all jobs): done
"""


def test_nanoseconds_and_bytes_of_fio_3() -> None:
    (report,) = parse_fio("note: both iodepth >= 1\n" + json.dumps(document(), indent=2) + "\nafter it\n")
    assert (report.version, report.created_at) == ("fio-3.33", 1700000000.5)
    (job,) = report.jobs
    assert job.read is not None and job.write is None
    assert (job.read.bytes, job.read.bytes_per_second) == (1048576000, 104857600.0)
    assert job.read.requests_per_second == 400.0
    assert job.read.latency_seconds == pytest.approx(
        {"mean": 0.0025, "min": 0.0001, "max": 0.098, "p50": 0.0024, "p99.9": 0.097}
    )
    assert job.elapsed_seconds == 10.0
    assert job.cpu_seconds == pytest.approx(1.0), "5 % of the 20 s that its two threads ran"


def test_microseconds_and_kibibytes_of_fio_2() -> None:
    (report,) = parse_fio(OF_FIO_2)
    (job,) = report.jobs
    assert job.read is None and job.write is not None
    assert (job.write.bytes, job.write.bytes_per_second) == (81920 * 1024, 8192 * 1024.0)
    assert job.write.latency_seconds == pytest.approx(
        {"mean": 950.5e-6, "min": 1e-4, "max": 9e-3, "p50": 9e-4, "p99": 8e-3}
    )
    assert job.cpu_seconds is None, "fio 2 does not say of how many seconds its shares are"
    test = probe_test(report.jobs)
    assert not isinstance(test, str)
    assert (test.pattern, test.direction, test.request_bytes, test.direct) == ("random", "write", 8192, True)


def test_a_job_becomes_a_test() -> None:
    (report,) = parse_fio(json.dumps(document(), indent=1))
    test = probe_test(report.jobs)
    assert not isinstance(test, str)
    assert (test.pattern, test.direction, test.request_bytes) == ("sequential", "read", 262144)
    assert (test.streams, test.direct, test.content, test.read_share_ratio) == (
        2,
        True,
        "incompressible",
        1.0,
    )
    assert (test.read, test.write, test.remark) == (report.jobs[0].read, None, None)
    assert (test.command[:3], test.steady) == (["fio", "--name=probe", "--rw=read"], None)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rw": "randrw", "bs": "64k", "rwmixread": "65"}, ("random", "mixed", 65536, 1, 0.65)),
        ({"rw": "rw:8", "bs": "1M,64k", "rwmixwrite": "20"}, ("sequential", "mixed", 2**20, 1, 0.8)),
        ({"rw": "randread"}, ("random", "read", 4096, 1, 1.0)),
        ({"bs": "4ki", "ioengine": "libaio", "iodepth": "8"}, ("sequential", "read", 4000, 8, 1.0)),
        ({"bs": "4096", "ioengine": "psync", "iodepth": "8"}, ("sequential", "read", 4096, 1, 1.0)),
        ({"rw": "rw", "rwmixread": "nan", "numjobs": "1e999"}, ("sequential", "mixed", 4096, 1, 0.5)),
        ({"rw": "rw", "rwmixread": "-20"}, ("sequential", "mixed", 4096, 1, 0.0)),
    ],
)
def test_options_as_people_write_them(options: dict[str, str], expected: tuple[object, ...]) -> None:
    (report,) = parse_fio(json.dumps(document(**{"job options": options, "job_runtime": 10000})))
    test = probe_test(report.jobs)
    assert not isinstance(test, str)
    found = (test.pattern, test.direction, test.request_bytes, test.streams, test.read_share_ratio)
    assert found == expected


@pytest.mark.parametrize("options", [{"rw": "trim"}, {"bs": "4k-64k"}, {"bs": "0"}, {"bs": "9999999p"}])
def test_a_job_that_no_probe_has_says_so(options: dict[str, str]) -> None:
    (report,) = parse_fio(json.dumps(document(**{"job options": options})))
    assert str(probe_test(report.jobs)).startswith("job probe: ")


def test_jobs_that_were_not_grouped_add_up() -> None:
    slow = read_of_fio_3(iops=100.0, bw_bytes=26214400)
    slow["clat_ns"] = {"min": 50000, "max": 200000000, "mean": 10000000.0, "N": 1000}
    jobs = [*parse_fio(json.dumps(document()))[0].jobs, *parse_fio(json.dumps(document(read=slow)))[0].jobs]
    test = probe_test(jobs)
    assert not isinstance(test, str) and test.read is not None
    assert test.read.bytes_per_second == 104857600 + 26214400
    assert test.read.requests_per_second == 500.0
    assert test.read.latency_seconds == pytest.approx(
        {"mean": (400 * 0.0025 + 100 * 0.01) / 500, "min": 0.00005, "max": 0.2}
    ), "no percentiles: those of two parts do not add up"


def test_all_documents_of_a_text_are_read() -> None:
    text = "\n".join(json.dumps(document(error=number), indent=1) for number in range(3))
    assert [report.jobs[0].error for report in parse_fio(text)] == [0, 1, 2]


def test_an_error_and_a_steady_state_are_told() -> None:
    (report,) = parse_fio(json.dumps(document(error=5, steadystate={"attained": 0})))
    test = probe_test(report.jobs)
    assert not isinstance(test, str)
    assert (test.remark, test.steady) == ("fio ended with error 5", False)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "holds no fio results: it is empty"),
        ("fio: engine libaio not loadable\n", "no line begins a document"),
        (
            '{"fio version": "fio-3.33", "jobs": [{"jobname": "x", ',
            "document 1 of 1 of fio's output is cut short",
        ),
        ('{"fio version": "fio-3.33"}', "document 1 of 1 is not as fio writes it: KeyError"),
        ('{"fio version": "fio-3.33", "jobs": [1]}', "is not as fio writes it"),
        ('{"fio version": ' + "[" * 100000, "cut short or garbled"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InvalidFileError, match=sentence):
        parse_fio(text)


def test_the_second_document_is_the_one_that_is_cut_short() -> None:
    whole = json.dumps(document(), indent=1)
    with pytest.raises(InvalidFileError, match="document 2 of 2"):
        parse_fio(whole + "\n" + whole[:300])


@given(st.integers(0, 3000), st.text(max_size=5), st.integers(0, 5))
def test_a_text_that_was_cut_or_garbled_is_refused_or_whole(cut: int, noise: str, gap: int) -> None:
    whole = json.dumps(document(), indent=1)
    try:
        reports = parse_fio(whole[:cut] + noise + whole[cut + gap :])
    except InvalidFileError:
        return
    for job in [job for report in reports for job in report.jobs]:
        test = probe_test([job])
        assert job.read is None or (job.read.bytes > 0 and job.read.bytes_per_second >= 0)
        assert isinstance(test, str) or test.request_bytes > 0


GROUP = {"rw": "randread", "bs": "4k", "numjobs": "16", "iodepth": "10", "ioengine": "libaio"}


@pytest.mark.parametrize(
    ("milliseconds", "streams"),
    [
        ([160000] * 16, 2560),  # sixteen clients, each a group of sixteen
        ([10010] * 16, 160),  # sixteen processes, each with an entry
        ([160000], 160),
        ([120000], 160),  # some ended early
        ([320000], 320),  # two sections of sixteen in one group
        ([161000], 160),
        ([10000], 10),
        ([None] * 3, 160),  # of fio 2
        ([None] * 20, 200),
    ],
)
def test_the_summed_run_time_tells_how_many_ran_at_once(milliseconds: list[int | None], streams: int) -> None:
    entry = document(**{"job options": GROUP})["jobs"][0]
    entries = [{**entry, "job_runtime": value} for value in milliseconds]
    (report,) = parse_fio(json.dumps({"fio version": "fio-3.33", "client_stats": entries}))
    test = probe_test(report.jobs)
    assert not isinstance(test, str) and test.streams == streams


@pytest.mark.parametrize("before", ["> ", ">", "fio: pid=1, ", "warning> \n> ", "> fio job.ini\n>\t"])
def test_text_may_stand_before_a_document(before: str) -> None:
    whole = json.dumps(document(), indent=1)
    reports = parse_fio(f"{before}{whole}\n{before}{whole}\n")
    assert [report.version for report in reports] == ["fio-3.33"] * 2
