"""Calls and bytes by role are exactly those that strace sees in the same run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from mawl.measure.preload.counters import CounterFile
from mawl.records.spec.program_options import ROLES
from tests import needs
from tests.fakes.counted import Counted

MOVES = "read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2"
COPIES = "copy_file_range,sendfile"
SYNCS = "fsync,fdatasync,sync_file_range,syncfs"
_CALL = re.compile(r"^(\w+)\((.*)\) += (-?\d+)")
_DESCRIPTOR = re.compile(r"(?<![\w\"])\d+<([^>]*)>")

pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.program("strace")),
]

Found = dict[tuple[str, str], int]


def traced(
    counted: Counted, *command: str, environment: Mapping[str, str] | None = None
) -> tuple[CounterFile, Found]:
    """The counters, and (role, reads|writes|syncs|read_bytes|written_bytes) as strace has them.

    With an ``environment`` the command has it, and may end with any status.
    """
    calls = f"trace={MOVES},{COPIES},{SYNCS}"
    trace = counted.folder / "trace"
    trace.mkdir()
    strace = [
        "strace",
        "-ff",
        "-y",
        "-qq",
        "-s",
        "0",
        "-e",
        calls,
        "-e",
        "signal=none",
        "-o",
        str(trace / "t"),
    ]
    counters = counted(*command, prefix=strace, inside=environment)
    found: Found = defaultdict(int)
    for path in trace.iterdir():
        for line in path.read_text(errors="replace").splitlines():
            call = _CALL.match(line)
            if call is not None:
                note(found, counted, call[1], _DESCRIPTOR.findall(call[2]), int(call[3]))
    shutil.rmtree(trace)
    return counters, found


def note(found: Found, counted: Counted, name: str, paths: Sequence[str], result: int) -> None:
    """Add one call to what was found."""

    def add(path: str, call: str) -> None:
        role = next((r for r in ROLES if Path(path).is_relative_to(counted.folder / r)), None)
        if role is not None:
            found[role, call] += 1
            if call != "syncs":
                found[role, "read_bytes" if call == "reads" else "written_bytes"] += max(result, 0)

    if name in COPIES.split(","):
        source, target = paths if name == "copy_file_range" else reversed(paths)
        add(source, "reads")
        add(target, "writes")
    elif name in SYNCS.split(","):
        add(paths[0], "syncs")
    else:
        add(paths[0], "reads" if "read" in name else "writes")


def assert_agreement(counted: Counted, *command: str) -> None:
    """Every figure of every role is the same on both sides, and there is something to compare."""
    counters, found = traced(counted, *command)
    ours = {
        (role, name): getattr(io, name)
        for role, io in counters.by_role().items()
        if role != "other"
        for name in ("reads", "writes", "syncs", "read_bytes", "written_bytes")
    }
    assert {key: value for key, value in ours.items() if value} == {k: v for k, v in found.items() if v}
    assert sum(found.values()) > 0


def test_dd_and_cp(counted: Counted) -> None:
    assert_agreement(counted, "dd", "if=/dev/zero", "of=data/a", "bs=64k", "count=50", "conv=fsync")
    assert_agreement(counted, "dd", "if=data/a", "of=work/a", "bs=10000", "oflag=append", "conv=notrunc")
    assert_agreement(counted, "cp", "data/a", "util/b")
    assert_agreement(counted, "cp", "--reflink=never", "--sparse=always", "data/a", "util/c")


def test_gnu_sort_with_spills(counted: Counted) -> None:
    (counted.folder / "data" / "n").write_text("".join(f"{i * 7919 % 300007}\n" for i in range(300_000)))
    assert_agreement(counted, "sort", "-S", "1M", "-T", "util", "-o", "work/sorted", "data/n")
    assert_agreement(
        counted,
        "sh",
        "-c",
        "head -c 100000 data/n | tee work/t | wc -c > util/w; cat work/t work/t | tail -3",
    )


PYTHON = """
import os, shutil, tempfile
from pathlib import Path
Path("data/t").write_text("line\\n" * 50000)
print(sum(1 for _ in open("data/t")))
with open("work/u", "w+b", buffering=100000) as f:
    for i in range(5000):
        f.write(b"x" * 77)
    f.seek(1000); f.read(10); f.seek(0, 2); f.write(b"y"); f.truncate(100); os.fsync(f.fileno())
shutil.copyfile("data/t", "util/t")
d = os.open("work/u", os.O_RDWR)
os.pwrite(d, b"z" * 5000, 3); os.preadv(d, [bytearray(10), bytearray(20)], 5)
os.pwritev(d, [b"1", b"22"], 7); os.readv(d, [bytearray(3)]); os.writev(d, [b"ab"]); os.fdatasync(d)
with tempfile.TemporaryFile(dir="util") as f:
    f.write(b"temporary" * 9999)
    f.flush(); f.seek(0); f.read()
os.sendfile(os.open("work/s", os.O_CREAT | os.O_WRONLY), d, 0, 4000)
os.copy_file_range(d, os.open("work/c", os.O_CREAT | os.O_WRONLY), 2000, 0)
try:
    os.read(os.open("work/c", os.O_WRONLY), 5)
except OSError:
    pass
"""

NUMPY = """
import numpy
a = numpy.arange(300_000.0)
a.tofile("work/a"); numpy.save("data/a", a); numpy.load("data/a.npy"); numpy.fromfile("work/a")
numpy.savez("util/z", a=a); numpy.load("util/z.npz")["a"].sum()
m = numpy.memmap("work/m", mode="w+", shape=(1000,)); m[:] = 1; m.flush()
"""

ARROW = """
import pyarrow, pyarrow.csv, pyarrow.feather, pyarrow.parquet
t = pyarrow.table({"a": range(200_000), "b": [str(i) for i in range(200_000)]})
pyarrow.parquet.write_table(t, "data/t.parquet", row_group_size=30_000)
pyarrow.parquet.read_table("data/t.parquet", columns=["b"])
pyarrow.csv.write_csv(t, "work/t.csv"); pyarrow.csv.read_csv("work/t.csv")
pyarrow.feather.write_feather(t, "util/t.feather")
pyarrow.feather.read_table("util/t.feather", memory_map=False)
"""

DUCKDB = """
import duckdb
c = duckdb.connect("data/d.duckdb", config={"memory_limit": "60MB", "temp_directory": "util", "threads": 2})
c.sql("SET preserve_insertion_order = false")
c.sql("CREATE TABLE t AS SELECT i, hash(i) h, i::VARCHAR || 'text' s FROM range(1_000_000) r(i)")
c.sql("COPY (SELECT * FROM t ORDER BY h) TO 'work/o.parquet'")
c.sql("CHECKPOINT")
"""


@pytest.mark.parametrize(
    ("code", "module"),
    [(PYTHON, None), (NUMPY, "numpy"), (ARROW, "pyarrow"), (DUCKDB, "duckdb")],
    ids=["python", "numpy", "pyarrow", "duckdb"],
)
def test_python_and_its_engines(code: str, module: str | None, counted: Counted) -> None:
    assert_agreement(counted, sys.executable, "-c", code)


PREPARED = "mkdir data/t; for i in $(seq 30); do head -c $((i * 1000)) /dev/urandom >data/t/$i; done"
SQLITE = """
import sqlite3
c = sqlite3.connect("work/d.db")
c.execute("create table t (a, b)")
c.executemany("insert into t values (?, ?)", ((i, str(i)) for i in range(20000)))
c.commit()
c.execute("select count(*) from t").fetchone()
"""
PROCESSES = """
import multiprocessing, subprocess
def both(i):
    with open(f"work/{i}", "wb") as f: f.write(b"x" * i * 1000)
    return len(open(f"work/{i}", "rb").read())
print(multiprocessing.get_context("fork").Pool(4).map(both, range(1, 20)))
for i in range(5): subprocess.run(["sh", "-c", "echo hi"], stdout=open(f"util/{i}", "w"))
"""


@pytest.mark.parametrize(
    "command",
    [
        ("cp", "-r", "data/t", "work/t"),
        ("tar", "cf", "util/t.tar", "-C", "data", "t"),
        ("sh", "-c", "cat data/t/* | gzip | tee work/z | gunzip | wc -c >work/n; grep -c a data/t/* >util/g"),
        (
            "bash",
            "-c",
            "exec 5>>work/x; echo 1 >&5; exec 6>&5 5>&-; echo 2 >&6; mapfile -t a <work/x; cat <<<$a",
        ),
        (sys.executable, "-c", SQLITE),
        (sys.executable, "-c", PROCESSES),
    ],
    ids=["cp-r", "tar", "pipes", "bash", "sqlite", "processes"],
)
def test_programs_that_do_it_their_own_way(command: tuple[str, ...], counted: Counted) -> None:
    subprocess.run(PREPARED, shell=True, cwd=counted.folder, check=True)
    assert_agreement(counted, *command)


@needs.marks(needs.program("fio"))
@pytest.mark.parametrize("engine", ["sync", "psync", "vsync", "pvsync", "pvsync2"])
def test_fio(engine: str, counted: Counted) -> None:
    (counted.folder / "data" / "f").write_bytes(bytes(8 << 20))
    assert_agreement(
        counted,
        *("fio", "--name=x", "--filename=data/f", "--size=8m", "--rw=randrw", "--bs=16k", "--fsync=50"),
        f"--ioengine={engine}",
    )
