"""``mawl compare`` on real runs: alike sides, and a role whose device was slowed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import needs
from tests.advice.limit.draws import generator
from tests.cli.conftest import Command
from tests.files import text_of

pytestmark = [pytest.mark.lab, pytest.mark.long(minutes=4)]

RUNS = 5
GROUPS = Path("/sys/fs/cgroup/blkio")
UNLIMITED = 10**12

WORK_BOUND = text_of(__file__, "work_bound.toml")

DATA_BOUND = text_of(__file__, "data_bound.toml")


class Slowed(NamedTuple):
    """What is slowed: a workload bound by a role, the roles on the slow device, its rates in MB/s to draw
    from, options of the run, and a program that must show it."""

    workload: str
    roles: tuple[str, ...]
    rates: range
    options: tuple[str, ...]
    program: str


SLOWED = {
    "work": Slowed(WORK_BOUND, ("work", "util"), range(25, 40), (), "random_access"),
    "data": Slowed(DATA_BOUND, ("data",), range(6, 10), ("--cache", "cold"), "census_load_single"),
}


def compared(mawl: Command) -> dict[str, Any]:
    """The comparison of the folders ``before`` and ``after``."""
    done = mawl.ok("compare", "before", "after", "--format", "json")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_five_runs_against_five_of_the_same_claim_no_more_than_chance(mawl: Command) -> None:
    for _ in range(RUNS):
        for side in ("before", "after"):
            mawl.ok("run", "nano", MAWL_RUNS=str(mawl.directory / side))
    found = compared(mawl)
    statement = found["statement"]
    assert (statement["reference_runs"], statement["candidate_runs"], statement["jobs"]) == (RUNS, RUNS, 8)
    assert statement["verdict"] != "not judged"
    assert found["obstacles"] == []
    # One in a thousand such tests may fail by chance; a comparison that overstates fails most.
    assert statement["p_value"] > 0.001
    assert statement["low_ratio"] < statement["change_ratio"] < statement["high_ratio"]
    assert statement["smallest_effect_ratio"] > 0.0


class Throttle:
    """Roles on a loop device of our own whose rate may be limited for a group of processes."""

    def __init__(self, directory: Path) -> None:
        self.place, self._group = directory / "bed", GROUPS / f"mawl-compare-{os.getpid()}"
        image = directory / "bed.img"
        with image.open("wb") as file:
            file.truncate(1500 * 2**20)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
        made = ["losetup", "-f", "--show", "--direct-io=on", str(image)]
        self.loop = subprocess.run(made, capture_output=True, text=True, check=True).stdout.strip()
        self.place.mkdir()
        subprocess.run(["mount", self.loop, str(self.place)], check=True)
        self._group.mkdir()

    def limit(self, bytes_per_second: int) -> None:
        """Limit reads and writes, each to this rate."""
        number = Path("/sys/block", Path(self.loop).name, "dev").read_text().strip()
        for direction in ("read", "write"):
            file = self._group / f"blkio.throttle.{direction}_bps_device"
            file.write_text(f"{number} {bytes_per_second}")

    def join(self) -> None:
        """The calling process, and what it starts, fall under the limit."""
        (self._group / "tasks").write_text(str(os.getpid()))

    @staticmethod
    def leave() -> None:
        """Back to where no limit is."""
        (GROUPS / "tasks").write_text(str(os.getpid()))

    def close(self) -> None:
        """Take away what was made, and only that."""
        subprocess.run(["umount", str(self.place)], check=False)
        subprocess.run(["losetup", "-d", self.loop], check=False)
        self._group.rmdir()


@pytest.fixture
def throttle(tmp_path: Path) -> Iterator[Throttle]:
    needs.ROOT.require()
    needs.program("losetup", "mkfs.ext4", "mount").require()
    if not (GROUPS / "blkio.throttle.read_bps_device").exists():
        needs.skip("needs control groups of version 1 with blkio")
    made = Throttle(tmp_path)
    made.join()
    yield made
    made.leave()
    made.close()


def test_a_slowed_device_is_named_by_its_role(mawl: Command, throttle: Throttle) -> None:
    chance = generator()
    role = chance.choice(list(SLOWED))
    slowed = SLOWED[role]
    (mawl.directory / "bound.toml").write_text(slowed.workload)
    cap = chance.choice(slowed.rates) * 10**6
    places = {f"MAWL_{name.upper()}": str(throttle.place / name) for name in slowed.roles}
    assert mawl("generate", "bound.toml", **places).returncode == 0
    for _ in range(RUNS):
        for side, rate in (("before", UNLIMITED), ("after", cap)):
            throttle.limit(rate)
            runs = str(mawl.directory / side)
            mawl.ok("run", "bound.toml", *slowed.options, MAWL_RUNS=runs, **places)
    found = compared(mawl)
    assert found["statement"]["verdict"] == "slower"
    assert found["named"]["role"] == role
    assert found["named"]["sentence"].startswith(f"time blocked in {role} ")
    verdicts = {row["place"]: row["verdict"] for row in found["places"]}
    assert verdicts[role] == "more"
    assert verdicts["util"] == "not told apart"
    programs = {row["program"]: row["verdict"] for row in found["programs"]["changes"]}
    assert programs[slowed.program] == "slower"
    assert found["candidate"]["limits"][0][0].startswith(f"storage ({role} on ")
