"""What of this machine the engine sees, and which places no answer can be of."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.campaigns.qualify.choice import needed_on, needs_at
from mawl.campaigns.qualify.interface import RunWish, WritableSpace
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
from mawl.campaigns.qualify.nodes import NodesChooser, QualifyNodes, check_several, observed_machine
from mawl.commands.qualify_choice import choice_text
from mawl.measure.devices import read_mounts
from mawl.measure.probe.process import ProbePlace
from mawl.measure.space import FileSystem
from mawl.measure.suitability import SuitabilityCheck
from mawl.plan.mix import COPIES
from mawl.records.model.probe import Probe
from mawl.records.model.qualification import Asked, QualificationChoice
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.spec.run_spec import NodesSpec
from mawl.records.store.facts import write_facts
from mawl.records.store.side_files import read_probe
from mawl.run.cluster.node_check import NodesCheck
from mawl.run.cluster.node_facts import NodeLook
from mawl.version import __version__, source_sha256
from tests.fakes.altered_runs import node_run
from tests.fakes.probes import probe, probe_test, target
from tests.fakes.qualifications import qualification
from tests.fakes.qualified import FakeModel, cluster
from tests.fakes.stored_run import facts

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


ASKED = qualification().asked


def chosen(minutes: float, per_session: float = 0.15, repeat: int | None = None) -> QualificationChoice:
    asked = msgspec.structs.replace(ASKED, minutes=minutes, repeat=repeat)
    return NodesChooser(asked, cluster(), FakeModel(per_session), 60 * minutes).choose({})


def test_short_time_gives_up_runs_with_one_node_then_runs_with_all() -> None:
    given = [
        (choice.repeats, choice.one_node_runs)
        for choice in (chosen(minutes) for minutes in (60, 14, 11, 9, 7, 4))
    ]
    assert given[0] == (3, 3)
    assert given == sorted(given, reverse=True) and given[-1] < (3, 1)
    assert min(one for _, one in given) == 1


def test_runs_with_all_nodes_are_planned_as_long_as_a_load_takes_that_is_just_carried() -> None:
    choice = chosen(60, per_session=0.15)  # eight sessions: 1.2 times the reference time
    one = FakeModel(0.15).mix(8, choice.scale).elapsed_seconds
    assert choice.run_seconds == pytest.approx(one * 2.0 / 1.2 + FakeModel.overhead_seconds)
    assert choice.total_seconds <= 60 * 60


def test_one_node_that_carries_forecasts_nothing_of_all_and_one_that_does_not_a_no() -> None:
    carries, slow = chosen(60, per_session=0.15).expected, chosen(60, per_session=0.5).expected
    assert carries.answer == "not known" and "1.20 times the reference time" in (carries.reason or "")
    assert slow.answer == "not carried" and slow.reason is None


def test_the_plan_shows_one_node_and_all_with_bytes_and_time() -> None:
    text = choice_text(chosen(60), ASKED)
    assert "nodes          4 " in text and "node1, node2, node3, node4" in text
    assert "8 a node" in text and "3 with all nodes, 3 with node1 alone" in text
    assert "\n  one node  35 jobs, " in text and "\n  4 nodes   140 jobs, " in text
    assert "name another number with --sessions" in text


def test_too_little_time_says_what_it_takes() -> None:
    with pytest.raises(UsageError, match=r"a run with one node and 1 run with all nodes .*--minutes"):
        chosen(0.5)
    assert chosen(60, repeat=1).repeats == 1


NAMES = ["node1", "node2", "node3"]


def looked(boot: str, kind: str = "ext4", **changes: object) -> NodeLook:
    system = FileSystem(
        kind=kind,
        size_bytes=10**12,
        free_bytes=5 * 10**11,
        needed_bytes=None,
        roles=["data", "work", "util"],
        directories=["/mnt/a"],
        unwritable=[],
    )
    look = NodeLook(
        mawl_version=__version__,
        source_sha256=source_sha256(),
        python="3.11.2",
        host="alpha",
        user="mawl",
        uid=1000,
        libraries=["numpy 2.2"],
        cpu_model="a CPU",
        cores=8,
        memory_bytes=2**35,
        boot_id=boot,
        systems=[system],
    )
    return msgspec.structs.replace(look, **changes)


def nodes(folder: Path) -> QualifyNodes:
    asked = msgspec.structs.replace(
        qualification().asked, nodes=NodesSpec(cluster="tcp://x:8786", node_timeout_seconds=60.0)
    )
    return QualifyNodes(folder, asked, str(folder), None, lambda _: None, NAMES)


def test_nodes_that_differ_are_said_and_the_smallest_decides() -> None:
    seen = observed_machine({"a": looked("1"), "b": looked("2", cores=4, memory_bytes=2**33)})
    assert (seen.cores, seen.memory_bytes, seen.has_fio) == (4, 2**33, False)
    (notice,) = seen.notices
    assert notice.startswith("The nodes differ (a: a CPU, 8 cores, 32.0 GiB; b: a CPU, 4 cores, 8.00 GiB)")


def test_alike_nodes_of_one_machine_are_said_to_be_one() -> None:
    seen = observed_machine({"a": looked("1"), "b": looked("1"), "c": looked("2")})
    assert [node.machine for node in seen.nodes] == [None, "a", None]
    assert seen.notices == ["b and a are one machine: they share its processors, memory and devices."]


@pytest.mark.parametrize(
    ("kind", "boots", "count"), [("nfs4", "12", 2), ("ext4", "12", 1), ("ext4", "11", 2)]
)
def test_nodes_that_share_a_file_system_need_its_room_together(kind: str, boots: str, count: int) -> None:
    seen = observed_machine({name: looked(boot, kind) for name, boot in zip("ab", boots, strict=True)})
    assert [system.nodes for system in seen.systems] == [count] * (1 if count == 2 else 2)
    needed = needs_at(5, 0.0005)
    inputs, own = sum(table.bytes for table in needed.tables), sum(needed.space_bytes.values())
    assert needed_on(seen.systems[0], needed) == count * (own - inputs) + inputs


def test_a_node_whose_files_stay_in_its_cache_is_named() -> None:
    seen = observed_machine({"a": looked("1"), "b": looked("2", cached_reason="work: 9p keeps its files")})
    assert (seen.uncached, seen.uncached_reason) == (False, "b: work: 9p keeps its files")


def test_a_directory_that_a_node_cannot_write_is_refused_with_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = msgspec.structs.replace(looked("2").systems[0], unwritable=["/mnt/a"])
    found = {"node1": looked("1"), "node2": looked("2", systems=[bad]), "node3": looked("3")}
    check = NodesCheck(looks=found, clocks={}, unreached={}, checks=[])
    monkeypatch.setattr("mawl.campaigns.qualify.nodes.look_at", lambda *_: check)
    with pytest.raises(UnsuitableMachineError, match="node2:/mnt/a: cannot be made or written"):
        nodes(tmp_path).look()


def test_a_cluster_of_one_node_is_a_machine() -> None:
    with pytest.raises(UsageError, match="1 node is no cluster: only a would run sessions"):
        check_several(["a"])


@pytest.mark.parametrize(("every", "named"), [(False, NAMES[:1]), (True, NAMES)])
def test_a_run_names_its_nodes_and_stops_where_one_is_lost(
    tmp_path: Path, every: bool, named: list[str]
) -> None:
    wish = RunWish(sessions=7, scale=0.001, cache="none", all_nodes=every)
    spec = nodes(tmp_path)._spec(wish)
    assert spec.nodes is not None and (spec.sessions, spec.probe) == (7, None)
    assert spec.nodes.on == dict.fromkeys(named, "mixed20")
    assert (spec.nodes.on_lost_node, spec.nodes.node_timeout_seconds) == ("stop", 60.0)
    alone = nodes(tmp_path)._spec(msgspec.structs.replace(wish, sessions=None, all_nodes=False))
    assert alone.nodes is not None and alone.nodes.on == {"node1": str(tmp_path / "alone.toml")}


@pytest.mark.parametrize(("lost", "outcome"), [(False, "failed"), (True, "interrupted")])
def test_a_run_that_lost_a_node_is_to_be_made_again(tmp_path: Path, lost: bool, outcome: str) -> None:
    runs = [node_run("node1", 0.0), node_run("node2", 0.0, outcome="lost" if lost else "failed")]
    folder = tmp_path / "runs" / "measured-1"
    folder.mkdir(parents=True)
    write_facts(folder, facts(node_runs=runs, outcome="failed"))
    assert nodes(tmp_path).outcome(folder) == outcome
    assert nodes(tmp_path).outcome(tmp_path / "runs" / "measured-2") is None
