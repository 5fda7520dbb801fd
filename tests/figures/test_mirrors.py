"""A mirror's bytes count once, another array's at its disks, and what a recording cannot tell is said."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from mawl.figures.layers import DeviceLayer, mirrored
from mawl.figures.view import StoredView
from tests.fakes.model_host import STEP, Cpu, ModelHost, Rates, iostat
from tests.fakes.views import plain
from tests.importers.test_import import imported

MIRROR: Rates = {"sda": (300, 1010), "sdb": (700, 1000), "md127": (1000, 1000)}
"""KiB per second: each disk wrote what the mirror wrote, and its bitmap."""


def summary(moved: Rates) -> dict[str, Any]:
    host = ModelHost(
        cpus=2,
        disks=frozenset(),
        moved=(moved,) * 3,
        cpu=(Cpu(10, 5, 5, 80),) * 3,
        names={name: name for name in moved},
        names_tell=True,
        links={},
        own_links=frozenset(),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "host.txt"
        path.write_text(iostat(host))
        _, run = imported(Path(folder), path)
        return plain(StoredView(run).summary)


@pytest.mark.parametrize(
    ("moved", "read", "written"),
    [
        (MIRROR, 1000, 1000),
        (MIRROR | {"vg-root": (1000, 1000)}, 1000, 1000),  # a volume on the mirror
        (MIRROR | {"sdc": (10, 20)}, 1010, 1020),
        ({"sda": (100, 800), "sdb": (100, 800), "vg-lv": (200, 800)}, 200, 800),  # RAID 1 of LVM
        ({"sda": (400, 500), "sdb": (600, 500), "md0": (1000, 1000)}, 1000, 1000),  # RAID 0
        ({"sdb": (400, 500), "sdc": (600, 500), "mpatha": (1000, 1000)}, 1000, 1000),  # two paths
        ({"sdb": (1000, 1000), "sdc": (0, 0), "mpatha": (1000, 1000)}, 1000, 1000),  # one path in use
    ],
)
def test_bytes_of_an_array_count_once(moved: Rates, read: int, written: int) -> None:
    found = summary(moved)
    whole = 1024 * STEP * 3
    assert found["io"]["device"]["read_bytes"] == pytest.approx(read * whole)
    assert found["io"]["device"]["written_bytes"] == pytest.approx(written * whole)
    assert not any("count at the disks" in remark for remark in found["remarks"])


def test_an_array_that_is_no_mirror_is_said_to_count_at_its_disks() -> None:
    parity = {"sda": (500, 800), "sdb": (500, 700), "sdc": (500, 600), "md5": (1400, 1300)}
    found = summary(parity)
    assert found["io"]["device"]["written_bytes"] == pytest.approx(2100 * 1024 * STEP * 3)
    assert any("bytes of md5 count at the disks below it" in remark for remark in found["remarks"])


def test_disks_that_write_alike_without_an_array_stay() -> None:
    layer = DeviceLayer(("sda", "sdb"))
    assert mirrored(layer, {"sda": (5.0, 9.0), "sdb": (5.0, 9.0)}) == layer
    halves = {"sda": (5.0, 9.0), "sdb": (5.0, 9.0), "md0": (5.0, 9.0)}
    assert mirrored(layer, halves).devices == ("sda", "sdb")  # the disks read more than the array
