"""Results of other programs that test storage as a probe: each figure, and a sentence for what lacks it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mawl.base.errors import MawlError
from mawl.commands.main import main
from mawl.importers.probe_files import load_probe, on_node
from mawl.records.store.side_files import write_probe

ELBENCHO = """ISO date,label,path type,paths,hosts,threads,files,file size,block size,direct IO,random,\
IO depth,operation,time ms [first],time ms [last],IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],\
MiB [first],MiB [last],IO lat us [min],IO lat us [avg],IO lat us [max]
2026-05-22T14:03:11Z,/mnt/data,file,1,1,4,,1G,1048576,1,0,1,WRITE,1000,2000,9,512,9,512,9,1024,210,1200,8200
2026-05-22T14:03:21Z,/mnt/data,file,1,2,4,,1073741824,4096,0,1,16,READ,1000,4000,9,8192,35,32,35,128,12,612,7800
2026-05-22T14:03:31Z,/mnt/data,dir,1,1,4,,,,,,,MKDIRS,1000,4000,,,,,,,,,
"""
OLDER = """operation,block size,threads,IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],MiB [last],\
IO lat us min,IO lat us avg,IO lat us max
READ,1MiB,4,1,1,1,1,1,1,1,1
READ,1048576,4,18432,17900,18432.1,17900.0,35800,12,612,7800
"""
SAS = """-----------------------------
RESULTS
-------
INVOCATION:  rhel_iotest -t /saswork

TARGET DETAILS
  target dir:   /saswork
  df -kT:       /dev/sdb xfs 1 1 1 1% /saswork
  mount point:  /dev/sdb on /saswork type xfs (rw)
  iterations:   8
  filesize:     1,024.50 gigabytes

STATISTICS
  read throughput rate:   1,112.25 megabytes/second per physical core
  write throughput rate:  96.00 megabytes/second per physical core
-----------------------------
"""


def test_elbencho(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(ELBENCHO)
    probe = load_probe(tmp_path / "e.csv")
    (target,) = probe.targets
    assert (probe.tool, probe.created_at, target.directory) == ("elbencho", 1779458591.0, "/mnt/data")
    write, read = target.tests
    assert (write.pattern, write.direction, write.streams, write.direct) == ("sequential", "write", 4, True)
    assert write.write is not None and write.read is None and write.elapsed_seconds == 2
    assert (write.write.bytes, write.write.bytes_per_second) == (2**30, 512 * 2**20)
    assert write.write.latency_seconds == {"min": 0.00021, "mean": 0.0012, "max": 0.0082}
    assert (read.pattern, read.streams, read.request_bytes, read.direct) == ("random", 128, 4096, False)


def test_elbencho_of_other_versions(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(OLDER)
    (test,) = load_probe(tmp_path / "e.csv").targets[0].tests
    assert test.read is not None
    assert test.read.bytes_per_second == 17900 * 2**20 and test.read.bytes == 35800 * 2**20
    assert test.read.latency_seconds["mean"] == pytest.approx(612e-6)


def test_the_io_test_of_sas_is_of_all_cores_together(tmp_path: Path) -> None:
    (tmp_path / "sas.txt").write_text(SAS)
    probe = load_probe(tmp_path / "sas.txt")
    assert probe.targets[0].directory == "/saswork"
    read, write = probe.targets[0].tests
    assert read.read is not None and write.write is not None
    assert read.read.bytes_per_second == 1112.25 * 2**20 * 8 and read.streams == 8
    assert write.write.bytes == round(1024.5 * 2**30) * 8
    assert write.write.latency_seconds == {} and write.content == "dialled"


def test_the_log_of_an_older_io_test_names_the_cores(tmp_path: Path) -> None:
    log = SAS.replace("  iterations:   8\n", "")
    (tmp_path / "sas.txt").write_text(log)
    with pytest.raises(MawlError, match="how many cores"):
        load_probe(tmp_path / "sas.txt")
    (tmp_path / "sas.txt").write_text(f"Sockets: 1\nTotal physical cores: 4\n{log}")
    assert load_probe(tmp_path / "sas.txt").targets[0].tests[0].streams == 4


@pytest.mark.parametrize(
    "text",
    [
        "r: (g=0): rw=randread, bs=(R) 8192B-8192B, ioengine=libaio\nfio-3.33\nStarting 1 process\n",
        "3;fio-3.33;r;0;0;1024;512;64;2000;0;0;0.0;0.0\n",
        "\nr: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 30 20:00:00 2026\n  read: IOPS=3\n",
    ],
)
def test_text_of_fio_gets_the_option(tmp_path: Path, text: str) -> None:
    (tmp_path / "f.txt").write_text(text)
    with pytest.raises(MawlError, match="normal or terse") as caught:
        load_probe(tmp_path / "f.txt")
    assert "--output-format=json" in str(caught.value)


LATENCY = {"min": 50, "max": 900, "mean": 100.5, "percentile": {"50.000000": 90, "0.00": 0}}
FIO = {
    "fio-2.1": (
        {"io_bytes": 1024, "bw": 512, "iops": 128.0, "runtime": 2000, "clat": LATENCY, "lat": LATENCY},
        1e-6,
    ),
    "fio-3.42": (
        {
            "io_bytes": 1048576,
            "io_kbytes": 1024,
            "bw_bytes": 524288,
            "bw": 512,
            "iops": 128.0,
            "runtime": 2000,
            "clat_ns": LATENCY,
            "lat_ns": LATENCY,
        },
        1e-9,
    ),
}


@pytest.mark.parametrize("version", FIO)
def test_documents_of_fio_from_2_to_3(
    tmp_path: Path, version: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    figures, second = FIO[version]
    options = {"directory": "/mnt/data", "rw": "read", "bs": "4k", "iodepth": "8", "ioengine": "libaio"}
    job = {"jobname": "r", "groupid": 0, "error": 0, "job options": options, "read": figures, "write": {}}
    (tmp_path / "fio.json").write_text(
        json.dumps({"fio version": version, "timestamp": 1779458591, "jobs": [job]})
    )
    probe = load_probe(tmp_path / "fio.json")
    (test,) = probe.targets[0].tests
    assert test.read is not None and (test.streams, test.request_bytes) == (8, 4096)
    assert (test.read.bytes, test.read.bytes_per_second) == (1048576, 524288)
    assert test.read.latency_seconds["p50"] == pytest.approx(90 * second)
    monkeypatch.chdir(tmp_path)
    assert main(["probe", "--from", "fio.json"]) == 0
    shown = capsys.readouterr().out
    assert "/mnt/data (file system not known)" in shown and "4 KiB sequential reads" in shown
    write_probe(tmp_path / "probe.json", probe)
    assert load_probe(tmp_path / "probe.json") == probe


def test_a_probe_of_another_program_is_of_the_node_of_its_run(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(ELBENCHO)
    probe = load_probe(tmp_path / "e.csv")
    assert [target.node for target in probe.targets] == ["unknown"]
    own = on_node(probe, "db1")
    assert [target.node for target in own.targets] == ["db1"]
    assert on_node(own, "db2") == own


def test_a_document_without_the_options_of_its_jobs_says_what_it_lacks(tmp_path: Path) -> None:
    job = {"jobname": "r", "groupid": 0, "error": 0, "read": FIO["fio-2.1"][0], "write": {}}
    (tmp_path / "fio.json").write_text(json.dumps({"fio version": "fio-2.1.3", "jobs": [job]}))
    with pytest.raises(MawlError, match="it has no options") as caught:
        load_probe(tmp_path / "fio.json")
    assert "2.10 or 3" in str(caught.value)
