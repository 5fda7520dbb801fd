"""Modes of hardware threads, from a sysfs that a folder stands for and from a stand-in for ppc64_cpu."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.measure.machine import SMT_CONTROL, read_smt


@pytest.fixture(autouse=True)
def without_power_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)


def sysfs(tmp_path: Path, word: str | None, siblings: tuple[str, ...] = ("0-1", "0-1")) -> Path:
    """Processors that are online, each with its siblings."""
    cpu = tmp_path / "devices/system/cpu"
    for number, told in enumerate(siblings):
        topology = cpu / f"cpu{number}/topology"
        topology.mkdir(parents=True)
        (topology / "core_cpus_list").write_text(f"{told}\n")
    (cpu / "online").write_text(f"0-{len(siblings) - 1}\n")
    if word is not None:
        (tmp_path / SMT_CONTROL).parent.mkdir()
        (tmp_path / SMT_CONTROL).write_text(f"{word}\n")
    return tmp_path


def tool(tmp_path: Path, threads: str, mode: str) -> str:
    path = tmp_path / "ppc64_cpu"
    path.write_text(
        f'#!/bin/sh\ncase "$1" in --threads-per-core) echo "{threads}";; --smt) echo "{mode}";; esac\n'
    )
    path.chmod(0o755)
    return str(path)


def test_linux_offers_off_and_on(tmp_path: Path) -> None:
    found = read_smt(sysfs(tmp_path, "on"))
    assert [(mode.word, mode.threads) for mode in found.modes] == [("off", 1), ("on", 2)]
    assert found.current == found.modes[1]
    assert found.check == f"cat {tmp_path / SMT_CONTROL}"
    assert found.modes[0].command == f"echo off > {tmp_path / SMT_CONTROL}"


def test_while_it_is_off_nobody_knows_how_many_threads_on_has(tmp_path: Path) -> None:
    found = read_smt(sysfs(tmp_path, "off", ("0",)))
    assert [mode.threads for mode in found.modes] == [1, None]
    assert found.current.word == "off"


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("notsupported", "one thread a core"),
        ("notimplemented", "cannot switch threads"),
        ("forceoff", "until the next boot"),
        ("\x1b[2J", "says '\\\\x1b"),
        ("", "says ''"),
        (None, "no such file"),
    ],
)
def test_a_machine_without_modes_is_refused_in_a_sentence(word: str | None, why: str, tmp_path: Path) -> None:
    with pytest.raises(UnsuitableMachineError, match="offers no modes of hardware threads") as error:
        read_smt(sysfs(tmp_path, word))
    assert why.replace("\\\\", "\\") in str(error.value)


def test_on_with_one_thread_a_core_is_no_mode(tmp_path: Path) -> None:
    with pytest.raises(UnsuitableMachineError, match="a virtual machine may hide the others"):
        read_smt(sysfs(tmp_path, "on", ("0", "1")))


def test_power_offers_powers_of_two(tmp_path: Path) -> None:
    path = tool(tmp_path, "Threads per core: 8", "SMT=4")
    found = read_smt(tmp_path, path)
    assert [(mode.word, mode.threads) for mode in found.modes] == [
        *(("SMT=1", 1), ("SMT=2", 2), ("SMT=4", 4), ("SMT=8", 8)),
    ]
    assert found.current.word == "SMT=4"
    assert found.check == f"{path} --smt -n" and found.modes[3].command == f"{path} --smt=8"


@pytest.mark.parametrize(
    ("threads", "mode", "why"),
    [
        ("Threads per core: 1", "SMT=1", "one thread a core"),
        ("Machine is not SMT capable", "", "printed 'Machine is not SMT capable'"),
        ("Threads per core: 8", "SMT=4: 0-3", "cores differ"),
        ("Threads per core: 4", "SMT=8", "cores differ, or the mode is not known"),
    ],
)
def test_power_without_a_mode_is_refused(threads: str, mode: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(UnsuitableMachineError) as error:
        read_smt(tmp_path, tool(tmp_path, threads, mode))
    assert why in str(error.value)
