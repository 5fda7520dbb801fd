"""The advice on a stored run: what it says, what it refuses to say, and the command that proves it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.errors import MawlError
from mawl.figures.view import RunView
from mawl.records.model.probe import ProbeTarget
from mawl.records.model.role_io import Waits
from mawl.records.model.run import CacheFacts, RunFacts, VolumeFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.reports.document import rendered
from mawl.whatif.placement.advise import advise, probed
from mawl.whatif.placement.demand import PlacementAdvice
from mawl.whatif.placement.document import document
from tests.fakes.measured_run import IDLE, samples
from tests.fakes.probed import MB, probe, target
from tests.fakes.stored_run import facts, jobs
from tests.fakes.views import judge, partly, plain, summary_of

SLOW = target("slow", 100 * MB, 100 * MB, duplex=False, random=0.05)
FLASH = target("flash", 800 * MB, 200 * MB, duplex=False)
USED = {"volume.1.used_bytes": 1e9, "volume.2.used_bytes": 40e9, "volume.3.used_bytes": 20e9}
WAITS = Waits(
    on_cpu_seconds=0.4,
    run_queue_seconds=0.1,
    blocked_data_seconds=1.0,
    blocked_work_seconds=6.0,
    blocked_util_seconds=2.5,
    blocked_other_seconds=0.0,
)


def on_slow(**changes: object) -> RunFacts:
    """All roles on the slow device; the inputs are 500 GB."""
    volumes = [
        VolumeFacts(role=role, node="bench1", directory=f"/mnt/slow/{role}", devices=["slow"], disks=["slow"])
        for role in ROLES
    ]
    values: dict[str, object] = {
        "volumes": volumes,
        "roles": {role: [f"/mnt/slow/{role}"] for role in ROLES},
        "cache": CacheFacts(input_bytes=500 * 10**9, resident_bytes=0),
        "command": [
            "/usr/bin/mawl",
            "run",
            "tiny",
            "--data",
            "/a",
            "/b",
            "--seed",
            "3",
            "--work=/c",
            "--output",
            "o",
        ],
    }
    return facts(**{**values, **changes})


def advice(*targets: ProbeTarget, **changes: Any) -> dict[str, Any]:
    """The advice as JSON has it."""
    return plain(advised(*targets, **changes))


def advised(
    *targets: ProbeTarget,
    of: RunFacts | None = None,
    verdict: str = "storage",
    file: str | None = None,
    others: dict[str, float] | None = None,
    waits: Waits = WAITS,
) -> PlacementAdvice:
    """The advice on a run whose jobs were blocked most in work."""
    run = of or on_slow()
    records = [msgspec.structs.replace(job, waits=waits) for job in jobs()]
    # A gauge: the fake samples add rates up, so it is given as what it grows by.
    grown = {
        name: (lambda second, value=value: value if second == 0 else 0.0) for name, value in USED.items()
    }
    some = samples(60, IDLE | grown)
    summary = judge(run, records, summary_of(run, records, samples=some), some)
    summary["limit"] = {"verdict": verdict}
    summary["io"]["foreign"] = others or summary["io"]["foreign"]
    found = probe(*targets)
    return advise(RunView(run, records), partly(summary), [found], {file: found} if file else None)


def test_what_each_role_asked_and_each_target_can() -> None:
    found = advice(SLOW, FLASH)
    work = found["roles"]["work"]
    assert (work["read_bytes"], work["written_bytes"]) == (5 * 300_000_000, 5 * 120_000_000)
    assert work["blocked_seconds"] == 30.0
    assert work["sequential_read_ratio"] == 0.9
    assert work["peak_used_bytes"] == 40 * 10**9
    assert work["targets"] == ["slow"]
    assert found["roles"]["data"]["peak_used_bytes"] == 501 * 10**9, (
        "input tables are part of the working set"
    )
    slow, flash = found["targets"]
    assert (slow["holds"], flash["holds"]) == (list(ROLES), [])
    assert (flash["read_write_ratio"], flash["flash_like"], slow["flash_like"]) == (4.0, True, False)
    assert found["blocked_seconds"] == 47.5


def test_work_and_util_go_to_a_flash_that_has_no_room_for_data() -> None:
    found = advice(SLOW, msgspec.structs.replace(FLASH, free_bytes=100 * 10**9))
    best = found["best"]
    assert (best["moves"], best["fits"]) == (["work", "util"], True)
    assert best["placement"] == {"data": ["slow"], "work": ["flash"], "util": ["flash"]}
    change = best["change"]
    assert change["low_seconds"] <= change["expected_seconds"] <= change["high_seconds"] < 0
    assert change["low_seconds"] >= -65.0
    moves = {row["role"]: row for row in found["moves"]}
    assert [moves[role]["fits"] for role in ROLES] == [False, True, True]
    expected = [row["change"]["expected_seconds"] for row in found["moves"]]
    assert expected == sorted(expected), "the most gain first"
    everywhere = advice(SLOW, FLASH)["best"]["placement"]
    assert everywhere["data"] == ["flash"], "with room for it data moves, too"


def test_a_move_that_saves_less_than_a_hundredth_is_not_advised() -> None:
    """By itself and beside others: the rest of the placement is the same without it."""
    little = msgspec.structs.replace(WAITS, blocked_data_seconds=0.02)
    assert set(advice(SLOW, FLASH)["best"]["moves"]) == set(ROLES)
    found = advice(SLOW, FLASH, waits=little)
    moved = {row["role"]: row["change"]["expected_seconds"] for row in found["moves"]}
    assert -0.01 * found["real_time_seconds"] < moved["data"] < 0, "it gains, and too little"
    assert set(found["best"]["moves"]) == {"work", "util"}


def test_the_processors_of_one_machine_count_once() -> None:
    node = msgspec.structs.replace(facts().nodes[0], name="bench1", cores=1, logical_cpus=1)
    beside = msgspec.structs.replace(node, name="bench2", same_machine_as="bench1")
    alone, both = (advice(SLOW, FLASH, of=on_slow(nodes=nodes)) for nodes in ([node], [node, beside]))
    assert both["best"]["change"] == alone["best"]["change"]


def test_a_role_that_fits_nowhere_stays() -> None:
    found = advice(SLOW, msgspec.structs.replace(FLASH, free_bytes=30 * 10**9))
    assert found["best"]["moves"] == ["util"], "40 GB of work do not fit into 30 GB"
    both = advice(SLOW, msgspec.structs.replace(FLASH, free_bytes=50 * 10**9))
    assert both["best"]["moves"] in (["work"], ["util"]), "each fits, not both together"


def test_a_slower_target_is_no_advice() -> None:
    found = advice(SLOW, target("tape", 20 * MB, 20 * MB, duplex=False, random=0.01))
    assert found["best"]["moves"] == []
    assert found["proof"] is None
    assert all(row["change"]["expected_seconds"] > 0 for row in found["moves"] if row["role"] != "data")
    assert "best: where they are" in rendered(document(msgspec.convert(found, PlacementAdvice)), "text")


def test_the_proof_takes_the_candidates_probe_and_says_that_inputs_are_made_anew() -> None:
    run = on_slow(command=["mawl", "run", "tiny", "--probe", "old.json", "--seed", "3"])
    found = advice(SLOW, FLASH, of=run, file="new.json")
    words = shlex.split(found["proof"]["run"])
    assert words[:5] == ["mawl", "run", "tiny", "--seed", "3"]
    assert words[-2:] == ["--probe", str(Path("new.json").resolve())]
    assert "data" in found["best"]["moves"]
    assert "it makes the input tables again in its new data directory" in rendered(
        document(msgspec.convert(found, PlacementAdvice)), "text"
    )
    assert "--probe" not in advice(SLOW, FLASH, of=run)["proof"]["run"]


def test_the_commands_that_prove_it_are_the_runs_own_with_other_roles() -> None:
    found = advice(SLOW, msgspec.structs.replace(FLASH, free_bytes=100 * 10**9))
    assert shlex.split(found["proof"]["run"]) == [
        *("mawl", "run", "tiny", "--seed", "3"),
        *("--data", "/mnt/slow/data", "--work", "/mnt/flash/mawl-work", "--util", "/mnt/flash/mawl-util"),
    ]
    assert found["proof"]["compare"] == "mawl compare 20260101-080000-tiny latest"
    unknown = advice(SLOW, FLASH, of=on_slow(command=[]))
    assert unknown["proof"]["run"].startswith("mawl run tiny --scale smoke --data ")
    text = rendered(document(msgspec.convert(found, PlacementAdvice)), "text")
    assert "best: move work to flash, then util to flash; summed real time -" in text
    assert found["proof"]["run"] in text


def test_what_cannot_be_known_is_said() -> None:
    found = advice(FLASH)
    assert found["best"] is None
    assert found["proof"] is None
    assert {row["change"] for row in found["moves"]} == {None}
    assert all(row["bytes_per_second"] for row in found["moves"])
    lost = [text for text in found["unknown"] if "were not probed" in text]
    assert [text.split()[0] for text in lost] == list(ROLES)
    text = rendered(document(msgspec.convert(found, PlacementAdvice)), "text")
    assert "best: not known" in text
    idle = advice(SLOW, FLASH, verdict="cpu")
    assert idle["best"]["change"]["high_seconds"] == 0.0
    assert any(text.startswith("the limit of the run is cpu, not storage") for text in idle["unknown"])


def test_a_target_that_was_probed_on_another_machine_is_told_apart_and_said() -> None:
    elsewhere = msgspec.structs.replace(FLASH, node="elsewhere")
    found = advice(SLOW, FLASH, elsewhere)
    assert [one["name"] for one in found["targets"]] == ["slow", "flash (bench1)", "flash (elsewhere)"]
    (said,) = [text for text in found["unknown"] if "elsewhere" in text and "was probed on" in text]
    assert said == (
        "flash (elsewhere) was probed on elsewhere, where the run was not: "
        "what bench1 would find there may be more or less"
    )
    assert not any("was probed on" in text for text in advice(SLOW, FLASH)["unknown"])


def test_what_others_moved_at_the_devices_is_said() -> None:
    others = {"read_bytes": 6e9, "written_bytes": 0, "total_bytes_per_second": 1e8, "ratio": 0.3}
    (said,) = [
        text for text in advice(SLOW, FLASH, others=others)["unknown"] if "other programs moved" in text
    ]
    assert said.endswith("run the workload again while nothing else uses these devices")
    little = {**others, "ratio": 0.05}
    assert not any("other programs" in text for text in advice(SLOW, FLASH, others=little)["unknown"])


def test_the_newest_probe_of_a_directory_counts() -> None:
    old = probe(target("old", 1.0, 1.0, directory="/mnt/slow"), created_at=1.0)
    new = probe(target("new", 2.0, 2.0, directory="/mnt/slow"), created_at=2.0)
    assert [one.name for one in probed([new, old])] == ["new"]
    without = msgspec.structs.replace(SLOW, tests=[], problem="no space")
    assert probed([probe(without)]) == []
    with pytest.raises(MawlError, match=r"no target was probed.*mawl probe"):
        advice(without)


def test_a_run_without_io_by_role_is_refused_with_its_reason() -> None:
    records = [msgspec.structs.replace(job, io=None) for job in jobs()]
    run = on_slow(missing={"io.by_role": "not measured: no C compiler"})
    summary = judge(run, records, summary_of(run, records))
    with pytest.raises(MawlError, match=r"did not record what its roles asked.*no C compiler"):
        advise(RunView(run, records), partly(summary), [probe(SLOW)])


def test_roles_on_volumes_of_several_targets_lie_evenly_on_them() -> None:
    twin = target("twin", 100 * MB, 100 * MB, duplex=False, random=0.05)
    volumes = on_slow().volumes
    other = msgspec.structs.replace(volumes[1], directory="/mnt/twin/work", devices=["twin"], disks=["twin"])
    spread = on_slow(volumes=[*volumes[:2], other, volumes[2]])
    role: Role = "work"
    found = advice(SLOW, twin, FLASH, of=spread)
    assert found["roles"][role]["targets"] == ["slow", "twin"]
    assert found["targets"][1]["holds"] == ["work"]
