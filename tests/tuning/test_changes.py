"""Settings before and after: changed, left, not checked; a missing value is no change."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.records.model.node import Inventory
from mawl.tuning.changes import SettingChange, changes
from mawl.tuning.check import CurrentSettings
from mawl.tuning.profile_files import profiles
from mawl.tuning.text import render_changes

VMO = {"maxfree": "1088", "minfree": "8K", "npswarn": "8192"}


def side(node: str = "n", **families: dict[str, Any]) -> CurrentSettings:
    found = {family: held if family == "hdisk" else {"machine": held} for family, held in families.items()}
    inventory = Inventory(families=found, missing={"vmo.machine.nokilluid": "printed with two values"})
    return CurrentSettings(run_id=None, platform="aix", inventories={node: inventory}, collected=True)


def rows(before: CurrentSettings, after: CurrentSettings) -> dict[tuple[str, str], SettingChange]:
    found = changes(before, after, ("a", "b"), None, profiles())
    assert sum(found.counts.values()) == len(found.settings)
    keys = [(one.name, one.subject, one.profile, one.tier) for one in found.settings]
    assert len(keys) == len(set(keys))
    return {(one.name, one.subject): one for one in reversed(found.settings)}


def test_changed_left_and_not_checked() -> None:
    found = rows(side(vmo=VMO), side(vmo=VMO | {"maxfree": "73728", "minfree": "8192", "nokilluid": None}))
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
    found = rows(side(vmo=VMO), side(ioo={"numclust": "1"}))
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
    found = rows(before, side(hdisk={"hdisk1": {"queue_depth": "64"}}))
    assert found["queue_depth", "hdisk1"].outcome == "changed"
    gone = found["queue_depth", "hdisk2"]
    assert (gone.outcome, gone.reason, gone.state) == ("not checked", "after: not there", None)


def test_what_no_profile_names_is_there_where_it_changed() -> None:
    other = {"arpqsize": "1024", "tcp_sendspace": "16384", "storage": "XIV"}
    found = rows(side(no=other), side(no=other | {"tcp_sendspace": "262144", "storage": "other"}))
    change = found["no.tcp_sendspace", ""]
    assert (change.outcome, change.before, change.after) == ("changed", "16384", "262144")
    assert (change.profile, change.recommended) == (None, None)
    assert not {key for key in found if key[0] in ("no.arpqsize", "no.storage")}


def test_one_machine_may_have_another_name_and_several_may_not() -> None:
    assert rows(side("old", vmo=VMO), side("new", vmo=VMO))["maxfree", ""].outcome == "left"
    both = {**side("a", vmo=VMO).inventories, **side("b", vmo=VMO).inventories}
    several = CurrentSettings(run_id=None, platform="aix", inventories=both, collected=True)
    with pytest.raises(UsageError, match="a and b have no node in common"):
        changes(several, side("c", vmo=VMO), ("a", "b"), None, profiles())


def test_the_text_is_a_table_with_reasons_and_counts() -> None:
    found = changes(side(vmo=VMO), side(vmo=VMO | {"maxfree": "1\x1b[2J"}), ("a", "b"), None, profiles())
    text = render_changes(found, whole=True)
    assert "\x1b" not in text and "not checked (unknown on one side):" in text
    assert "more were left as they were or not checked" in render_changes(found, whole=False)
