"""A job's limits on threads, and one thread for a while."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from mawl.programs import limits
from mawl.programs.limits import one_thread


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize("limited", [True, False])
def test_one_thread_for_a_while_and_then_as_before(limited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert np.linalg.inv(np.eye(2)).shape == (2, 2)
    monkeypatch.setattr(limits, "_found", [ThreadpoolController()] if limited else [])
    with threadpool_limits(limits=2):
        before = threads()
        with one_thread():
            assert threads() == {1}
        assert threads() == before
        with pytest.raises(ValueError, match="ends early"), one_thread():
            raise ValueError("ends early")
        assert threads() == before
