"""What of this machine the engine sees, and which places no answer can be of."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.campaigns.qualify.interface import WritableSpace
from mawl.campaigns.qualify.machine import (
    QualifyMachine,
    alone_workload,
    check_places,
    lies_on,
    notices,
    own_directories,
    target_words,
    targets,
)
from mawl.measure.devices import read_mounts
from mawl.measure.probe.process import ProbePlace
from mawl.measure.suitability import SuitabilityCheck
from mawl.plan.mix import COPIES
from mawl.records.model.probe import Probe
from mawl.records.model.qualification import Asked
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store.side_files import read_probe
from tests.fakes.probes import probe, probe_test, target

DISK = WritableSpace(roles=["work"], directories=["/mnt/b"], free_bytes=10**12, kind="ext4")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"kind": "tmpfs"},
            r"/mnt/b: work would lie in memory \(tmpfs\), which is no storage; name a directory",
        ),
        (
            {"unwritable": ["/mnt/b/x"]},
            r"/mnt/b/x: cannot be made or written by this user; mount it writable",
        ),
    ],
)
def test_a_place_that_no_answer_can_be_of_is_refused_with_what_to_do(
    changes: dict[str, object], said: str
) -> None:
    plain = {"roles": ["work"], "directories": ["/mnt/b"], "free_bytes": 10**12}
    check_places([DISK])
    with pytest.raises(UnsuitableMachineError, match=said):
        check_places([DISK, WritableSpace(**{**plain, **changes})])  # type: ignore[arg-type]


def test_one_file_system_is_said_and_a_good_machine_is_quiet() -> None:
    assert any("share one file system" in line for line in notices([DISK], []))
    assert notices([DISK, DISK], [SuitabilityCheck("limits", "ok", "fine")]) == []
    assert notices([DISK, DISK], [SuitabilityCheck("noise", "notice", "busy")]) == ["noise: busy"]
    assert notices([DISK, DISK], [SuitabilityCheck("noise", "notice", "busy", "stop it")]) == [
        "noise: busy; stop it"
    ]


def test_a_look_names_what_each_directory_lies_on_and_which_it_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mawl.campaigns.qualify.machine.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("mawl.campaigns.qualify.machine.IN_MEMORY", frozenset())
    roles: dict[Role, list[str]] = {
        "data": [str(tmp_path / "a")],
        "work": [str(tmp_path / "mawl-work")],
        "util": [str(tmp_path)],
    }
    look = QualifyMachine(tmp_path, Asked(roles=roles, minutes=5.0), str(tmp_path), None, print).look
    first, second = look(), look()
    assert (first.made, second.made) == ([lies_on(tmp_path / "a", read_mounts())], [])
    mounted = next(place for place in (tmp_path, *tmp_path.resolve().parents) if place.is_mount())
    assert [line.split()[:2] for line in first.places] == [
        [role, str(place)] for role in ROLES for place in roles[role]
    ]
    assert all(line.endswith(f", mounted at {mounted}") for line in first.places)


def test_a_file_system_is_probed_once_for_all_of_its_roles(tmp_path: Path) -> None:
    found = targets({"data": [tmp_path / "d"], "work": [tmp_path / "w"], "util": [Path("/proc")]})
    assert [(place.name, place.roles) for place in found] == [("data", ["data", "work"]), ("util", ["util"])]


def test_the_words_for_a_probe_name_the_most_that_it_found_and_with_how_many_streams() -> None:
    tests = [
        probe_test("read", 11.6, streams=1),
        probe_test("read", 186.0, streams=19),
        probe_test("write", 11.6, streams=1),
    ]
    found = probe(target("work", tests, roles=["work"]))
    assert target_words(found) == "work: read 186 MB/s by 19 streams, write 11.6 MB/s by 1 stream"
    lacking = probe(target("work", tests[:2], roles=["work"]))
    assert target_words(lacking) == "work: no figures"


def test_a_probe_that_was_stopped_goes_on_with_the_targets_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roles: dict[Role, list[str]] = {role: [str(tmp_path / role)] for role in ROLES}
    machine = QualifyMachine(tmp_path, Asked(roles=roles, minutes=5.0), str(tmp_path), None, print)
    monkeypatch.setattr("mawl.campaigns.qualify.machine.system_of", lambda place, mounts: str(place))
    monkeypatch.setattr("mawl.campaigns.qualify.machine.nearest", lambda place: place)
    asked: list[str] = []

    def probed(_: QualifyMachine, place: ProbePlace, *__: object) -> Probe:
        asked.append(place.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return probe(target(place.name, [probe_test("read", 100.0)], roles=list(place.roles)))

    monkeypatch.setattr(QualifyMachine, "_probed", probed)
    finished: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        machine.probe(tmp_path, 60.0, 5, lambda: finished.append(len(asked)))
    machine.probe(tmp_path, 60.0, 5, lambda: finished.append(len(asked)))
    assert asked == ["data", "work", "work", "util"]
    assert finished == [1, 3, 4]
    assert [one.name for one in read_probe(tmp_path / "probe.json").targets] == ["data", "work", "util"]


def test_a_directory_for_several_roles_gets_one_for_each_below_it() -> None:
    assert own_directories({"data": ["/a"], "work": ["/b"], "util": ["/b/"]}) == {
        "data": ["/a"],
        "work": ["/b/mawl-work"],
        "util": ["/b/mawl-util"],
    }
    assert own_directories({"data": None, "work": ["/b", "/c"], "util": None})["work"] == ["/b", "/c"]


def test_each_program_of_the_mix_runs_alone_once() -> None:
    (session,) = alone_workload().sessions
    assert list(session.stages) == [[program] for program in COPIES]
