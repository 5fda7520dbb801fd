"""Bytes by role as the kernel's own account of each call has them, through strace."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from mawl.plan.catalogue import CATALOGUE
from tests import needs
from tests.contract.jobs import assign, run_fresh
from tests.contract.test_programs import BYTES_MARGIN, OPTIONS, SCALES

UNDECLARED_BYTES = 64 * 1024
"""What a role may have that declares nothing: manifests."""

_CALL = re.compile(r"^(?:\d+ +)?(p?readv?(?:64|2)?|p?writev?(?:64|2)?)\(\d+<([^>]*)>.*= (\d+)$")

pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.program("strace")),
]


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.long(minutes=0.2))])
@pytest.mark.parametrize("program", sorted(CATALOGUE))
def test_bytes_by_role_are_within_the_declaration(
    program: str, threads: int, make_table: Callable[[str, float], Path], tmp_path: Path
) -> None:
    scale = SCALES.get(program, 0.0003)
    inputs = {table.name: make_table(table.name, scale) for table in CATALOGUE[program].inputs}
    options = msgspec.structs.replace(OPTIONS, cpucount=threads)
    assignment = assign(program, scale, options, inputs, tmp_path, volumes=2)
    # Python's os.preadv is the kernel's preadv2.
    calls = "trace=read,write,pread64,pwrite64,preadv,pwritev,readv,writev,preadv2,pwritev2"
    job = run_fresh(assignment, ["strace", "-ff", "-y", "-qq", "-e", calls, "-o", str(tmp_path / "trace")])
    assert job.failed is None
    places = {
        "data": [*assignment.inputs.values(), assignment.results],
        "work": assignment.work,
        "util": assignment.util,
    }
    found: dict[tuple[str, str], int] = defaultdict(int)
    for trace in tmp_path.glob("trace.*"):
        for text in trace.read_text(errors="replace").splitlines():
            call = _CALL.match(text)
            if call is None:
                continue
            role = next((role for role, roots in places.items() if call[2].startswith(tuple(roots))), None)
            if role is not None:
                found[role, "read" if "read" in call[1] else "written"] += int(call[3])
    # The trace has what verify reads, too.
    expected = {(role, direction): 0 for role in places for direction in ("read", "written")}
    for _, role, direction, _, size in CATALOGUE[program].passes(scale):
        expected[role, direction] += size
    for which, declared in expected.items():
        if declared:
            # Whatever the size: nothing that is declared may be a remainder that a flat allowance hides.
            assert found[which] == pytest.approx(declared, rel=BYTES_MARGIN), which
        else:
            assert found[which] <= UNDECLARED_BYTES, which
