"""A real run beside two spinning processes and a writer names them, with what ``/proc`` said of them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from mawl.advice.validity.host import MOST_FOREIGN_RATIO, foreign_cpu_ratio
from mawl.figures.others import other_programs_of
from mawl.figures.view import StoredView
from mawl.measure.other_programs import MOST_PROGRAMS
from mawl.records.store import open_run
from tests.cli.conftest import Command

pytestmark = pytest.mark.lab

SPINNER = "while True: pass"
WRITER = """
import os, sys, time
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
while True:
    os.pwrite(file, bytes(5_000_000), 0)
    os.fsync(file)
    time.sleep(0.1)
"""

JOB = """
import json, os, sys, time
def looked():
    found = {}
    for pid in sys.argv[2:]:
        words = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
        io = dict(line.split(": ") for line in open(f"/proc/{pid}/io"))
        ticks = int(words[11]) + int(words[12])
        found[pid] = [ticks / os.sysconf("SC_CLK_TCK"), int(io["read_bytes"]), int(io["write_bytes"])]
    return found
before, began = looked(), time.monotonic()
while time.monotonic() - began < 12.0:
    pass
after = looked()
gained = {pid: [new - old for old, new in zip(before[pid], after[pid])] for pid in before}
json.dump(gained, open(sys.argv[1], "w"))
"""
"""Notes what processes used while it computes for 12 s."""


def test_who_else_used_the_machine_is_named_with_what_proc_says(mawl: Command) -> None:
    place = mawl.directory
    (place / "job.py").write_text(JOB)
    others = [subprocess.Popen([sys.executable, "-c", SPINNER]) for _ in range(2)]
    others.append(subprocess.Popen([sys.executable, "-c", WRITER, str(place / "file")]))
    try:
        pids = [str(other.pid) for other in others]
        words = [sys.executable, str(place / "job.py"), str(place / "truth.json"), *pids]
        (place / "w.toml").write_text(
            'name = "w"\n[[sessions]]\nname = "s"\n'
            f'stages = [[{{ program = "c", command = {json.dumps(words)} }}]]\n'
        )
        mawl.ok("run", "w.toml")
    finally:
        for other in others:
            other.kill()
            other.wait()
    truth = json.loads((place / "truth.json").read_text())
    view = StoredView(open_run(str(place / "runs" / "latest")))
    programs, reason = other_programs_of(view.facts)
    named = {str(one.pid): one for one in programs if not one.kernel_thread}
    assert reason is None
    for pid, (cpu, read, written) in truth.items():
        if pid not in named:  # ten others used more
            assert len(named) == MOST_PROGRAMS
            assert cpu + (read + written) / 100e6 < 1.1 * min(one.weight for one in named.values())
            continue
        assert named[pid].cpu_seconds == pytest.approx(cpu, rel=0.1, abs=0.1)
        assert named[pid].read_bytes == pytest.approx(read, rel=0.1, abs=10**5)
        assert named[pid].written_bytes == pytest.approx(written, rel=0.1)
    summary = json.loads(mawl("report", "latest", "--format", "json").stdout)
    said = [one["sentence"] for one in summary["validity"]["findings"] if one["rule"] == "competition"]
    if (foreign_cpu_ratio(view) or 0.0) > MOST_FOREIGN_RATIO:  # two of at most some 20 processors
        assert any(str(max(programs, key=lambda one: one.cpu_seconds)) in sentence for sentence in said)
