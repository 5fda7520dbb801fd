"""Every shipped figure against ``printed_results.toml``: the papers' figures in the units they print.

Price books and prices of the command line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.lab import bed
from mawl.records.model.published import (
    SHIPPED,
    PriceBook,
    load_prices,
    paper_of,
    papers,
    published,
    published_result,
    thread_shares,
    with_prices,
)


def test_a_book_is_read_and_the_command_line_goes_over_it(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('currency = "EUR"\n[per_hour]\na = 1.2\nb = 3\n')
    book = with_prices(load_prices(file), ["a=1.5/h", "c=2"])
    assert book == PriceBook(currency="EUR", per_hour={"a": 1.5, "b": 3.0, "c": 2.0})


@pytest.mark.parametrize("text", ["a", "=1", "a=", "a=x/h", "a=0", "a=-1/h", "a=nan", "a=inf"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--price"):
        with_prices(PriceBook(), [text])


@pytest.mark.parametrize(
    "text", ["[per_hour]\na = 0\n", "[per_hour]\na = nan\n", 'per_hour = "x"\n', "other = 1\n"]
)
def test_a_book_that_is_wrong_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(InvalidFileError):
        load_prices(file)


PRINTED = tomllib.loads((Path(__file__).parent / "printed_results.toml").read_text())
RESULTS = {result["id"]: result for result in PRINTED["result"]}

MINUTE, PERCENT, GIB, KIB, GB, TB, MB, MS = 60.0, 0.01, 2.0**30, 1024.0, 1e9, 1e12, 1e6, 1e-3
ROLES = ("data", "work", "util")

PLACES: dict[str, tuple[str, float]] = {
    **{key: (key, 1.0) for key in ("sessions_per_node", "nodes", "jobs", "peak_concurrent_jobs")},
    "distinct_tests": ("programs", 1.0),
    "smt": ("system.smt", 1.0),
    "cores_per_node": ("system.cores_per_node", 1.0),
    "cpus_per_node": ("system.cpus_per_node", 1.0),
    "memory_gib_per_node": ("system.memory_bytes_per_node", GIB),
    "memory_kib_per_node": ("system.memory_bytes_per_node", KIB),
    "fabric.gbit_per_s": ("system.fabric.bits_per_second_per_port", 1e9),
    "fabric": ("system.fabric", 1.0),
    "fabric_gbit_per_s_per_node": ("system.fabric.bits_per_second_per_port", 1e9),
    "fabric_capability_gb_per_s": ("system.fabric.capability_bytes_per_second", GB),
    "filesystem.block_kib": ("system.file_systems.each.block_bytes", KIB),
    "filesystem.subblock_kib": ("system.file_systems.each.subblock_bytes", KIB),
    "filesystem.tb_each": ("system.file_systems.each.size_bytes", TB),
    **{
        f"filesystems.{role}.{key}": (f"system.file_systems.{role}.{name}", factor)
        for role in ROLES
        for key, name, factor in (
            ("tb", "size_bytes", TB),
            ("volumes", "volumes", 1.0),
            ("block_kib", "block_bytes", KIB),
        )
    },
    **{f"filesystem_tb.{role}": (f"system.file_systems.{role}.size_bytes", TB) for role in ROLES},
    **{f"volumes.{role}": (f"system.file_systems.{role}.volumes", 1.0) for role in ROLES},
    "real_min": ("time.real_time_seconds", MINUTE),
    "user_min": ("time.user_cpu_seconds", MINUTE),
    "system_min": ("time.system_cpu_seconds", MINUTE),
    "elapsed_min": ("time.elapsed_seconds", MINUTE),
    "active_min": ("time.active_seconds", MINUTE),
    "memory_sum_gb": ("time.memory_bytes", GB),
    "cpu_real_ratio": ("cpu_real_ratio", 1.0),
    "io_start_gb_per_s": ("device.initial.total_bytes_per_second", GB),
    "io_initial_gb_per_s": ("device.initial.total_bytes_per_second", GB),
    "io_low_gb_per_s": ("device.lowest.total_bytes_per_second", GB),
    "io_peak_gb_per_s": ("device.peak.total_bytes_per_second", GB),
    "io_peak_read_gb_per_s": ("device.peak.read_bytes_per_second", GB),
    "io_peak_write_gb_per_s": ("device.peak.write_bytes_per_second", GB),
    "io_sustained_gb_per_s": ("device.sustained.total_bytes_per_second", GB),
    "io_sustained_mb_per_s_per_core": ("device.sustained_bytes_per_second_per_core", MB),
    "read_tb": ("device.read_bytes", TB),
    "write_tb": ("device.written_bytes", TB),
    "read_share": ("device.read_ratio", 1.0),
    "work_util_io_share": ("device.work_util_ratio", 1.0),
    "cpu_busy_percent": ("cpu_busy_ratio", PERCENT),
    "cpu_wait_percent": ("cpu_iowait_ratio", PERCENT),
    "storage_latency_ms": ("latency.storage", MS),
    "storage_latency_ms_data": ("latency.storage_data", MS),
    "storage_latency_ms_work_util": ("latency.storage_work_util", MS),
    "host_disk_service_ms": ("latency.host", MS),
    "elapsed_change_percent_as_printed": ("change.elapsed_ratio", PERCENT),
    "real_min_change_percent": ("change.real_time_ratio", PERCENT),
    "tests_faster.count": ("change.programs_faster", 1.0),
    "tests_faster.percent": ("change.programs_faster_ratio", PERCENT),
    "tests_alike_percent": ("change.programs_alike_ratio", PERCENT),
    **{
        f"storage_256k_sequential_{way}.{key}": (f"system.sequential_{way}.{name}", factor)
        for way in ("read", "write")
        for key, name, factor in (
            ("iops", "requests_per_second", 1.0),
            ("mb_per_s", "bytes_per_second", MB),
            ("response_ms", "response_seconds", MS),
        )
    },
    **{
        f"{key}.{role}": (f"compression.{role}.{name}", factor)
        for role in ROLES
        for key, name, factor in (
            ("compression_savings", "saving_ratio", 1.0),
            ("compression_savings_estimated", "estimated_saving_ratio", 1.0),
            ("volume_saved_gb", "volume_saved_bytes", GB),
            ("volume_size_gb", "volume_size_bytes", GB),
            ("volume_used_gb", "volume_used_bytes", GB),
            ("volume_used_gb_compressed", "volume_stored_bytes", GB),
        )
    },
}
"""Printed key, or the beginning of one, to its place in the record and the factor to the base unit."""

ENDS = {".peak": ".peak_seconds", ".mean": ".mean_seconds", "[0]": ".low", "[1]": ".high"}
"""How the rest of a printed key reads in a record, in latencies and ranges."""


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a tree with its path."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            yield from leaves(value, f"{path}[{number}]")
    elif isinstance(tree, int | float) and not isinstance(tree, bool):
        yield path, float(tree)


def place_of(key: str) -> tuple[str, float]:
    """Where a printed key goes; KeyError for a figure that nobody carried over."""
    known = max((name for name in PLACES if f"{key}[.".startswith((f"{name}.", f"{name}["))), key=len)
    place, factor = PLACES[known]
    rest = key.removeprefix(known)
    spans = place.startswith("latency") or place.endswith(("work_util_ratio", "faster_ratio"))
    if spans or "estimated" in place:
        rest = ENDS[rest]
    return place + rest, factor


def shipped(name: str) -> dict[str, float]:
    """The figures of a shipped result that its paper printed."""
    found = dict(leaves(msgspec.to_builtins(published_result(name))))
    for way in ("read", "write"):
        if f"system.sequential_{way}.request_bytes" in found:
            assert found.pop(f"system.sequential_{way}.request_bytes") == 256 * KIB
    for role in ROLES:
        if f"compression.{role}.volumes" in found:
            volumes = found.pop(f"compression.{role}.volumes")
            assert volumes == found[f"system.file_systems.{role}.volumes"]
    return found


def printed(name: str) -> dict[str, float]:
    """The figures of the printed result where a record has them."""
    found: dict[str, float] = {}
    tree = dict(RESULTS[name])
    systems = tree.get("filesystems", {})
    block_kib = systems.get("block_kib")
    tree["filesystems"] = {
        role: ({"block_kib": block_kib} if block_kib else {}) | systems[role]
        for role in ROLES
        if role in systems
    }
    for key, value in leaves(tree):
        place, factor = place_of(key)
        found[place] = value * factor
    if "cores_per_node" in tree and isinstance(tree["cores_per_node"], int):
        found["system.cores_per_node[0]"] = found.pop("system.cores_per_node")
    return found


def test_all_results_are_shipped_and_no_other() -> None:
    assert set(published()) == set(RESULTS)


@pytest.mark.parametrize("name", RESULTS)
def test_the_figures_are_those_that_were_printed_and_no_others(name: str) -> None:
    expected = printed(name)
    if name == "e880-ess-40gbe-4x30" or name == "e880-ess-56gbe-4x30":
        expected["system.fabric.ports_per_node"] = 1.0
    assert shipped(name) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", RESULTS)
def test_the_words_are_the_papers(name: str) -> None:
    result, paper = published_result(name), RESULTS[name]
    assert result.title == paper["title"]
    assert result.source == paper["source"] == paper_of(result).source.key
    assert result.cpu_accounting == paper.get("cpu_accounting")
    assert result.measured_where == paper.get("measured_at")
    assert result.system.storage_description == paper.get("storage_hw")
    assert dict(result.system.storage) == paper.get("storage", {})
    assert result.cpu_real_ratio.above_one == paper.get("cpu_real_ratio_above_one")
    assert (result.limit or "") == paper.get("bottleneck", "")
    for role, one in paper.get("filesystems", {}).items():
        if role != "block_kib" and role in result.system.file_systems:
            allocation = one.get("allocation") or paper["filesystems"].get("allocation")
            assert result.system.file_systems[role].allocation == allocation
    assert result.caveats


def test_what_is_said_beside_the_results() -> None:
    by_key = {paper.source.key: paper for paper in papers()}
    for finding in PRINTED["finding"]:
        assert finding["text"] in by_key[finding["source"]].findings
    printed = {finding["text"] for finding in PRINTED["finding"]}
    cited = {finding.text for name in bed.shipped() for finding in bed.load_bed(name).findings}
    assert {text for paper in papers() for text in paper.findings} == printed | cited
    share = PRINTED["smt_thread_share"]
    held = thread_shares()[share["processor"]].smt
    assert {f"smt{mode}": [span.low, span.high] for mode, span in held.items()} == {
        key: value for key, value in share.items() if key.startswith("smt")
    }
    twenty, nineteen = by_key["power-e880-2017"].workload, by_key["dl980-ioscale-2014"].workload
    assert twenty is not None and nineteen is not None
    told = PRINTED["workload"]
    assert twenty.io_input_bytes == told["io_tests_input_gb"] * GB
    assert twenty.compute_input_bytes == told["compute_tests_input_gb"] * GB
    assert twenty.jobs_by_sessions == told["jobs_by_sessions"]
    assert msgspec.to_builtins(twenty.programs) == told["tests"]
    told = PRINTED["workload_19"]
    assert msgspec.to_builtins(nineteen.programs) == told["tests"]
    assert (nineteen.jobs, nineteen.mean_concurrent_jobs) == (told["jobs"], told["mean_concurrent_tests"])
    assert nineteen.elapsed_seconds == told["elapsed_min"] * MINUTE
    assert nineteen.shortest_job_seconds == told["job_real_min"]["shortest"] * MINUTE
    assert nineteen.longest_job_seconds == told["job_real_min"]["longest"] * MINUTE
    assert nineteen.initial_bytes_per_second == told["io_start_gb_per_s"] * GB
    assert nineteen.climbs_to_bytes_per_second == told["io_climb_gb_per_s"] * GB
    assert nineteen.peak_bytes_per_second == told["io_peak_gb_per_s"] * GB


def test_each_paper_is_one_file_and_can_be_looked_up() -> None:
    assert {paper.source.key for paper in papers()} == {path.stem for path in SHIPPED.glob("*.toml")}
    sources = [str(paper.source) for paper in papers()]
    assert "REDP-5288-00. 2015-10-23" in sources[1]
    assert all(".." not in source for source in sources)


def test_an_unknown_id_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"s822-xiv-99 is no published result; choose from: .*s822-xiv-20"):
        published_result("s822-xiv-99")
