"""The bench of programs counts checks by names, which must be there."""

from __future__ import annotations

import pytest

from bench.programs import CHECKS_IN_STEPS, _Counter, _counters


@pytest.mark.parametrize("program", CHECKS_IN_STEPS)
def test_checks_inside_steps_can_be_counted(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped: list[str] = []
    monkeypatch.setattr(
        _Counter, "wrap", lambda self, owner, name: wrapped.append(vars(owner)[name].__name__)
    )
    _counters(_Counter(), program)
    assert {name.rpartition(".")[2] for name in CHECKS_IN_STEPS[program]} <= set(wrapped)
