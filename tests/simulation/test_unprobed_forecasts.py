"""Changes of beds that no probe measured: ``mawl simulate`` from a run before, compared with a run after.

``MAWL_TEST_CAMPAIGNS`` sets the number of beds, ``MAWL_TEST_FIRST`` the first of them, ``MAWL_TEST_SEED``
draws the same again.  Each change is a line of JSON in the file that ``MAWL_TEST_ROWS`` names;
``tools/unprobed_forecasts.py`` prints them.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.units import format_rate
from mawl.plan.catalogue import CATALOGUE
from mawl.records.model.node import IoCap
from mawl.records.model.run import NodeFacts, VolumeFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.device_rates import CAP, WAITED, limited, peaks_of, rated
from mawl.simulation.measured_system import own_system
from tests.advice.limit.beds import DIRECTIONS, Bed, Volume, command
from tests.advice.limit.draws import generator
from tests.advice.limit.test_ground_truth import made_bed
from tests.fakes.stored_run import facts
from tests.lab.quiet import quiet_machine
from tests.simulation.drawn import LEAST_SCALE, PROGRAMS
from tests.simulation.scenes import device
from tools.unprobed_forecasts import PAGE, UnprobedForecast, are_within, page, stored

BEDS = int(os.environ.get("MAWL_TEST_CAMPAIGNS", "6"))
FIRST = int(os.environ.get("MAWL_TEST_FIRST", "0"))
RATES_EACH = 3
"""Changes of caps on each bed; another one is of cores or sessions."""
CPU_SECONDS, MOST_SCALE = 3.0, 0.006
LONGER = (2.0, 5.0)
"""A device takes so many times the CPU seconds of the jobs for the bytes of a direction."""
LEAST_CAP, MOST_CAP = 3_000_000, 60_000_000
HIDDEN_RATIO = 0.3
"""Of the roles whose caps are below the devices that a run looks at."""
LEAST_MOVED = 10_000_000
"""A role that moves fewer bytes in a direction has no cap there."""
MAWL = (sys.executable, "-m", "mawl")

Caps = Mapping[str, int]


class DrawnChange(msgspec.Struct, frozen=True, kw_only=True):
    """Other caps, cores or sessions."""

    words: str
    caps: dict[str, int] = {}
    processors: int = 2
    more_sessions: int = 0


class DrawnBed(msgspec.Struct, frozen=True, kw_only=True):
    """Programs by session and stage, caps by role and direction, roles whose caps are hidden, and changes."""

    sessions: list[list[str]]
    scale: float
    caps: dict[str, int]
    hidden: list[Role]
    changes: list[DrawnChange]

    def workload(self, more_sessions: int) -> str:
        """As a workload file; more sessions are the first ones again."""
        lines = [f'name = "drawn"\nscale = {self.scale}\n']
        for number, stages in enumerate([*self.sessions, *self.sessions[:more_sessions]], 1):
            made = ", ".join(f'["{program}"]' for program in stages)
            lines.append(f'[[sessions]]\nname = "s{number}"\nstages = [{made}]\n')
        return "\n".join(lines)


def drawn_bed(seed: int, number: int) -> DrawnBed:
    """A bed by its number: the same again with the same seed."""
    draw = random.Random(f"{seed} {number}")
    names = [[draw.choice(PROGRAMS) for _ in range(draw.randint(1, 2))] for _ in range(draw.randint(2, 3))]
    programs = [CATALOGUE[name] for stages in names for name in stages]
    wanted = round(CPU_SECONDS / sum(one.cpu_seconds(1.0) for one in programs), 5)
    scale = min(max(LEAST_SCALE, wanted), MOST_SCALE)
    seconds = sum(one.cpu_seconds(scale) for one in programs)
    moved: dict[str, int] = {}
    for role in ROLES:
        every = [one.bytes_by_role(scale)[role] for one in programs]
        moved[f"{role} read"] = sum(one["read"] for one in every)
        moved[f"{role} write"] = sum(one["written"] for one in every)
    caps = {
        place: _within(size / (draw.uniform(*LONGER) * seconds))
        for place, size in moved.items()
        if size > LEAST_MOVED
    }
    hidden = [role for role in ROLES if _ways(caps, role) and draw.random() < HIDDEN_RATIO]
    for role in hidden:
        # The process below the device has one rate for each direction.
        fastest = max(caps[f"{role} {way}"] for way in _ways(caps, role))
        caps |= {f"{role} {way}": fastest for way in DIRECTIONS}
    rates: dict[str, DrawnChange] = {}
    while len(rates) < RATES_EACH:
        change = _rates(draw, caps, hidden)
        if any(caps[place] != cap for place, cap in change.caps.items()):
            rates[change.words] = change
    other = (
        DrawnChange(words="1 core", processors=1)
        if number % 2
        else DrawnChange(words=f"{1 + len(names)} sessions", more_sessions=1)
    )
    return DrawnBed(sessions=names, scale=scale, caps=caps, hidden=hidden, changes=[*rates.values(), other])


def _ways(caps: Caps, role: Role) -> list[str]:
    return [way for way in DIRECTIONS if f"{role} {way}" in caps]


def _rates(draw: random.Random, caps: Caps, hidden: Sequence[Role]) -> DrawnChange:
    role = draw.choice([one for one in ROLES if _ways(caps, one)])
    ways = _ways(caps, role)
    ways = ways if role in hidden else draw.choice([ways, ways[:1], ways[-1:]])
    factor = draw.choice((0.25, 0.5, 2.0, 4.0))
    made = {f"{role} {way}": _within(caps[f"{role} {way}"] * factor) for way in ways}
    words = ", ".join(f"{place} {format_rate(cap)}" for place, cap in made.items())
    return DrawnChange(words=words, caps=made)


def _within(cap: float) -> int:
    return int(min(max(cap, LEAST_CAP), MOST_CAP))


def made(bed: Bed, drawn: DrawnBed, change: DrawnChange) -> None:
    """Caps in force, where a run sees them or below its devices."""
    caps = {**drawn.caps, **change.caps}
    for role, volume in bed.volumes.items():
        volume.open(bytes_per_second=caps[f"{role} read"] if role in drawn.hidden else 0)
        for way in _ways(caps, role) if role not in drawn.hidden else ():
            volume.cap(caps[f"{role} {way}"], held=False, directions=(way,))


def ran(bed: Bed, drawn: DrawnBed, change: DrawnChange, folder: Path) -> float:
    """The workload's run with a change; its elapsed seconds."""
    made(bed, drawn, change)
    (folder.parent / "drawn.toml").write_text(drawn.workload(change.more_sessions))
    words = ["--cores", str(change.processors), "--cache", "none", "--html", "no", "--output", str(folder)]
    words += [word for role in ROLES for word in (f"--{role}", str(bed.volumes[role].place / "mawl"))]
    command(*MAWL, "run", "drawn.toml", *words, directory=folder.parent, seconds=300)
    said = command(*MAWL, "report", str(folder), "--format", "json", directory=folder.parent)
    seconds: float = json.loads(said)["time"]["elapsed_seconds"]
    return seconds


def options_of(bed: DrawnBed, change: DrawnChange, devices: Mapping[Role, Volume]) -> list[str]:
    """What ``mawl simulate`` is asked."""
    if change.more_sessions:
        return ["--sessions", str(len(bed.sessions) + change.more_sessions)]
    if change.processors == 1:
        return ["--set", "cores=1"]
    places = [(*place.split(), cap) for place, cap in change.caps.items()]
    return [word for role, way, cap in places for word in ("--set", f"{devices[role].device}.{way}={cap}")]  # type: ignore[index]


def forecast(folder: Path, options: list[str]) -> dict[str, float | str | None]:
    """The numbers of ``mawl simulate``, or why there are none."""
    words = (*MAWL, "simulate", str(folder), *options, "--json")
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    if done.returncode:
        return {"reason": done.stderr.strip().partition("no forecast of this change: ")[2] or done.stderr}
    answer = json.loads(done.stdout)
    validity = answer["validity"]
    return {
        "forecast_seconds": answer["prediction"]["elapsed_seconds"],
        **validity["range"],
        "reason": "; ".join(validity["reasons"]) or None,
    }


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    yield from made_bed(tmp_path, "nbdkit", "nbdfuse", image_bytes=6 * 2**30)


@pytest.mark.lab
@pytest.mark.long(minutes=40)
def test_few_forecasts_without_a_probe_are_outside_of_their_range(bed: Bed) -> None:
    seed, rows = generator().getrandbits(32), []
    for number in range(FIRST, FIRST + BEDS):
        quiet_machine()
        drawn = drawn_bed(seed, number)
        place = bed.directory / f"bed-{number}"
        place.mkdir()
        for volume in bed.volumes.values():
            volume.open()
        (place / "drawn.toml").write_text(drawn.workload(1))
        data = str(bed.volumes["data"].place / "mawl")
        command(*MAWL, "generate", "drawn.toml", "--data", data, directory=place)
        before = ran(bed, drawn, DrawnChange(words=""), place / "before")
        options = [options_of(drawn, change, bed.volumes) for change in drawn.changes]
        for turn, change in enumerate(drawn.changes):
            said = forecast(place / "before", options[turn])
            row = UnprobedForecast(
                seed=seed,
                number=number,
                sessions=drawn.sessions,
                scale=drawn.scale,
                caps=drawn.caps,
                hidden=drawn.hidden,
                change=change.words,
                options=options[turn],
                before_seconds=before,
                measured_seconds=ran(bed, drawn, change, place / f"after-{turn}"),
                **said,  # type: ignore[arg-type]
            )
            rows.append(row)
            sys.stdout.write(f"{row}\n")
            if named := os.environ.get("MAWL_TEST_ROWS"):
                with Path(named).open("ab") as file:
                    file.write(msgspec.json.encode(row) + b"\n")
    assert are_within(rows)


def test_the_page_is_that_of_its_rows_and_few_times_are_outside_of_their_range() -> None:
    rows = stored(PAGE.with_suffix(".jsonl").read_bytes().splitlines())
    assert PAGE.read_text() == page(rows)
    assert len(rows) >= 20 and are_within(rows)


def test_the_page_counts_ranges_that_miss_and_keeps_the_newest() -> None:
    one = UnprobedForecast(
        seed=7,
        number=1,
        sessions=[["wide_sort"], ["segmentation", "census_load"]],
        scale=0.002,
        caps={"data read": 20_000_000},
        hidden=["data"],
        change="data read 40.0 MB/s",
        options=["--set", "loop1.read=40000000"],
        before_seconds=20.0,
        measured_seconds=12.0,
        forecast_seconds=11.5,
        low_seconds=11.0,
        high_seconds=12.5,
    )
    late = msgspec.structs.replace(one, number=2, measured_seconds=13.0)
    unknown = msgspec.structs.replace(one, number=3, forecast_seconds=None, low_seconds=None, reason="why")
    rows = stored([msgspec.json.encode(row) for row in (late, one, late, unknown)])
    assert rows == [one, late, unknown] and not are_within(rows)
    assert are_within([one] * 9 + [late, unknown])
    text = page(rows)
    assert "Changes: 3. With a number: 2. With a range: 2; 1 of these runs took a time outside" in text
    assert "| data read 20.0 MB/s (hidden) | data read 40.0 MB/s | 20.0 s | 12.0 s | 11.5 s |" in text
    assert "| no number | - | - |" in text and text.endswith("- why\n")


def test_beds_are_drawn_alike_and_every_change_changes_something() -> None:
    beds = [drawn_bed(29, number) for number in range(24)]
    assert beds == [drawn_bed(29, number) for number in range(24)]
    assert {role for bed in beds for role in bed.hidden} == set(ROLES)
    for bed in beds:
        assert len({change.words for change in bed.changes}) == RATES_EACH + 1
        for change in bed.changes:
            differs = any(bed.caps[place] != cap for place, cap in change.caps.items())
            assert differs or change.processors == 1 or change.more_sessions


PEAKS = peaks_of({"read": [[60.0, 10.0, None]], "write": [[70.0, 20.0, 55.0]]})
CAPS: dict[Any, Any] = {"read": (50, ["read_bps"])}


@pytest.mark.parametrize(
    ("probe", "waited", "caps", "rates", "sources"),
    [
        (None, [], {}, (1e9, 1e9, None), ("assumed", "assumed")),
        (None, ["read"], {}, (60.0, 1e9, None), (WAITED, "assumed")),
        (None, ["read", "write"], {}, (60.0, 70.0, 130.0), (WAITED, WAITED)),
        (None, ["read", "write"], CAPS, (50.0, 70.0, None), (f"{CAP} read_bps", WAITED)),
        ("fio-3.33", ["read"], {}, (90.0, 90.0, None), ("measured: fio-3.33", "measured: fio-3.33")),
        ("fio-3.33", [], CAPS, (50.0, 90.0, None), (f"{CAP} read_bps", "measured: fio-3.33")),
        ("fio-3.33", [], {"write": (95, ["f"])}, (90.0, 90.0, None), ("measured: fio-3.33",) * 2),
    ],
    ids=["nothing", "reads", "both ways", "a cap", "a probe", "a cap below the probe", "a cap above it"],
)
def test_a_rate_is_that_of_a_cap_a_probe_or_a_limit(
    probe: str | None, waited: list[Any], caps: Any, rates: tuple[float, ...], sources: tuple[str, ...]
) -> None:
    """130 bytes a second, the highest of both directions together, are the rate of neither."""
    made, told = rated(device("disk", rate=90e-6), probe, PEAKS, waited, caps)
    assert (
        made.read_bytes_per_second,
        made.write_bytes_per_second,
        made.shared_bytes_per_second,
    ) == pytest.approx(rates)
    assert tuple(told[f"devices.disk.{way}_bytes_per_second"] for way in ("read", "write")) == sources


@pytest.mark.parametrize(
    ("read", "write", "ways"),
    [
        (0.004, 0.0, []),
        (0.1, 0.05, []),
        (0.15, 0.1, ["read", "write"]),
        (0.5, 0.1, ["read"]),
        (0.6, 0.21, ["read", "write"]),
    ],
)
def test_a_device_that_jobs_waited_for_did_what_it_can(read: float, write: float, ways: list[str]) -> None:
    """Two roles on one device: what jobs waited for both counts."""
    waited: Any = {("data", "read"): read, ("work", "write"): write, ("util", "read"): 0.9}
    assert limited(waited, ["data", "work"]) == ways


def test_the_recorded_caps_of_a_run_are_the_rates_of_its_devices() -> None:
    caps = [
        IoCap(device="sda", direction="read", bytes_per_second=60_000_000, file="read_bps", carries=["sda"]),
        IoCap(device="sda", direction="write", requests_per_second=100, file="write_iops", carries=["sda"]),
    ]
    volumes = [
        VolumeFacts(role=role, node="node1", directory=f"/{role}", devices=["sda"], caps=caps)
        for role in ROLES
    ]
    node = NodeFacts(name="node1", cores=2, core_basis="vCPU")
    system = own_system(facts(nodes=[node], volumes=volumes), None, None, {})
    (disk,) = system.devices
    assert (disk.read_bytes_per_second, disk.local) == (60e6, True)
    assert system.sources["devices.sda.read_bytes_per_second"] == f"{CAP} read_bps"
    assert system.sources["devices.sda.write_bytes_per_second"] == "assumed"
