"""``mawl doctor``: every problem with its cure, and an exit status that a script can use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.commands import doctor
from mawl.measure import space
from mawl.measure.devices import Mount
from mawl.measure.machine import Machine, read_machine
from mawl.plan.needs import needs
from mawl.plan.workload import load_workload, make_plan
from tests.fakes.command_line import Verbs, call


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory, no settings, and a look that takes no time."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("MAWL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(doctor, "LOOK_SECONDS", 0.0)
    return tmp_path


def with_machine(monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    def read() -> Machine:
        return msgspec.structs.replace(read_machine(), **fields)

    monkeypatch.setattr(doctor, "read_machine", read)


def with_free_bytes(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    figures = namedtuple("figures", ("f_blocks", "f_bfree", "f_bavail", "f_frsize"))
    monkeypatch.setattr(os, "statvfs", lambda path: figures(2**40, free // 4096, free // 4096, 4096))


def test_a_machine_that_suits_ends_with_0_and_makes_nothing(place: Path, verbs: Verbs) -> None:
    text = verbs.out("doctor", "nano")
    for name in (
        "python",
        "libraries",
        "compiler",
        "space",
        "memory",
        "limits",
        "container",
        "clock",
        "noise",
        "core speed",
    ):
        assert f"  {name} " in text
    assert text.strip().splitlines()[-1].startswith("this machine can run mawl")
    assert list(place.iterdir()) == []


def test_json_has_base_units_and_one_sentence_each(verbs: Verbs) -> None:
    told = json.loads(verbs.out("doctor", "nano", "--json"))
    assert told["status"] in ("ok", "notice")
    assert told["machine"]["memory_bytes"] == read_machine().memory_bytes
    assert told["machine"]["cores"] == read_machine().cores
    for check in told["checks"]:
        assert check["text"]
        assert (check["status"] == "ok") == (check["cure"] is None)


def test_a_workload_that_fits_shows_what_it_needs(verbs: Verbs) -> None:
    text = verbs.out("doctor", "nano")
    assert "needed" in text and "declare" in text


def test_too_little_space_is_a_problem_with_a_cure(monkeypatch: pytest.MonkeyPatch, verbs: Verbs) -> None:
    with_free_bytes(monkeypatch, 2**20)
    text = verbs.out("doctor", "nano", status=1)
    assert "problem  space" in text and "--scale" in text
    assert text.strip().endswith("a run cannot work here until the problems are solved")


def test_inputs_that_lie_there_already_make_it_a_notice(
    place: Path, monkeypatch: pytest.MonkeyPatch, verbs: Verbs
) -> None:
    inputs = place / "mawl-data" / "mawl-inputs"
    inputs.mkdir(parents=True)
    spec, where = load_workload("nano")
    needed = needs(make_plan(spec, where=where, scale=1.0))
    (inputs / "table").write_bytes(b"x" * sum(table.bytes for table in needed.tables))
    with_free_bytes(monkeypatch, sum(needed.space_bytes.values()) - 8192)
    assert "may lie there already; mawl generate says for certain" in verbs.out("doctor", "nano")


def test_without_a_workload_the_default_one_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_free_bytes(monkeypatch, 2**20)
    assert call("doctor") == call("doctor", "mixed20") == call("doctor", "--sessions", "5") == 1
    assert "problem  space" in capsys.readouterr().out


def test_too_little_memory_is_a_problem(monkeypatch: pytest.MonkeyPatch, verbs: Verbs) -> None:
    with_machine(monkeypatch, memory_bytes=2**20, memory_available_bytes=2**20)
    assert "problem  memory" in verbs.out("doctor", "nano", status=1)


def test_a_role_that_cannot_be_written_is_a_problem(place: Path, verbs: Verbs) -> None:
    (place / "file").write_text("")
    assert "file cannot be made or written; name a writable directory" in verbs.out(
        "doctor", "--work", "file", status=1
    )


def test_memory_as_a_device_is_a_notice(
    monkeypatch: pytest.MonkeyPatch, verbs: Verbs, tmp_path: Path
) -> None:
    device = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"29 1 {os.major(device)}:{os.minor(device)} / / rw - tmpfs tmpfs rw\n")
    monkeypatch.setattr(
        doctor,
        "file_systems",
        lambda roles, needed, **order: space.file_systems(roles, needed, mounts, **order),
    )
    assert "which is memory and no device; name directories on a disk" in verbs.out("doctor", "nano")


def test_what_is_asked_wrongly_is_an_error_of_use() -> None:
    with pytest.raises(UsageError, match="no workload is called 'nothing'"):
        call("doctor", "nothing")
    with pytest.raises(UsageError, match="expected a scale"):
        call("doctor", "starter", "--scale", "huge")


WITHOUT_LIBRARIES = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numpy", "duckdb", "sklearn", "scipy", "threadpoolctl"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from mawl.commands.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_doctor_works_where_the_libraries_of_the_programs_are_absent(place: Path) -> None:
    """Who needs a doctor most has not installed everything yet."""
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_LIBRARIES, "doctor", "nano"], cwd=place, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "this machine can run mawl" in ended.stdout


def test_spill_beyond_the_ephemeral_storage_of_a_pod_is_foreseen(
    monkeypatch: pytest.MonkeyPatch, verbs: Verbs
) -> None:
    # Without mounts of its own the pod writes into the container's layer, at /.
    monkeypatch.setattr("mawl.measure.space.read_mounts", lambda proc: [container_layer()])
    monkeypatch.setenv("MAWL_EPHEMERAL_STORAGE", "1073741824")
    assert "1.07 GB free (ephemeral storage of the pod)" in verbs.out("doctor", "nano")
    monkeypatch.setenv("MAWL_EPHEMERAL_STORAGE", "1000000")
    (line,) = [line for line in verbs.out("doctor", "nano", status=1).splitlines() if "ephemeral" in line]
    assert line.startswith("problem") and "raise limits.ephemeral-storage" in line


def test_a_limit_of_ephemeral_storage_that_is_no_size_is_wrong_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAWL_EPHEMERAL_STORAGE", "plenty")
    with pytest.raises(UsageError, match="MAWL_EPHEMERAL_STORAGE"):
        call("doctor", "nano")


def container_layer() -> Mount:
    return Mount(device="0:50", mount_point="/", file_system="overlay", source="overlay", options="rw")


def test_files_in_memory_count_against_the_memory_of_the_container(
    place: Path, monkeypatch: pytest.MonkeyPatch, verbs: Verbs
) -> None:
    spec, where = load_workload("nano")
    need = needs(make_plan(spec, where=where, scale=1.0))
    with_machine(monkeypatch, memory_limit_bytes=need.memory_bytes + 2**20, memory_available_bytes=2**34)
    assert call("doctor", "nano") == 0
    monkeypatch.setattr(doctor, "in_memory_bytes", lambda *_, **__: 2**21)
    (line,) = [
        line for line in verbs.out("doctor", "nano", status=1).splitlines() if "files in memory" in line
    ]
    assert line.startswith("problem") and "and files in memory 2.00 MiB; put all roles on disks" in line
