"""What a node says of itself before anything runs there."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.measure.machine import read_machine
from mawl.records.spec.program_options import ROLES
from mawl.run.cluster import agent
from mawl.run.cluster.node_facts import NodeLook, look_here


def test_the_agent_says_what_its_machine_is_and_what_lies_under_the_roles(tmp_path: Path) -> None:
    roles = {str(role): [str(tmp_path / "not" / "yet" / role)] for role in ROLES}
    look = msgspec.json.decode(agent.look(roles), type=NodeLook)
    machine = read_machine()
    assert (look.boot_id, look.cpu_model) == (machine.boot_id, machine.cpu_model)
    assert 1 <= look.cores <= (machine.logical_cpus or 1) and look.memory_bytes > 2**28
    (system,) = look.systems
    assert system.roles == [*ROLES] and system.free_bytes > 0 and system.unwritable == []
    assert not (tmp_path / "not").exists(), "a look makes nothing"


def test_only_a_file_system_behind_a_network_is_shared_by_its_kind(tmp_path: Path) -> None:
    look = look_here({role: [str(tmp_path)] for role in ROLES})
    (system,) = look.systems
    assert not look.is_shared(msgspec.structs.replace(system, kind="ext4"))
    assert look.is_shared(msgspec.structs.replace(system, kind="nfs4"))
