"""Used space and idle states of a Linux host are checked from what commands print."""

from __future__ import annotations

from pathlib import Path

from mawl.tuning.check import check
from mawl.tuning.collection.reading import collector, read_collections
from mawl.tuning.profile_files import profiles
from mawl.tuning.records import CheckedSetting
from tests.fakes import collected_hosts as hosts

MOUNT = "/dev/sdb1 on /sasdata type xfs (rw,noatime)"
SPACE = """Filesystem     1024-blocks      Used Available Capacity Mounted on
tmpfs              8139824   8139824         0     100% /run
/dev/sdb1       1000000000 900000000 100000000      90% /sasdata"""
STATES = """/sys/devices/system/cpu/cpu0/cpuidle/state0/latency:0
/sys/devices/system/cpu/cpu0/cpuidle/state1/latency:133
/sys/devices/system/cpu/cpu0/cpuidle/state0/disable:0
/sys/devices/system/cpu/cpu0/cpuidle/state1/disable:0"""


def found(tmp_path: Path, files: list[tuple[str, str]]) -> dict[tuple[str, str], CheckedSetting]:
    folder = hosts.write(tmp_path / "lx1", "lx1", "linux", files)
    told = check(read_collections([folder], {}), None, profiles()).settings
    return {(one.name, one.subject): one for one in told}


def test_used_space_is_of_the_file_systems_that_mount_shows(tmp_path: Path) -> None:
    rows = found(tmp_path, [("mount", MOUNT), ("df -P", SPACE)])
    used = rows["used space", "/sasdata"]
    assert (used.current, used.state) == (0.9, "differs")
    assert ("used space", "/run") not in rows
    alone = found(tmp_path / "alone", [("df -P", SPACE)])
    assert alone["used space", ""].state == "not collected"


def test_the_deepest_idle_state_that_is_on_counts(tmp_path: Path) -> None:
    rows = found(tmp_path, [("sysfiles", STATES)])
    exit_time = rows["longest exit from idle", ""]
    assert (exit_time.current, exit_time.state) == (0.000133, "differs")
    off = found(tmp_path / "off", [("sysfiles", f"{STATES[:-1]}1")])
    assert off["longest exit from idle", ""].current == 0.0
    lacking = found(tmp_path / "lacking", [("sysfiles", STATES.rpartition("\n")[0])])
    assert lacking["longest exit from idle", ""].state == "not collected"


def test_the_collector_of_linux_asks_for_both() -> None:
    script = collector("linux")
    assert "\nask df -P\n" in script and "cpuidle/state*/latency" in script
