"""Programs do as without the library: filters of system calls, shared memory, reused numbers."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from mawl.measure.preload.counters import CounterFile, stamp_reaper
from tests import needs
from tests.fakes.counted import Counted

pytestmark = needs.marks(needs.COMPILER)

STRICT = """
#include <unistd.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
int main(void) {
    char block[1000] = {0};
    int fd = open("work/f", O_CREAT | O_WRONLY, 0600);
    prctl(PR_SET_SECCOMP, 1); /* read, write and exit, or SIGKILL */
    for (int i = 0; i < 50000; i++) write(fd, block, 1000);
    write(1, "hello\\n", 6);
    syscall(SYS_exit, 0);
}
"""

FILTERED = """
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#define ALLOW(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
int main(int count, char **arguments) {
    int in = open("data/in", O_RDONLY), out = open("work/out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_close), ALLOW(SYS_exit_group),
        ALLOW(SYS_brk), ALLOW(SYS_mmap),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    int by_call = count > 1 && *arguments[1] == 'c';
    if ((by_call ? syscall(SYS_seccomp, 1, 0xffff, &filter) : prctl(PR_SET_SECCOMP, 7, &filter)) != -1)
        return 8;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (by_call ? syscall(SYS_seccomp, 1, 0, &filter) : prctl(PR_SET_SECCOMP, 2, &filter)) return 9;
    char block[4096];
    for (long bytes; (bytes = read(in, block, sizeof block)) > 0;) write(out, block, bytes);
    close(in), close(out);
    if (count > 1 && *arguments[1] == 'k') getppid();
    exit(0);
}
"""

GUEST = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
static int guest(void *none) {
    close(3);
    open("util/f", O_CREAT | O_WRONLY, 0600), open("util/f", O_WRONLY);
    _exit(0);
}
int main(int count, char **arguments) {
    char block[1000] = {0}, *stack = malloc(1 << 16);
    int fd = open("work/f", O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 100; i++) {
        pid_t child;
        write(fd, block, 1000);
        if (*arguments[1] == 'v') { if (!(child = vfork())) guest(0); }
        else child = clone(guest, stack + (1 << 16), CLONE_VM | SIGCHLD, 0);
        waitpid(child, 0, 0);
        int both[2];
        pipe(both);
        write(both[1], block, 1000), read(both[0], block, 1000);
        close(both[0]), close(both[1]);
    }
    return fd != 3;
}
"""

RAW_CLONE = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
int main(void) {
    int fd = open("work/f", O_CREAT | O_WRONLY, 0600);
    write(fd, "12345", 5);
    pid_t child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!child) {
        close(fd), fd = open("util/f", O_CREAT | O_WRONLY, 0600);
        write(fd, "123", 3), write(fd, "123", 3);
        _exit(0);
    }
    waitpid(child, 0, 0);
    write(fd, "12345", 5);
    return fd != 3;
}
"""

REUSED = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
static int number;
static void given_up(void) { /* in a way that the library does not see */
#ifdef __x86_64__
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_close), "D"((long)number) : "rcx", "r11", "memory");
#else
    syscall(SYS_close, number);
#endif
}
static void file(void) { number = open("work/f", O_CREAT | O_RDWR, 0600); write(number, "12345", 5); }
int main(void) {
    char block[100] = {0};
    int pair[2];
    file(), given_up();
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair), write(pair[0], block, 100), read(pair[1], block, 100);
    close(pair[0]), close(pair[1]), file(), given_up();
    pipe(pair), write(pair[1], block, 100), read(pair[0], block, 100);
    close(pair[0]), close(pair[1]), file(), given_up();
    dup(1), write(number, block, 100), close(number);
    file(), given_up();
    fcntl(1, F_DUPFD, 3), write(number, block, 100), close(number);
    file(), given_up();
    write(memfd_create("m", 0), block, 100), close(number);
    file(), syscall(SYS_close, number);
    return write(number, block, 100) != -1;
}
"""

SMALL_STACK = """
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/mman.h>
static void handler(int number) { write(2, "handler\\n", 8), _exit(42); }
int main(void) { /* what sigaltstack(2) says a handler has at least, above a page that ends the program */
    size_t size = (getauxval(AT_MINSIGSTKSZ) + 4096 + 4095) / 4096 * 4096;
    char *memory = mmap(0, size + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + 4096, size, PROT_READ | PROT_WRITE);
    stack_t stack = {.ss_sp = memory + 4096, .ss_size = size};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&stack, 0) || sigaction(SIGUSR1, &action, 0)) return 3;
    raise(SIGUSR1);
}
"""


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
