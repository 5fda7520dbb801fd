"""A whole campaign over a small bed (root), in seconds: built, calibrated, a run on each arm, taken down.

The shipped beds take minutes each and are long tests (``test_experiments``, ``test_further_beds``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.lab.state import read_state
from mawl.records.store import open_run
from tests.lab.leftovers import of_runs
from tests.lab.standing import Bed, bed_text, standing

pytestmark = [pytest.mark.lab, pytest.mark.measured]

CAPS = {"slow": 16_000_000, "fast": 32_000_000}
"""So slow that no run keeps the processors busy: the bed would be made slower, and all arms run again."""
BED = bed_text(
    "small",
    {
        name: f'size = "768MiB"\ndirty = "4MiB"\n[volumes.cap]\nbytes_per_second = {cap}'
        for name, cap in CAPS.items()
    },
    {name: f"{name} {name} {name}" for name in CAPS},
)


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    with standing(tmp_path, "small", BED) as made:
        yield made


def test_a_campaign_runs_every_arm_on_a_calibrated_bed_and_takes_it_down(bed: Bed) -> None:
    done = bed("lab", "run", "small.toml", "--json")
    sys.stdout.write(done.stdout + done.stderr)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {arm["arm"] for arm in found["arms"]} == set(CAPS)
    campaign = bed.directory / "runs" / "lab" / found["campaign_id"]
    for arm in found["arms"]:
        assert {job.outcome for job in open_run(campaign / arm["folder"]).job_records()} == {"finished"}
    # What differs too much ends it: mawl's own bound holds here, so it is enough that each was calibrated.
    assert {one["volume"] for one in found["calibration"]} == set(CAPS)
    assert read_state(bed.directory / "state", "small") is None
    assert of_runs(campaign) == []
