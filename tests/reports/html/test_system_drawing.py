"""The drawing of the system: what is in it, and that every text fits its box."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mawl.advice.judge import judged
from mawl.figures.layers import Drawn, layers
from mawl.figures.view import StoredView
from mawl.records.model.node import Inventory, Port
from mawl.records.model.run import NodeFacts, VolumeFacts
from mawl.records.model.summary.storage import ArrayVolumeFigures
from mawl.records.spec.program_options import Role
from mawl.records.store import open_run
from mawl.reports.html.figures import ShownFigures
from mawl.reports.html.sections.system import LETTER, WIDTH, described, drawing, placed
from tests.fakes.stored_run import facts
from tests.fakes.synthetic_run import write_synthetic_run


def volume(role: Role, mount: str, disks: list[str], node: str = "n1", **more: Any) -> VolumeFacts:
    return VolumeFacts(
        role=role,
        node=node,
        directory=f"{mount}/x",
        mount_point=mount,
        file_system="xfs",
        disks=disks,
        **more,
    )


def saved(array: str, name: str, role: str) -> ArrayVolumeFigures:
    return ArrayVolumeFigures(
        array=array,
        volume=name,
        role=role,
        read_bytes_per_second=None,
        written_bytes_per_second=None,
        saved_ratio=None,
    )


def test_a_machine_with_two_file_systems_and_an_array() -> None:
    one = NodeFacts(name="n1", cores=16, core_basis="physical core", memory_bytes=2**37)
    some = facts(
        nodes=[one],
        ports={"n1": [Port(name="fc0", kind="fc", bytes_per_second=2e9), Port(name="fc1", kind="fc")]},
        inventories={"n1": Inventory(families={"block": {"sda": {"model": "2810XIV"}}})},
        volumes=[
            volume("data", "/data", ["sda", "sdb"], transport="fc"),
            volume("work", "/work", ["sdc"]),
            volume("util", "/work", ["sdc"]),
        ],
    )
    nodes, systems, devices, arrays = layers(some, [saved("XIV", "d1", "data"), saved("XIV", "d2", "data")])
    assert nodes == [Drawn(("n1", "16 cores", "128 GiB", "2 x fc"), uses=(0, 1))]
    assert systems == [
        Drawn(("/data", "xfs: data"), ("data",), (0,)),
        Drawn(("/work", "xfs: work, util"), ("work", "util"), (1,)),
    ]
    assert devices == [
        Drawn(("sda, sdb", "2 disks by fc", "2810XIV"), ("data",), (0,)),
        Drawn(("sdc", "1 disk"), ("work", "util"), ()),
    ]
    assert arrays == [Drawn(("XIV", "2 volumes"), ("data",))]


def test_nodes_with_the_same_file_systems_share_a_box_and_a_server_is_one() -> None:
    some = facts(
        nodes=[NodeFacts(name=name) for name in ("n1", "n2", "n3")],
        volumes=[
            *(volume("work", "/work", ["sda"], name) for name in ("n1", "n2")),
            *(
                volume("data", "/data", [], name, network=True, source="nas:/sas")
                for name in ("n1", "n2", "n3")
            ),
        ],
    )
    nodes, systems, devices = layers(some)
    assert [node.uses for node in nodes] == [(0, 1), (0, 1), (1,)]
    assert [one.lines[1:] for one in systems] == [("xfs: work", "on 2 of 3 nodes"), ("xfs: data", "shared")]
    assert devices[0].lines == ("sda", "1 disk a node")
    assert devices[1].lines == ("nas", "reached over a network")


def test_file_systems_of_one_disk_lie_on_one_box_and_unknown_disks_on_none() -> None:
    some = facts(
        nodes=[NodeFacts(name="n1")],
        volumes=[
            volume("data", "/data", ["sda"]),
            volume("work", "/work", ["sda", "sdb"]),
            volume("util", "/util", [], reason="its device is not known"),
        ],
    )
    _, systems, devices = layers(some)
    assert [one.uses for one in systems] == [(0,), (0,), ()]
    assert [one.lines[0] for one in devices] == ["sda, sdb"]
    assert layers(facts(nodes=[NodeFacts(name="n1")], volumes=[])) == []


def test_texts_fit_their_boxes_also_long_ones_and_many() -> None:
    long = "/dev/mapper/vg-that-nobody-would-name-like-this-but-somebody-did-anyway"
    rows = [
        [Drawn((f"{long}{number}", "16 cores")) for number in range(9)],
        [Drawn((long, "xfs: data, work, util"), ("data", "work", "util")) for _ in range(3)],
    ]
    boxes, lines, _ = placed(rows)
    assert [len(row) for row in boxes] == [4, 3] and " ".join(boxes[0][3].lines) == "and 6 more"
    for row in boxes:
        for box in row:
            assert all(len(text) * LETTER <= box.width for text in box.lines)
            assert box.x >= 0 and box.x + box.width <= WIDTH
        assert all(one.x + one.width < other.x for one, other in pairwise(row))
    assert lines == []
    assert described([[Drawn(("n1",), uses=(0,))], [Drawn(("/data", "xfs"))]]) == "n1: on /data. /data, xfs."


@pytest.mark.parametrize("nodes", [1, 6])
def test_the_report_has_the_drawing_with_its_text_for_who_does_not_see_it(tmp_path: Path, nodes: int) -> None:
    view = StoredView(open_run(write_synthetic_run(tmp_path / "run", jobs=4, nodes=nodes, seconds=60)))
    made = str(drawing(ShownFigures(judged(view)), view))
    assert 'role="img"' in made and "aria-label=" in made
    assert len(re.findall(r'class="box"', made)) >= 3
    assert "<script" not in made
