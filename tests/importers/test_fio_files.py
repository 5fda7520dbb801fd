"""fio's output as a probe: text around it, several documents, some of no use."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.importers.import_files import IMPORTERS
from mawl.records.model.probe import Probe
from mawl.records.store.side_files import read_probe
from tests.importers.recordings import Read
from tests.importers.test_import import imported


def document(name: str = "seq", megabytes: int = 10, seconds: int = 2, at: int = 1_767_254_400) -> str:
    """A sequential read of 256 KiB requests."""
    moved = megabytes * 2**20
    plain = {
        "fio version": "fio-3.33",
        "timestamp": at,
        "jobs": [
            {
                "jobname": name,
                "groupid": 0,
                "error": 0,
                "job options": {"rw": "read", "bs": "256k", "directory": "/sas/work", "direct": "1"},
                "usr_cpu": 1.0,
                "sys_cpu": 2.0,
                "read": {
                    "io_bytes": moved,
                    "io_kbytes": moved // 1024,
                    "bw_bytes": moved // seconds,
                    "iops": moved / 2**18 / seconds,
                    "runtime": seconds * 1000,
                    "total_ios": moved // 2**18,
                    "clat_ns": {"min": 1000, "max": 9000, "mean": 2000.0, "percentile": {"99.000000": 8000}},
                },
            }
        ],
    }
    return msgspec.json.format(msgspec.json.encode(plain)).decode() + "\n"


def probe_of(text: str) -> tuple[Probe, Read]:
    read = Read("fio", text, "fio.json")
    (probe,) = [item for item in read.items if isinstance(item, Probe)]
    return probe, read


def test_a_document_with_text_around_it_is_a_probe() -> None:
    text = f"fio: warning, something\n{document()}fio: that was it\n"
    assert IMPORTERS["fio"].recognises(text.encode(), "x") == 1.0
    probe, read = probe_of(text)
    (target,) = probe.targets
    (test,) = target.tests
    assert (probe.tool, probe.created_at, target.directory) == ("fio-3.33", 1_767_254_400.0, "/sas/work")
    assert test.read is not None
    assert (test.read.bytes, test.read.bytes_per_second) == (10 * 2**20, 5 * 2**20)
    assert (test.pattern, test.request_bytes, test.direct, test.write) == ("sequential", 2**18, True, None)
    assert read.context.blocks == 1


def test_a_job_without_its_options_has_no_pattern_and_is_no_test() -> None:
    """fio 2.2.10 writes none; its random reads must not become sequential ones of 4 KiB."""
    old = """{
  "fio version" : "fio-2.2.10",
  "timestamp" : 1444144664,
  "jobs" : [
    { "jobname" : "random-read", "groupid" : 0, "error" : 0,
      "read" : { "io_bytes" : 7116, "bw" : 275, "iops" : 68.99, "runtime" : 25788, "total_ios" : 1779 } } ]
}
"""
    read = Read("fio", old, "fio.json")
    assert not [item for item in read.items if isinstance(item, Probe)]
    (skipped,) = read.context.skipped
    assert skipped.reason == ("job random-read: it has no options (as in fio 2.2): its pattern is not known")
    probe, _ = probe_of(document() + old)
    assert len(probe.targets[0].tests) == 1


def test_the_sum_over_clients_is_no_test_of_its_own() -> None:
    plain = msgspec.json.decode(document())
    (job,) = plain.pop("jobs")
    total = {name: value for name, value in job.items() if name != "job options"} | {"jobname": "All clients"}
    plain["client_stats"] = [job, total]
    plain["global options"] = {"direct": "1"}
    text = msgspec.json.format(msgspec.json.encode(plain)).decode()
    assert len(probe_of(text)[0].targets[0].tests) == 1


def test_a_document_that_is_cut_costs_itself_alone() -> None:
    whole = document("one")
    probe, read = probe_of(
        whole + document("two", at=1_767_258_000)[:-50] + "\n" + document("three", at=1_767_261_600)
    )
    assert len(probe.targets[0].tests) == 2
    assert read.context.skipped[0].line == whole.count("\n") + 1
    assert "left out" in read.reasons()[0]


def test_reports_of_a_run_that_went_on_count_once() -> None:
    """--status-interval: each document has all since the start."""
    text = document(megabytes=10, seconds=2, at=1000) + document(megabytes=30, seconds=6, at=1004)
    probe, _ = probe_of(text)
    assert [test.read and test.read.bytes for test in probe.targets[0].tests] == [30 * 2**20]
    again, _ = probe_of(document(at=1000) + document(at=2000))
    assert len(again.targets[0].tests) == 2


def test_an_import_of_fio_alone_is_a_run_with_a_probe(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(document())
    made, run = imported(tmp_path, path)
    assert (made.jobs, made.samples) == (0, 0)
    assert read_probe(run.path / "probe.json").targets[0].name == "results.json: /sas/work"


def test_the_time_of_a_run_of_fio_alone_is_when_it_wrote_its_results(tmp_path: Path) -> None:
    from mawl.importers.import_files import ImportRequest, import_files
    from mawl.records.store import open_run

    (tmp_path / "fio.json").write_text(
        '{\n"fio version" : "fio-3.33", "timestamp_ms" : 1767254400000, "jobs" : [{"jobname" : "a",'
        ' "job options" : {"rw" : "read"}, "read" : {"io_bytes" : 4096, "bw_bytes" : 4096, "io_kbytes" : 4,'
        ' "iops" : 1.0, "runtime" : 1000}}]\n}\n'
    )
    made = import_files(
        ImportRequest(paths=[str(tmp_path / "fio.json")], folder=tmp_path / "run", run_id="run")
    )
    facts = open_run(tmp_path / "run").facts
    assert (facts.started_at, facts.ended_at) == (1_767_254_400.0, None)
    assert "fio records when it wrote" in facts.missing["ended_at"]
    assert not any("no file names a time" in remark for remark in made.remarks)


def test_a_result_that_names_no_directory_is_not_called_unknown(tmp_path: Path) -> None:
    for named, words in ((True, "fio in /sas/work: "), (False, "fio: ")):
        folder = tmp_path / str(named)
        folder.mkdir()
        text = document() if named else document().replace('"directory": "/sas/work",', "")
        (folder / "fio.json").write_text(text)
        _, run = imported(folder, folder / "fio.json")
        assert any(remark.startswith(f"{words}sequential read, 256 KiB") for remark in run.facts.remarks)
