"""The shipped experiments on this machine (root): the papers' direction, and the verdict by construction."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mawl.lab.bed import load_bed
from mawl.lab.calibration import NOT_AS_SAID
from mawl.lab.needs import check, needs_of
from tests import needs
from tests.lab.quiet import IDLE_RATIO, busy_ratio, others_ratio
from tests.lab.standing import CALIBRATIONS
from tools.forecasts import forecasts, page

pytestmark = [pytest.mark.lab, pytest.mark.long(minutes=4), pytest.mark.measured(reruns=1)]

LEAST_RATIO, MOST_RATIO = 0.85, 1.40
"""Measured over forecast elapsed times of an arm."""

OTHERS_RATIO = 0.25
"""What others, the bed's processes and the kernel may use of the processors in a run that is judged."""


def campaign(name: str, directory: Path, *, others_at_most: float = OTHERS_RATIO) -> dict[str, Any]:
    """``mawl lab run`` of a shipped bed; what it found.

    Fails, with the figure, where others keep it so busy during a judged run, or just after a calibration
    that was refused, that nothing can be judged; it is tried again.
    """
    bed = load_bed(name)
    needs.bed(check(needs_of(bed, bed.volumes), directory / "state"))
    for _ in range(CALIBRATIONS):
        ended = subprocess.run(
            [sys.executable, "-m", "mawl", "lab", "run", name, "--json"],
            cwd=directory,
            env={**os.environ, "MAWL_LAB_STATE": str(directory / "state")},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=400,
        )
        sys.stdout.write(ended.stdout + ended.stderr)
        if NOT_AS_SAID not in ended.stderr:
            break
    if ended.returncode != 0 and NOT_AS_SAID in ended.stderr and (busy := busy_ratio()) > IDLE_RATIO:
        pytest.fail(f"cannot be judged: just after calibration others used {busy:.0%} of the processors")
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    others = max(others_ratio(arm) for arm in found["arms"] if not arm["repeated"])
    if others > others_at_most:
        pytest.fail(f"cannot be judged: others used {others:.0%} of the processors during a run")
    return found


def held_against_their_runs(found: dict[str, Any], limits: dict[str, str | None], directory: Path) -> None:
    """Arms, forecast from the first: elapsed times near the forecasts, and the right limits.

    ``limits`` are of the arms: what forecast and run both name, None where only storage or not is certain.
    """
    rows = forecasts(directory / "runs" / "lab" / found["campaign_id"], directory / "forecasts")
    sys.stdout.write(page(rows))
    of_arms = {row["arm"]: {one["figure"]: one for one in row["figures"]} for row in rows}
    for arm, expected in limits.items():
        elapsed, limit = of_arms[arm]["time.elapsed_seconds"], of_arms[arm]["limit.verdict"]
        assert LEAST_RATIO <= elapsed["measured"] / elapsed["predicted"] <= MOST_RATIO, arm
        if expected is None:
            assert (limit["predicted"] == "storage") is (limit["measured"] == "storage"), arm
        else:
            assert limit["predicted"] == limit["measured"] == expected, arm


def test_hybrid_beats_all_slow_because_of_work_and_util(tmp_path: Path) -> None:
    found = campaign("hybrid", tmp_path)
    claim = next(one for one in found["claims"] if one["figure"] == "time.real_time_seconds")
    assert claim["change_ratio"] < -0.1
    assert claim["direction_agrees"] is True
    pair = found["pairs"][0]
    assert pair["place"] in ("work", "util")
    assert pair["work_util_blocked_ratio"] > 0.5
    assert [one["agrees"] for one in found["verdicts"]] == [True]
    held_against_their_runs(found, {"hybrid": "storage"}, tmp_path)


def test_spinning_waits_for_storage_and_flash_does_not(tmp_path: Path) -> None:
    found = campaign("spinning-vs-flash", tmp_path)
    ratio = next(one for one in found["claims"] if one["figure"] == "cpu_real_ratio.without_run_queue")
    assert ratio["reference_value"] < 0.6 * ratio["candidate_value"]
    assert ratio["direction_agrees"] is True
    verdicts = {one["arm"]: one["verdict"] for one in found["verdicts"]}
    assert verdicts["spinning"] == "storage"
    assert verdicts["flash"] != "storage"
    # What flash leaves as the limit, if anything, lies with the processors of the day.
    held_against_their_runs(found, {"flash": None}, tmp_path)


FABRIC_OTHERS_RATIO = 0.55
"""GlusterFS at both ends of the links, and their packets, are neither jobs nor mawl."""


def test_wider_links_move_the_limit_from_the_network_to_the_storage(tmp_path: Path) -> None:
    found = campaign("fabric", tmp_path, others_at_most=FABRIC_OTHERS_RATIO)
    changes = {one["figure"]: one["change_ratio"] for one in found["claims"]}
    assert -0.20 < changes["time.elapsed_seconds"] < -0.08
    assert changes["cluster.storage.storage.device.peak.total_bytes_per_second"] > 0.05
    assert all(one["direction_agrees"] for one in found["claims"])
    verdicts = {one["arm"]: one["verdict"] for one in found["verdicts"]}
    assert verdicts == {"link-40": "network", "link-56": "storage"}
    runs = [str(tmp_path / "runs" / "lab" / found["campaign_id"] / arm["folder"]) for arm in found["arms"]
            if not arm["repeated"]]  # fmt: skip
    compared = subprocess.run(
        [sys.executable, "-m", "mawl", "compare", *runs], capture_output=True, text=True, timeout=120
    )
    assert compared.returncode == 0, compared.stderr
    said = " ".join(compared.stdout.split())
    assert "the storage behind the links is the limit now" in said
    assert "network -> storage" in said
    held_against_their_runs(found, {"link-56": "storage"}, tmp_path)
