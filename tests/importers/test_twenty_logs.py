"""Small logs, one of each kind, with the truth of each step: real and CPU seconds, blocks read, rows."""

from __future__ import annotations

import html
import io
import json

import pytest

from mawl.importers.interface import Context
from mawl.importers.sas_jobs import IMPORTER
from mawl.records.model.records import StepRecord

Truth = list[tuple[str, float | None, float | None, int | None, int | None]]

ROWS = "NOTE: There were 1000 observations read from the data set A.B.\n"
STIMER = (
    ROWS
    + "NOTE: PROCEDURE SORT used (Total process time):\n      real time           1:02.50\n"
    + "      cpu time            12.25 seconds\n      \n"
)
UNIX = (
    ROWS
    + "NOTE: PROCEDURE SORT used (Total process time):\n      real time           1:02.50\n"
    + "      user cpu time       10.00 seconds\n      system cpu time     2.25 seconds\n"
    + "      memory              900.00k\n      OS Memory           9000.00k\n"
    + "      Timestamp           03/02/2026 01:10:13 AM\n"
    + "      Step Count                        7  Switch Count  2\n"
    + "      Page Faults                       0\n      Page Reclaims                     3\n"
    + "      Page Swaps                        0\n      Voluntary Context Switches        30\n"
    + "      Involuntary Context Switches      3\n      Block Input Operations            2000\n"
    + "      Block Output Operations           4000\n      \n"
)
WINDOWS = "".join(line for line in UNIX.splitlines(True) if "Page" not in line and "Context" not in line)
WINDOWS = "".join(line for line in WINDOWS.splitlines(True) if "Block" not in line)
PRINTTO = (
    "NOTE: PROCEDURE PRINTTO used (Total process time):\n      real time           0.00 seconds\n"
    "      cpu time            0.00 seconds\n      \n"
)
HEAD = f"\f2{'The SAS System':>40}     01:00 Monday, March 2, 2026\n\n"
SORT: Truth = [("SORT", 62.5, 12.25, None, 1000)]
FULL: Truth = [("SORT", 62.5, 12.25, 2000, 1000)]
PREFIX = "2026-03-02T01:10:13,500 INFO  [0000000{thread}] :user - "


def prefixed(text: str) -> str:
    lines = text.splitlines()
    source = PREFIX.format(thread=1) + "1   proc sort; run;\n"
    return source + "".join(PREFIX.format(thread=2) + line + "\n" for line in lines) + source


def cells(text: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "outputs": [{"text": text.splitlines(True)}]}]})


def items(text: str) -> str:
    return json.dumps({"items": [{"type": "note", "line": line} for line in text.splitlines()]})


LOGS: dict[str, tuple[str, Truth]] = {
    "STIMER": (STIMER, SORT),
    "FULLSTIMER of UNIX": (UNIX, FULL),
    "FULLSTIMER of Windows": (WINDOWS, SORT),
    "lines that end as on Windows": (UNIX.replace("\n", "\r\n"), FULL),
    "SAS Studio, a blank before each line": ("".join(f" {line}\n" for line in UNIX.splitlines()), FULL),
    "z/OS": (
        ROWS + "NOTE: The PROCEDURE SORT used 12.25 CPU seconds and 900K.\n",
        [("SORT", None, 12.25, None, 1000)],
    ),
    "release 6 on Windows": (
        ROWS + "NOTE: The PROCEDURE SORT used 62.5 seconds.\n",
        [("SORT", 62.5, None, None, 1000)],
    ),
    "a workspace server": (prefixed(UNIX), FULL),
    "HTML": (f"<html><body><pre>{html.escape(UNIX)}</pre></body></html>", FULL),
    "Viya's compute service": (items(UNIX), FULL),
    "a notebook": (cells(UNIX), FULL),
    "Altair SLC": (
        "NOTE: Procedure sort step took :\n      real time : 1:02.500\n      cpu time  : 0:12.250\n\n",
        [("SORT", 62.5, 12.25, None, None)],
    ),
    "Spanish": (
        "NOTA: PROCEDIMIENTO SORT utilizado (Tiempo de proceso total):\n      tiempo real         1:02.50\n"
        "      tiempo de cpu       12.25 segundos\n\n",
        [("SORT", 62.5, 12.25, None, None)],
    ),
    "clocks without a fraction": (STIMER.replace("1:02.50", "1:02"), [("SORT", 62.0, 12.25, None, 1000)]),
    "STIMEFMT in hours": (
        STIMER.replace("1:02.50", "0:01:02.50").replace("12.25 seconds", "0:00:12.25"),
        SORT,
    ),
    "STIMEFMT with commas": (UNIX.replace("            2000\n", "            2,000\n"), FULL),
    "the head of a page within a note": (
        UNIX.replace("      memory", HEAD + "      memory"),
        FULL,
    ),
    "a page without number and date": (
        UNIX.replace("      memory", f"{'Load of orders':>60}\n\n      memory"),
        FULL,
    ),
    "a name that goes on in the next line": (
        STIMER.replace(
            "from the data set A.B.", "from the data set\n      LIBREF1.A_NAME_OF_THIRTY_TWO_CHARACTERS."
        ),
        SORT,
    ),
    "PRINTTO, without beginning and end": (PRINTTO + UNIX, [("PRINTTO", 0.0, 0.0, None, None), *FULL]),
    "a WHERE below the rows": (UNIX.replace(ROWS, ROWS + "      WHERE x<8;\n"), FULL),
}


@pytest.mark.parametrize("kind", LOGS)
def test_a_log_of_each_kind_has_its_steps(kind: str) -> None:
    text, truth = LOGS[kind]
    context = Context("x.log", "saslog", lambda seconds: seconds, lambda wanted: wanted)
    assert IMPORTER.recognises(text.encode(), "x.log") > 0.2
    steps = [one for one in IMPORTER.read(io.BytesIO(text.encode()), context) if isinstance(one, StepRecord)]
    assert [
        (
            one.name,
            one.usage.real_time_seconds,
            one.usage.cpu_seconds,
            one.usage.block_input_operations,
            one.rows_read,
        )
        for one in steps
    ] == truth
    assert [one.reason for one in context.skipped] == []
