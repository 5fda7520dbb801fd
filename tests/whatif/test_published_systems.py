"""Systems of the papers: figures stand in their quotations, agree with the record, or are assumed."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from pathlib import Path

import pytest

from mawl.records.model.published import paper_of, published, published_result
from mawl.reports.document import terminal
from mawl.simulation.error_range import central_range, published_ratios
from mawl.simulation.system import loads_system, system_toml
from mawl.whatif import published_comparison, published_forecast, published_system
from mawl.whatif.published_comparison import FITTED_ON, direction, pairs, published_figures, rows
from mawl.whatif.published_forecast import FITTED, HELD_OUT, FittedNumbers
from mawl.whatif.published_system import (
    PublishedSystem,
    assumed,
    device_of,
    missed_ratio,
    published_systems,
    random_seconds,
    sessions_of,
    stream_seconds,
    system_of,
    unit_seconds,
)
from mawl.whatif.text import published_parts, standing
from tests import needs
from tools import published_fit, published_table

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


def test_an_array_with_a_memory_answers_streams_from_it_over_one_port() -> None:
    """1 MB over 8 Gb Fibre Channel (800 MB/s) and half a millisecond; a disk alone takes 14.9 ms."""
    xiv = SYSTEMS["s822-xiv-20"].devices[0]
    assert stream_seconds(SYSTEMS["s822-xiv-20"], xiv) == pytest.approx(0.0005 + 2**20 / 800e6)
    spinning = SYSTEMS["dl980-spinning-30"]
    assert spinning.devices[0].cache is None
    seek = 0.001 + 0.0025 * (8 / 57.6) ** 0.5
    alone = 0.002 + seek + 2**18 / 130e6
    assert stream_seconds(spinning, spinning.devices[0]) == pytest.approx(alone)


def test_requests_at_random_are_served_by_the_tier_that_the_paper_names() -> None:
    plain, compressed = (SYSTEMS[f"e880-xiv-{name}-30"].devices[0] for name in ("plain", "compressed"))
    assert random_seconds(plain, 8192) > 0.005
    assert random_seconds(compressed, 8192) == pytest.approx(0.0002 + 8192 / 1.2e9)
    assert unit_seconds(plain) == unit_seconds(compressed)


def test_a_memory_misses_the_first_request_to_a_place_and_takes_writes_in() -> None:
    """As many requests as places: 1 - 1/e of the places are asked for."""
    cached, bare = SYSTEMS["s822-xiv-20"].devices[0], SYSTEMS["dl980-spinning-30"].devices[0]
    assert missed_ratio(cached, "read", 1000.0, 1000.0) == pytest.approx(1 - math.exp(-1))
    assert missed_ratio(cached, "read", 1000.0, 1.0) == pytest.approx(1.0, rel=1e-3)
    assert missed_ratio(cached, "read", 10.0, 1000.0) == pytest.approx(0.01)
    assert missed_ratio(cached, "write", 1000.0, 1000.0) == 0.0
    assert missed_ratio(bare, "write", 1000.0, 1000.0) == 1.0


def test_software_raid_spreads_a_block_over_eight_disks() -> None:
    ess = SYSTEMS["e880-ess-40gbe-4x30"].devices[0]
    seek = 0.001 + 0.0075 * (48 / 974.4) ** 0.5
    assert device_of(ess).read_bytes_per_second == pytest.approx(
        232 * 2**20 / (0.0042 + seek + 2**20 / 130e6)
    )


def test_a_fabric_carries_in_both_directions_what_its_paper_says() -> None:
    """More than 20 GB/s at 56 Gbit/s; 40/56 of it at 40."""
    slow, fast = (system_of(SYSTEMS[f"e880-ess-{name}gbe-4x30"]) for name in (40, 56))
    assert fast.fabric_shared_bytes_per_second == 20e9
    assert slow.fabric_shared_bytes_per_second == pytest.approx(20e9 * 40 / 56, rel=1e-4)
    assert "20 GBps" in fast.sources["fabric_shared_bytes_per_second"]


def test_at_most_six_numbers_are_fitted_on_the_two_systems_only() -> None:
    assert len(dataclasses.fields(FittedNumbers)) <= 6
    assert FITTED_ON == ("s822-xiv-20", "dl980-spinning-30")
    assert [one.id for one in published_fit.systems()] == ["dl980-spinning-30", "s822-xiv-20"]
    assert {row.system for row in rows() if row.fitted} == set(FITTED_ON)


def test_no_last_step_of_the_fit_betters_the_constants() -> None:
    least = published_fit.cost(FITTED, published_fit.systems())
    step = published_fit.FIRST_STEP
    while step / 2 >= published_fit.LAST_STEP:
        step /= 2
    for name in vars(FITTED):
        for factor in (1 + step, 1 / (1 + step)):
            trial = published_fit.moved(FITTED, name, factor)
            assert published_fit.cost(trial, published_fit.systems()) >= least - 1e-9, name


def test_times_of_systems_that_the_fit_has_not_seen_lie_in_the_range_for_other_systems() -> None:
    """The range of a change that no lab bed checked is as wide as these forecasts were off, and no wider."""
    names = {f"time.{name}_seconds" for name in ("real_time", "elapsed", "active")}
    times = [row for row in rows() if row.figure in names and row.error_ratio is not None]
    found = [1 / (1 + (row.error_ratio or 0.0)) for row in times if not row.fitted]
    assert len(found) == 9
    low, high = central_range(published_ratios())
    assert low <= min(found) < low + 0.011
    assert high - 0.011 < max(found) <= high


@pytest.mark.long(minutes=2)
def test_the_fit_finds_the_constants_again() -> None:
    assert published_fit.fit(published_fit.systems()) == FITTED


@pytest.mark.long(minutes=15)
def test_the_fits_without_a_paper_find_their_constants_again() -> None:
    assert published_fit.main(["--held-out"]) == 0


def test_numbers_without_a_paper_exist_for_each_paper_with_a_pair_and_see_none_of_its_systems() -> None:
    assert set(HELD_OUT) == {pair.paper for pair in pairs()}
    for paper in HELD_OUT:
        seen = published_fit.others(paper)
        assert seen and all(published_result(one.result).source != paper for one in seen)


def test_every_figure_of_every_paper_has_a_row() -> None:
    held = {(row.system, row.figure) for row in rows()}
    for name, result in published().items():
        assert {(name, figure) for figure in published_figures(result)} <= held
    assert ("dl980-ioscale-2014", "workload.peak_bytes_per_second") in held
    assert len(held) == len(rows())


def test_a_figure_without_a_prediction_has_a_reason_and_one_with_has_none() -> None:
    for row in rows():
        assert (row.predicted is None) == (row.reason is not None), row
        assert row.error_ratio is None or row.predicted is not None
        assert row.reason != "not in the model", row


def test_errors_are_predicted_over_published_less_one_and_ranges_from_their_nearer_end() -> None:
    told = {(row.system, row.figure): row for row in rows()}
    row = told["s822-xiv-30", "device.peak.total_bytes_per_second"]
    assert isinstance(row.predicted, float)
    assert row.error_ratio == pytest.approx(row.predicted / 5.4e9 - 1)
    assert told["s822-hybrid-20", "device.work_util_ratio"].error_ratio == 0.0


def test_pairs_have_directions_and_twice_the_ports_give_no_more() -> None:
    found = {(pair.candidate, pair.figure): pair for pair in pairs()}
    assert found["e980-fs9150-4/twice-the-ports", "device.peak.total_bytes_per_second"].right
    assert found["dl980-flash-30", "time.real_time_seconds"].right
    assert [direction(change) for change in (-0.2, -0.04, 0.0, 0.04, 0.2)] == [-1, 0, 0, 0, 1]


def test_the_page_is_as_printed_and_the_screen_has_the_same_rows() -> None:
    assert published_table.PAGE.read_text() == published_table.page()
    forecasts = published_comparison.published_forecasts()
    shown = terminal(published_parts(forecasts))
    below = shown.partition("\ns822-xiv-20*\n")[2].splitlines()
    own = [row.figure for row in forecasts.rows if row.system == "s822-xiv-20"]
    assert len(own) > 1
    assert [line.split()[0] for line in below[: len(own)]] == own
    assert not below[len(own)].startswith(" ")
    assert shown.rstrip().endswith(standing(forecasts)[-1])
