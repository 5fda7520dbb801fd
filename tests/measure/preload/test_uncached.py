"""--cache none: files of the roles keep next to nothing in the page cache, by whatever call."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.measure.page_cache import drop, keeps, residency
from tests import needs
from tests.fakes.counted import Counted

MIB = 2**20
SIZE = 16 * MIB
UNDER_WAY_BYTES = 4 * MIB
"""What a stream of one descriptor may hold: a MiB gathered, one on its way, and what was read ahead."""

READ_AHEAD_BYTES = 2 * MIB
"""What the kernel may still be reading ahead for a stream when its file is closed, and cannot drop."""

KILL = "os.kill(os.getpid(), 9)\n"
WRITES = {
    "write": "os.write(f, b'x' * 100000)",
    "pwrite": "os.pwrite(f, b'x' * 100000, i * 100000)",
    "writev": "os.writev(f, [b'x' * 50000, b'x' * 50000])",
    "pwritev": "os.pwritev(f, [b'x' * 50000, b'x' * 50000], i * 100000)",
}
READS = {
    "read": "os.read(f, 100000)",
    "pread": "os.pread(f, 100000, i * 100000)",
    "readv": "os.readv(f, [bytearray(50000), bytearray(50000)])",
    "preadv": "os.preadv(f, [bytearray(50000), bytearray(50000)], i * 100000)",
    "small": "[os.read(f, 5000) for _ in range(20)]",
    "sendfile": "os.sendfile(n, f, i * 100000, 100000)",
    "stream": "s.read(100000)",
    "four streams": "[os.pread(f, 25000, s4 * 4000000 + i * 25000) for s4 in range(4)]",
    "scattered": "os.pread(f, 8192, i * 7919 % 2000 * 8192)",
}


@pytest.fixture
def held(counted: Counted) -> Counted:
    """Counted commands on a file system that lets go of its pages."""
    reason = keeps(counted.folder)
    if reason is not None:
        needs.skip(f"the tests' directory is no disk: {reason}")
    return counted


def resident(path: Path) -> int:
    found = residency([path]).resident_bytes
    assert found is not None
    return found


def content(held: Counted, role: str = "data") -> Path:
    """A file of SIZE bytes, written out and not in memory."""
    path = held.folder / role / "content"
    path.write_bytes(bytes(range(256)) * (SIZE // 256))
    assert drop([path]) == [] and resident(path) == 0
    return path


@pytest.mark.parametrize("call", WRITES)
def test_what_was_written_is_at_the_device_and_gone(held: Counted, call: str) -> None:
    code = f"import os\nf = os.open('work/w', os.O_RDWR | os.O_CREAT)\nfor i in range(160): {WRITES[call]}\n"
    held.python(code + KILL, status=-9, uncached=True)
    assert (held.folder / "work/w").stat().st_size == 16_000_000
    assert resident(held.folder / "work/w") <= UNDER_WAY_BYTES
    held.python(code, uncached=True)
    assert resident(held.folder / "work/w") == 0


@pytest.mark.parametrize("call", READS)
def test_what_was_read_is_gone(held: Counted, call: str) -> None:
    path = content(held)
    code = (
        "import os\nf = os.open('data/content', os.O_RDONLY)\ns = open('data/content', 'rb', 0)\n"
        f"n = os.open('/dev/null', os.O_WRONLY)\nfor i in range(160): {READS[call]}\n"
    )
    streams = 4 if call == "four streams" else 1
    held.python(code + KILL, status=-9, uncached=True)
    assert resident(path) <= streams * UNDER_WAY_BYTES
    held.python(code, uncached=True)
    assert resident(path) <= streams * READ_AHEAD_BYTES


def test_scattered_writes_keep_their_bytes_and_no_pages(held: Counted) -> None:
    path = content(held, "work")
    held.python(
        "import os\nf = os.open('work/content', os.O_RDWR)\n"
        "for i in range(1500): os.pwrite(f, b'y' * 8192, i * 7919 % 2000 * 8192)\n",
        uncached=True,
    )
    found = path.read_bytes()
    blocks = [found[at : at + 8192] for at in range(0, SIZE, 8192)]
    written = {i * 7919 % 2000 for i in range(1500)}
    assert all((block == b"y" * 8192) == (place in written) for place, block in enumerate(blocks))
    drop([path])


@pytest.mark.parametrize(
    "command",
    [
        ("cp", "data/content", "work/copy"),
        ("dd", "if=data/content", "of=work/copy", "bs=256k", "status=none"),
        ("bash", "-c", "cat data/content > work/copy"),
        ("bash", "-c", "cat < data/content | cat > work/copy"),
    ],
    ids=lambda command: command[-1][:20],
)
def test_commands_leave_nothing_and_make_the_same(held: Counted, command: tuple[str, ...]) -> None:
    path = content(held)
    held(*command, uncached=True)
    copy = held.folder / "work/copy"
    assert resident(path) + resident(copy) <= MIB // 4
    assert copy.read_bytes() == path.read_bytes()


def test_threads_forks_and_duplicates_leave_nothing(held: Counted) -> None:
    held.python(
        "import os, threading\n"
        "f = os.open('work/t', os.O_RDWR | os.O_CREAT)\n"
        "def part(n):\n"
        "    for i in range(40): os.pwrite(f, bytes([n]) * 100000, (n * 40 + i) * 100000)\n"
        "threads = [threading.Thread(target=part, args=(n,)) for n in range(4)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "g = os.dup(f)\n"
        "child = os.fork()\n"
        "for i in range(50): os.pwrite(g, b'c' * 100000, ((160 if child else 210) + i) * 100000)\n"
        "if child: os.waitpid(child, 0)\n",
        uncached=True,
    )
    path = held.folder / "work/t"
    found = path.read_bytes()
    assert [found[n * 4_000_000] for n in range(4)] == [0, 1, 2, 3] and len(found) == 26_000_000
    drop([path])


def test_small_files_and_a_file_written_twice(held: Counted) -> None:
    held.python(
        "for i in range(50):\n"
        "    with open(f'work/{i}', 'wb') as file: file.write(b'x' * 3000)\n"
        "with open('work/twice', 'w+b') as file:\n"
        "    for _ in range(3):\n"
        "        file.seek(0)\n"
        "        for _ in range(40): file.write(b'z' * 100000)\n",
        uncached=True,
    )
    assert residency((held.folder / "work").iterdir()).resident_bytes == 0


def test_a_file_that_is_opened_for_each_append_is_read_for_none_and_written_once(held: Counted) -> None:
    held.python(
        "import os\n"
        "for i in range(500):\n"
        "    f = os.open('work/w', os.O_WRONLY | os.O_APPEND | os.O_CREAT)\n"
        "    os.write(f, bytes([i % 251]) * 5800)\n"
        "    os.close(f)\n"
        "told = dict(line.split(': ') for line in open('/proc/self/io').read().splitlines())\n"
        "open('told', 'w').write(told['read_bytes'] + ' ' + told['write_bytes'])\n",
        uncached=True,
    )
    path = held.folder / "work/w"
    read, written = map(int, (held.folder / "told").read_text().split())
    # Far less than a page an append; the counters and the interpreter have files, too.
    own = 500 * 4096 // 10
    assert read <= own and written <= 500 * 5800 + own and resident(path) <= 4096
    assert path.read_bytes() == b"".join(bytes([i % 251]) * 5800 for i in range(500))


def test_the_mode_s_own_time_is_told_and_lies_within_that_of_the_calls(held: Counted) -> None:
    code = (
        "import os\nf = os.open('work/w', os.O_RDWR | os.O_CREAT)\n"
        "for i in range(400): os.write(f, b'x' * 100000)\n"
    )
    work = held.python(code, uncached=True).by_role()["work"]
    assert 0.0 < work.uncaching_seconds <= work.write_seconds + work.open_seconds
    assert work.written_bytes == 40_000_000 and work.writes == 400


def test_without_the_mode_and_outside_of_the_roles_pages_stay(held: Counted) -> None:
    path = content(held)
    held("dd", f"if={path}", "of=/dev/null", "bs=1M")
    assert resident(path) == SIZE
    (held.folder / "elsewhere").write_bytes(path.read_bytes())
    work = held("dd", "if=elsewhere", "of=/dev/null", "bs=1M", uncached=True).by_role()["work"]
    assert resident(held.folder / "elsewhere") == SIZE and work.uncaching_seconds == 0.0
