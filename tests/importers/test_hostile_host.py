"""Recordings that mean harm: endless lines, endless brackets, noise, far dates: bounded memory, told."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Iterator
from typing import BinaryIO, cast

import pytest

from mawl.importers.import_files import IMPORTERS
from mawl.importers.interface import Context, HostFigures
from tests.fakes.recorded_host import aix_recording
from tests.fakes.schedulers import Ran, grid_status, lsb_record, orchestrator, sacct
from tests.importers.recordings import Read, recorded

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
WHOLE = ("fio", "orchestrator")
"""Kinds that are read as whole documents: of fio 16 MiB at most, of schedulers 64."""

STARTS = {
    "nmon": "".join(aix_recording(2, 2)).encode(),
    "sar": recorded("sar.txt"),
    "sadf": recorded("sadf.json"),
    "iostat": recorded("iostat.json")[:-40],
    "mpstat": recorded("mpstat.json"),
    "vmstat": recorded("vmstat.txt"),
    "fio": b'{\n  "fio version" : "fio-3.33", "jobs": [',
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
    assert peak < MOST_BYTES * (3 if kind in WHOLE else 1)
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
