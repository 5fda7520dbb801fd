"""Files that mean harm: each costs one sentence or a skipped entry, bounded memory and no hang.

Recordings that mean harm: endless lines, endless brackets, noise, far dates: bounded memory, told.
"""

from __future__ import annotations

import codecs
import gzip
import os
import random
import subprocess
import sys
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from mawl.commands.reporting import render_html
from mawl.figures.view import StoredView
from mawl.importers.import_files import IMPORTERS, ImportRequest, import_files
from mawl.importers.interface import Context, HostFigures
from mawl.importers.sources import MOST_EXPANDED_RATIO, FileStream
from mawl.records.store import open_run
from tests.fakes.hostile_run import ATTACKS
from tests.fakes.model_host import Cpu, ModelHost
from tests.fakes.model_tables import TABLES
from tests.fakes.recorded_host import aix_recording
from tests.fakes.schedulers import Ran, grid_status, lsb_record, orchestrator, sacct
from tests.fakes.views import judged, typed
from tests.importers.layout import BANNER
from tests.importers.layouts import LAYOUTS
from tests.importers.recordings import Read, recorded
from tests.importers.test_import import EIGHT, imported, log, write

GOOD = log(EIGHT, 10)
MEMORY_BYTES = 400 * 2**20
AIX_SAR = b"""
AIX aix1 2 7 00F6F5D04C00    11/20/26

System configuration: lcpu=32 ent=8.00 mode=Uncapped

08:00:00    %usr    %sys    %wio   %idle   physc   %entc
08:01:00      40      10       5      45    5.10    63.8
"""
AIX_IOSTAT = b"""
System configuration: lcpu=32 drives=3 ent=8.00 paths=8 vdisks=2

tty:      tin         tout    avg-cpu: % user % sys % idle % iowait physc % entc
          0.0          8.0               40.0  10.0   45.0      5.0   5.1   63.8

Disks:         % tm_act     Kbps      tps    Kb_read   Kb_wrtn
hdisk0           1.0       12.0      3.0         10         2
"""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (bytes(5000), "no kind of file"),
        (random.Random(7).randbytes(300_000), "no kind of file"),
        (gzip.compress(GOOD.encode(), mtime=0)[:-20], "damaged after"),
        (b"\x1f\x8b\x08\x00garbage", "damaged after 0 bytes"),
        (gzip.compress(b"NOTE: nothing in it\n", mtime=0), "no performance note"),
        (b"\x96\xd5\x75\x21" + bytes(500), "give what `sadf -j FILE -- -A` prints"),
        (gzip.compress(b"\xd5\x96\x21\x75" + bytes(500), mtime=0), "give what `sadf -j FILE -- -A` prints"),
        (b"\xfd7zXZ\0" + bytes(500), "compressed with xz"),
        (AIX_SAR, "text of AIX's sar, which mawl does not read: give a recording of nmon"),
        (AIX_IOSTAT, "text of AIX's iostat, which mawl does not read: give a recording of nmon"),
    ],
    ids=[
        "empty",
        "zeros",
        "noise",
        "cut gz",
        "broken gz",
        "no notes",
        "sar",
        "sar big-endian",
        "xz",
        "AIX sar",
        "AIX iostat",
    ],
)
def test_a_file_of_no_use_is_told_and_the_others_are_read(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    logs = write(tmp_path / "logs", good=GOOD)
    (logs / "bad.log").write_bytes(content)
    made, _ = imported(tmp_path, logs)
    assert made.jobs >= 1
    assert any(skipped.file == "bad.log" and reason in skipped.reason for skipped in made.skipped)


def test_links_pipes_and_files_that_may_not_be_read_are_told(tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", good=GOOD)
    (logs / "loop").symlink_to(logs, target_is_directory=True)
    (logs / "dangling.log").symlink_to(logs / "absent")
    os.mkfifo(logs / "pipe.log")
    made, _ = imported(tmp_path, logs)
    assert made.jobs == 1
    reasons = {skipped.file: skipped.reason for skipped in made.skipped}
    assert set(reasons) == {"loop", "dangling.log", "pipe.log"}
    assert "not followed" in reasons["loop"]
    assert "no such file" in reasons["dangling.log"]
    assert "not a regular file" in reasons["pipe.log"]


def test_the_two_logs_of_a_job_in_a_run_folder_are_one_job(tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", good=GOOD)
    (logs / "job.sas.log").write_bytes((logs / "good.log").read_bytes())
    (logs / "good.log").rename(logs / "job.saslog")
    made, _ = imported(tmp_path, logs)
    assert made.jobs == 1
    assert [(one.file, one.reason) for one in made.skipped] == [
        ("job.sas.log", "job.saslog tells the same job")
    ]


def test_noise_and_nuls_between_notes_lose_no_note(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(100_000).replace(b"NOTE", b"")
    parts = LAYOUTS["linux"].text.encode().split(b"NOTE: PROCEDURE")
    content = parts[0] + bytes(70_000) + b"\n" + noise + b"\nNOTE: PROCEDURE" + parts[1]
    (tmp_path / "noisy.log").write_bytes(content)
    made, run = imported(tmp_path, tmp_path / "noisy.log")
    assert made.blocks == 1
    assert run.step_records()[0].usage.page_reclaims == 5_000_000_000


LITTLE = GOOD.encode("utf-16-le")


@pytest.mark.parametrize(
    "content",
    [
        codecs.BOM_UTF16_BE + GOOD.encode("utf-16-be"),
        LITTLE[:-1],
        LITTLE + b"\n",
        GOOD.replace("\n", "\n\0\n", 5).encode("utf-16-be"),
        ("\u6570\u636e\u96c6\u4e00" * 30 + "\n" + GOOD).encode("utf-16-le"),
        codecs.BOM_UTF16_LE + LITTLE[:400] + b"\x00\xd8" + LITTLE[400:],
        codecs.BOM_UTF16_LE + LITTLE + bytes(100_001),
        codecs.BOM_UTF8 + GOOD.replace("\n", "\n\0\n").encode(),
        bytes(4096) + GOOD.encode(),
        GOOD.encode() + bytes(100_000),
    ],
    ids=[
        *("big-endian with a mark", "half a letter at the end", "a byte more", "NUL letters", "Chinese"),
        *("half a pair", "zeros after UTF-16", "NUL lines", "zeros before UTF-8", "zeros after UTF-8"),
    ],
)
def test_odd_bytes_of_an_encoding_lose_no_note(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.log").write_bytes(content)
    made, run = imported(tmp_path, tmp_path / "odd.log")
    assert (made.jobs, made.blocks) == (1, 3)
    (job,) = run.job_records()
    assert (job.outcome, job.usage.real_time_seconds, job.started_at) == ("finished", 10.0, EIGHT.timestamp())


@pytest.mark.parametrize(
    "stamp", ["99/99/2026 01:00:00 AM", "01/01/9999 01:00:00 AM", "01/01/0001 13:00:00 PM"]
)
def test_a_date_far_off_is_no_time(tmp_path: Path, stamp: str) -> None:
    text = LAYOUTS["linux"].text.replace("11/20/2026 12:00:05 AM", stamp)
    made, run = imported(tmp_path, write(tmp_path / "logs", x=text))
    (step,) = run.step_records()
    assert step.ended_at is None
    assert step.usage.real_time_seconds == 12.5
    assert [skipped.reason for skipped in made.skipped] == ["not a value as SAS writes it"]


def test_script_in_every_text_is_text_in_reports(tmp_path: Path) -> None:
    attack = ATTACKS[0]
    text = (
        BANNER.replace("9.4 (TS1M6)", attack).replace("Linux 3.10.0-957.el7.x86_64 (LIN X64)", attack)
        + f"PASS HEADER host={attack}\nERROR: {attack}\n"
        + f"NOTE: PROCEDURE {attack.replace(' ', '')} used:\n      real time  1.00 seconds\n\n"
    )
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / f"{attack.replace('/', '')}.log").write_text(text)
    made, run = imported(tmp_path, logs)
    assert made.jobs == 1
    assert run.facts.nodes[0].kernel == attack
    assert attack not in render_html(StoredView(run), typed(judged(StoredView(run))))


def test_a_name_cannot_forge_lines(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a\nNOTE: forged \x1b[31m.log").write_text(GOOD)
    made, run = imported(tmp_path, logs)
    assert all("\n" not in job.job and "\x1b" not in job.job for job in run.job_records())
    assert all("\n" not in source.file for source in run.facts.sources)
    assert made.jobs == 1


def test_a_gz_bomb_is_stopped(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, wbits=31)
    head = GOOD.encode()
    content = (
        packer.compress(head) + b"".join(packer.compress(bytes(2**20)) for _ in range(200)) + packer.flush()
    )
    assert len(content) * MOST_EXPANDED_RATIO < 200 * 2**20
    (tmp_path / "bomb.log.gz").write_bytes(content)
    made = import_files(
        ImportRequest(paths=[str(tmp_path / "bomb.log.gz")], folder=tmp_path / "run", run_id="run")
    )
    assert made.blocks == 3
    assert any("times its size" in skipped.reason for skipped in made.skipped)


def test_a_file_that_takes_too_much_cpu_time_is_read_no_further(tmp_path: Path) -> None:
    path = tmp_path / "slow.log"
    path.write_bytes(bytes(2**20))
    told: list[str] = []
    used = iter(range(0, 1000, 12))
    with FileStream(path, told.append, lambda: float(next(used))) as source:
        parts = [source.read(1000) for _ in range(6)]
    assert [len(part) for part in parts] == [1000, 1000, 1000, 0, 0, 0]
    assert told == [
        "reading it takes more than the 33 s of CPU time that mawl allows for a file of this size: "
        "the rest is not read"
    ]


def test_a_gigabyte_in_one_line_is_passed_over_in_bounded_memory(tmp_path: Path) -> None:
    with (tmp_path / "line.log").open("wb") as file:
        file.write(GOOD.encode())
        file.seek(2**30)
        file.write(b"\n" + GOOD.encode())
    peak = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from mawl.commands.main import main; from mawl.base.process import end_with; "
            "code = main(sys.argv[1:]); "
            "status = open('/proc/self/status').read(); "
            "print(int(status.split('VmHWM:')[1].split()[0]) * 1024, file=sys.stderr); "
            "end_with(lambda: code)",
            *("import", str(tmp_path / "line.log"), "--output", str(tmp_path / "run"), "--json"),
        ],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert peak.returncode == 0, peak.stderr
    assert int(peak.stderr.split()[-1]) < MEMORY_BYTES
    run = open_run(tmp_path / "run")
    assert len(run.job_records()) == 2
    assert any("longer than" in skipped.reason for skipped in run.facts.sources[0].skipped)


KINDS = tuple(kind for kind in IMPORTERS if kind != "saslog")
ENDLESS_BYTES = 24 * 2**20
MOST_BYTES = 20 * 2**20


class Endless:
    """A stream that begins like a recording and then repeats one thing, without a line's end."""

    def __init__(self, start: bytes, again: bytes) -> None:
        self._start, self._again = start, again * (262_144 // len(again))
        self.left = ENDLESS_BYTES

    def read(self, _size: int = -1) -> bytes:
        if self._start:
            start, self._start = self._start, b""
            return start
        self.left -= len(self._again)
        return self._again if self.left > 0 else b""


RAN = Ran(1, "load", 1.772e9, 1.772e9 + 60, 1.772e9 + 90)
WHOLE = {"fio": 3, "orchestrator": 3, "prometheus": 4, "cloudwatch": 4, "azure": 4}
"""Kinds that are read as whole documents (of fio 16 MiB at most, of schedulers 64, of services 256), and how
many times the memory of others they may take: the document, and the check of its parts."""
TINY = ModelHost(
    cpus=1,
    disks=frozenset({"sda"}),
    moved=({"sda": (1, 2)},) * 2,
    cpu=(Cpu(1, 1, 1, 97),) * 2,
    names={"sda": "sda"},
    names_tell=True,
    links={},
    own_links=frozenset(),
)

STARTS = {
    "nmon": "".join(aix_recording(2, 2)).encode(),
    "sar": recorded("sar.txt"),
    "sadf": recorded("sadf.json"),
    "iostat": recorded("iostat.json")[:-40],
    "mpstat": recorded("mpstat.json"),
    "vmstat": recorded("vmstat.txt"),
    "fio": b'{\n  "fio version" : "fio-3.33", "jobs": [',
    **{own.kind: own.write(TINY).encode().rstrip(b"}\n") for own in TABLES.values()},
    "azure-csv": b"TimeGenerated,Resource,MetricName,Total,Average\n",
    "lsf": lsb_record(RAN).encode(),
    "slurm": sacct([RAN]).encode(),
    "orchestrator": orchestrator([RAN])[:-2].encode() + b",",
    "sasgsub": grid_status([RAN]).encode(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("again", [b"A", b"1,", b"[", b'{"', b"\0", b"9 "])
def test_a_line_without_end_takes_bounded_memory(kind: str, again: bytes) -> None:
    context = Context("x", kind, lambda seconds: seconds, lambda wanted: wanted)
    tracemalloc.start()
    try:
        stream = cast(BinaryIO, Endless(STARTS[kind], again))
        items = len(list(IMPORTERS[kind].read(stream, context)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES * WHOLE.get(kind, 1)
    assert items > 0 or context.skipped


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_told_and_gives_no_figure(kind: str) -> None:
    for seed in range(5):
        read = Read(kind, random.Random(seed).randbytes(200_000))
        assert read.series == {}
        assert read.context.skipped


def test_headings_that_look_like_every_kind_do_not_hold_up_detection() -> None:
    lines = (
        b"Linux a (b) 1/1/26\n",
        b"Device " * 9000,
        b'{"sysstat": {',
        b"CPU %us " * 8000,
        b"AAA,host," * 7000,
    )
    for line in lines:
        first = (line * (65536 // len(line) + 1))[:65536]
        began = time.process_time()
        sure = [importer.recognises(first, "x") for importer in IMPORTERS.values()]
        assert time.process_time() - began < 5.0
        assert all(0.0 <= value <= 1.0 for value in sure)


def test_an_endless_number_of_sections_devices_and_settings_is_bounded() -> None:
    def lines() -> Iterator[str]:
        yield "AAA,progname,nmon\nAAA,host,x\n"
        for number in range(20_000):
            yield f'SECTION{number},some title,a,b\nAAA,name{number},value\nBBBP,1,tool{number},"text"\n'

    read = Read("nmon", "".join(lines()))
    assert (len(read.reasons()), read.context.skipped_lines) == (200, 201)
    assert not any(isinstance(item, HostFigures) for item in read.items)


def test_huge_figures_are_left_out_and_the_rest_stays() -> None:
    text = "".join(aix_recording(3, 4)).replace("DISKREAD,T0003,0.0,1.0,2.0", "DISKREAD,T0003,0.0,1e300,2.0")
    read = Read("nmon", text)
    assert read.gain("device.hdisk2.read_bytes") == pytest.approx(2048 * 180)
    assert read.gain("device.hdisk1.read_bytes") == pytest.approx(1024 * 120)
