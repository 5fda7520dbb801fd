"""Volumes, block sizes and compression on this machine (root), each in about a minute and a half."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.lab.bed import load_bed
from mawl.lab.state import read_state
from tests.lab.leftovers import leftovers
from tests.lab.test_experiments import campaign, held_against_their_runs

pytestmark = [pytest.mark.lab, pytest.mark.long(minutes=4), pytest.mark.measured(reruns=1)]


@pytest.fixture
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = Path("/dev/shm") / f"mawl-test-{tmp_path.name}-{tmp_path.parent.name}"
    place.mkdir()
    monkeypatch.setenv("MAWL_LAB_IMAGES", str(place))
    yield place
    # Empty here: also where a test was skipped, or failed before it looked.
    if place.exists():
        place.rmdir()


def check_gone(name: str, directory: Path, images: Path) -> None:
    bed = load_bed(name)
    cap = next(volume.cap.rate for volume in bed.volumes if volume.cap is not None)
    assert read_state(directory / "state", name) is None
    assert leftovers(directory / "state", images, cap=cap, zram_bytes=bed.volumes[-1].size_bytes) == []
    images.rmdir()


def test_more_volumes_help_until_the_knee(tmp_path: Path, images: Path) -> None:
    found = campaign("volumes", tmp_path)
    series = found["series"][0]
    steps = {step["arm"]: step for step in series["steps"]}
    assert steps["one"]["cap_share_ratio"] == pytest.approx(1.0, abs=0.1)
    rates = [step["bytes_per_second"] for step in series["steps"]]
    assert rates[1] > 1.3 * rates[0]
    assert rates[2] > 1.5 * rates[0]
    # Four jobs are four streams: eight volumes cannot double what four move.
    assert steps["eight"]["gain_ratio"] < 0.5
    assert series["knee"] in ("two", "four")
    assert "less than half" in series["sentence"]
    assert series["reasons"]
    assert [one["agrees"] for one in found["findings"]] == [True]
    held_against_their_runs(found, dict.fromkeys(("two", "four", "eight"), "storage"), tmp_path)
    check_gone("volumes", tmp_path, images)


def test_savings_are_as_estimated_and_arms_ordered_or_explained(tmp_path: Path, images: Path) -> None:
    # What is saved does not depend on who computes, and the kernel's own compressing counts as others' work.
    found = campaign("compression", tmp_path, others_at_most=1.0)
    savings = {(one["arm"], one["role"]): one for one in found["savings"]}
    assert set(savings) == {(arm, role) for arm in ("software", "cheap") for role in ("data", "work", "util")}
    assert {key: one["agrees"] for key, one in savings.items()} == dict.fromkeys(savings, True)
    for arm in ("software", "cheap"):
        for role in ("data", "util"):
            assert len(savings[arm, role]["volumes"]) == 4
            assert savings[arm, role]["spread_ratio"] < 0.05
    assert len(found["findings"]) == 4
    assert all(one["agrees"] or one["reasons"] for one in found["findings"])
    assert [one["arm"] for one in found["figures"]] == ["none", "software", "cheap"]
    check_gone("compression", tmp_path, images)


def test_larger_blocks_help_under_a_cap_on_requests(tmp_path: Path, images: Path) -> None:
    found = campaign("blocksize", tmp_path)
    by_arm = {one["arm"]: one["real_time_seconds"] for one in found["figures"]}
    assert by_arm["ext4-4k"] < by_arm["ext4-1k"]
    refused = [remark for remark in found["remarks"] if "is left out" in remark]
    assert ("ext4-64k" in by_arm) is not any("arm ext4-64k " in remark for remark in refused)
    check_gone("blocksize", tmp_path, images)
