"""What moved on each volume, how evenly, and how much space the run took."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.records.model.role_io import VolumeBytes
from mawl.records.model.run import CacheFacts, RunFacts, VolumeFacts
from mawl.reports import markdown
from mawl.reports.html.figures import ShownFigures, html_table
from mawl.reports.run_tables.storage import VOLUMES
from mawl.reports.tables import table_lines
from tests.fakes.measured_run import IDLE, Rate, samples
from tests.fakes.stored_run import facts, jobs
from tests.fakes.views import BARE, as_summary, partly, summary_of

DISKS = {("data", 1): "sda", ("work", 2): "sdb", ("work", 3): "sdc", ("util", 4): "sdd", ("util", 5): "sdd"}


def spread_facts(**changes: object) -> RunFacts:
    """Two volumes of work on disks of their own, two of util on one disk."""
    found = [
        VolumeFacts(
            role=role,  # type: ignore[arg-type]
            node="bench1",
            directory=f"/mnt/v{number}",
            devices=[disk],
            disks=[disk],
            size_bytes=10**12,
            used_before_bytes=10**9,
        )
        for (role, number), disk in DISKS.items()
    ]
    cache = CacheFacts(input_bytes=7000, resident_bytes=0)
    return facts(**{"volumes": found, "cache": cache, "volume_order": "rotation", **changes})


def summary(by_volume: VolumeBytes | None, rates: dict[str, Rate] | None = None, **changes: object) -> Any:
    records = [msgspec.structs.replace(job, volume_bytes=by_volume) for job in jobs()]
    some = samples(60, IDLE | (rates or {}))
    return summary_of(spread_facts(**changes), records, samples=some)


def at(peaks: dict[int, tuple[float, float]]) -> dict[str, Rate]:
    """Space by volume: at second 10, and at second 20 (the fakes add up what each second brings)."""
    grown: dict[str, Rate] = {}
    for number, (first, then) in peaks.items():
        changes = {9.0: first, 10.0: -first, 19.0: then, 20.0: -then}
        grown[f"volume.{number}.used_bytes"] = lambda second, changes=changes: changes.get(second, 0.0)  # type: ignore[misc]
    return grown


def test_bytes_shares_and_spread() -> None:
    found = summary({1: (100, 0), 2: (30, 30), 3: (20, 20), 4: (5, 5)})
    work = [volume for volume in found["volumes"] if volume["role"] == "work"]
    assert [(volume["number"], volume["read_bytes"]) for volume in work] == [(2, 5 * 30), (3, 5 * 20)]
    assert [volume["share_ratio"] for volume in work] == [0.6, 0.4]
    assert found["roles"]["work"]["spread_ratio"] == pytest.approx((60 - 40) / 50)
    assert found["roles"]["util"]["spread_ratio"] == 2.0, "all on one of two"
    assert found["roles"]["data"] == {"volumes": 1, "spread_ratio": None, "peak_used_bytes": None}
    assert found["missing"]["roles.data.spread_ratio"] == "the role has one volume"


def test_what_was_not_counted_is_null_with_its_reason() -> None:
    found = summary(None)
    assert {volume["read_bytes"] for volume in found["volumes"]} == {None}
    assert found["roles"]["work"]["spread_ratio"] is None
    assert "not counted" in found["missing"]["volumes.*.read_bytes"]
    assert "not counted" in found["missing"]["roles.work.spread_ratio"]
    assert "not looked at" in found["missing"]["volumes.*.used_after_bytes"]


def test_a_device_tells_only_of_a_volume_that_has_it_to_itself() -> None:
    rates: dict[str, Rate] = {f"device.{disk}.read_bytes": 10.0 for disk in ("sda", "sdb", "sdc", "sdd")}
    rates |= {f"device.{disk}.written_bytes": 1.0 for disk in ("sda", "sdb", "sdc", "sdd")}
    found = summary({1: (1, 1)}, rates)
    read = {volume["number"]: volume["device_read_bytes"] for volume in found["volumes"]}
    assert read == {1: pytest.approx(600, rel=0.05), 2: read[1], 3: read[1], 4: None, 5: None}


def test_the_working_set_is_the_most_at_one_moment() -> None:
    found = summary(
        {1: (1, 1)}, at({1: (500.0, 100.0), 2: (3000.0, 0.0), 3: (0.0, 2000.0), 4: (1.0, 1.0), 5: (1.0, 1.0)})
    )
    assert found["roles"]["work"]["peak_used_bytes"] == 3000, "not 3000 and 2000, which were not at once"
    assert found["roles"]["data"]["peak_used_bytes"] == 7500, "and the input tables"
    assert [volume["peak_used_bytes"] for volume in found["volumes"]][1:3] == [3000, 2000]


def test_reports_have_a_row_for_each_volume_of_roles_with_several() -> None:
    found = summary({1: (100, 0), 2: (30, 30), 3: (20, 20), 4: (5, 5)})
    lines = table_lines(VOLUMES, BARE, as_summary(found))
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["work", "1"],
        ["work", "2"],
        ["util", "1"],
        ["util", "2"],
    ]
    assert "spread of the bytes" in lines[-1]
    assert "work 0.40 over 2, util 2.00 over 2 (order: rotation)" in " ".join(lines)
    text = markdown.render(BARE, as_summary(found))
    assert "<details><summary>Volumes</summary>" in text
    assert "| work 1 | `/mnt/v2` |" in text
    one = summary_of(facts(), jobs())
    assert table_lines(VOLUMES, BARE, as_summary(one)) == []
    assert "<summary>Volumes" not in markdown.render(BARE, as_summary(one))


def test_the_page_has_the_same_rows_with_the_reasons_of_what_is_missing() -> None:
    page = "".join(html_table(VOLUMES, ShownFigures(partly(summary(None))), BARE))
    assert page.count("<tr>") == 1 + 4
    assert "/mnt/v2" in page and "/mnt/v1<" not in page
    assert "bytes by volume were not counted" in page
    assert html_table(VOLUMES, ShownFigures(partly(summary_of(facts(), jobs()))), BARE) == []
