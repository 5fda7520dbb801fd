"""A library that the zygote cannot import: whether it is missing, or there is no room for it."""

from __future__ import annotations

import importlib

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.run.launch import keeper


@pytest.mark.parametrize(
    ("error", "limit", "cure"),
    [
        (ModuleNotFoundError("No module named 'scipy'"), None, "install what the programs need"),
        (ModuleNotFoundError("No module named 'scipy'"), 2**29, "install what the programs need"),
        (ImportError("failed to map segment from shared object"), None, "install what the programs need"),
        (ImportError("failed to map segment from shared object"), 2**29, "(ulimit -v)"),
    ],
)
def test_the_cure_is_that_of_the_cause(
    monkeypatch: pytest.MonkeyPatch, error: ImportError, limit: int | None, cure: str
) -> None:
    def failing(name: str) -> None:
        raise error

    monkeypatch.setattr(importlib, "import_module", failing)
    monkeypatch.setattr(keeper, "address_space_limit", lambda: limit)
    with pytest.raises(UnsuitableMachineError) as raised:
        keeper._import("scipy")
    assert cure in str(raised.value) and str(error) in str(raised.value)
