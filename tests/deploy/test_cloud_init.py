"""The first boot of an instance: its script runs with stand-ins for what a cloud gives it."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from mawl.commands.verbs import build_parser

FILE = Path(__file__).resolve().parents[2] / "deploy" / "cloud-init" / "qualify.yaml"
WRITTEN = {one["path"]: one["content"] for one in yaml.safe_load(FILE.read_text())["write_files"]}
SCRIPT = WRITTEN["/usr/local/sbin/mawl-first-boot"]
FAKES = {
    "mountpoint": '[ "$1" != "$UNMOUNTED" ]',
    "curl": 'case "$*" in *--remote-name*) touch mawl.whl ;; *) echo "$*" >>sent-with ;; esac',
    "python3": 'mkdir -p environment/bin; cp "$FAKES/pip" "$FAKES/mawl" environment/bin',
    "pip": "exit 0",
    "mawl": 'echo "$*" >>asked; if [ "$1" = qualify ]; then exit "$ANSWER"; fi; touch "${@: -1}"',
}


def first_boot(place: Path, answer: int, unmounted: str = "") -> int:
    """The status of the script where ``mawl qualify`` ends with ``answer``, perhaps without a volume."""
    fakes = place / "fakes"
    fakes.mkdir()
    for name, body in FAKES.items():
        (fakes / name).write_text(f"#!/bin/bash\n{body}\n")
        (fakes / name).chmod(0o755)
    (place / "settings").write_text(WRITTEN["/etc/mawl-first-boot"])
    script = SCRIPT.replace("/etc/mawl-first-boot", str(place / "settings"))
    script = script.replace("/var/lib/mawl", str(place / "answers"))
    environment = {"PATH": f"{fakes}:/usr/bin:/bin", "FAKES": str(fakes), "ANSWER": str(answer)}
    environment["UNMOUNTED"] = unmounted
    return subprocess.run(["bash", "-c", script], env=environment, check=False).returncode


@pytest.mark.parametrize("answer", [0, 3, 4])
def test_each_answer_is_packed_and_sent(tmp_path: Path, answer: int) -> None:
    assert first_boot(tmp_path, answer) == 0
    held = tmp_path / "answers"
    assert (held / "sent").exists() and (held / "small.mawl.zip").exists()
    assert "--upload-file small.mawl.zip https://files.example.com/small" in (held / "sent-with").read_text()
    for line in (held / "asked").read_text().splitlines():
        build_parser().parse_args(shlex.split(line))


@pytest.mark.parametrize("unmounted", ["/mnt/data", "/mnt/local"])
def test_without_a_volume_nothing_is_measured(tmp_path: Path, unmounted: str) -> None:
    """The directories would lie on the disk of the system."""
    assert first_boot(tmp_path, 0, unmounted) == 1
    assert not (tmp_path / "answers" / "asked").exists()


def test_a_qualification_that_failed_keeps_the_instance(tmp_path: Path) -> None:
    assert first_boot(tmp_path, 1) == 1
    assert not (tmp_path / "answers" / "sent").exists()
    condition = yaml.safe_load(FILE.read_text())["power_state"]["condition"]
    assert condition == ["test", "-e", "/var/lib/mawl/sent"]
