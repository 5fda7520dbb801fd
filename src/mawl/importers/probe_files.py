"""Results of other programs that test storage, as a probe: fio, elbencho, and SAS's own I/O tests."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mawl.base.errors import InvalidFileError, UnreadableRunError
from mawl.base.foreign import read_regular
from mawl.importers.fio import LARGEST_FILE_BYTES, UNKNOWN, fio_probe, foreign_probe
from mawl.importers.formats.table_map import number
from mawl.importers.formats.text import moment, one_line, text_of
from mawl.importers.nmon_snapshot import name_of
from mawl.records.model.probe import Probe, ProbeFigures, ProbeTest
from mawl.records.store.side_files import read_probe

MIB = 2**20
JSON_OPTION = "run fio again with --output-format=json --output=FILE"
NEWER_FIO = "run the test again with a fio that writes the options of its jobs, such as 2.10 or 3"
_FIO_TEXT = re.compile(
    r"(?m)^fio-[0-9]|: \(g=[0-9]+\): rw=|^[0-9];fio-[0-9]|^Run status group|\(groupid=[0-9]+, jobs="
)
"""Marks of fio's normal and terse output."""
_SAS_RATE = re.compile(
    r"(?m)^\s*(read|write) throughput rate:\s*([0-9][0-9,]*(?:\.[0-9]+)?) megabytes/second"
)
_SAS_PLACE = re.compile(r"(?m)^\s*(?:target dir|directory|mount point):\s*(\S+)")
_SAS_CORES = re.compile(r"(?im)^\s*(?:iterations|total physical cores):\s*([0-9]{1,4})\s*$")
_SAS_SIZE = re.compile(r"(?m)^\s*file ?size:\s*([0-9][0-9,]*(?:\.[0-9]+)?) gigabytes")
SAS_REQUEST_BYTES = 64 * 1024
"""What iotest.sh and rhel_iotest.sh give to dd where they were not told another size."""
SHOWN_SETTINGS = tuple(
    f"--{name}=" for name in ("ioengine", "iodepth", "numjobs", "rate", "rate_iops", "fsync")
)
ELBENCHO_NEEDS = ("operation", "block size", "threads")
_ELBENCHO_WAYS = {"READ": "read", "WRITE": "write"}


def load_probe(path: Path) -> Probe:
    """A probe from ``probe.json``, or from the results of fio, elbencho or SAS's I/O tests.

    Raises ``InvalidFileError`` for a file that is none of them, or that does not say enough.
    """
    try:
        content = read_regular(path, LARGEST_FILE_BYTES)
    except OSError:
        return read_probe(path)
    text = text_of(content).removeprefix("\ufeff")
    if '"fio version"' in text:
        return _of_fio(path, text)
    if _FIO_TEXT.search(text) and not text.lstrip().startswith("{"):
        raise InvalidFileError(
            "is fio's normal or terse output, which lacks what a probe needs",
            where=str(path),
            cure=JSON_OPTION,
        )
    if _SAS_RATE.search(text):
        return _of_sas(path, text)
    first = text.lstrip().partition("\n")[0].lower()
    if all(name in first for name in ELBENCHO_NEEDS):
        return _of_elbencho(path, text)
    return read_probe(path)


def on_node(probe: Probe, node: str) -> Probe:
    """A probe that a user gives to a run: targets whose file names no node are on the node of the run."""
    targets = [
        msgspec.structs.replace(target, node=node) if target.node == UNKNOWN else target
        for target in probe.targets
    ]
    return msgspec.structs.replace(probe, targets=targets)


def _of_fio(path: Path, text: str) -> Probe:
    reasons: list[str] = []
    probe = fio_probe(text, path.name, lambda _, why: reasons.append(why))
    if probe is None:
        why = reasons[0] if reasons else "no document of fio begins a line"
        cure = NEWER_FIO if "it has no options" in why else JSON_OPTION
        raise UnreadableRunError("holds no test that a probe has", where=str(path), why=why, cure=cure)
    targets = [
        msgspec.structs.replace(target, tests=[_with_settings(test) for test in target.tests])
        for target in probe.targets
    ]
    return msgspec.structs.replace(probe, targets=targets)


def _with_settings(test: ProbeTest) -> ProbeTest:
    """The test with a remark on how fio made it, in its own words."""
    shown = [word.removeprefix("--") for word in test.command if word.startswith(SHOWN_SETTINGS)]
    remarks = [one for one in (test.remark, f"fio's settings: {', '.join(shown)}" if shown else None) if one]
    return msgspec.structs.replace(test, remark="; ".join(remarks) or None)


def _test(way: str, request_bytes: int, streams: int, figures: ProbeFigures, **more: object) -> ProbeTest:
    plain: dict[str, object] = {
        "pattern": "sequential",
        "direction": way,
        "request_bytes": request_bytes,
        "streams": streams,
        "direct": False,
        "content": "incompressible",
        "read_share_ratio": 1.0 if way == "read" else 0.0,
        "elapsed_seconds": None,
        "read": figures if way == "read" else None,
        "write": figures if way == "write" else None,
        "cpu_seconds": None,
        "command": [],
    }
    return ProbeTest(**(plain | more))  # type: ignore[arg-type]


def _of_elbencho(path: Path, text: str) -> Probe:
    """elbencho's ``--csvfile``: what all threads had done at the end of the last (``[last]``)."""
    tests: dict[str, list[ProbeTest]] = {}
    times: list[float] = []
    for row in csv.DictReader(text.splitlines()):
        cells = {str(name).strip().lower(): str(value or "").strip() for name, value in row.items()}
        way = _ELBENCHO_WAYS.get(cells.get("operation", "").upper())
        rate, requests = number(cells.get("mib/s [last]", "")), number(cells.get("iops [last]", ""))
        size, threads = number(cells.get("block size", "")), number(cells.get("threads", ""))
        if way is None or rate is None or requests is None or not size or not threads:
            continue
        moved, took = number(cells.get("mib [last]", "")), number(cells.get("time ms [last]", ""))
        depth = number(cells.get("io depth", "")) or 1.0
        if moved is None and took is not None:
            moved = rate * took / 1000
        if moved is None:
            continue
        figures = ProbeFigures(
            bytes=round(moved * MIB),
            bytes_per_second=rate * MIB,
            requests_per_second=requests,
            latency_seconds=_latency(cells),
        )
        test = _test(
            way,
            round(size),
            round(threads * max(depth, 1.0) * (number(cells.get("hosts", "")) or 1.0)),
            figures,
            pattern="random" if cells.get("random", "0") not in ("", "0", "false") else "sequential",
            direct=cells.get("direct io", "0") not in ("", "0", "false"),
            elapsed_seconds=None if took is None else took / 1000,
        )
        when = moment(cells.get("iso date", ""))
        times += [] if when is None else [when[0] - (when[1] or 0.0)]
        tests.setdefault(name_of(cells.get("label", "")) or "unknown", []).append(test)
    if not tests:
        raise UnreadableRunError(
            "is a table of elbencho without a row of reads or writes that a probe can use",
            where=str(path),
            why="it needs operation, threads, block size, IOPS [last] and MiB/s [last]",
            cure="run elbencho again with --csvfile FILE",
        )
    return foreign_probe(name_of(path.name), "elbencho", min(times, default=time.time()), tests)


def _latency(cells: Mapping[str, str]) -> dict[str, float]:
    """Seconds by name, from elbencho's microseconds."""
    found = {}
    for name, part in (("min", "min"), ("mean", "avg"), ("max", "max")):
        value = number(cells.get(f"io lat us [{part}]") or cells.get(f"io lat us {part}") or "")
        if value is not None:
            found[name] = value / 1e6
    return found


def _of_sas(path: Path, text: str) -> Probe:
    """rhel_iotest.sh and those after it: MiB per second of each core, one dd of zeros a core at once.

    A megabyte is 2**20 bytes there, and a gigabyte 2**30; ``iterations`` are the cores.
    """
    cores, size = _SAS_CORES.search(text), _SAS_SIZE.search(text)
    if cores is None or size is None:
        raise UnreadableRunError(
            "gives rates per core, and not how many cores there were or how large the files",
            where=str(path),
            why='it lacks a line "iterations:" or "Total physical cores:", or the line "filesize:"',
            cure="give the log of the test instead, or both in one file",
        )
    count = int(cores[1])
    place = _SAS_PLACE.search(text)
    directory = one_line(place[1]) if place else "unknown"
    moved = round(float(size[1].replace(",", "")) * 2**30) * count
    rates = [(way, float(rate.replace(",", ""))) for way, rate in _SAS_RATE.findall(text)]
    tests = [_sas_test(way, rate, count, moved) for way, rate in rates]
    return foreign_probe(name_of(path.name), "iotest", path.stat().st_mtime, {directory: tests})


def _sas_test(way: str, rate: float, cores: int, moved: int) -> ProbeTest:
    total = rate * MIB * cores
    figures = ProbeFigures(
        bytes=moved,
        bytes_per_second=total,
        requests_per_second=total / SAS_REQUEST_BYTES,
        latency_seconds={},
    )
    remark = "dd of zeros through the page cache; requests taken as 64 KiB; no response times"
    return _test(way, SAS_REQUEST_BYTES, cores, figures, content="dialled", remark=remark)
