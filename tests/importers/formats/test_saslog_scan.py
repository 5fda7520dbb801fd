"""The C scanner against Python's reader, which is its oracle: the same records and messages for any log."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from bench.saslog import write_log
from mawl.importers.formats import saslog, text
from mawl.importers.formats.saslog import LogReader, read_log
from mawl.importers.formats.saslog_nesting import with_nesting
from mawl.importers.formats.saslog_records import Entry, PerformanceNote
from mawl.importers.formats.saslog_scan import NoteBatch, load, recipe, scanner
from mawl.records.compiled import shared_library
from tests import needs
from tests.importers.layouts import LAYOUTS

pytestmark = needs.marks(needs.COMPILER)

Read = tuple[list[Entry], list[tuple[int, str, str]]]

CASES = int(os.environ.get("MAWL_TEST_SCANS", "400"))
"""Damaged logs; 20,000 take about 10 minutes."""

PIECES = (
    b"\n",
    b"      \n",
    b"\f3   The SAS System   10:00 Friday, November 20, 2026\n\n",
    b"7     A title   9:00 Monday, January 5, 2026\n\n",
    b"\ftitle\n\n",
    b"NOTE: ",
    b"NOTE: SAS threaded sort was used.\n",
    b"NOTE: There were 5 observations read from the data set WORK.Q.\n",
    b"NOTE: The data set A.B has 5 observations and 3 variables.\n",
    b"      WHERE x<11;\n",
    b"NOTE: There were 7 observations read from the data set WORK.Q.\n      WHERE x<11;\n",
    b"NOTE: There were 7 observations read from the data set WORK.Q.\n"
    b"\f3   The SAS System   10:00 Friday, November 20, 2026\n\n      WHERE x<11;\n",
    b"NOTE: 5 observations added.\nNOTE: The data set A.B has 9 observations and 3 variables.\n",
    b"      cpu time            0.29 seconds\n",
    b"ERROR: x\n",
    b"real time ",
    b" cpu ",
    b"seconds",
    b"02/29/2024",
    b"99999999999999999999",
    *(b" ", b"\0", b"\xff", b":", b".", b"0", b"k", b"PM", b"12", b"\r\n", b"x" * 1500, b" " * 1200),
)


def plain(log: bytes) -> Read:
    """What Python alone reads."""
    skipped: list[tuple[int, str, str]] = []
    return list(read_log(io.BytesIO(log), lambda *told: skipped.append(told))), skipped


def scanned(log: bytes) -> tuple[Read, int]:
    """What the reader gives with the scanner, and how many notes came in batches."""
    skipped: list[tuple[int, str, str]] = []
    entries: list[Entry] = []
    batched = 0
    for part in with_nesting(LogReader(io.BytesIO(log), lambda *told: skipped.append(told), scanner).parts()):
        if isinstance(part, NoteBatch):
            batched += part.count
            entries.extend(part.entries())
        else:
            entries.append(part)
    return (entries, skipped), batched


@pytest.fixture(autouse=True)
def every_log_is_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saslog, "LEAST_SCANNED_BYTES", 0)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """A dense and a sparse log of one session, with pages."""
    path = tmp_path_factory.mktemp("logs") / "one.log"
    made = []
    for between in (0, 300):
        write_log(path, 9000, between)
        made.append(path.read_bytes())
    return made


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_every_layout_is_read_as_python_reads_it(name: str) -> None:
    log = LAYOUTS[name].text.encode()
    assert scanned(log)[0] == plain(log)


@pytest.mark.parametrize("between", [0, 2000])
def test_nearly_all_notes_of_a_large_log_come_in_batches(tmp_path: Path, between: int) -> None:
    written = write_log(tmp_path / "one.log", 1_000_000, between)
    log = (tmp_path / "one.log").read_bytes()
    found, batched = scanned(log)
    assert found == plain(log)
    assert sum(isinstance(entry, PerformanceNote) for entry in found[0]) == written
    assert batched > written * 0.97


@pytest.mark.parametrize("chunk", [700, 256 * 1024])
def test_damaged_logs_are_read_as_python_reads_them(
    generated: list[bytes], chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "CHUNK_BYTES", chunk)
    logs = [*(layout.text.encode() for layout in LAYOUTS.values()), *generated]
    batches = 0
    for case in range(CASES):
        log = _damaged(logs, Random(f"{chunk}-{case}"))
        found, batched = scanned(log)
        assert found == plain(log), f"case {case} with chunks of {chunk} bytes"
        batches += batched > 0
    assert batches > CASES / 5


def test_without_a_compiler_or_a_cache_python_reads_alone(tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    assert load(nowhere) is None
    (tmp_path / "file").write_text("")
    assert load({**os.environ, "XDG_CACHE_HOME": str(tmp_path / "file")}) is None


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage", "a named pipe"])
def test_a_library_in_the_cache_that_is_not_whole_is_made_again(tmp_path: Path, damage: str) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    path, why = shared_library(recipe(), environment)
    assert path is not None, why
    whole = path.read_bytes()
    if damage == "a named pipe":
        path.unlink()
        os.mkfifo(path)
    else:
        path.write_bytes({"cut": whole[: len(whole) // 2], "empty": b"", "garbage": b"\x7fELF" * 999}[damage])
    # In another process: a library that was cut ends the process that loads it.
    scanner = "mawl.importers.formats.saslog_scan"
    code = f"import os; from {scanner} import load; print(load(os.environ) is not None)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert path.is_file()


def _damaged(logs: list[bytes], random: Random) -> bytes:
    """One or two logs with lines lost, doubled, moved and changed, perhaps cut."""
    log = random.choice(logs)
    if random.random() < 0.3:
        log += random.choice(logs)
    lines = log.split(b"\n")
    for _ in range(random.randint(1, 6)):
        kind, at, other = random.random(), random.randrange(len(lines)), random.randrange(len(lines))
        if kind < 0.2 and len(lines) > 1:
            del lines[at]
        elif kind < 0.35:
            lines.insert(at, lines[other])
        elif kind < 0.55:
            lines[at:at] = random.choice(PIECES).split(b"\n")
        elif kind < 0.7:
            lines[at], lines[other] = lines[other], lines[at]
        else:
            line = lines[at]
            start = random.randint(0, len(line))
            piece = random.choice(PIECES) if random.random() < 0.7 else bytes([random.randrange(256)])
            lines[at] = line[:start] + piece + line[start + random.randint(0, 4) :]
    log = b"\n".join(lines)
    return log[: random.randint(0, len(log))] if random.random() < 0.2 else log
