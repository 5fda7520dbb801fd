"""Forecasts over drawn beds, each compared with a run: elapsed time and limit.

A campaign draws a workload and four beds, and runs the workload once on each.  The first run calibrates; the
others are forecast from it.  It takes two to four minutes on an idle machine.  ``MAWL_TEST_CAMPAIGNS`` sets
their number, ``MAWL_TEST_FIRST`` the first of them, and ``MAWL_TEST_SEED`` draws the same again.  Every
forecast is a line of JSON in the file that ``MAWL_TEST_ROWS`` names; ``tools/drawn_forecasts.py`` prints the
page.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import msgspec
import pytest

from mawl.advice.judge import judged
from mawl.figures.view import StoredView
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store import Run, open_run
from mawl.simulation.forecast import Question, base_of, predict
from mawl.simulation.system import Device, NodeKind, System
from mawl.whatif.folder import Label, write_folder
from tests.advice.limit.beds import AMPLE_BYTES_PER_SECOND, Bed, Volume, command
from tests.advice.limit.draws import generator
from tests.advice.limit.test_ground_truth import made_bed
from tests.lab.quiet import quiet_machine
from tests.simulation.drawn import ARMS, UNCACHED, DrawnCampaign, drawn_campaign
from tools.drawn_forecasts import Arm, DrawnForecast, page, stored

CAMPAIGNS = int(os.environ.get("MAWL_TEST_CAMPAIGNS", "24"))
FIRST = int(os.environ.get("MAWL_TEST_FIRST", "0"))
NEAR_RATIO = 0.9
"""Of all forecasts so many must be near."""


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """A volume for each role; any of them can be made slow below its device's queue."""
    yield from made_bed(tmp_path, "nbdkit", "nbdfuse", image_bytes=16 * 2**30)


@pytest.mark.lab
@pytest.mark.long(minutes=100)
def test_forecasts_of_drawn_beds_are_near_and_their_limits_right(bed: Bed) -> None:
    seed, rows = generator().getrandbits(64), []
    for number in range(FIRST, FIRST + CAMPAIGNS):
        quiet_machine()
        campaign = drawn_campaign(seed, number)
        place = bed.directory / f"campaign-{number}"
        place.mkdir()
        for row in forecasts(bed, place, campaign):
            rows.append(msgspec.structs.replace(row, seed=seed, campaign=number))
            noted(rows[-1])
    wrong = [row for row in rows if row.is_wrong_limit]
    assert sum(row.is_near for row in rows) >= NEAR_RATIO * len(rows)
    assert not wrong, wrong


def noted(row: DrawnForecast) -> None:
    """A forecast as a line of the test's output, and of the file for the page."""
    sys.stdout.write(f"{row.kind} {row.error_ratio:+.1%} {row}\n")
    if named := os.environ.get("MAWL_TEST_ROWS"):
        with Path(named).open("ab") as file:
            file.write(msgspec.json.encode(row) + b"\n")


def forecasts(bed: Bed, place: Path, campaign: DrawnCampaign) -> Iterator[DrawnForecast]:
    """Run the workload on every bed, then forecast all from the first."""
    (place / "drawn.toml").write_text(campaign.workload())
    made(bed, Arm(volumes={role: role for role in ROLES}, caps={}))
    data = str(bed.volumes["data"].place / "data")
    command(sys.executable, "-m", "mawl", "generate", "drawn.toml", "--data", data, directory=place)
    numbers = count(1)
    first, own = ran(bed, place, campaign, campaign.base, next(numbers))
    view = StoredView(first)
    base = base_of(view, judged(view), own)
    for kind, arm in campaign.arms:
        run, system = ran(bed, place, campaign, arm, next(numbers))
        scenario, outcome = predict(base, Question(system=system))
        folder = place / f"forecast-{next(numbers)}"
        write_folder(folder, scenario, outcome, Label(run_id=folder.name, source=base.facts))
        simulated = open_run(folder)
        forecast, measured = (judged(StoredView(one)).time for one in (simulated, run))
        assert measured.elapsed_seconds is not None and measured.real_time_seconds is not None
        assert forecast.real_time_seconds is not None
        yield DrawnForecast(
            seed=0,
            campaign=0,
            kind=kind,
            sessions=campaign.sessions,
            scale=campaign.scale,
            cache="cold" if campaign.cached else "none",
            base=campaign.base,
            arm=arm,
            forecast_seconds=outcome.elapsed_seconds,
            measured_seconds=measured.elapsed_seconds,
            forecast_real_time_seconds=forecast.real_time_seconds,
            measured_real_time_seconds=measured.real_time_seconds,
            forecast_limit=limit_of(simulated),
            measured_limit=limit_of(run),
            own_error_ratio=base.error_ratio or 0.0,
            late_devices=[msgspec.to_builtins(one) for one in system.devices if one.latency_seconds],
        )


def limit_of(run: Run) -> str:
    """The verdict and its role."""
    limit = judged(StoredView(run)).limit
    return " ".join(word for word in (limit.verdict, limit.role) if word) if limit else "not known"


def ran(bed: Bed, place: Path, campaign: DrawnCampaign, arm: Arm, number: int) -> tuple[Run, System]:
    """The workload's run on a bed, and the bed as a system."""
    devices = made(bed, arm)
    words = ["--cores", str(arm.processors), "--cache", "cold" if campaign.cached else "none"]
    for role, volume in arm.volumes.items():
        words += [f"--{role}", str(bed.volumes[volume].place / role)]
    if arm.memory_bytes is not None:
        words += ["--memory-limit", str(arm.memory_bytes)]
    folder = place / f"run-{number}"
    mawl = (sys.executable, "-m", "mawl", "run", "drawn.toml")
    command(*mawl, *words, "--output", str(folder), directory=place, seconds=900)
    run = open_run(folder)
    node = run.facts.nodes[0]
    kind = NodeKind(
        count=1,
        cores=float(arm.processors),
        memory_bytes=float(arm.memory_bytes or node.memory_bytes or 0),
        roles={role: (volume,) for role, volume in named(arm).items()},
    )
    return run, System(name="bed", nodes=(kind,), devices=tuple(devices.values()))


def named(arm: Arm) -> dict[Role, str]:
    """The device of each role: no device may have the name of a role."""
    return {role: f"of-{volume}" for role, volume in arm.volumes.items()}


def made(bed: Bed, arm: Arm) -> dict[Role, Device]:
    """Make the bed; its devices as they are capped, or as fio finds those that answer late."""
    found = {}
    for volume in ROLES:
        late = arm.milliseconds.get(volume, 0)
        bed.volumes[volume].open(late)
        bed.volumes[volume].cap(arm.caps.get(volume, 0), held=False)
        if volume in arm.volumes.values():
            name, rate = f"of-{volume}", float(arm.caps.get(volume, AMPLE_BYTES_PER_SECOND))
            found[volume] = (
                late_device(bed.volumes[volume], name)
                if late
                else Device(name=name, read_bytes_per_second=rate, write_bytes_per_second=rate, local=True)
            )
    return found


def late_device(volume: Volume, name: str) -> Device:
    """A device as fio finds it: rates and requests with many under way, the latency of one at a time."""
    read, write = (asked_of(volume, way, "256k", 16)["bw_bytes"] for way in ("read", "write"))
    one, many = (asked_of(volume, "randread", "8k", depth)["iops"] for depth in (1, 32))
    (volume.place / "fio").unlink()
    return Device(
        name=name,
        read_bytes_per_second=read,
        write_bytes_per_second=write,
        latency_seconds=1.0 / one,
        requests_per_second=many,
        local=True,
    )


def asked_of(volume: Volume, way: str, size: str, depth: int) -> dict[str, float]:
    """What direct requests get in two seconds."""
    text = command(
        "fio",
        "--name=late",
        f"--filename={volume.place / 'fio'}",
        "--size=256M",
        f"--bs={size}",
        f"--rw={way}",
        "--direct=1",
        "--ioengine=libaio",
        f"--iodepth={depth}",
        "--ramp_time=500ms",
        "--runtime=2",
        "--time_based",
        "--output-format=json",
    )
    found: dict[str, float] = json.loads(text)["jobs"][0]["read" if "read" in way else "write"]
    return found


def test_every_kind_is_drawn_and_every_bed_can_be_made() -> None:
    campaigns = [drawn_campaign(29, number) for number in range(48)]
    kinds = [kind for campaign in campaigns for kind, _ in campaign.arms]
    assert len(kinds) == ARMS * len(campaigns)
    assert {*UNCACHED, "memory"} == set(kinds)
    assert all(kinds.count(kind) >= len(campaigns) / 4 for kind in set(kinds))
    for campaign in campaigns:
        assert campaign.cached == all(kind == "memory" for kind, _ in campaign.arms)
        for arm in (campaign.base, *(arm for _, arm in campaign.arms)):
            for volume in arm.volumes.values():
                assert (volume in arm.caps) != (volume in arm.milliseconds)
        assert all(arm != campaign.base for _, arm in campaign.arms)


def test_the_page_counts_near_forecasts_and_keeps_the_newest() -> None:
    base = Arm(volumes={role: role for role in ROLES}, caps=dict.fromkeys(ROLES, 50_000_000))
    one = DrawnForecast(
        seed=7,
        campaign=1,
        kind="cores",
        sessions=[["wide_sort"], ["segmentation", "census_load"]],
        scale=0.002,
        cache="none",
        base=base,
        arm=msgspec.structs.replace(base, processors=1),
        forecast_seconds=10.5,
        measured_seconds=10.0,
        forecast_real_time_seconds=31.0,
        measured_real_time_seconds=30.0,
        forecast_limit="storage work",
        measured_limit="storage work",
        own_error_ratio=-0.02,
    )
    far = msgspec.structs.replace(
        one, campaign=2, kind="latency", forecast_seconds=12.0, measured_limit="cpu"
    )
    unnamed = msgspec.structs.replace(one, campaign=3, forecast_limit="not known")
    old = msgspec.structs.replace(one, forecast_seconds=20.0)
    rows = stored([msgspec.json.encode(row) for row in (far, old, one)])
    assert rows == [one, far]
    text = page(rows)
    assert "within 10 %: 1 of 2 forecasts in 2 campaigns" in text
    said = page([*rows, unnamed])
    assert "both name a limit in 2 of 3: 1 of these differ, 1 in more than the role." in said
    assert "| cores | 1 | 1 | 5 % | +5 % to +5 % |" in text
    assert "wide_sort; segmentation, census_load at 0.002 | cores | " in text
    assert "1 processor | 10.5 s | 10.0 s | +5 % | +3 % | -2 % | storage work | storage work |" in text
