"""Threads of a core by node, busy cores with what they are, and AIX's scaled accounting undone as a range."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.figures.series import RunSamples
from mawl.figures.threads import adjusted_cpu_block, threads_per_core
from mawl.figures.view import StoredView
from mawl.importers.import_files import ImportRequest, import_files
from mawl.records.model.node import Inventory
from mawl.records.model.records import JobRecord
from mawl.records.model.run import NodeFacts
from mawl.records.store import open_run
from mawl.records.store.columns import to_table
from mawl.reports import markdown, text
from mawl.reports.html import report
from tests.fakes.measured_run import IDLE, Rate, four_jobs, sample_rows, samples
from tests.fakes.recorded_host import aix_recording
from tests.fakes.stored_run import facts, job
from tests.fakes.views import BARE, as_summary, judged, summary_of, typed
from tests.importers.test_import import EIGHT, log

SECONDS = 60


def node(**changes: Any) -> NodeFacts:
    return NodeFacts(**{"name": "bench1", **changes})


def aix(
    threads: int | None = 8, model: str | None = "Architecture PowerPC Implementation POWER8"
) -> NodeFacts:
    return node(kernel="AIX 7.1", cpu_model=model, smt=None if threads is None else f"SMT-{threads}")


def cpu_job(seconds: float, on: str = "bench1") -> JobRecord:
    made = job("s1-1", 0.0, 200.0)
    usage = msgspec.structs.replace(made.usage, user_cpu_seconds=seconds, system_cpu_seconds=0.0)
    return msgspec.structs.replace(made, node=on, usage=usage)


@pytest.mark.parametrize(
    ("facts_of_node", "threads"),
    [
        ({"smt": "SMT-4", "logical_cpus": 32}, 4),
        ({"smt": "on", "logical_cpus": 16, "physical_cores": 8}, 2),
        ({"smt": "on", "logical_cpus": 20, "physical_cores": 14}, 2),
        ({"smt": "off", "logical_cpus": 8, "physical_cores": 8}, 1),
        ({"smt": "notsupported"}, 1),
        ({"smt": "on"}, None),
        ({}, None),
    ],
)
def test_threads_of_a_core(facts_of_node: dict[str, Any], threads: int | None) -> None:
    assert threads_per_core(facts(), node(**facts_of_node)) == threads


def test_the_inventory_says_it_where_cores_differ() -> None:
    held = facts(
        inventories={"bench1": Inventory(families={"cpu": {"machine": {"threads_per_core": 2}}})},
        nodes=[node(logical_cpus=24, physical_cores=16)],
    )
    assert threads_per_core(held, held.nodes[0]) == 2


def host(of: NodeFacts, **rates: Rate) -> dict[str, Any]:
    series = {f"host.core_busy_{name}": rate for name, rate in rates.items()}
    some = samples(SECONDS, IDLE | series)
    block = summary_of(facts(nodes=[of]), four_jobs(SECONDS), samples=some)
    return {**block["host"], "missing": block["missing"]}


def test_bounds_stand_beside_the_estimate() -> None:
    found = host(node(logical_cpus=8, physical_cores=4), seconds=1.5, least_seconds=1.0, most_seconds=2.0)
    assert found["core_busy_basis"] == "bounds"
    assert [found[f"core_busy_{name}"] for name in ("least_seconds", "seconds", "most_seconds")] == [
        pytest.approx(rate * SECONDS) for rate in (1.0, 1.5, 2.0)
    ]


def test_a_machine_with_two_nodes_counts_once() -> None:
    """Both look at the same processors; only the first is a machine of its own."""
    other = node(name="other", logical_cpus=4, physical_cores=4, same_machine_as="bench1")
    rates = IDLE | {"host.core_busy_seconds": 1.5}
    rows = [row for name in ("bench1", "other") for row in sample_rows(SECONDS, rates, node=name)]
    both = RunSamples(to_table("samples", rows))
    held = facts(nodes=[node(logical_cpus=4, physical_cores=4), other])
    block = summary_of(held, four_jobs(SECONDS), samples=both)["host"]
    assert block["core_busy_seconds"] == pytest.approx(1.5 * SECONDS)


def test_one_thread_a_core_is_exact() -> None:
    found = host(node(logical_cpus=4, physical_cores=4), seconds=1.5)
    assert found["core_busy_basis"] == "exact"
    assert found["core_busy_least_seconds"] == found["core_busy_most_seconds"] == found["core_busy_seconds"]


def test_an_older_run_with_threads_has_an_estimate_and_says_so() -> None:
    found = host(node(logical_cpus=8, physical_cores=4), seconds=1.5)
    assert (found["core_busy_basis"], found["core_busy_most_seconds"]) == ("estimate", None)
    assert "before samples held bounds" in found["missing"]["host.core_busy_most_seconds"]


def test_never_above_cores_times_the_time() -> None:
    found = host(node(logical_cpus=8, physical_cores=4), seconds=4.02, least_seconds=4.01, most_seconds=4.05)
    for name in ("seconds", "least_seconds", "most_seconds"):
        assert found[f"core_busy_{name}"] == pytest.approx(4.0 * SECONDS)
    assert found["core_busy_ratio"] == pytest.approx(1.0)


def test_the_papers_example_180_s_with_eight_threads_are_321_s() -> None:
    missing: dict[str, str] = {}
    found = adjusted_cpu_block(facts(kind="imported", nodes=[aix()]), [cpu_job(180.0)], missing)
    assert found is not None
    assert round(found.low) == round(found.high) == 321


def test_a_factor_that_is_a_range_makes_a_range() -> None:
    held = facts(kind="imported", nodes=[aix(4)])
    found = adjusted_cpu_block(held, [cpu_job(63.0), cpu_job(59.0)], {})
    assert found is not None
    assert (found.low, found.high) == pytest.approx((122 / 0.63, 122 / 0.59))


@pytest.mark.parametrize(
    ("of", "reason"),
    [
        (node(smt="on", logical_cpus=16, physical_cores=8), "applies to AIX sources only"),
        (aix(None), "PURR.*no file says the SMT mode"),
        (aix(8, None), "no file says the processor"),
        (aix(8, "PowerPC_POWER9"), "no share of a core is published for a thread of POWER9 with SMT-8"),
        (aix(1), "no share of a core is published for a thread of POWER8 with SMT-1"),
    ],
)
def test_others_have_none_and_the_reason(of: NodeFacts, reason: str) -> None:
    missing: dict[str, str] = {}
    assert adjusted_cpu_block(facts(kind="imported", nodes=[of]), [cpu_job(180.0)], missing) is None
    with pytest.raises(ValueError, match=reason):
        raise ValueError(missing["time.adjusted_cpu_seconds"])


def test_logs_and_a_recording_of_one_aix_host_have_their_range(tmp_path: Path) -> None:
    """32 logical of 8 virtual processors are SMT-4; the log's CPU time is half of its 600 s."""
    (tmp_path / "files").mkdir()
    hardware = "AAA,hardware,Architecture PowerPC Implementation POWER8_COMPAT_mode 64 bit\nAAA,cpus"
    recorded = "".join(aix_recording(4, 60, began=EIGHT.timestamp())).replace("AAA,cpus", hardware)
    (tmp_path / "files" / "aix1.nmon").write_text(recorded)
    (tmp_path / "files" / "one.log").write_text(log(EIGHT, 600, host="aix1"))
    import_files(ImportRequest(paths=[str(tmp_path / "files")], folder=tmp_path / "run", run_id="run"))
    run = open_run(tmp_path / "run")
    summary = judged(StoredView(run))
    assert summary["time"]["cpu_seconds"] == pytest.approx(300.0)
    adjusted = summary["time"]["adjusted_cpu_seconds"]
    assert adjusted == {"low": pytest.approx(300 / 0.63), "high": pytest.approx(300 / 0.59)}
    assert summary["smt"]["nodes"]["aix1"]["threads_per_core"] == 4
    assert "adjusted for AIX's scaled accounting: " in text.render(BARE, as_summary(summary))
    assert "CPU adjusted for AIX's scaled accounting" in markdown.render(BARE, as_summary(summary))
    page = report.render(StoredView(run), typed(summary))
    assert "Hardware threads, in the active phase" in page and "SMT-4" in page
    assert "CPU time adjusted for AIX&#39;s scaled accounting: " in page


def test_times_of_aix_and_of_linux_are_never_added_up() -> None:
    missing: dict[str, str] = {}
    held = facts(kind="imported", nodes=[aix(), node(name="other")])
    assert adjusted_cpu_block(held, [cpu_job(10.0), cpu_job(10.0, "other")], missing) is None
    assert "jobs of other did not run on AIX" in missing["time.adjusted_cpu_seconds"]
