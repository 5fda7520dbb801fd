"""What an import of SAS logs costs: dense FULLSTIMER notes, one note in 10 KB, 2,000 small files, and growth.

Each import is made by a process of its own (``python -m bench.saslog PATH FOLDER``) from the files to
the finished run folder; MB/s is over the CPU time of that process, imports of Python included.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.harness import Result, alternate, at_least, at_most, ratio, sized, spread

NAME = "saslog"
RUNS = sized(5, 1)
MB = sized(1_000_000, 10_000)
DENSE_BYTES, SPARSE_BYTES = 200 * MB, 400 * MB
PEER_BYTES = 50 * MB
ALONE = "python-alone"
"""The peer: the reader without the C scanner."""
GROWTH = (50 * MB, 100 * MB, 400 * MB)
SMALL_FILES = sized(2000, 20)
LEAST_DENSE, LEAST_SPARSE, MOST_SMALL_SECONDS, MOST_BYTES = 200.0, 400.0, 10.0, 400e6
STEPS_OF_A_JOB = 500
BETWEEN_BYTES = 10_000
PAGE_LINES = 55
START = datetime(2026, 11, 20, 8, 0, 0, tzinfo=UTC)


def run() -> list[Result]:
    """Throughput, memory and growth; every import is checked to have all notes that were written."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        place = Path(directory)
        results = [
            *_row(place, "dense FULLSTIMER", DENSE_BYTES, 0, LEAST_DENSE),
            *_row(place, "one note in 10 KB", SPARSE_BYTES, BETWEEN_BYTES, LEAST_SPARSE),
        ]
        results += [
            _against_python(place, "dense", PEER_BYTES, 0),
            _against_python(place, "one note in 10 KB", PEER_BYTES, BETWEEN_BYTES),
        ]
        for size in GROWTH:
            notes = write_log(place / "grown.log", size, 0)
            made = _imported(place / "grown.log", notes)
            detail = f"{made['cpu_seconds']:.2f} s of CPU, {made['memory_bytes'] / 1e6:.0f} MB of memory"
            rate = size / 1e6 / made["cpu_seconds"]
            results.append(Result(f"dense, {size / 1e6:g} MB", rate, "MB/s", "", None, detail))
        (place / "grown.log").unlink()
        small = place / "small"
        small.mkdir()
        notes = sum(write_log(small / f"load{number}.log", 10_000, 0) for number in range(SMALL_FILES))
        seconds = [_imported(small, notes)["cpu_seconds"] for _ in range(RUNS)]
        results.append(
            at_most(
                f"{SMALL_FILES} small files",
                statistics.median(seconds),
                "s of CPU",
                MOST_SMALL_SECONDS,
                f"10 kB each: {spread(seconds, 's')}",
            )
        )
    return results


def _row(place: Path, title: str, size: int, between: int, least: float) -> Iterator[Result]:
    path = place / "one.log"
    notes = write_log(path, size, between)
    made = [_imported(path, notes) for _ in range(RUNS)]
    rates = [size / 1e6 / figures["cpu_seconds"] for figures in made]
    detail = f"{notes} notes in {size / 1e6:g} MB: {spread(rates, 'MB/s')}"
    yield at_least(title, statistics.median(rates), "MB/s", least, detail)
    memory = max(figures["memory_bytes"] for figures in made) / 1e6
    yield at_most(f"peak memory, {title}", memory, "MB", MOST_BYTES / 1e6, f"largest of {RUNS}")
    path.unlink()


def _against_python(place: Path, title: str, size: int, between: int) -> Result:
    """CPU time of the process of an import, over that of the same import without the scanner."""
    path = place / "one.log"
    notes = write_log(path, size, between)
    ours, peer = alternate(
        lambda: _imported(path, notes)["cpu_seconds"],
        lambda: _imported(path, notes, ALONE)["cpu_seconds"],
        RUNS,
    )
    path.unlink()
    value, pairs = ratio(ours, peer)
    detail = f"{spread(ours, 's')}, Python alone {spread(peer, 's')}; {pairs}"
    return Result(f"{title}, {size / 1e6:g} MB, CPU over Python alone", value, "ratio", "", None, detail)


def write_log(path: Path, size: int, between: int) -> int:
    """A log of ``size`` bytes with so many bytes of source before each note; how many notes it has.

    Pages as SAS makes them: one in about four notes of a dense log is split by a page header.
    """
    notes, lines, at, steps = 0, 0, START, 0
    source = "".join(f"{line:<6}     x{line} = sum(a{line}, b{line}) * 1.01;\n" for line in range(1000))
    with path.open("w", encoding="ascii") as file:
        file.write(f"1          * {path.stem};\n")  # logs of equal content would count once
        while file.tell() < size:
            at += timedelta(seconds=1)
            steps += 1
            note = _note(notes, at, session=steps == STEPS_OF_A_JOB)
            steps = steps % STEPS_OF_A_JOB
            file.write(source[:between])
            for line in note:
                lines += 1
                if lines % PAGE_LINES == 0:
                    page = lines // PAGE_LINES
                    file.write(f"\f{page}        The SAS System        08:00 Friday, November 20, 2026\n\n")
                file.write(line + "\n")
            notes += 1
    return notes


def _note(number: int, at: datetime, *, session: bool) -> list[str]:
    heading = "NOTE: The SAS System used:" if session else "NOTE: PROCEDURE SORT used (Total process time):"
    return [
        f"{number % 90000:<10} proc sort data=a{number % 7}; by x; run;",
        "",
        f"NOTE: There were {number % 977} observations read from the data set WORK.A{number % 7}.",
        f"NOTE: The data set WORK.B has {number % 977} observations and {number % 31} variables.",
        heading,
        f"      real time           0.{number % 90 + 10} seconds",
        f"      user cpu time       0.{number % 45 + 10} seconds",
        "      system cpu time     0.01 seconds",
        f"      memory              {number % 70000 + 600}.15k",
        "      OS Memory           25560.00k",
        f"      Timestamp           {at:%m/%d/%Y %I:%M:%S %p}",
        f"      Step Count                        {number}  Switch Count  2",
        "      Page Faults                       0",
        f"      Page Reclaims                     {number % 5000}",
        "      Page Swaps                        0",
        "      Voluntary Context Switches        10",
        "      Involuntary Context Switches      0",
        "      Block Input Operations            0",
        "      Block Output Operations           264",
        "      ",
        "",
    ]


def _imported(path: Path, notes: int, *reader: str) -> dict[str, float]:
    """What one import took, by a process of its own."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as folder:
        command = [sys.executable, "-m", "bench.saslog", str(path), str(Path(folder, "run")), *reader]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    assert figures["blocks"] == notes, f"{figures['blocks']} notes read, {notes} written"
    return figures


def main(path: str, folder: str, *reader: str) -> None:
    """Make one import and print what it took."""
    from mawl.importers.formats import saslog
    from mawl.importers.import_files import ImportRequest, import_files
    from mawl.records.store.without_pandas import arrow_alone

    arrow_alone()  # as every command of mawl begins
    if ALONE in reader:
        saslog.LEAST_SCANNED_BYTES = sys.maxsize
    made = import_files(ImportRequest(paths=[path], folder=Path(folder), run_id="bench"))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "memory_bytes": usage.ru_maxrss * 1024,
        "blocks": made.blocks,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
