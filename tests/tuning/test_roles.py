"""One volume where several would help is found, but only where the run says that it is the limit."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.model.inventory import Inventory
from mawl.model.run import VolumeFacts
from mawl.spec.program_options import Role
from mawl.tuning.check import CurrentSettings, check
from mawl.tuning.profile_files import profiles
from mawl.tuning.roles import volumes_of_roles, with_roles
from tests.fakes.views import partly, plain


def volume(role: Role, *disks: str, node: str = "n1") -> VolumeFacts:
    return VolumeFacts(role=role, node=node, directory=f"/{role}/{'-'.join(disks)}", disks=list(disks))


def rows(volumes: list[VolumeFacts], verdict: str, role: str | None) -> list[dict[str, Any]]:
    roles = volumes_of_roles(volumes, partly({"limit": {"verdict": verdict, "role": role}}).limit)
    inventory = with_roles(Inventory(families={}), roles["n1"])
    losses = {"storage": 0.6, "cpu": 0.1, "memory": 0.0, "network": 0.0}
    reading = CurrentSettings(run_id="r1", platform="linux", inventories={"n1": inventory}, losses=losses)
    found = plain(check(reading, None, profiles()))["settings"]
    return [row for row in found if row["profile"] == "volumes"]


ONE = [volume("data", "sda"), volume("work", "sdb"), volume("util", "sdb")]


def test_one_volume_instead_of_four_is_found_with_its_command() -> None:
    (row,) = rows(ONE, "storage", "work")
    assert (row["subject"], row["state"], row["current"], row["recommended"]) == ("work", "differs", 1, 4)
    assert row["change"] == "mawl run --work DIR1 DIR2 DIR3 DIR4, each on a device of its own"
    assert row["weight_ratio"] == 0.6


def test_where_no_role_is_named_all_of_them_count() -> None:
    assert [row["subject"] for row in rows(ONE, "storage", None)] == ["data", "work", "util"]


@pytest.mark.parametrize(("verdict", "role"), [("cpu", None), ("none", None), ("mixed", "work")])
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
