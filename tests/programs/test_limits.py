"""Threads of libraries: one, since programs work on blocks side by side."""

from __future__ import annotations

import pyarrow
import pytest
from threadpoolctl import ThreadpoolController

from mawl.programs import limits


def test_libraries_that_wait_by_looking_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ThreadpoolController()
    given: list[int] = []
    monkeypatch.setattr(pyarrow, "set_cpu_count", given.append)
    monkeypatch.setattr(pyarrow, "set_io_thread_count", given.append)
    try:
        limits.limit_threads(7)
        assert {one["num_threads"] for one in ThreadpoolController().info()} == {1}
        assert given == [7, 7]
    finally:
        for library in before.lib_controllers:
            library.set_num_threads(library.num_threads)
