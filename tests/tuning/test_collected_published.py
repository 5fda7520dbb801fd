"""Each setting that the papers print for a host is checked from what a collection holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.tuning.check import check
from mawl.tuning.collection import collector, read_collections
from mawl.tuning.profile_files import profiles
from mawl.tuning.records import CheckedSetting
from tests.fakes import collected_hosts as hosts

PAPERS = ("aix-fibre-channel", "aix-power8", "spectrum-scale")
PUBLISHED = {(name, one.subject, one.group, one.name) for name in PAPERS for one in profiles()[name].settings}
STORAGES = {"sasess": "ESS GL4", "sasnew": "FlashSystem 9150"}


def rows(tmp_path: Path, values: hosts.Values, *, hybrid: bool) -> list[CheckedSetting]:
    """Settings of a partition with Spectrum Scale and of its virtual I/O server."""
    files = [*hosts.client_files(values, hybrid), *hosts.scale_files(values, hybrid)]
    folders = [
        hosts.write(tmp_path / f"lpar1 {hybrid}", "lpar1", "aix", files),
        hosts.server(tmp_path / f"vios1 {hybrid}", values, hybrid=hybrid),
    ]
    found = check(read_collections(folders, STORAGES), None, profiles())
    assert found.unread == [] and found.nodes == ["lpar1", "vios1"]
    return [one for one in found.settings if one.profile in PAPERS]


def names(found: list[CheckedSetting]) -> set[tuple[str, str, str, str]]:
    return {(one.profile, one.tier, one.group, one.name) for one in found}


def test_all_146_are_compared() -> None:
    assert len(PUBLISHED) == 146


def test_every_published_setting_is_found_as_recommended_in_a_collection(tmp_path: Path) -> None:
    every = [one for hybrid in (False, True) for one in rows(tmp_path, "recommended", hybrid=hybrid)]
    known = [one for one in every if one.current is not None]
    assert names(known) == PUBLISHED
    strange = [one for one in known if one.state != "as recommended" and one.kind != "observed"]
    assert strange == []
    lacking = {(one.node, one.profile) for one in every if one.current is None}
    assert lacking == {("vios1", "aix-power8"), ("vios1", "spectrum-scale"), ("vios1", "aix-fibre-channel")}


def test_what_is_left_at_its_default_differs_where_the_paper_changed_it(tmp_path: Path) -> None:
    every = [one for hybrid in (False, True) for one in rows(tmp_path, "default", hybrid=hybrid)]
    changed = [
        one for one in every if one.kind == "changed" and one.default is not None and one.current is not None
    ]
    at_file_system = {one.name for one in changed if one.state == "as recommended"}
    assert at_file_system <= {"block allocation type"}
    assert {one.name for one in changed if one.state == "differs"} >= {
        "maxfree", "maxMBpS", "max_xfer_size", "dyntrk", "SMT", "algorithm",
    }  # fmt: skip
    kept = [one for one in every if one.kind == "left at default" and one.current is not None]
    assert kept and {one.state for one in kept} == {"as recommended"}


def test_storage_that_the_files_do_not_tell_is_for_you_to_judge(tmp_path: Path) -> None:
    files = hosts.scale_files("recommended", False)[:2]
    folder = hosts.write(tmp_path / "lpar1", "lpar1", "scale", files)
    found = check(read_collections([folder], {}), None, profiles()).settings
    sizes = [one for one in found if one.name == "block size" and one.subject == "sasdata"]
    assert {one.state for one in sizes} == {"for you to judge"}
    assert {one.reason for one in sizes} >= {"only for storage XIV, and the files do not show which it is"}
    assert {one.current for one in sizes} == {1048576}
    told = check(read_collections([folder], {"sas*": "XIV"}), None, profiles()).settings
    (size,) = [one for one in told if one.name == "block size" and one.subject == "sasdata"]
    assert size.state == "as recommended"


@pytest.mark.parametrize("name", PAPERS)
def test_what_is_not_in_the_files_is_not_collected_and_never_a_default(tmp_path: Path, name: str) -> None:
    files = [
        ("vmo -a", "  vmm_klock_mode = 2"),
        ("mmlsconfig", "Configuration data for cluster c:\npagepool 8G"),
    ]
    folder = hosts.write(tmp_path / "lpar1", "lpar1", "aix", files)
    found = check(read_collections([folder], {}), None, profiles()).settings
    others = [one for one in found if one.profile == name and one.name not in ("vmm_klock_mode", "pagepool")]
    assert others and {one.state for one in others} == {"not collected"}
    assert all(one.current is None and one.is_default is None for one in others)
    assert all(str(one.reason).startswith("to collect it: ") for one in others)


def test_a_value_for_one_layout_does_not_differ_while_the_layout_is_not_known(tmp_path: Path) -> None:
    files = [("mmlsconfig", "Configuration data for cluster c:\npagepool 1G\nmaxMBpS 8000")]
    folder = hosts.write(tmp_path / "lpar1", "lpar1", "scale", files)
    found = check(read_collections([folder], {}), None, profiles()).settings
    alone = {one.name: one for one in found if one.tier == "XIV alone" and one.current is not None}
    pool, rate = alone["pagepool"], alone["maxMBpS"]
    assert (pool.state, rate.state) == ("for you to judge", "as recommended")
    assert pool.reason == "not for layout XIV and FlashSystem, and the files do not show which it is"


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
