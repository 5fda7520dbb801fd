"""System descriptions: what reads, what is refused and by which words, and that writing reads back."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.errors import InvalidFileError
from mawl.simulation.system_file import load_system, loads_system, system_toml

TEXT = """
name = "two"
fabric_bytes_per_second = "10GB"
fabric_shared_bytes_per_second = "12GB"

[[nodes]]
count = 4
cores = 16
core_speed = 1.5
threads_per_core = 4
memory_bytes = "64GiB"
link_bytes_per_second = 5e9
roles = { data = ["array"], work = ["array", "card"], util = ["card"] }

[devices.array]
read_bytes_per_second = "4GB"
write_bytes_per_second = 2e9
shared_bytes_per_second = 5e9
latency_seconds = 0.005
requests_per_second = 30000
spinning_streams = 8

[devices.card]
read_bytes_per_second = 1500000000
write_bytes_per_second = 1e9
local = true

[sources]
"devices.array.read_bytes_per_second" = "measured: fio"
"nodes.0.cores" = "published: the paper"
"""


def test_a_description_reads_in_base_units() -> None:
    system = loads_system(TEXT, where="here")
    assert system.node_count == 4
    assert system.fabric_bytes_per_second == 1e10
    assert system.fabric_shared_bytes_per_second == 1.2e10
    (node,) = system.nodes
    assert (node.cores, node.memory_bytes, node.threads_per_core) == (16.0, 64 * 2.0**30, 4)
    assert node.roles["work"] == ("array", "card")
    array, card = system.devices
    assert (array.read_bytes_per_second, array.spinning_streams) == (4e9, 8.0)
    assert (card.read_bytes_per_second, card.local, card.shared_bytes_per_second) == (1.5e9, True, None)


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    system = loads_system(TEXT, where="here")
    path = tmp_path / "system.toml"
    path.write_text(system_toml(system, head="one\ntwo"))
    assert path.read_text().startswith("# one\n# two\n")
    assert load_system(path) == system


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "write_bytes_per_second = 2e9",
            "write_bytes_per_second = 0",
            "device array: write_bytes_per_second is 0",
        ),
        ("spinning_streams = 8", "spinning_streams = -1", "device array: spinning_streams is -1"),
        (
            "latency_seconds = 0.005",
            "latency_seconds = nan",
            "device array: latency_seconds must be 0 or more",
        ),
        (
            "requests_per_second = 30000",
            "requests_per_second = inf",
            "device array: requests_per_second is inf",
        ),
        ("cores = 16", "cores = 0", "nodes: cores is 0"),
        ("link_bytes_per_second = 5e9", "link_bytes_per_second = 0", "nodes: link_bytes_per_second is 0"),
        (
            'fabric_bytes_per_second = "10GB"',
            "fabric_bytes_per_second = 0",
            "system two: fabric_bytes_per_second is 0",
        ),
        (', util = ["card"]', "", "nodes: role util lies on no device"),
        (
            'util = ["card"]',
            'util = ["tape"]',
            "system two: role util lies on device tape, which is not described",
        ),
        ("[devices.card]", "[devices.link]", "a device cannot be named 'link'"),
        ("[devices.card]", "[devices.fabric]", "a device cannot be named 'fabric'"),
        ("[devices.card]", "[devices.work]", "a device cannot be named 'work'"),
        ("cores = 16", "", r"key nodes\[0\].cores: required, but missing"),
        ("cores = 16", 'cores = "many"', r"key nodes\[0\].cores: expected a number, found text"),
        (
            "local = true",
            "loca = true",
            r"key devices\[...\].loca: unknown, expected one of read_bytes_per_second",
        ),
        ('"64GiB"', '"64GiX"', r"key nodes\[0\].memory_bytes: "),
        ('"nodes.0.cores"', '"nodes.1.cores"', "key sources.nodes.1.cores: expected the path of a figure"),
    ],
)
def test_systems_that_cannot_be_are_refused_by_name(old: str, new: str, words: str) -> None:
    assert old in TEXT
    with pytest.raises(InvalidFileError, match=f"^here: {words}"):
        loads_system(TEXT.replace(old, new, 1), where="here")


def test_a_system_without_nodes_is_refused() -> None:
    with pytest.raises(InvalidFileError, match="the system has no nodes"):
        loads_system('name = "none"\nnodes = []\n[devices]\n', where="here")
