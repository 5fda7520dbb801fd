"""Threads of libraries that wait by looking: never more than there are processors."""

from __future__ import annotations

import os

import pyarrow
import pytest
from threadpoolctl import ThreadpoolController

from mawl.programs import limits


def test_no_library_that_waits_by_looking_has_more_threads_than_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = ThreadpoolController()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0})
    monkeypatch.setattr(pyarrow, "set_cpu_count", lambda _count: None)
    monkeypatch.setattr(pyarrow, "set_io_thread_count", lambda _count: None)
    try:
        limits.limit_threads(7)
        assert {one["num_threads"] for one in ThreadpoolController().info()} == {1}
    finally:
        for library in before.lib_controllers:
            library.set_num_threads(library.num_threads)
