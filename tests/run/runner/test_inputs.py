"""A run that would not fit is refused, whatever sets the bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.measure import space
from mawl.measure.devices import Mount
from mawl.plan.needs import needs
from mawl.plan.workload import load_workload, make_plan
from mawl.records.volumes import Volumes
from mawl.run.runner.facts import check_space


def test_a_run_beyond_the_ephemeral_storage_of_a_pod_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, where = load_workload("nano")
    plan = make_plan(spec, where=where, scale=1.0)
    needed = needs(plan)
    volumes = Volumes({role: [tmp_path / role] for role in ("data", "work", "util")})
    layer = Mount(device="0:50", mount_point="/", file_system="overlay", source="overlay", options="rw")
    monkeypatch.setattr(space, "read_mounts", lambda proc: [layer])
    # What results and missing inputs need is rounded role by role, hence the spare byte.
    enough = sum(needed.space_bytes.values()) + 1
    monkeypatch.setenv(space.EPHEMERAL_VARIABLE, str(enough))
    check_space(plan, needed, volumes, "rotation")
    monkeypatch.setenv(space.EPHEMERAL_VARIABLE, str(enough // 2))
    with pytest.raises(UnsuitableMachineError) as refused:
        check_space(plan, needed, volumes, "rotation")
    assert "are free of the ephemeral storage of the pod" in str(refused.value)
    assert "raise limits.ephemeral-storage" in str(refused.value)
