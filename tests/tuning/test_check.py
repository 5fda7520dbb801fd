"""What is set beside what is recommended: states, ranks, commands, and recordings of AIX hosts.

One volume where several would help is found, but only where the run says that it is the limit.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.records.model.node import Figures, Inventory
from mawl.records.model.run import NodeFacts, RunFacts, VolumeFacts, WorkloadFacts
from mawl.records.spec.program_options import Role, parse_options
from mawl.reports.document import terminal
from mawl.tuning import check as checking
from mawl.tuning import text as printing
from mawl.tuning.changes import SettingChange, changes, recorded_inventories
from mawl.tuning.check import CurrentSettings, fill_command, machine_settings, volumes_of_roles, with_roles
from mawl.tuning.check import check as check_tuning
from mawl.tuning.profile_files import profiles
from mawl.tuning.records import Profile, SettingsCheck
from mawl.tuning.text import change_parts
from tests.fakes.views import partly, plain


def volume(role: Role, *disks: str, node: str = "n1") -> VolumeFacts:
    return VolumeFacts(role=role, node=node, directory=f"/{role}/{'-'.join(disks)}", disks=list(disks))


def rows(volumes: list[VolumeFacts], verdict: str, role: str | None) -> list[dict[str, Any]]:
    roles = volumes_of_roles(volumes, partly({"limit": {"verdict": verdict, "role": role}}).limit)
    inventory = with_roles(Inventory(families={}), roles["n1"])
    losses = {"storage": 0.6, "cpu": 0.1, "memory": 0.0, "network": 0.0}
    reading = CurrentSettings(run_id="r1", platform="linux", inventories={"n1": inventory}, losses=losses)
    found = plain(check_tuning(reading, None, profiles()))["settings"]
    return [row for row in found if row["profile"] == "volumes"]


ONE = [volume("data", "sda"), volume("work", "sdb"), volume("util", "sdb")]


def test_one_volume_instead_of_four_is_found_with_its_command() -> None:
    (row,) = rows(ONE, "storage", "work")
    assert (row["subject"], row["state"], row["current"], row["recommended"]) == ("work", "differs", 1, 4)
    assert row["change"] == "mawl run --work DIR1 DIR2 DIR3 DIR4, each on a device of its own"
    assert row["weight_ratio"] == 0.6


def test_where_no_role_is_named_all_of_them_count() -> None:
    assert [row["subject"] for row in rows(ONE, "storage", None)] == ["data", "work", "util"]


@pytest.mark.parametrize(("verdict", "role"), [("cpu", None), ("none", None), ("memory", "work")])
def test_nothing_is_said_where_storage_is_not_the_limit(verdict: str, role: str | None) -> None:
    assert rows(ONE, verdict, role) == []


def test_four_devices_are_enough_and_four_directories_on_one_are_not() -> None:
    four = [volume("work", f"sd{letter}") for letter in "bcde"]
    assert rows(four, "storage", "work")[0]["state"] == "as recommended"
    (row,) = rows([volume("work", "sdb")] * 4, "storage", "work")
    assert (row["state"], row["current"]) == ("differs", 1)


def test_without_a_known_device_or_a_verdict_there_is_nothing_to_say() -> None:
    assert (
        volumes_of_roles([volume("work")], partly({"limit": {"verdict": "storage", "role": "work"}}).limit)
        == {}
    )
    found = volumes_of_roles(ONE, None)["n1"]["work"]
    assert found == {"directories": 1, "devices": 1, "limited": False}


DISK = {
    "scheduler": "bfq",
    "rotational": True,
    "transport": "scsi",
    "read_ahead_bytes": 4096,
    "requests": 64,
    "max_request_bytes": 131072,
    "max_hardware_request_bytes": 131072,
    "no_merges": 0,
}
MEMORY = {"dirty_ratio": 20, "swappiness": 60, "transparent_huge_pages": None}
MISSING = {"memory.machine.transparent_huge_pages": "no such file"}


def reading_of(losses: dict[str, float] | None = None, nodes: str = "n1", **families: Any) -> CurrentSettings:
    held: dict[str, Any] = {"block": {"sda": DISK}, "memory": {"machine": MEMORY}} | families
    inventory = Inventory(families=held, missing=MISSING)
    inventories = dict.fromkeys(nodes.split(), inventory)
    return CurrentSettings(run_id="r1", platform="linux", inventories=inventories, losses=losses)


def check(
    reading: CurrentSettings, wanted: Sequence[Profile] | None, shipped: Mapping[str, Profile]
) -> dict[str, Any]:
    return plain(checking.check(reading, wanted, shipped))


def render(found: dict[str, Any], *, whole: bool) -> str:
    return terminal(printing.parts(msgspec.convert(found, SettingsCheck), whole=whole))


def linux(losses: dict[str, float] | None = None, **families: Any) -> dict[str, Any]:
    return check(reading_of(losses, **families), None, profiles())


def row(found: dict[str, Any], name: str, subject: str = "") -> dict[str, Any]:
    (one,) = [one for one in found["settings"] if (one["name"], one["subject"]) == (name, subject)]
    return dict(one)


def test_planted_bad_settings_differ_with_the_command_that_changes_them() -> None:
    found = linux()
    ahead, scheduler = row(found, "read_ahead", "sda"), row(found, "scheduler", "sda")
    assert (ahead["state"], ahead["current"], ahead["recommended"], ahead["is_default"]) == (
        "differs",
        4096,
        4194304,
        False,
    )
    assert ahead["change"] == "blockdev --setra 8192 /dev/sda"
    assert (scheduler["state"], scheduler["current"]) == ("differs", "bfq")
    assert scheduler["change"] == "echo mq-deadline > /sys/block/sda/queue/scheduler"
    assert row(found, "nr_requests", "sda")["state"] == "differs"


def test_what_is_good_missing_or_at_its_bound_does_not_differ() -> None:
    found = linux()
    assert row(found, "dirty_ratio")["state"] == "as recommended"
    assert row(found, "dirty_ratio")["is_default"] is True
    pages = row(found, "transparent huge pages")
    assert (pages["state"], pages["current"], pages["reason"]) == ("not known", None, "no such file")
    assert row(found, "max_sectors_kb", "sda")["state"] == "as recommended", "the hardware takes no more"


def test_what_the_run_lost_most_to_comes_first() -> None:
    for first, name in (("memory", "swappiness"), ("storage", "read_ahead")):
        losses = {"storage": 0.1, "cpu": 0.0, "memory": 0.1, "network": 0.0} | {first: 0.6}
        differing = [one for one in linux(losses)["settings"] if one["state"] == "differs"]
        assert differing[0]["weight_ratio"] == 0.6
        assert name in {one["name"] for one in differing if one["weight_ratio"] == 0.6}
        weights = [one["weight_ratio"] for one in differing]
        assert weights == sorted(weights, reverse=True)
    assert {one["weight_ratio"] for one in linux()["settings"]} == {None}


def test_a_sort_size_far_too_small_is_found() -> None:
    options = {
        "sortsize_bytes": 4 * 2**20,
        "memsize_bytes": 2**31,
        "bufsize_bytes": 2**18,
        "fullstimer": True,
    }
    reading = reading_of(options={"machine": options})
    found = check(reading, None, profiles())
    assert row(found, "sortsize")["state"] == "differs"
    without = check(machine_settings(reading), None, profiles())
    assert [one["name"] for one in without["settings"] if one["profile"] == "sas-options"] == []
    assert row(without, "read_ahead", "sda")["state"] == "differs"
    assert row(found, "memsize")["state"] == "as recommended"
    assert row(found, "fullstimer")["state"] == "as recommended"


def test_every_command_is_one_and_every_option_in_one_is_taken() -> None:
    """No choice of values stands where a command takes one."""
    options = {}
    for setting in (one for profile in profiles().values() for one in profile.settings):
        if setting.rule == "advice" or not setting.change:
            continue
        if any("{value}" in (text or "") for text in (setting.change, setting.persist)):
            assert " or " not in str(fill_command("{value}", setting, "sda")), setting.name
        command = str(fill_command(setting.change, setting, "sda"))
        assert not re.search(r"\{(name|value|subject)\}", command), setting.name
        for text in re.findall(r"mawl run --option ([^;]+)", command):
            name, _, value = shlex.split(text)[0].partition("=")
            assert shlex.split(text) == [f"{name}={value}"], "one word"
            options[name] = (setting, parse_options({name: value}, where="change"))
    assert set(options) == {"memsize", "bufsize", "sortsize", "fullstimer"}
    for setting, taken in options.values():
        recommended = setting.recommended
        several = recommended if isinstance(recommended, list) else [recommended]
        assert getattr(taken, setting.figure) in several, setting.name


def test_more_paths_are_no_path_selector() -> None:
    paths = {"paths": 1, "paths_usable": 1, "policy": "round-robin 0"}
    row_of_paths = row(linux(multipath={"dm-0": paths}), "paths", "dm-0")
    assert row_of_paths["state"] == "differs"
    assert "multipath.conf" not in f"{row_of_paths['change']} {row_of_paths['persist']}"


@pytest.mark.parametrize(("kind", "there"), [("ext4", False), ("nfs4", True)])
def test_the_network_counts_where_a_role_lies_on_it(kind: str, there: bool) -> None:
    mount = {"type": kind, "network": kind == "nfs4", "connections": 1, "access_times": "relatime"}
    found = linux(file_system={"/data": mount}, tcp={"machine": {"receive_most_bytes": 1}})
    assert ("linux-network-file-systems" in found["profiles"]) is there
    assert bool([one for one in found["settings"] if one["name"] in ("nconnect", "tcp_rmem")]) is there


VMO = "maxfree = 1088\n minfree = 8192\nmaxpin% = 90\nnokilluid = 10"
IOO = """NAME                      CUR    DEF    BOOT   MIN    MAX    UNIT           TYPE
     DEPENDENCIES
--------------------------------------------------------------------------------
j2_maxPageReadAhead       1024   128    128    0      64K    4KB pages         D
--------------------------------------------------------------------------------
aio_active                0      0             0      1      boolean           S"""
HDISK = "max_transfer 0x80000 Maximum TRANSFER Size True\nqueue_depth  64      Queue DEPTH           True"


def aix() -> RunFacts:
    return RunFacts(
        run_id="a1",
        kind="imported",
        mawl_version="0",
        workload=WorkloadFacts(name="w", title="w", sessions=1, jobs=0),
        outcome="completed",
        started_at=0.0,
        nodes=[NodeFacts(name="lpar1")],
        settings={
            "lpar1.BBBP.vmo -a": VMO,
            "lpar1.BBBP.ioo -L": IOO,
            "lpar1.BBBP.lsattr -El hdisk4": HDISK,
            "lpar1.AAA.AIX": "7.1",
        },
    )


def test_a_recorded_aix_host_is_compared_with_the_paper() -> None:
    inventories = recorded_inventories(aix())
    assert inventories["lpar1"].families["ioo"]["machine"] == {
        "j2_maxPageReadAhead": "1024",
        "aio_active": "0",
    }
    found = check(CurrentSettings(run_id="a1", platform="aix", inventories=inventories), None, profiles())
    assert found["profiles"] == ["aix-fibre-channel", "aix-power8", "sas-options"]
    maxfree, transfer = row(found, "maxfree"), row(found, "max_transfer", "hdisk4")
    assert (maxfree["state"], maxfree["current"], maxfree["is_default"]) == ("differs", "1088", True)
    assert maxfree["persist"] == "vmo -p -o maxfree=73728"
    assert (transfer["state"], transfer["is_default"]) == ("differs", True)
    assert transfer["change"] == "chdev -l hdisk4 -a max_transfer=0x100000 -P"
    for name in ("minfree", "nokilluid", "maxpin%", "j2_maxPageReadAhead"):
        assert row(found, name)["state"] == "as recommended"
    assert row(found, "aio_active")["state"] == "for you to judge", "nobody can set it"
    assert row(found, "queue_depth", "hdisk4")["state"] == "as recommended"


def test_what_nobody_read_of_a_named_profile_is_a_row_with_its_reason() -> None:
    named = check(reading_of(), [profiles()["spectrum-scale"]], profiles())
    (pool,) = [one for one in named["settings"] if (one["name"], one["tier"]) == ("pagepool", "XIV alone")]
    assert (pool["state"], pool["current"], pool["change"]) == (
        "for you to judge",
        None,
        "mmchconfig pagepool=8G",
    )
    assert pool["reason"] == "mmlsconfig: not read by mawl; to read it: mmlsconfig pagepool"
    assert "pagepool: -" in render(named, whole=True)
    assert named["counts"]["for_you_to_judge"] == len(profiles()["spectrum-scale"].settings)
    paths = check(reading_of(), [profiles()["linux-multipath"]], profiles())["settings"]
    assert {one["state"] for one in paths} == {"for you to judge"}
    (policy,) = [one for one in paths if one["name"] == "iopolicy"]
    assert policy["change"] == "echo round-robin > /sys/class/nvme-subsystem/NAME/iopolicy"


def test_the_root_disk_of_an_aix_host_is_compared_with_its_own_figures() -> None:
    depth: Figures = {"queue_depth": "64"}
    inventory = Inventory(families={"hdisk": {"hdisk0": depth, "hdisk4": depth, "hdisk10": depth}})
    found = check(
        CurrentSettings(run_id="a1", platform="aix", inventories={"n": inventory}), None, profiles()
    )
    depths = {
        one["subject"]: (one["state"], one["recommended"], one["tier"])
        for one in found["settings"]
        if one["name"] == "queue_depth" and one["subject"]
    }
    disk = ("as recommended", 64, "logical disk, client LPAR, XIV alone")
    root = ("differs", 128, "root disk, client LPAR and VIOS")
    assert depths == {"hdisk0": root, "hdisk4": disk, "hdisk10": disk}
    assert row(found, "queue_depth", "hdisk0")["change"] == "chdev -l hdisk0 -a queue_depth=128 -P"


def test_the_text_shows_what_differs_and_how_to_change_it() -> None:
    text = render(linux({"storage": 0.4, "cpu": 0.0, "memory": 0.0, "network": 0.0}), whole=False)
    assert "read_ahead of sda: 4 KiB, recommended at least 4 MiB (4096), default 128 KiB (128)" in text
    assert "at stake: 40 % of the jobs' time" in text
    assert "    now: blockdev --setra 8192 /dev/sda" in text
    assert "dirty_ratio" not in text
    assert "dirty_ratio: 20 % (the default)" in render(linux(), whole=True)


def test_several_nodes_are_told_apart_and_one_is_not_named_in_each_line() -> None:
    text = render(check(reading_of(nodes="n1 n2"), None, profiles()), whole=False)
    lines = [line.split(":")[0].strip() for line in text.splitlines() if "read_ahead of sda" in line]
    assert lines == ["read_ahead of sda on n1", "read_ahead of sda on n2"]
    assert " on n1" not in render(linux(), whole=True)
    assert "(linux-sequential: block devices)" in text


OLD_VMO = {"maxfree": "1088", "minfree": "8K", "npswarn": "8192"}


def side(node: str = "n", **families: dict[str, Any]) -> CurrentSettings:
    found = {family: held if family == "hdisk" else {"machine": held} for family, held in families.items()}
    inventory = Inventory(families=found, missing={"vmo.machine.nokilluid": "printed with two values"})
    return CurrentSettings(run_id=None, platform="aix", inventories={node: inventory}, collected=True)


def changed_rows(before: CurrentSettings, after: CurrentSettings) -> dict[tuple[str, str], SettingChange]:
    found = changes(before, after, ("a", "b"), None, profiles())
    assert sum(found.counts.values()) == len(found.settings)
    keys = [(one.name, one.subject, one.profile, one.tier) for one in found.settings]
    assert len(keys) == len(set(keys))
    return {(one.name, one.subject): one for one in reversed(found.settings)}


def test_changed_left_and_not_checked() -> None:
    found = changed_rows(
        side(vmo=OLD_VMO), side(vmo=OLD_VMO | {"maxfree": "73728", "minfree": "8192", "nokilluid": None})
    )
    changed = found["maxfree", ""]
    assert (changed.outcome, changed.before, changed.after) == ("changed", "1088", "73728")
    assert (changed.default, changed.recommended, changed.state) == (1088, 73728, "as recommended")
    assert changed.why and changed.source and changed.source.key == "power-s822-2015"
    assert found["minfree", ""].outcome == "left", "8K and 8192 are one value"
    assert found["npswarn", ""].outcome == "left"
    missing = found["nokilluid", ""]
    assert (missing.outcome, missing.before, missing.after) == ("not checked", None, None)
    assert missing.reason == "before: to collect it: vmo -L nokilluid; after: printed with two values"
    assert found["pacefork", ""].outcome == "not checked"


def test_a_value_that_only_one_side_has_is_no_change() -> None:
    found = changed_rows(side(vmo=OLD_VMO), side(ioo={"numclust": "1"}))
    assert {one.outcome for one in found.values()} == {"not checked"}
    assert found["maxfree", ""].before == "1088"
    assert found["numclust", ""].after == "1"


def test_a_setting_of_two_tiers_is_once_in_the_list_where_one_of_them_is_known() -> None:
    pools = [side(mmlsconfig={"pagepool": size}) for size in ("1G", "8G")]
    both = [msgspec.structs.replace(one, platform="spectrum scale") for one in pools]
    found = changes(both[0], both[1], ("a", "b"), None, profiles())
    (pool,) = [one for one in found.settings if one.name == "pagepool"]
    assert (pool.tier, pool.outcome, pool.state) == ("XIV alone", "changed", "as recommended")


def test_a_disk_that_is_gone_stays_in_the_list() -> None:
    before = side(hdisk={"hdisk1": {"queue_depth": "40"}, "hdisk2": {"queue_depth": "40"}})
    found = changed_rows(before, side(hdisk={"hdisk1": {"queue_depth": "64"}}))
    assert found["queue_depth", "hdisk1"].outcome == "changed"
    gone = found["queue_depth", "hdisk2"]
    assert (gone.outcome, gone.reason, gone.state) == ("not checked", "after: not there", None)


def test_what_no_profile_names_is_there_where_it_changed() -> None:
    other = {"arpqsize": "1024", "tcp_sendspace": "16384", "storage": "XIV"}
    found = changed_rows(side(no=other), side(no=other | {"tcp_sendspace": "262144", "storage": "other"}))
    change = found["no.tcp_sendspace", ""]
    assert (change.outcome, change.before, change.after) == ("changed", "16384", "262144")
    assert (change.profile, change.recommended) == (None, None)
    assert not {key for key in found if key[0] in ("no.arpqsize", "no.storage")}


def test_one_machine_may_have_another_name_and_several_may_not() -> None:
    assert changed_rows(side("old", vmo=OLD_VMO), side("new", vmo=OLD_VMO))["maxfree", ""].outcome == "left"
    both = {**side("a", vmo=OLD_VMO).inventories, **side("b", vmo=OLD_VMO).inventories}
    several = CurrentSettings(run_id=None, platform="aix", inventories=both, collected=True)
    with pytest.raises(UsageError, match="a and b have no node in common"):
        changes(several, side("c", vmo=OLD_VMO), ("a", "b"), None, profiles())


def test_the_text_is_a_table_with_reasons_and_counts() -> None:
    found = changes(
        side(vmo=OLD_VMO), side(vmo=OLD_VMO | {"maxfree": "1\x1b[2J"}), ("a", "b"), None, profiles()
    )
    text = terminal(change_parts(found, whole=True))
    assert "\x1b" not in text and "not checked (unknown on one side):" in text
    assert "more were left as they were or not checked" in terminal(change_parts(found, whole=False))


@pytest.mark.parametrize(
    ("release", "profile", "said"),
    [
        ("V.04.00M0P042226", "sas-viya-2026", "the logs are of SAS V.04.00M0P042226"),
        ("9.4 (TS1M8)", "sas-options", "the logs are of SAS 9.4 (TS1M8)"),
        (None, "sas-options", "SAS release not known: advice for SAS 9.4 is assumed"),
        ("V.03.05M0P111119", None, "the logs are of SAS V.03.05M0P111119"),
    ],
)
def test_the_release_in_the_logs_chooses_the_advice(
    release: str | None, profile: str | None, said: str
) -> None:
    reading = msgspec.structs.replace(reading_of(), release=release)
    found = check_tuning(reading, None, profiles())
    assert [name for name in found.profiles if name.startswith("sas-")] == ([profile] if profile else [])
    assert said in " ".join(terminal(printing.parts(found, whole=False)).split())
