"""Tokens of nodes: those of a node that was killed are found by their machine, others are left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from mawl.commands.main import main
from mawl.run.cluster.node_facts import PREFIX, Owner, leftover_tokens, own_token

WRITE = "import sys; from mawl.run.cluster.node_facts import own_token; sys.stdout.buffer.write(own_token())"


def killed() -> bytes:
    """The token of a process that is gone."""
    return subprocess.run([sys.executable, "-c", WRITE], check=True, capture_output=True).stdout


def test_only_tokens_of_processes_that_are_gone_are_left_over(tmp_path: Path) -> None:
    gone = msgspec.json.decode(killed(), type=Owner)
    kinds = {
        "gone": killed(),
        "alive": own_token(),
        "elsewhere": msgspec.json.encode(msgspec.structs.replace(gone, boot_id="another machine")),
        "contained": msgspec.json.encode(msgspec.structs.replace(gone, pid_namespace="pid:[1]")),
        "empty": b"",
        "strange": b'{"pid": "x"}',
    }
    for name, content in kinds.items():
        (tmp_path / f"{PREFIX}{name}").write_bytes(content)
    (tmp_path / "else").write_bytes(killed())
    assert leftover_tokens([tmp_path, tmp_path, tmp_path / "none"]) == [tmp_path / f"{PREFIX}gone"]


def test_a_number_that_another_process_has_now_is_not_the_nodes(tmp_path: Path) -> None:
    own = msgspec.json.decode(own_token(), type=Owner)
    assert own.started_ticks is not None
    before = msgspec.structs.replace(own, started_ticks=own.started_ticks - 1)
    (tmp_path / f"{PREFIX}before").write_bytes(msgspec.json.encode(before))
    assert len(leftover_tokens([tmp_path])) == 1


def test_clean_removes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    work = tmp_path / "shared"
    work.mkdir()
    token = work / f"{PREFIX}c1-node1"
    token.write_bytes(killed())
    alive = work / f"{PREFIX}c1-node2"
    alive.write_bytes(own_token())
    assert main(["clean", "--work", str(work), "--dry-run"]) == 0
    assert token.exists() and f"would remove {token}" in capsys.readouterr().out
    assert main(["clean", "--work", str(work)]) == 0
    assert not token.exists() and alive.exists()
    # What runs of other tests left when they were killed is removed, too.
    told = capsys.readouterr().out.splitlines()
    assert f"removed {token}" in told and not [line for line in told if str(alive) in line]
