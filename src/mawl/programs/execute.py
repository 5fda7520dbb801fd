"""Run one job in its own process, after its gate: from an assignment to an answer or a sentence."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from threadpoolctl import ThreadpoolController

from mawl.base.errors import MawlError, UnsuitableMachineError, WrongAnswerError, cure_of, out_of_inodes
from mawl.base.removal import remove_below
from mawl.base.units import format_memory
from mawl.measure.accounting import address_space_bytes, address_space_limit, shared_bytes
from mawl.measure.preload.job import JobCounters
from mawl.measure.step import StepRecorder
from mawl.plan import derived_program
from mawl.plan.catalogue import CATALOGUE, load_class
from mawl.programs.context import JobContext
from mawl.records.model.messages import Answered, Assignment, Failed, FromLauncher, StepEnded
from mawl.records.model.records import Answer, StepRecord
from mawl.records.model.role_io import refused_roles
from mawl.records.spec.program_options import ROLES, Options, Role

_BLAS_BYTES = 2 * 32 * 2**20
"""Buffers of a thread in NumPy's OpenBLAS and in SciPy's.  Where OpenBLAS gets none it tries again without
end: a job under a small limit of address space used a processor and never ended."""


def limit_threads(cpucount: int, *, blas: int = 1) -> None:
    """Let Arrow use ``cpucount`` threads, OpenBLAS and OpenMP ``blas``, for the rest of this process.

    Programs of the catalogue work on blocks side by side (``programs.toolkit.side_by_side``).
    Threads of OpenBLAS and OpenMP would multiply with that, and wait for each other by looking.
    """
    # Kept for the life of the process: the object restores the old limits only when asked to.
    ThreadpoolController().limit(limits=blas)
    pa.set_cpu_count(cpucount)
    pa.set_io_thread_count(cpucount)


def check_address_space(options: Options) -> None:
    """Refuse a job whose memory and buffers do not fit under the limit of address space."""
    limit, used = address_space_limit(), address_space_bytes()
    if limit is None:
        return
    needed = options.memsize_bytes + _BLAS_BYTES * options.cpucount
    if used + needed > limit:
        raise UnsuitableMachineError(
            "the limit of a process's address space is too small for the job",
            why=f"ulimit -v allows {format_memory(limit)}; the libraries take {format_memory(used)}, the job "
            f"needs {format_memory(needed)} more (memsize, and buffers of linear algebra)",
            cure=f"raise it: ulimit -v {-(-(used + needed) // 1024)}, or unlimited",
        )


def release_memory() -> None:
    """Give back what Arrow's allocator keeps of freed batches, lest it count in the next step's peak."""
    pa.default_memory_pool().release_unused()


_FULL = (errno.ENOSPC, errno.EDQUOT)
_FULL_TEXTS = tuple(os.strerror(number).lower() for number in _FULL)
_BROKEN_TEXT = os.strerror(errno.EIO).lower()
_LONGEST_SENTENCE = 1500
"""Characters of a sentence at most: with the rest of its message it must fit one pipe write."""


def failure_sentence(
    error: BaseException, assignment: Assignment, step: str | None, refused: Collection[Role] = ()
) -> tuple[str, bool]:
    """The sentence for an error, and whether it is a failed check.

    ``refused`` are the roles where a read or a write of the job failed, as far as anybody counted.
    """
    wrong = isinstance(error, WrongAnswerError)
    text = str(error) if isinstance(error, MawlError) else _foreign_sentence(error, assignment, step, refused)
    text = " ".join(text.split())
    return (text if len(text) <= _LONGEST_SENTENCE else text[: _LONGEST_SENTENCE - 3] + "..."), wrong


def _foreign_sentence(
    error: BaseException, assignment: Assignment, step: str | None, refused: Collection[Role]
) -> str:
    where = f"in step {step}" if step else "before its first step"
    if is_full(error):
        return full_sentence(error, _written_directories(assignment), step)
    if is_broken(error):
        return _broken_sentence(error, assignment, where, refused)
    if isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__:
        bound, cure = f"memsize ({format_memory(assignment.options.memsize_bytes)})", ""
        if (limit := address_space_limit()) is not None:
            bound += f" or the limit of address space (ulimit -v, {format_memory(limit)})"
            cure = ", or raise the limit"
        return (
            f"needs more memory than {bound} allows {where}: {_first_line(error)}; "
            f"give the job more with memsize{cure}"
        )
    return f"{type(error).__name__} {where}: {_first_line(error)}; the job's log has the traceback"


def is_full(error: BaseException) -> bool:
    """Whether a file system had no space left: an OSError, or what Arrow and DuckDB make of one."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    text = str(error).lower()
    return any(full in text for full in _FULL_TEXTS)


def full_sentence(error: BaseException, places: Mapping[Role, Sequence[str]], step: str | None) -> str:
    """Name the role and directory that are full.

    The file that the error names decides; without one, the file system with the least free space.
    """
    named = f"{getattr(error, 'filename', None) or ''} {error}"
    candidates = [(role, directory) for role, directories in places.items() for directory in directories]
    role, directory = next(
        ((role, directory) for role, directory in candidates if directory in named),
        min(candidates, key=lambda place: free_bytes(place[1])),
    )
    return (
        f"{role} is full: {directory} has {_free_space(directory)} free while "
        f"step {step} wrote to it; {_cure_of_full(directory)} or name a larger volume with --{role}"
    )


def _cure_of_full(directory: str) -> str:
    return "free inodes (remove files)" if out_of_inodes(directory) else "free space"


def is_broken(error: BaseException) -> bool:
    """Whether a device failed (EIO): an OSError, or what Arrow and DuckDB make of one."""
    return (isinstance(error, OSError) and error.errno == errno.EIO) or _BROKEN_TEXT in str(error).lower()


def _broken_sentence(
    error: BaseException, assignment: Assignment, where: str, refused: Collection[Role]
) -> str:
    """Name the role whose device failed: by the file that the error names, else by what was counted."""
    text = str(error)
    roles = [
        role
        for role, directories in {
            **_written_directories(assignment),
            "data": _data_directories(assignment),
        }.items()
        if any(directory in text for directory in directories)
    ]
    named = roles or [role for role in ROLES if role in refused]
    devices = f"a device of {' or '.join(named or ROLES)}"
    return f"{devices} failed {where}: {_first_line(error)}; {broken_cure(named)}"


def broken_cure(roles: Sequence[Role]) -> str:
    """What to do where a device of one of these roles failed; of any role where none is named."""
    options = " or ".join(f"--{role}" for role in roles or ROLES)
    return f"see the kernel's log (dmesg) for the device, or name another directory with {options}"


def creation_error_sentence(error: OSError, role: Role) -> str:
    """Why a job's directory under a role cannot be made."""
    cure = cure_of(error, error.filename or ".", f"name another directory with --{role}")
    return (
        f"{error.filename}: the {role} directory of the job cannot be made: "
        f"{(error.strerror or str(error)).lower()}; {broken_cure([role]) if is_broken(error) else cure}"
    )


def free_bytes(directory: str) -> int:
    """Bytes that an ordinary user may still write where a directory is, or was."""
    figures = _file_system(directory)
    return figures.f_bavail * figures.f_frsize


def _free_space(directory: str) -> str:
    """What is left: bytes, or the files where those have run out first."""
    return "no inode" if out_of_inodes(directory) else f"{free_bytes(directory)} bytes"


def _file_system(directory: str) -> os.statvfs_result:
    path = Path(directory)
    while not path.exists() and path != path.parent:
        path = path.parent
    return os.statvfs(path)


def _written_directories(assignment: Assignment) -> dict[Role, Sequence[str]]:
    return {"work": assignment.work, "util": assignment.util, "data": [assignment.results]}


def _data_directories(assignment: Assignment) -> list[str]:
    return [*assignment.inputs.values(), assignment.results]


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else "no message"


def execute(assignment: Assignment, report: Callable[[FromLauncher], None]) -> int:
    """Run the assignment's program and report each step and the end; the exit status, 0 or 1.

    The job's directories under work and util are gone afterwards, whatever happened, and also its results
    unless it ended well and keeps them.  The traceback of a failure goes to standard error, which is the
    job's log.
    """

    def ended(record: StepRecord) -> None:
        report(StepEnded(step=record))
        release_memory()

    counters = JobCounters.open(assignment.counters)
    steps = StepRecorder(assignment.job, ended, counters=counters)
    with contextlib.closing(steps):
        try:
            answer = _answer(assignment, steps)
            shared = shared_bytes()
        except BaseException as error:
            if not isinstance(error, Exception | KeyboardInterrupt):
                raise
            # Asked before the files go: afterwards the full file system has space again.
            refused = () if counters is None else refused_roles(counters.read().io)
            text, wrong = failure_sentence(error, assignment, steps.current, refused)
            traceback.print_exc(file=sys.stderr)
            remove_places(assignment)
            # What a failed job has published so far is no result.
            remove_place(assignment.results)
            report(Failed(job=assignment.job, sentence=text, wrong_answer=wrong))
            return 1
    remove_places(assignment)
    if not assignment.keeps_results:
        remove_place(assignment.results)
    pool = pa.default_memory_pool().backend_name
    report(Answered(job=assignment.job, answer=answer, shared_bytes=shared, arrow_pool=pool))
    return 0


def remove_places(assignment: Assignment) -> None:
    for directory in (*assignment.work, *assignment.util):
        remove_place(directory)


def remove_place(directory: str) -> None:
    """Remove a job's directory in the run's marked one; the runner tries again later, and says what stays."""
    place = Path(directory)
    remove_below(place.parent, place.name)


def _answer(assignment: Assignment, steps: StepRecorder) -> Answer:
    context = JobContext(assignment, steps)
    # Who wrote a program of a user knows whether it works side by side by itself.
    limit_threads(assignment.options.cpucount, blas=1 if assignment.entry is None else context.threads)
    program = _program(assignment)
    check_address_space(assignment.options)
    answer: Answer = program.run(context)
    return answer


def _program(assignment: Assignment) -> Any:
    """What has ``run(context)``: a module, or an instance of a user's class."""
    if assignment.entry is not None:
        return load_class(assignment.entry)()
    derived = assignment.derived is not None
    modules = derived_program.MODULES if derived else CATALOGUE[assignment.program].modules
    return importlib.import_module(modules[-1])
