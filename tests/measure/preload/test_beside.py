"""Programs do as without the library: filters of system calls, shared memory, reused numbers."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from mawl.measure.preload.counters import CounterFile, stamp_reaper
from tests import needs
from tests.fakes.counted import Counted
from tests.files import text_of

pytestmark = needs.marks(needs.COMPILER)

STRICT = text_of(__file__, "strict.c")

FILTERED = text_of(__file__, "filtered.c")

GUEST = text_of(__file__, "guest.c")

RAW_CLONE = text_of(__file__, "raw_clone.c")

REUSED = text_of(__file__, "reused.c")

SMALL_STACK = text_of(__file__, "small_stack.c")


def built(counted: Counted, source: str) -> str:
    """The program of a source, in the folder of the roles."""
    place = counted.folder / "program"
    subprocess.run(
        ["cc", "-w", "-O1", "-x", "c", "-", "-o", str(place)],
        input=source,
        text=True,
        check=True,
        timeout=120,
    )
    return str(place)


def written(counters: CounterFile, role: str) -> tuple[int, int, int]:
    """Calls and bytes written, and how many of these were sequential."""
    io = counters.by_role()[role]  # type: ignore[index]
    return io.writes, io.written_bytes, io.sequential_written_bytes


def test_a_program_in_strict_mode_is_not_killed_and_counts(counted: Counted) -> None:
    counters = counted(built(counted, STRICT))
    assert written(counters, "work") == (50_000, 50_000_000, 49_999_000)
    assert counters.header("silenced") == 1


@pytest.mark.parametrize("way", ["prctl", "call"])
def test_a_program_behind_a_filter_is_not_killed_and_counts(way: str, counted: Counted) -> None:
    content = bytes(range(256)) * 4000
    (counted.folder / "data" / "in").write_bytes(content)
    counters = counted(built(counted, FILTERED), way)
    assert (counted.folder / "work" / "out").read_bytes() == content
    io = counters.by_role()
    assert (io["data"].reads, io["data"].read_bytes) == (251, len(content))
    assert (io["work"].writes, io["work"].written_bytes) == (250, len(content))
    assert counters.header("silenced") == 1


@pytest.mark.parametrize("uncached", [False, True])
def test_a_filter_still_kills_for_the_programs_own_calls(uncached: bool, counted: Counted) -> None:
    (counted.folder / "data" / "in").write_bytes(bytes(100_000))
    counters = counted(built(counted, FILTERED), "kill", status=-signal.SIGSYS, uncached=uncached)
    assert counters.header("silenced") == 1, "it entered the filter, and then made the call"


@pytest.mark.parametrize("way", ["vfork", "clone"])
@pytest.mark.parametrize("uncached", [False, True])
def test_a_child_in_the_memory_of_its_parent_leaves_the_table_alone(
    way: str, uncached: bool, counted: Counted
) -> None:
    counters = counted(built(counted, GUEST), way, uncached=uncached)
    assert written(counters, "work") == (100, 100_000, 99_000)
    assert written(counters, "util") == (0, 0, 0)


def test_a_child_with_a_copy_of_the_memory_has_a_table_of_its_own(counted: Counted) -> None:
    counters = counted(built(counted, RAW_CLONE))
    assert written(counters, "work") == (2, 10, 5)
    assert written(counters, "util") == (2, 6, 3)
    assert counters.header("forks") == 1


def test_a_number_that_was_closed_unseen_is_asked_for_again(counted: Counted) -> None:
    counters = counted(built(counted, REUSED))
    assert written(counters, "work")[:2] == (6, 30)


HOLDS = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **arguments) {
    if (count > 2) execl(arguments[2], arguments[2], arguments[1], (char *)0);
    size_t bytes = (size_t)atol(arguments[1]) << 20;
    return ((char *)memset(malloc(bytes), 1, bytes))[bytes / 2] != 1;
}
"""


@pytest.mark.parametrize(
    ("command", "held"),
    [
        ("exec {holds} 20", 20),
        ("{holds} 20 & wait; {holds} 30; exec true", 30),
        ("exec env {holds} 3", 3),
        ("no-such-command; {fixed} 20; exit 0", 20),
        ("exec {fixed} 3", None),
        ("exec {holds} 3 {holds}", None),
        ("kill -9 $$", None),
    ],
)
def test_the_peak_of_a_command_is_its_programs_own(command: str, held: int | None, counted: Counted) -> None:
    holds, path = built(counted, HOLDS), counted.new()
    fixed = f"{holds}-static"
    subprocess.run(
        ["cc", "-w", "-static", "-x", "c", "-", "-o", fixed], input=HOLDS, text=True, check=True, timeout=120
    )
    stamp_reaper(str(path))
    shell = ["sh", "-c", command.format(holds=holds, fixed=fixed)]
    subprocess.run(shell, cwd=counted.folder, env=counted.environment(path), stderr=subprocess.DEVNULL)
    peak = CounterFile(path).first_peak_bytes
    assert peak is None if held is None else peak is not None and 0 <= peak - held * 2**20 < 4 * 2**20


def test_subprocesses_of_python_leave_streams_sequential(counted: Counted) -> None:
    counters = counted.python(
        "import os, subprocess\n"
        "f = os.open('work/f', os.O_CREAT | os.O_WRONLY)\n"
        "for _ in range(50):\n"
        "    os.write(f, bytes(4096)); subprocess.run(['true'])\n"
    )
    assert written(counters, "work") == (50, 50 * 4096, 49 * 4096)


def test_a_close_on_exec_of_a_range_closes_nothing(counted: Counted, tmp_path: Path) -> None:
    program = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <unistd.h>
    int main(void) {
        int fd = open("work/f", O_CREAT | O_WRONLY, 0600);
        for (int i = 0; i < 10; i++) write(fd, "12345", 5), close_range(3, ~0U, 4);
        return 0;
    }
    """
    assert written(counted(built(counted, program)), "work") == (10, 50, 45)


def test_a_handler_on_a_small_stack_may_write_and_end_the_process(counted: Counted) -> None:
    counters = counted(built(counted, SMALL_STACK), status=42)
    assert counters.header("images") == 1, "the library was in it"
