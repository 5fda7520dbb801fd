"""The chart of the first page: the line of the guideline counts the cores that figures per core count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mawl.advice.judge import judged
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from mawl.reports.html.charts.every import charts_of
from mawl.reports.html.charts.lead import bounds_of, limit_columns, too_few
from mawl.reports.html.sources import chart_data, sources_of
from tests.fakes.stored_run import facts, write_run
from tests.fakes.synthetic_run import write_synthetic_run
from tests.fakes.views import partly
from tests.pages.kinds import run_page


def guideline_of(folder: Path, **changes: Any) -> tuple[list[str], float | None]:
    """The legend's words of the guideline, and the cores behind the throughput per core of the summary.

    ``changes`` are those of the only node; a second node is on the same machine.
    """
    facts = json.loads((folder / "run.json").read_text())
    node = facts["nodes"][0] | {"cores": 4} | changes
    facts["nodes"] = [node, node | {"name": "second", "same_machine_as": node["name"]}]
    (folder / "run.json").write_text(json.dumps(facts))
    view = StoredView(open_run(folder))
    summary, found = judged(view), chart_data(view)
    summary.io.foreign = None  # with much of it, the chart is of the application, without a guideline
    (lead,) = [one for one in charts_of(found, sources_of(found, summary), summary) if one.name == "lead"]
    device = summary.io.device
    total, each = device.sustained.total_bytes_per_second, device.sustained_bytes_per_second_per_core
    assert total is not None
    words = [key.name for key in lead.keys if "guideline" in key.name]
    return words, None if each is None else total / each


@pytest.mark.parametrize(("share", "side"), [(0.05, "device"), (0.4, "application"), (None, "device")])
def test_throughput_is_that_of_the_jobs_where_others_moved_much_at_the_devices(
    tmp_path: Path, share: float | None, side: str
) -> None:
    folder = write_synthetic_run(tmp_path / "run", jobs=20, nodes=1, seconds=300)
    view = StoredView(open_run(folder))
    summary, found = judged(view), chart_data(view)
    assert summary.io.foreign is not None
    summary.io.foreign.ratio, summary.io.foreign.total_bytes_per_second = share, 1e9
    chart = charts_of(found, sources_of(found, summary), summary)[0]
    series = [key.series for key in chart.keys if key.series]
    assert series == [f"{side}_{way}_bytes_per_second" for way in ("read", "write")]
    assert ("other programs moved" in chart.caption) == (side == "application")
    assert ("guideline" in " ".join(key.name for key in chart.keys)) == (side == "device")


@pytest.mark.parametrize(
    ("changes", "cores", "shown"),
    [
        (
            {"core_basis": "physical core"},
            4,
            "guideline for both together, 100 MB/s for each physical core: 400 MB/s",
        ),
        (
            {"core_basis": "vCPU", "cpus_used": [0]},
            1,
            "guideline for both together, 100 MB/s for each vCPU: 100 MB/s",
        ),
    ],
)
def test_the_guideline_counts_the_cores_that_jobs_could_use_and_each_machine_once(
    tmp_path: Path, changes: dict[str, Any], cores: float, shown: str
) -> None:
    folder = write_synthetic_run(tmp_path / "run", jobs=20, nodes=1, seconds=300)
    words, counted = guideline_of(folder, **changes)
    assert words == [shown]
    assert counted == pytest.approx(cores)


def test_without_cores_in_one_basis_there_is_no_line(tmp_path: Path) -> None:
    folder = write_synthetic_run(tmp_path / "run", jobs=20, nodes=1, seconds=300)
    assert guideline_of(folder, core_basis=None) == ([], None)


def lead_of(folder: Path, caps: list[dict[str, Any]]) -> tuple[list[tuple[str, str]], Any]:
    """The legend's words of caps and capabilities with their swatches, and the data of the lines."""
    facts = json.loads((folder / "run.json").read_text())
    for volume in facts["volumes"]:
        volume["caps"] = [
            one | {"carries": volume["devices"]} for one in caps if one["device"] in volume["devices"]
        ]
    (folder / "run.json").write_text(json.dumps(facts))
    view = StoredView(open_run(folder))
    summary, found = judged(view), chart_data(view)
    summary.io.foreign = None
    sources = sources_of(found, summary)
    (lead,) = [one for one in charts_of(found, sources, summary) if one.name == "lead"]
    keys = [(key.name, key.swatch) for key in lead.keys if key.swatch in ("dashed", "dotted")]
    return [key for key in keys if "guideline" not in key[0]], sources["bounds"]


def cap(device: str, direction: str, **values: int) -> dict[str, Any]:
    return {"device": device, "direction": direction, "file": "/groups/a", **values}


def test_the_cap_of_a_control_group_has_a_dotted_line_with_its_label(tmp_path: Path) -> None:
    folder = write_synthetic_run(tmp_path / "run", jobs=20, nodes=1, seconds=300)
    disks = ("sda", "sdb", "sdc")
    caps = [cap(disk, "write", bytes_per_second=100_000_000) for disk in disks]
    keys, data = lead_of(folder, caps)
    (key,) = keys
    assert key[0].startswith("cap of a control group on bytes written: 300 MB/s")
    assert key[1] == "dotted"
    drawn = dict(zip(data["value"], data["dash"], strict=True))
    assert drawn[300_000_000] == "dotted"


@pytest.mark.parametrize(
    "caps",
    [
        [],
        [cap("sda", "write", bytes_per_second=100_000_000)],
        [cap(disk, "write", requests_per_second=100) for disk in ("sda", "sdb", "sdc")],
    ],
    ids=["none", "of one disk of three", "on requests"],
)
def test_a_cap_that_does_not_bound_all_bytes_has_no_line(tmp_path: Path, caps: list[dict[str, Any]]) -> None:
    folder = write_synthetic_run(tmp_path / "run", jobs=20, nodes=1, seconds=300)
    keys, data = lead_of(folder, caps)
    assert keys == []
    assert "dotted" not in data["dash"]


def test_a_line_that_is_not_drawn_is_in_the_caption_and_not_in_the_legend(tmp_path: Path) -> None:
    folder = write_synthetic_run(tmp_path / "run", jobs=20, nodes=1, seconds=300)
    disks = ("sda", "sdb", "sdc")
    high = [cap(disk, "write", bytes_per_second=100_000_000_000) for disk in disks]
    keys, data = lead_of(folder, high)
    assert keys == [] and 300_000_000_000 not in data["value"]
    view = StoredView(open_run(folder))
    summary, found = judged(view), chart_data(view)
    lead = charts_of(found, sources_of(found, summary), summary)[0]
    assert "Not drawn, far above: cap of a control group on bytes written: 300 GB/s." in lead.caption


def test_windows_in_a_row_with_one_limit_are_one_part_of_the_strip() -> None:
    windows = [(0.0, 5.0, "memory"), (5.0, 10.0, "memory"), (10.0, 15.0, "cpu"), (20.0, 25.0, "cpu")]
    columns = limit_columns(windows)
    parts = list(zip(columns["left"], columns["right"], columns["limit"], strict=True))
    assert parts == [(0.0, 10.0, "memory"), (10.0, 15.0, "cpu"), (20.0, 25.0, "cpu")]


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (0, ""),
        (1, "throughput was measured 1 time in 60.0 s, too few for a chart"),
        (4, "throughput was measured 4 times in 60.0 s, too few for a chart"),
        (5, ""),
    ],
)
def test_throughput_that_was_hardly_seen_is_not_drawn(seen: int, why: str) -> None:
    rates = np.full(9, np.nan)
    rates[:seen] = 1e6
    assert too_few(rates, 60.0) == why


def test_a_run_too_short_for_a_chart_says_so_and_promises_no_strip(tmp_path: Path) -> None:
    write_run(tmp_path / "run").finish(facts())
    page = run_page(tmp_path / "run")
    assert "Not drawn: throughput was measured 2 times in 60.5 s, too few for a chart." in page
    assert 'id="chart-lead"' not in page and "The strip" not in page


def test_the_strip_covers_the_active_phase_of_a_cluster(tmp_path: Path) -> None:
    folder = write_synthetic_run(tmp_path / "run", jobs=240, nodes=4, seconds=600)
    view = StoredView(open_run(folder))
    summary, found = judged(view), chart_data(view)
    limits = sources_of(found, summary)["limits"]
    assert summary.limit is not None and summary.limit.told_ratio == pytest.approx(1.0)
    assert limits["left"][0] == pytest.approx(0.0)
    assert limits["right"][-1] == pytest.approx(summary.time.active_seconds, abs=0.01)
    lead = charts_of(found, sources_of(found, summary), summary)[0]
    assert "each window of the active phase" in lead.caption


@pytest.mark.parametrize("shared", ["shared_with", "disks_shared_with"])
def test_storage_that_roles_share_counts_once(shared: str) -> None:
    """Roles on one device, and roles on two partitions of one disk."""
    able = {"data": 300e6, "work": 300e6, "util": 100e6}
    others = {"data": ["work"], "work": ["data"], "util": []}
    by_role = {
        role: {
            shared: others[role],
            "read": {"capability_bytes_per_second": rate},
            "write": {"capability_bytes_per_second": None},
        }
        for role, rate in able.items()
    }
    (bound,) = bounds_of(partly({"storage": {"by_role": by_role}}), None)
    assert (bound.words, bound.bytes_per_second) == ("storage can be read at", 400e6)
