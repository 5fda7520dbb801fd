"""OpenMetrics: read back by the official parser, figure by figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_origin

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics import parser

from mawl.records.model.fields import places
from mawl.records.model.metrics import METRICS
from mawl.records.model.summary.summary import Summary
from mawl.reports.openmetrics import families, render
from tests.fakes.host_run import PARTS, host_facts
from tests.fakes.measured_run import IDLE, WORKLOAD, four_jobs, samples
from tests.fakes.probes import MB, disk, probe
from tests.fakes.stored_run import facts, jobs
from tests.fakes.views import as_summary, judge, summary_of

parse: Callable[[str], Iterable[Metric]] = parser.text_string_to_metric_families


def summary(**changes: object) -> dict[str, Any]:
    """A judged summary with a host, devices, windows and roles."""
    of = host_facts(outcome="completed", workload=WORKLOAD, **changes)
    records, some = four_jobs(60.0), samples(60, IDLE | PARTS)
    return judge(of, records, summary_of(of, records, samples=some), some)


def read(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Name and labels (without those of the run) to value."""
    return {
        (
            sample.name,
            tuple(sorted((k, v) for k, v in sample.labels.items() if k not in ("run_id", "workload"))),
        ): sample.value
        for family in parse(text)
        for sample in family.samples
    }


def test_the_official_parser_reads_it_and_the_figures_are_those_of_the_summary() -> None:
    whole = summary()
    found = read(render(as_summary(whole)))
    assert found["mawl_time_real_time_seconds", ()] == whole["time"]["real_time_seconds"]
    peak = whole["io"]["device"]["peak"]["total_bytes_per_second"]
    assert found["mawl_io_device_peak_total_bytes_per_second", ()] == pytest.approx(peak)
    median = whole["programs"]["wide_sort"]["real_time_seconds"]["median"]
    labels = (("program", "wide_sort"), ("statistic", "median"))
    assert found["mawl_programs_real_time_seconds", labels] == median
    p99 = whole["io"]["by_role"]["work"]["read_latency_seconds"]["p99"]
    labels = (("role", "work"), ("statistic", "p99"))
    assert found["mawl_io_by_role_read_latency_seconds", labels] == p99
    blocked = whole["wait"]["blocked_seconds"]["util"]
    assert found["mawl_wait_blocked_seconds", (("role", "util"),)] == pytest.approx(blocked)
    assert found["mawl_host_device_read_bytes", (("device", "sda"),)] == pytest.approx(80e6 * 60)
    assert found["mawl_jobs_with_record", ()] == 4
    assert found["mawl_signature_device_read_ratio", ()] == whole["signature"]["device_read_ratio"]["value"]
    assert found["mawl_started_timestamp_seconds", ()] == 1_767_254_398


def test_families_have_types_units_and_help() -> None:
    by_name = {family.name: family for family in parse(render(as_summary(summary())))}
    elapsed = by_name["mawl_time_elapsed_seconds"]
    assert (elapsed.type, elapsed.unit) == ("gauge", "seconds")
    assert elapsed.documentation == "First start of a job to last end (or record, without one)."
    assert by_name["mawl_io_device_peak_total_bytes_per_second"].unit == "bytes_per_second"
    assert by_name["mawl_cpu_real_ratio"].unit == "ratio"
    assert by_name["mawl_jobs_with_record"].unit == ""
    assert by_name["mawl_run"].type == "info"


def test_what_is_text_stands_in_the_labels_of_one_sample() -> None:
    ((_, labels),) = [key for key in read(render(as_summary(summary()))) if key[0] == "mawl_run_info"]
    held = dict(labels)
    assert (held["outcome"], held["validity"], held["limit"]) == ("completed", "preliminary", "cpu")
    assert (held["kind"], held["scale"]) == ("measured", "standard")


def test_a_null_is_absent_and_never_zero() -> None:
    whole = judge(facts(), jobs(), summary_of(facts(), jobs()))
    found = read(render(as_summary(whole)))
    assert whole["io"]["device"]["peak"]["total_bytes_per_second"] is None
    names = {name for name, _ in found}
    assert "mawl_io_device_peak_total_bytes_per_second" not in names
    assert not any(name.startswith("mawl_host_") for name in names)
    assert found["mawl_answer_carried", ()] == 0


def test_a_run_that_goes_on_shows_its_newest_window_and_a_finished_one_does_not() -> None:
    whole = summary()
    assert not any(name.startswith("mawl_window_") for name, _ in read(render(as_summary(whole))))
    found = read(render(as_summary(whole | {"outcome": "running"})))
    assert found["mawl_window_device_read_bytes_per_second", ()] == pytest.approx(80e6)
    assert found["mawl_window_jobs_running", ()] == pytest.approx(4)


def test_several_runs_share_families_and_are_told_apart() -> None:
    text = render(
        as_summary(summary(run_id="a")), as_summary(summary(run_id="b")), as_summary(summary(run_id="b"))
    )
    (family,) = [one for one in parse(text) if one.name == "mawl_time_elapsed_seconds"]
    assert [sample.labels["run_id"] for sample in family.samples] == ["a", "b"]
    assert text.count("# TYPE mawl_time_elapsed_seconds ") == 1
    assert render() == "# EOF"


def test_labels_cannot_break_out() -> None:
    whole = summary(run_id='x"} 1\n# EOF\nforged 1\\')
    (family,) = [one for one in parse(render(as_summary(whole))) if one.name == "mawl_time_elapsed_seconds"]
    assert family.samples[0].labels["run_id"] == 'x"} 1 # EOF forged 1\\'


def test_a_summary_that_was_not_judged_has_its_own_figures() -> None:
    of = host_facts(outcome="completed", workload=WORKLOAD)
    records, some = four_jobs(60.0), samples(60, IDLE | PARTS)
    whole = summary_of(of, records, samples=some)
    found = read(render(as_summary(whole)))
    assert found["mawl_time_real_time_seconds", ()] == whole["time"]["real_time_seconds"]
    assert not any(name.startswith("mawl_threshold") for name, _ in found)


def test_figures_of_every_mapping_are_exported() -> None:
    numeric = {metric.name for metric in METRICS if metric.type in ("float", "integer", "boolean")}
    mappings = [one for one in places(Summary) if get_origin(one.kind) is dict and one.name != "signature"]
    unlabelled = [one.name for one in mappings if not one.figure.member]
    assert [name for name in unlabelled for figure in numeric if figure.startswith(f"{name}.*")] == []
    assert "io.by_role" in {one.name for one in mappings}


def test_what_a_probe_found_has_the_role_as_its_label() -> None:
    of = host_facts(outcome="completed", workload=WORKLOAD)
    some = samples(60, IDLE | PARTS)
    found = read(render(as_summary(summary_of(of, four_jobs(60.0), samples=some, probe=probe(disk())))))
    labels = (("role", "data"),)
    assert found["mawl_storage_by_role_read_capability_bytes_per_second", labels] == 400 * MB


def test_names_follow_from_the_registry_and_are_clear() -> None:
    every = families()
    keys = [(family.name, family.label, family.statistic) for family in every]
    assert len(set(keys)) == len(keys)
    order = [family.name for family in every]
    assert len(set(order)) == sum(a != b for a, b in zip(["", *order], order, strict=False))
    reserved = ("_total", "_count", "_sum", "_bucket", "_info", "_created", "_gsum", "_gcount")
    assert [name for name in order if name.endswith(reserved)] == []
    paths = {family.path.removesuffix(".value").replace("window.", "windows.*.") for family in every}
    assert paths <= {metric.name for metric in METRICS}
