"""Threads of libraries: one, since programs work on blocks side by side."""

from __future__ import annotations

import pyarrow
import pytest
from threadpoolctl import ThreadpoolController

from mawl.base.errors import UnsuitableMachineError
from mawl.programs import execute
from mawl.records.spec.program_options import Options


def test_libraries_that_wait_by_looking_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ThreadpoolController()
    given: list[int] = []
    monkeypatch.setattr(pyarrow, "set_cpu_count", given.append)
    monkeypatch.setattr(pyarrow, "set_io_thread_count", given.append)
    try:
        execute.limit_threads(7)
        assert {one["num_threads"] for one in ThreadpoolController().info()} == {1}
        assert given == [7, 7]
    finally:
        for library in before.lib_controllers:
            library.set_num_threads(library.num_threads)


@pytest.mark.parametrize(("limit", "fits"), [(None, True), (1216 * 2**20, True), (1200 * 2**20, False)])
def test_a_job_needs_its_memory_and_buffers_of_linear_algebra_under_the_limit_of_address_space(
    monkeypatch: pytest.MonkeyPatch, limit: int | None, fits: bool
) -> None:
    monkeypatch.setattr(execute, "address_space_limit", lambda: limit)
    monkeypatch.setattr(execute, "address_space_bytes", lambda: 2**30)
    options = Options(memsize_bytes=2**26, cpucount=2)
    if fits:
        execute.check_address_space(options)
        return
    with pytest.raises(UnsuitableMachineError) as raised:
        execute.check_address_space(options)
    assert str(raised.value) == (
        "the limit of a process's address space is too small for the job: ulimit -v allows 1.17 GiB; the "
        "libraries take 1.00 GiB, the job needs 192 MiB more (memsize, and buffers of linear algebra); "
        "raise it: ulimit -v 1245184, or unlimited"
    )
