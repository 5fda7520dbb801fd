"""Systems of the papers: figures stand in their quotations, agree with the record, or are assumed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mawl.config.published import paper_of, published, published_result
from mawl.simulation.system_file import loads_system, system_toml
from mawl.whatif import published_forecast, published_system
from mawl.whatif.published_system import (
    PublishedSystem,
    assumed,
    published_systems,
    sessions_of,
    system_of,
)
from tests import needs

SYSTEMS = {one.id: one for one in published_systems()}
WORDS = {"one": 1.0, "four": 4.0, "eight": 8.0, "twelve": 12.0, "six": 6.0}
UNITS = {"1 MB": 1024.0, "4 MB": 4096.0, "8 MB": 8192.0, "256k": 256.0, "529223432": 529223432 / 2**20}
"""Figures that a paper prints in a unit other than the description's, in that of the description."""

FILES = {
    "power-s822-2015": "000_8871ae5adc594def.txt",
    "power-e880-2016": "001_1020e5c6307fa0db.txt",
    "power-e880-2017": "002_2dfa01c6c6603b33.txt",
    "dl980-ioscale-2014": "003_6dea272c6e56f919.txt",
    "power-e980-fs9150": "004_ba01785c9b0f6789.txt",
}


def number_of(printed: str) -> float:
    if printed in UNITS:
        return UNITS[printed]
    return WORDS[printed.lower()] if printed.lower() in WORDS else float(printed)


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\\_", "_").replace("*", "")).strip().lower()


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_published_number_is_in_the_words_beside_it(name: str) -> None:
    found = dict(SYSTEMS[name].quoted())
    assert len(found) >= 5
    for key, one in found.items():
        options = (
            [one.printed]
            if one.printed
            else [f"{one.value:g}", *(w for w, n in WORDS.items() if n == one.value)]
        )
        held = [
            text for text in options if re.search(rf"(?<![\d.]){re.escape(text)}(?![\d.]\d)", one.quote, re.I)
        ]
        assert held, f"{key}: {one.value:g} is not in {one.quote!r}"
        assert number_of(held[0]) * one.times == pytest.approx(one.value, rel=1e-3), key


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_words_are_the_papers(name: str) -> None:
    folder = os.environ.get("MAWL_PAPERS")
    if not folder:
        needs.skip("MAWL_PAPERS names no folder with the text of the papers")
    text = plain(
        (Path(folder) / FILES[paper_of(published_result(SYSTEMS[name].result)).source.key]).read_text()
    )
    for key, one in SYSTEMS[name].quoted():
        assert plain(one.quote) in text, f"{key}: {one.quote}"
    assert plain(SYSTEMS[name].parallel_file_system or "") in text
    for store in SYSTEMS[name].devices:
        words = [store.cache, store.software_raid, store.random.quote if store.random else None]
        assert all(plain(one) in text for one in words if one)


@pytest.mark.parametrize("name", SYSTEMS)
def test_descriptions_agree_with_the_published_record(name: str) -> None:
    one = SYSTEMS[name]
    result = published_result(one.result)
    system = result.system
    cores = [round(kind.value) for kind in one.cores for _ in range(kind.count)]
    given = system.cores_per_node or [system.cpus_per_node or 0]
    assert cores == (given if len(given) > 1 else given * result.nodes)
    assert one.nodes == result.nodes
    assert one.memory_gib.value * 2**30 == pytest.approx(system.memory_bytes_per_node, rel=1e-3)
    assert result.sessions_per_node in (None, sessions_of(one))
    if system.smt and one.threads_per_core:
        assert one.threads_per_core.value == system.smt
    if system.fabric and one.link:
        assert one.link.gbit.value * 1e9 == system.fabric.bits_per_second_per_port
        ports = system.fabric.ports_per_node or system.fabric.ports
        assert one.variant is not None or one.link.ports.value == ports
    roles = {role for device in one.devices for role in device.roles}
    assert roles == {"data", "work", "util"}


def test_every_published_result_with_a_system_is_described() -> None:
    without = {"dl980-flash-untuned-30"}
    assert {one.result for one in SYSTEMS.values()} == set(published()) - without


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_description_says_of_each_figure_where_it_is_from_and_reads_back(name: str) -> None:
    system = system_of(SYSTEMS[name])
    assert loads_system(system_toml(system), where=name) == system
    for device in system.devices:
        assert system.sources[f"devices.{device.name}.read_bytes_per_second"].startswith("published: ")
    for source in system.sources.values():
        for name_ in re.findall(r"assumed: (\w+)", source):
            assert any(known.startswith(name_) for known in assumed()), source


def test_what_is_assumed_stands_in_one_table_with_reasons_and_is_used() -> None:
    code = "".join(
        Path(str(module.__file__)).read_text() for module in (published_system, published_forecast)
    )
    kinds = {device.kind for one in SYSTEMS.values() for device in one.devices}
    links = {ports.kind for one in SYSTEMS.values() for ports in (one.link, one.fabric) if ports}
    named = {
        text
        for one in SYSTEMS.values()
        for text in (one.clock, one.thread_share, one.sessions_assumed)
        if text
    }
    made = {
        f"{kind}_{what}"
        for kind in kinds
        for what in ("half_turn_seconds", "seek_seconds", "latency_seconds")
    }
    made |= {f"{kind}_ratio" for kind in links} | {
        f"flash_{way}_bytes_per_second" for way in ("read", "write")
    }
    for name, one in assumed().items():
        assert len(one.reason) > 20, name
        assert name in named | made or f'"{name}"' in code, f"{name} is not used"
    assert named <= set(assumed())


def test_a_measured_rate_of_a_paper_goes_before_one_made_of_units() -> None:
    array = system_of(SYSTEMS["dl980-spinning-30"]).devices[0]
    assert (array.read_bytes_per_second, array.write_bytes_per_second) == (8474e6, 3369e6)
    xiv: PublishedSystem = SYSTEMS["s822-xiv-20"]
    made = system_of(xiv).devices[0].read_bytes_per_second
    seek = 0.001 + 0.0075 * (9.6 / 161) ** 0.5
    assert made == pytest.approx(180 * 2**20 / (0.0042 + seek + 2**20 / 130e6))
