"""Two workloads of commands: shell tools, and engines in Python; each session reads a file of lines.

Together they read and write every role, spill to util, compute, and hold memory.
"""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

from tests.files import text_of

LINES = 6_000_000
"""Of the permanent input, with 9 bytes each."""

TOOLS = text_of(__file__, "shell_tools.toml")


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


ENGINES = text_of(__file__, "engines.toml").replace("SPILL\n", spilling_engine(4_000_000))

LOADS = {"tools": TOOLS, "engines": ENGINES}


def write_load(name: str, folder: Path, data: Path) -> Path:
    """The workload file, and an input of each session under the role data, not in the page cache."""
    load = f'name = "{name}"\n' + LOADS[name].replace("PYTHON", sys.executable)
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
