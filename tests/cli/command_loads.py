"""Two workloads of commands: shell tools, and engines in Python; each session reads a file of lines.

Together they read and write every role, spill to util, compute, and hold memory.
"""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

LINES = 6_000_000
"""Of the permanent input, with 9 bytes each."""

TOOLS = """
title = "shell tools that sort, copy, pack and search files"
scale = 0.0005

[commands.extract]
command = ["bash", "-c", "seq 1 4000000 > $1/n && dd if=$1/n of=$2/n bs=16M status=none",
           "b", "{work}", "{results}"]

[commands.order]
command = ["bash", "-c", "seq 4000000 -1 1 > $1/n && sort -n -S 20M -T $2 -o $1/sorted $1/n",
           "b", "{work}", "{util}"]

[commands.stage]
command = ["dd", "if={data}/{session}", "of={work}/lines", "bs=16M", "status=none"]

[commands.pack]
command = ["bash", "-c", "gzip -1 < $1 > $2/packed", "b", "{data}/{session}", "{results}"]

[commands.search]
command = ["grep", "-c", "77.*88", "{data}/{session}"]

[commands.passes]
command = ["bash", "-c", "cat $1 > $2/n; for i in 1 2 3; do dd if=$2/n of=/dev/null bs=16M status=none; done",
           "b", "{data}/{session}", "{work}"]

[[sessions]]
name = "load"
stages = [["extract"], ["order"], ["stage"], ["search"]]

[[sessions]]
name = "report"
stages = [["order"], ["pack"], ["passes"], ["search"]]

[[sessions]]
name = "archive"
stages = [["stage", "pack"], ["passes"], ["order"]]
"""


def spilling_engine(rows: int) -> str:
    """The command line of DuckDB that sorts ``rows`` rows, and spills under the role util.

    ``PYTHON`` stands for the interpreter.
    """
    return """command = ["PYTHON", "-c", '''
import duckdb, sys
base = duckdb.connect(sys.argv[1] + "/base.db")
base.execute(f"set memory_limit='120MB'; set threads=1; set temp_directory='{{sys.argv[2]}}/spill'")
hashes = "hash(range) as b, hash(range + 1) as c"
base.execute("create table t as select range as a, " + hashes + " from range(ROWS)")
base.execute("create table s as select * from t order by b")
assert base.execute("select count(*) from s").fetchone() == (ROWS,)
''', "{work}", "{util}"]
""".replace("ROWS", str(rows))


ENGINES = (
    """
title = "engines in Python that join, sort, look up and compute"
scale = 0.0005

[commands.totals]
command = ["PYTHON", "-c", '''
import sys
totals = {{}}
with open(sys.argv[1]) as lines, open(sys.argv[2] + "/totals", "w") as out:
    for line in lines:
        key = int(line) % 500000
        totals[key] = totals.get(key, 0) + 1
    for key, count in totals.items():
        out.write(f"{{key}},{{count}}\\n")
''', "{data}/{session}", "{results}"]

[commands.spill]
"""
    + spilling_engine(4_000_000)
    + """
[commands.query]
command = ["PYTHON", "-c", '''
import duckdb, sys
base = duckdb.connect()
lines = "read_csv('" + sys.argv[1] + "', header=false, columns={{'a': 'bigint'}})"
base.execute("set threads=1; create table t as select a from " + lines)
base.execute("copy (select a, a % 7 as b from t where a % 3 = 0) to '" + sys.argv[2] + "/third.csv'")
''', "{data}/{session}", "{work}"]

[commands.index]
command = ["PYTHON", "-c", '''
import sqlite3, sys
base = sqlite3.connect(sys.argv[1] + "/base.sqlite")
base.execute("create table t (a integer, b text)")
base.executemany("insert into t values (?, ?)", ((n * 7919 % 300007, "x" * 40) for n in range(300000)))
base.execute("create index i on t (a)")
base.commit()
assert sum(1 for _ in base.execute("select a, b from t order by b, a")) == 300000
''', "{work}"]

[commands.model]
command = ["PYTHON", "-c", '''
import numpy
draw = numpy.random.default_rng(1)
one = draw.random((1500, 1500))
for _ in range(6):
    one = one @ one.T
    one /= one.max()
assert numpy.isfinite(one).all()
''']

[commands.hold]
command = ["PYTHON", "-c", '''
import sys
with open(sys.argv[1], "rb") as file:
    lines = file.read().split()
lines.sort()
with open(sys.argv[2] + "/sorted", "wb") as file:
    file.write(b"\\n".join(lines))
''', "{data}/{session}", "{work}"]

[[sessions]]
name = "night"
stages = [["totals"], ["spill"], ["model"]]

[[sessions]]
name = "reports"
stages = [["query"], ["hold"], ["index"]]

[[sessions]]
name = "study"
stages = [["model"], ["spill"], ["query"], ["totals"]]
"""
)

LOADS = {"tools": TOOLS, "engines": ENGINES}


def write_load(name: str, folder: Path, data: Path) -> Path:
    """The workload file, and an input of each session under the role data, not in the page cache."""
    load = f'name = "{name}"' + LOADS[name].replace("PYTHON", sys.executable)
    data.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{number * 7919 % LINES:08d}\n" for number in range(LINES))
    for session in tomllib.loads(load)["sessions"]:
        with (data / session["name"]).open("w") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    path = folder / f"{name}.toml"
    path.write_text(load)
    return path
