"""Which calls count, in which role, and what survives the death of who made them."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mawl.measure.preload.counters import CounterFile
from mawl.records.model.role_io import FileRole, RoleIo
from tests import needs
from tests.fakes.counted import Counted


def figures(io: RoleIo) -> tuple[int, int, int, int]:
    """Calls and bytes: reads, writes."""
    return io.reads, io.read_bytes, io.writes, io.written_bytes


def roles(counters: CounterFile) -> dict[FileRole, tuple[int, int, int, int]]:
    """Calls and bytes of the roles in which there were any."""
    return {
        role: figures(io)
        for role, io in counters.by_role().items()
        if role != "other" and (io.reads or io.writes or io.opens)
    }


def test_every_form_of_read_and_write(counted: Counted) -> None:
    counters = counted.python(
        "import os\n"
        "d = os.open('work/f', os.O_RDWR | os.O_CREAT)\n"
        "os.write(d, bytes(1000)); os.pwrite(d, bytes(500), 1000)\n"
        "os.writev(d, [bytes(10), bytes(20)]); os.pwritev(d, [bytes(7)], 3000)\n"
        "os.lseek(d, 0, 0); os.read(d, 100); os.pread(d, 50, 9); os.readv(d, [bytearray(5)])\n"
        "os.preadv(d, [bytearray(6)], 1)\n"
        "e = os.open('util/g', os.O_RDWR | os.O_CREAT)\n"
        "os.sendfile(e, d, 0, 40); os.copy_file_range(d, e, 30, 0, 40)\n"
        "r, w = os.pipe(); os.splice(e, w, 20, offset_src=0)\n"
        "os.fsync(d); os.fdatasync(d); os.fsync(e)\n"
        "os.pread(e, 10, 10**6)\n"
        "try: os.write(os.open('work/f', os.O_RDONLY), b'no')\n"
        "except OSError: pass\n"
    )
    assert roles(counters) == {
        "work": (6, 100 + 50 + 5 + 6 + 40 + 30, 5, 1000 + 500 + 30 + 7),
        "util": (2, 20, 2, 70),
    }
    io = counters.by_role()
    assert (io["work"].syncs, io["util"].syncs) == (2, 1)
    assert (io["work"].opens, io["util"].opens) == (2, 1)
    assert (io["work"].failed_writes, io["work"].failed_reads) == (1, 0)
    assert sum(io["work"].read_nanoseconds_histogram.values()) == 6
    assert sum(io["work"].write_size_bytes_histogram.values()) == 4  # a failed call has no size


STREAMS = """
import ctypes
c = ctypes.CDLL(None)
for name in ("fopen", "tmpfile", "fdopen"):
    getattr(c, name).restype = ctypes.c_void_p
f = ctypes.c_void_p(c.fopen(b"work/s", b"w+"))
for _ in range(100): c.fwrite(b"x" * 1000, 1, 1000, f)
c.fflush(f); c.fseek(f, 5, 0)
b = ctypes.create_string_buffer(100)
c.fread(b, 1, 100, f); c.fclose(f)
name = ctypes.create_string_buffer(b"util/tXXXXXX")
g = ctypes.c_void_p(c.fdopen(c.mkstemp(name), b"w")); c.fputs(b"hello", g); c.fclose(g)
"""


def test_streams_of_the_c_library(counted: Counted) -> None:
    counters = counted.python(STREAMS)
    io = counters.by_role()
    assert counters.header("stdio_unseen") == 0
    assert io["work"].written_bytes == 100_000
    assert (io["work"].reads, io["work"].read_bytes) == (2, 5 + 4096)  # as strace has them
    assert (io["work"].opens, io["util"].opens, io["util"].written_bytes) == (1, 1, 5)


def test_the_role_is_that_of_the_file_whatever_leads_to_it(counted: Counted) -> None:
    (counted.folder / "link").symlink_to("work")
    (counted.folder / "data" / "nested").mkdir()
    (counted.folder / "data" / "second").mkdir()
    (counted.folder / "workbench").mkdir()
    counted.roles["util"] = [counted.folder / "util", counted.folder / "data" / "nested"]
    counters = counted.python(
        "import os\n"
        "def write(path, count):\n"
        "    d = os.open(path, os.O_WRONLY | os.O_CREAT); os.write(d, bytes(count)); return d\n"
        "write('link/a', 1); write('data/../work/b', 2)\n"
        "d = write('work/c', 4); os.unlink('work/c'); e = os.dup(d); os.close(d); os.write(e, bytes(8))\n"
        "write('data/nested/d', 16); write('data/second/e', 32); write('workbench/f', 64)\n"
        "os.chdir('work'); os.dup2(write('g', 128), 3)\n"
        "os.system('printf 12345 >&3')\n"
    )
    io = counters.by_role()
    assert io["work"].written_bytes == 1 + 2 + 4 + 8 + 128 + 5
    assert io["util"].written_bytes == 16
    assert io["data"].written_bytes == 32
    assert io["other"].written_bytes == 64


def test_a_long_path_has_its_role(counted: Counted) -> None:
    counters = counted.python(
        "import os\n"
        "os.chdir('work')\n"
        "for _ in range(12): os.mkdir('n' * 200); os.chdir('n' * 200)\n"
        "os.write(os.open('f', os.O_WRONLY | os.O_CREAT), bytes(70))\n"
    )
    assert counters.by_role()["work"].written_bytes == 70


def test_a_descriptor_that_is_used_again_is_asked_for_again(counted: Counted) -> None:
    counters = counted.python(
        "import os\n"
        "for role in ('data', 'work', 'util') * 5:\n"
        "    d = os.open(f'{role}/f', os.O_WRONLY | os.O_CREAT); os.write(d, bytes(10)); os.close(d)\n"
    )
    assert {role: found[3] for role, found in roles(counters).items()} == dict.fromkeys(
        ("data", "work", "util"), 50
    )


@pytest.mark.parametrize(
    "close",
    ["c.closedir(ctypes.c_void_p(c.fdopendir(d)))", "c.closefrom(d)"],
    ids=["closedir", "closefrom"],
)
def test_what_the_c_library_closed_is_forgotten(close: str, counted: Counted) -> None:
    name = close.split("(")[0].removeprefix("c.")
    if not hasattr(ctypes.CDLL(None), name):
        needs.skip(f"this C library has no {name}")
    counters = counted.python(
        "import ctypes, os\n"
        "c = ctypes.CDLL(None); c.fdopendir.restype = ctypes.c_void_p\n"
        "d = os.open('data', os.O_RDONLY)\n"
        f"{close}\n"
        "r, w = os.pipe(); assert r == d\n"
        "os.write(w, b'no bytes of data'); os.read(r, 100)\n"
    )
    assert figures(counters.by_role()["data"]) == (0, 0, 0, 0)


def test_sequential_is_what_continues_one_of_the_last_streams(counted: Counted) -> None:
    counters = counted.python(
        "import os\n"
        "d = os.open('data/f', os.O_RDWR | os.O_CREAT)\n"
        "for _ in range(10): os.write(d, bytes(100))\n"  # 9 of 10
        "os.lseek(d, 0, 0)\n"
        "for _ in range(5): os.read(d, 100)\n"  # 4 of 5
        "w = os.open('work/f', os.O_RDWR | os.O_CREAT); os.pwrite(w, bytes(200000), 0)\n"
        "for i in range(10):\n"
        "    for column in range(16): os.pread(w, 100, column * 10000 + i * 100)\n"  # 9 of 10
        "u = os.open('util/f', os.O_RDWR | os.O_CREAT); os.pwrite(u, bytes(200000), 0)\n"
        "for i in range(10):\n"
        "    for column in range(17): os.pread(u, 100, column * 10000 + i * 100)\n"  # none: too many
    )
    io = counters.by_role()
    assert (io["data"].sequential_written_bytes, io["data"].sequential_read_bytes) == (900, 400)
    assert io["work"].sequential_read_bytes == 16 * 9 * 100
    assert io["util"].sequential_read_bytes == 0


def test_copies_within_the_kernel_are_sequential_where_they_go_on(counted: Counted) -> None:
    counters = counted.python(
        "import os\n"
        "d = os.open('data/f', os.O_RDWR | os.O_CREAT); os.pwrite(d, bytes(100_000), 0)\n"
        "w = os.open('work/f', os.O_WRONLY | os.O_CREAT); u = os.open('util/f', os.O_WRONLY | os.O_CREAT)\n"
        "for at in range(10): os.copy_file_range(d, w, 1000)\n"
        "for at in range(10): os.sendfile(u, d, 50_000 + 1000 * at, 1000)\n"
    )
    io = counters.by_role()
    assert (io["data"].read_bytes, io["data"].sequential_read_bytes) == (20_000, 18_000)
    assert [io[role].sequential_written_bytes for role in ("work", "util")] == [9000, 9000]


def test_of_a_copy_in_one_call_no_more_than_its_beginning_is_scattered(counted: Counted) -> None:
    counters = counted.python(
        "import os, shutil\n"
        "os.truncate(os.open('data/f', os.O_RDWR | os.O_CREAT), 1_000_000)\n"
        "shutil.copyfile('data/f', 'work/f')\n"
    )
    io = counters.by_role()
    assert io["data"].sequential_read_bytes == io["work"].sequential_written_bytes == 1_000_000 - 65_536


def test_random_reads_are_not_sequential(counted: Counted) -> None:
    counters = counted.python(
        "import os, random\n"
        "d = os.open('data/f', os.O_RDWR | os.O_CREAT); os.pwrite(d, bytes(2_000_000), 0)\n"
        "for i in random.Random(1).sample(range(0, 20_000, 2), 5000): os.pread(d, 100, i * 100)\n"
    )
    assert counters.by_role()["data"].sequential_read_bytes == 0


def test_forks_children_and_new_programs_count_into_the_same_file(counted: Counted) -> None:
    counters = counted.python(
        "import os, subprocess, sys\n"
        "def write(n): os.write(os.open(f'work/{os.getpid()}-{n}', os.O_WRONLY | os.O_CREAT), bytes(n))\n"
        "write(1)\n"
        "if os.fork() == 0:\n"
        "    write(2)\n"
        "    os.execlp('dd', 'dd', 'if=/dev/zero', 'of=util/d', 'bs=1000', 'count=7', 'status=none')\n"
        "os.wait()\n"
        "subprocess.run(['sh', '-c', 'cat util/d > data/e'])\n"
    )
    assert roles(counters)["work"][2:] == (2, 3)
    assert roles(counters)["util"][2:] == (7, 7000)
    assert roles(counters)["data"][3] == 7000
    assert counters.header("forks") >= 1


def test_what_was_counted_survives_kill_9(counted: Counted) -> None:
    counters = counted.python(
        "import os, signal\n"
        "d = os.open('work/f', os.O_WRONLY | os.O_CREAT)\n"
        "for _ in range(1234): os.write(d, bytes(100))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n",
        status=-signal.SIGKILL,
    )
    assert roles(counters)["work"] == (0, 0, 1234, 123_400)


def test_threads_and_forty_processes_at_once_are_exact(counted: Counted) -> None:
    path = counted.new()
    code = (
        "import os, sys, threading\n"
        "def work(name):\n"
        "    d = os.open(f'work/{sys.argv[1]}-{name}', os.O_RDWR | os.O_CREAT)\n"
        "    for i in range(200): os.pwrite(d, bytes(64), i * 64)\n"
        "    for i in range(100): os.pread(d, 64, i * 64)\n"
        "threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code, str(number)],
            cwd=counted.folder,
            env=counted.environment(path),
        )
        for number in range(40)
    ]
    assert [process.wait() for process in running] == [0] * 40
    counters = CounterFile(path)
    assert roles(counters)["work"] == (12_000, 768_000, 24_000, 1_536_000)
    assert (counters.header("images"), counters.header("threads")) == (40, 120)
    io = counters.by_role()["work"]
    assert io.sequential_written_bytes == 40 * 3 * 199 * 64
    assert sum(io.read_nanoseconds_histogram.values()) == 12_000


def test_what_has_no_latency_is_told_apart(counted: Counted) -> None:
    counters = counted.python(
        "import ctypes, mmap, os\n"
        "d = os.open('data/f', os.O_RDWR | os.O_CREAT); os.ftruncate(d, 100_000)\n"
        "mmap.mmap(d, 100_000)[5:9]\n"
        "class Block(ctypes.Structure):\n"
        "    _fields_ = [('fd', ctypes.c_int), ('op', ctypes.c_int), ('prio', ctypes.c_int),\n"
        "                ('buffer', ctypes.c_void_p), ('bytes', ctypes.c_size_t),\n"
        "                ('value', ctypes.c_void_p),\n"
        "                ('signal', ctypes.c_int), ('notify', ctypes.c_int), ('rest', ctypes.c_char * 256)]\n"
        "room = ctypes.create_string_buffer(4096); c = ctypes.CDLL(None)\n"
        "b = Block(d, 0, 0, ctypes.addressof(room), 4096, None, 0, 1)\n"
        "assert c.aio_read(ctypes.byref(b)) == 0\n"
        "while c.aio_error(ctypes.byref(b)) == 115: pass\n"
    )
    io = counters.by_role()["data"]
    assert (io.mapped_bytes, io.submitted_read_bytes, io.read_bytes) == (100_000, 4096, 0)


def test_pipes_and_devices_are_no_role_but_are_covered(counted: Counted) -> None:
    counters = counted.python(
        "import os\n"
        "r, w = os.pipe(); os.write(w, bytes(5000)); os.read(r, 5000)\n"
        "os.read(os.open('/dev/zero', os.O_RDONLY), 70_000)\n"
        "os.write(os.open('work/f', os.O_WRONLY | os.O_CREAT), bytes(300))\n"
    )
    read, written = counters.moved_bytes()
    assert read >= 75_000
    assert written == 5300
    assert counters.by_role()["other"].read_bytes < 70_000


def test_without_a_counter_file_the_library_does_nothing(counted: Counted) -> None:
    environment = counted.environment(counted.folder / "not there")
    done = subprocess.run(["cat", "/dev/null"], env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    wrong = counted.folder / "wrong"
    wrong.write_bytes(bytes(counted.new().stat().st_size))
    environment = counted.environment(wrong)
    done = subprocess.run(["dd", "if=/dev/zero", "count=1"], env=environment, capture_output=True)
    assert done.returncode == 0
    assert not any(Path(wrong).read_bytes())


def test_bytes_by_volume_are_those_of_their_role(counted: Counted) -> None:
    counted.roles = {
        "data": [counted.folder / "data"],
        "work": [counted.folder / "work" / name for name in ("one", "two", "three")],
        "util": [counted.folder / "util"],
    }
    for place in counted.roles["work"]:
        place.mkdir()
    counters = counted.python(
        "import os, threading\n"
        "open('work/one/f', 'wb').write(bytes(1000)); open('work/two/f', 'wb').write(bytes(20))\n"
        "open('work/one/f', 'rb').read(); open('work/loose', 'wb').write(bytes(7))\n"
        "open('util/f', 'wb').write(bytes(5)); open('elsewhere', 'wb').write(bytes(9))\n"
        "a, b = os.open('work/one/f', os.O_RDONLY), os.open('work/three', os.O_RDONLY)\n"
        "c = os.open('f', os.O_WRONLY | os.O_CREAT, dir_fd=b)\n"
        "os.copy_file_range(a, c, 300, 0)\n"
        "def write():\n"
        "    for _ in range(1000): os.pwrite(c, bytes(10), 0)\n"
        "threads = [threading.Thread(target=write) for _ in range(4)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "if os.fork() == 0: os.write(c, bytes(3)); os._exit(0)\n"
        "os.wait()\n"
    )
    assert counters.by_volume() == {2: (1300, 1000), 3: (0, 20), 4: (0, 300 + 40_000 + 3), 5: (0, 5)}
    work = counters.by_role()["work"]
    assert (work.read_bytes, work.written_bytes) == (1300, 1000 + 20 + 40_303), "the sum over its volumes"
