"""The check of all nodes: everything that is wrong with any of them, at once and before anything starts.

What a node says of itself before anything runs there.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.errors import MawlError, UnsuitableMachineError
from mawl.measure.machine import read_machine
from mawl.measure.suitability import SuitabilityCheck
from mawl.records.spec.program_options import ROLES
from mawl.records.store import open_run
from mawl.run.cluster import agent, node_facts
from mawl.run.cluster.link import Link, NoAnswerError
from mawl.run.cluster.node_check import NodesCheck, check_nodes, without_the_unfit
from mawl.run.cluster.node_facts import NodeLook, look_here
from tests import needs
from tests.fakes.processes import ssh_here


class LookLink(Link):
    """Nodes that answer with these looks (or errors, or bytes), by clocks that are so many seconds off."""

    def __init__(self, answers: Mapping[str, Any], offsets: Mapping[str, float]) -> None:
        self._answers, self._offsets = answers, offsets

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> Any:
        if function == "clock":
            return 1000.0 + self._offsets.get(node, 0.0)
        answer = self._answers[node]
        if isinstance(answer, MawlError):
            raise answer
        return msgspec.json.encode(answer) if isinstance(answer, NodeLook) else answer


def checked(
    tmp_path: Path, answers: Mapping[str, Any], shared: tuple[str, ...] = ("data",), **offsets: float
) -> NodesCheck:
    """The check of nodes of which ``good`` is this machine, and the others what is said."""
    places = {role: [str(tmp_path)] for role in ROLES}
    own = look_here(places)
    every = {"good": own} | {
        name: msgspec.structs.replace(own, **one) if isinstance(one, dict) else one
        for name, one in answers.items()
    }
    asked = dict.fromkeys(every, places)
    return asyncio.run(check_nodes(LookLink(every, offsets), asked, shared, lambda: 1000.0))  # type: ignore[arg-type]


def test_all_faults_of_all_nodes_are_found_at_once(tmp_path: Path) -> None:
    check = checked(
        tmp_path,
        {
            "old": {"mawl_version": "0.1.0"},
            "other": {"source_sha256": "f" * 64},
            "bare": {"lacking": [SuitabilityCheck("", "problem", "scipy is missing")]},
            "alice": {"uid": 4711, "user": "alice"},
            "closed": {"closed": ["alice may not use /data/mawl-inputs, which is bob's"]},
            "gone": NoAnswerError("gone did not answer within 30 s"),
            "strange": b'{"mawl_version": 7}',
            "python": {"python": "3.13.0"},
            "far": {},
            "wrong": {},
        },
        far=600.0,
        wrong=1e9,
    )
    said = check.unfit
    assert said.pop("old").startswith("has mawl 0.1.0 and this machine ")
    assert re.match(
        r"has another mawl \S+: its source is ffffffff and that of this machine", said.pop("other")
    )
    assert said.pop("bare") == "scipy is missing"
    assert said.pop("alice").startswith("runs as alice (4711), and good as ")
    assert "may not use /data/mawl-inputs, which is bob's" in said.pop("closed")
    assert said.pop("gone") == "gone did not answer within 30 s"
    assert said.pop("strange") == "what it said is no answer of this mawl"
    assert said == {"wrong": "its clock is more than a day off"}
    notices = {one.name: one.text for one in check.checks if one.status == "notice"}
    assert notices["python"].startswith("has Python 3.13.0, and good ")
    assert notices["far"] == "its clock is +600 s off, which the run corrects"
    lines = check.lines()
    assert [line.split()[0] for line in lines[:12]] == ["node", *check.looks, *check.unreached]
    assert len(lines) == 12 + len(check.checks)
    with pytest.raises(
        UnsuitableMachineError, match=r"^8 nodes of 11 cannot take part: .*old: has mawl 0.1.0"
    ):
        without_the_unfit(check, [*check.looks, *check.unreached], goes_on=False)
    assert without_the_unfit(check, [*check.looks], goes_on=True) == ["good", "python", "far"]
    with pytest.raises(UnsuitableMachineError, match=r"; mend them$"):
        without_the_unfit(check, ["old", "gone"], goes_on=True)


def test_other_users_matter_only_where_files_are_shared(tmp_path: Path) -> None:
    other = {"alice": {"uid": 4711, "user": "alice"}}
    assert list(checked(tmp_path, other).unfit) == ["alice"]
    assert checked(tmp_path, other, ()).unfit == {}


def test_nodes_that_are_alike_need_no_word(tmp_path: Path) -> None:
    check = checked(tmp_path, {"beta": {}})
    assert check.checks == [] and len(check.lines()) == 3
    assert without_the_unfit(check, ["good", "beta"], goes_on=False) == ["good", "beta"]


def test_inputs_of_another_user_are_named_with_their_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = tmp_path / "mawl-inputs"
    inputs.mkdir()
    assert look_here({role: [str(tmp_path)] for role in ROLES}).closed == []
    access = os.access
    monkeypatch.setattr("os.access", lambda path, mode, **way: path != inputs and access(path, mode, **way))
    (text,) = look_here({role: [str(tmp_path)] for role in ROLES}).closed
    assert text.endswith(f" may not use {inputs} of user {inputs.owner()}")


def test_a_directory_that_does_not_answer_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exists(self: Path) -> bool:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected", str(self))

    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr(Path, "exists", exists)
    (text,) = node_facts._closed([tmp_path])
    assert text == f"{tmp_path / 'mawl-inputs'} cannot be used: transport endpoint is not connected"


NO_ROUTE = """host=; previous=
for word; do [ "$previous" = -- ] && host=$word; previous=$word; done
case $host in dead*) echo "ssh: connect to host $host port 22: No route to host" >&2; exit 255;; esac
cd home && exec sh -c "$last"
"""


@needs.marks(needs.program("ssh"))
@pytest.mark.lab
def test_dead_hosts_are_all_named_or_left_out(tmp_path: Path) -> None:
    environment, home = {**os.environ, **ssh_here(tmp_path, NO_ROUTE)}, tmp_path / "home"
    home.mkdir()
    (tmp_path / "hosts").write_text("a[1-2]\na3 work=own-work\ndead[1-2]  # no longer there\n")

    def mawl(verb: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mawl", verb, "nano", "--hosts", "hosts", "--data", "d"]
        return subprocess.run(
            [*command, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )

    for verb, *words in (["doctor"], ["plan"], ["run", "--dry-run"]):
        done = mawl(verb, *words)
        assert done.returncode == 1 and done.stdout.count("No route to host") == 2, done.stderr + done.stdout
        assert re.search(r"^a1 +\S+ +\S+ \w{8} +3\.\d+\.\d+ .* [+-]0\.0\d\d s ", done.stdout, re.MULTILINE)
    done = mawl("run")
    assert done.returncode == 1 and "mawl run: 2 nodes of 5 cannot take part: dead1: " in done.stderr
    assert not (tmp_path / "runs").exists() and not any(home.iterdir()), "nothing was begun"
    done = mawl("run", "--start-with-those-that-come", "--html", "no")
    assert done.returncode == 0, done.stderr
    facts = open_run("latest", tmp_path / "runs").facts
    assert [run.node for run in facts.node_runs] == ["a1", "a2", "a3"]
    absent = [remark.partition(":")[0] for remark in facts.remarks if "took no part" in remark]
    assert absent == ["dead1 took no part", "dead2 took no part"]
    assert (home / "d").is_dir() and (home / "own-work").is_dir(), (
        "relative ones are below the home directory"
    )


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
