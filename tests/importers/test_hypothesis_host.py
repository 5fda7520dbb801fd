"""Recordings that were cut, damaged, mixed: no crash, and no figure that the whole one lacks."""

from __future__ import annotations

import itertools
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from mawl.importers.sysstat import EVERY
from tests.fakes.recorded_host import aix_recording
from tests.importers.recordings import RECORDED, Read, recorded

KIND_OF = {path.name: "nmon" if path.suffix == ".nmon" else path.stem for path in RECORDED.iterdir()}
FILES = {name: recorded(name) for name in KIND_OF} | {"aix.nmon": "".join(aix_recording(4, 5)).encode()}
KINDS = KIND_OF | {"aix.nmon": "nmon"}
NAMES = st.sampled_from(sorted(FILES))
TEXTS = st.sampled_from(sorted(name for name in FILES if not name.endswith(".json")))

Segments = dict[tuple[str, float, float], float]


def segments(read: Read) -> Segments:
    """What each series gained between two points with nothing unknown between; gauges are left aside."""
    found = {}
    for name, points in read.series.items():
        if not name.endswith(("_bytes", "_seconds", "reads", "writes", "requests", "switches", "faults")):
            continue
        if name.startswith("host.memory_"):
            continue
        for (start, before), (end, after) in itertools.pairwise(sorted(points, key=lambda point: point[0])):
            if not math.isnan(before) and not math.isnan(after):
                found[name, start, end] = after - before
    return found


def assert_of(damaged: Read, whole: Segments) -> None:
    """Every gain is one of the whole recording's, over the same time."""
    for key, gain in segments(damaged).items():
        assert key in whole
        assert math.isclose(gain, whole[key], rel_tol=1e-6, abs_tol=1e-6 * max(1.0, abs(gain)) + 1e-3)


WHOLE = {name: segments(Read(KINDS[name], data)) for name, data in FILES.items()}


@settings(max_examples=200, deadline=None)
@given(NAMES, st.data())
def test_a_recording_cut_anywhere_has_only_its_own_figures(name: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(FILES[name])))
    assert_of(Read(KINDS[name], FILES[name][:end]), WHOLE[name])


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.data())
def test_digits_that_are_damaged_cost_their_own_figures_alone(name: str, data: st.DataObject) -> None:
    text = bytearray(FILES[name])
    start = text.find(b"AAA,note") if name.endswith("nmon") else text.find(b"\n")
    digits = [place for place in range(max(start, 0), len(text)) if 48 <= text[place] <= 57]
    for place in data.draw(st.lists(st.sampled_from(digits), min_size=1, max_size=8)):
        if chr(text[place - 1]) not in "abk0hnos":  # names of devices stay
            text[place] = ord("x")
    assert_of(Read(KINDS[name], bytes(text)), WHOLE[name])


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_lines_of_nmon_that_are_lost_cost_their_own_figures_alone(data: st.DataObject) -> None:
    lines = FILES["aix.nmon"].splitlines(keepends=True)
    heads = (b"AAA", b"LPAR,L", b"PCPU_ALL,P")  # without them the recording is of another machine
    body = [number for number, line in enumerate(lines) if not line.startswith(heads)]
    lost = set(data.draw(st.lists(st.sampled_from(body), min_size=1, max_size=10)))
    rest = b"".join(line for number, line in enumerate(lines) if number not in lost)
    assert_of(Read("nmon", rest), WHOLE["aix.nmon"])


@settings(max_examples=150, deadline=None)
@given(NAMES, NAMES, st.binary(max_size=300), st.data())
def test_no_mixture_of_anything_raises(one: str, other: str, noise: bytes, data: st.DataObject) -> None:
    a, b = FILES[one], FILES[other]
    cut_a, cut_b = data.draw(st.integers(0, len(a))), data.draw(st.integers(0, len(b)))
    for kind in ("nmon", *(importer.kind for importer in EVERY)):
        read = Read(kind, a[:cut_a] + noise + b[cut_b:] + noise)
        for points in read.series.values():
            assert all(math.isnan(value) or 0 <= value <= 1e18 for _, value in points)
