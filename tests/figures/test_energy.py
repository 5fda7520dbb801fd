"""Energy of a run from samples: each joule once, one scope, one machine once, and a job's part."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.figures.series import RunSamples
from mawl.records.model.records import JobRecord, Usage
from mawl.records.model.run import RunFacts
from mawl.records.store.columns import to_table
from tests.fakes.host_run import host_facts
from tests.fakes.measured_run import IDLE, Rate, four_jobs, sample_rows, samples
from tests.fakes.views import summary_of

SECONDS = 60
ZONES: dict[str, Rate] = {
    "energy.package-0.joules": 100.0,
    "energy.package-0/core.joules": 70.0,
    "energy.package-0/uncore.joules": 5.0,
    "energy.package-1.joules": 90.0,
}


def summary(
    rates: dict[str, Rate], some: RunFacts | None = None, jobs: list[JobRecord] | None = None
) -> dict[str, Any]:
    known = samples(SECONDS, IDLE | rates)
    return summary_of(some or host_facts(), jobs or four_jobs(SECONDS), samples=known)


def test_packages_add_up_and_their_parts_do_not_count_again() -> None:
    energy = summary(ZONES)["energy"]
    assert energy["joules"] == pytest.approx(190.0 * SECONDS)
    assert energy["mean_watts"] == pytest.approx(190.0)
    assert energy["scope"] == "processors"
    assert energy["joules_per_job"] == pytest.approx(190.0 * SECONDS / 4)
    assert {name: one["counted"] for name, one in energy["domain"].items()} == {
        "package-0": True,
        "package-0/core": False,
        "package-0/uncore": False,
        "package-1": True,
    }


def test_memory_is_no_part_of_a_package_and_a_platform_is_not_added() -> None:
    energy = summary(ZONES | {"energy.package-0/dram.joules": 8.0, "energy.psys.joules": 250.0})["energy"]
    assert energy["joules"] == pytest.approx(198.0 * SECONDS)
    assert energy["scope"] == "processors and memory"
    assert energy["domain"]["psys"]["mean_watts"] == pytest.approx(250.0)
    assert not energy["domain"]["psys"]["counted"]


def test_a_meter_of_the_whole_machine_replaces_its_parts() -> None:
    energy = summary(ZONES | {"energy.machine/power_meter-0.joules": 400.0})["energy"]
    assert energy["joules"] == pytest.approx(400.0 * SECONDS)
    assert energy["scope"] == "machine"
    assert [name for name, one in energy["domain"].items() if one["counted"]] == ["machine/power_meter-0"]


def test_two_meters_of_the_machine_make_no_sum() -> None:
    two: dict[str, Rate] = {f"energy.machine/power_meter-{number}.joules": 400.0 for number in (0, 1)}
    found = summary(two)
    assert found["energy"]["joules"] is None and found["energy"]["joules_per_job"] is None
    assert "2 power meters may measure the same" in found["missing"]["energy.joules"]
    assert found["energy"]["domain"]["machine/power_meter-1"]["joules"] == pytest.approx(400.0 * SECONDS)


def rows_until(last: int, rates: dict[str, Rate], node: str = "") -> list[Any]:
    """Samples of a node whose energy is told for ``last`` seconds only."""
    rows = sample_rows(SECONDS, IDLE | rates, node=node or host_facts().nodes[0].name)
    begun = min(row.sampled_at for row in rows)
    return [row for row in rows if not row.series.startswith("energy.") or row.sampled_at <= begun + last]


def test_energy_of_a_part_of_the_run_is_not_that_of_its_jobs() -> None:
    rows = rows_until(40, {"energy.package-0.joules": 100.0})
    found = summary_of(host_facts(), four_jobs(SECONDS), samples=RunSamples(to_table("samples", rows)))
    energy = found["energy"]
    assert energy["mean_watts"] == pytest.approx(100.0)
    assert energy["joules"] == pytest.approx(100.0 * energy["known_seconds"])
    assert energy["joules_per_job"] is None
    reason = found["missing"]["energy.joules_per_job"]
    assert reason == "energy was known for 41 s of the 60 s from the first start of a job to the last end"
    assert {one["joules_per_job"] for one in found["programs"].values()} == {None}
    assert found["missing"]["programs.*.joules_per_job"] == reason


def test_nodes_that_are_known_for_unlike_times_make_no_sum() -> None:
    one: dict[str, Rate] = {"energy.package-0.joules": 100.0}
    rows = [*sample_rows(SECONDS, IDLE | one), *rows_until(40, one, node="bench2")]
    found = summary_of(two_nodes(), four_jobs(SECONDS), samples=RunSamples(to_table("samples", rows)))
    assert found["energy"]["joules"] is None and found["energy"]["joules_per_job"] is None
    assert found["missing"]["energy.joules"] == "bench2 was known for 41 s only, others for 60 s"


@pytest.mark.parametrize("last", [20, 40])
def test_a_zone_that_vanished_makes_no_sum(last: int) -> None:
    rows = sample_rows(SECONDS, IDLE | ZONES)
    begun = min(row.sampled_at for row in rows)
    rows = [row for row in rows if row.series != "energy.package-1.joules" or row.sampled_at <= begun + last]
    known = RunSamples(to_table("samples", rows))
    found = summary_of(host_facts(), four_jobs(SECONDS), samples=known)
    assert found["energy"]["joules"] is None
    assert "package-1 was known for" in found["missing"]["energy.joules"]
    assert found["energy"]["domain"]["package-0"]["joules"] == pytest.approx(100.0 * SECONDS)


def test_a_meter_that_was_read_once_makes_no_sum() -> None:
    rows = sample_rows(SECONDS, IDLE | {"energy.machine/aem1-0.joules": 300.0})
    first = min(row.sampled_at for row in rows)
    once = [row for row in rows if not row.series.startswith("energy.") or row.sampled_at == first]
    found = summary_of(host_facts(), four_jobs(SECONDS), samples=RunSamples(to_table("samples", once)))
    assert (
        found["missing"]["energy.joules"] == "machine/aem1-0 was read too seldom for a run as short as this"
    )


def test_a_platform_alone_is_no_whole_processor() -> None:
    found = summary({"energy.psys.joules": 250.0})
    assert found["energy"]["joules"] is None
    assert "psys" in found["missing"]["energy.joules"]


def test_a_machine_that_tells_nothing_has_the_reason_of_its_sampler() -> None:
    some = msgspec.structs.replace(host_facts(), missing={"energy": "no RAPL zone"})
    found = summary({}, some)
    assert found["energy"] is None
    assert found["missing"]["energy"] == "no RAPL zone"
    assert found["missing"]["programs.*.joules_per_job"] == "the run's energy is not known"


def two_nodes(**second: object) -> RunFacts:
    some = host_facts()
    [node] = some.nodes
    return msgspec.structs.replace(some, nodes=[node, msgspec.structs.replace(node, name="bench2", **second)])


def test_nodes_add_up_and_a_second_node_of_a_machine_does_not() -> None:
    rows = [*sample_rows(SECONDS, IDLE | ZONES), *sample_rows(SECONDS, IDLE | ZONES, node="bench2")]
    known = RunSamples(to_table("samples", rows))
    energy = summary_of(two_nodes(), four_jobs(SECONDS), samples=known)["energy"]
    assert energy["joules"] == pytest.approx(380.0 * SECONDS)
    name = host_facts().nodes[0].name
    energy = summary_of(two_nodes(same_machine_as=name), four_jobs(SECONDS), samples=known)["energy"]
    assert energy["joules"] == pytest.approx(190.0 * SECONDS)


def test_nodes_of_unlike_scope_and_a_silent_node_make_no_sum() -> None:
    meter: dict[str, Rate] = {"energy.machine/aem1-0.joules": 300.0}
    rows = [*sample_rows(SECONDS, IDLE | ZONES), *sample_rows(SECONDS, IDLE | meter, node="bench2")]
    found = summary_of(two_nodes(), four_jobs(SECONDS), samples=RunSamples(to_table("samples", rows)))
    assert "the scope differs between nodes: machine, processors" in found["missing"]["energy.joules"]
    rows = [*sample_rows(SECONDS, IDLE | ZONES), *sample_rows(SECONDS, IDLE, node="bench2")]
    found = summary_of(two_nodes(), four_jobs(SECONDS), samples=RunSamples(to_table("samples", rows)))
    assert found["energy"]["joules"] is None
    assert found["missing"]["energy.joules"] == "bench2 measured no energy"


def spending(jobs: list[JobRecord], seconds: list[float | None]) -> list[JobRecord]:
    return [
        msgspec.structs.replace(
            one,
            program=f"program_{place % 2}",
            total=Usage(user_cpu_seconds=own, system_cpu_seconds=None if own is None else 0.0),
        )
        for place, (one, own) in enumerate(zip(jobs, seconds, strict=True))
    ]


def test_energy_is_shared_out_by_processor_time_and_adds_up() -> None:
    found = summary(ZONES, jobs=spending(four_jobs(SECONDS), [10.0, 30.0, 20.0, 40.0]))
    per_job = {name: one["joules_per_job"] for name, one in found["programs"].items()}
    whole = 190.0 * SECONDS
    assert per_job == {
        "program_0": pytest.approx(whole * 0.3 / 2),
        "program_1": pytest.approx(whole * 0.7 / 2),
    }
    assert sum(2 * one for one in per_job.values()) == pytest.approx(found["energy"]["joules"])


def test_a_failed_job_takes_its_part_and_has_no_figure() -> None:
    jobs = spending(four_jobs(SECONDS), [10.0, 30.0, 20.0, 40.0])
    jobs[3] = msgspec.structs.replace(jobs[3], outcome="failed")
    found = summary(ZONES, jobs=jobs)
    whole = 190.0 * SECONDS
    assert found["programs"]["program_1"]["joules_per_job"] == pytest.approx(whole * 0.3)
    assert found["energy"]["joules_per_job"] == pytest.approx(whole / 3)


def test_a_job_without_an_account_leaves_energy_unshared() -> None:
    found = summary(ZONES, jobs=spending(four_jobs(SECONDS), [10.0, None, 20.0, 40.0]))
    assert found["energy"]["joules"] is not None
    assert {one["joules_per_job"] for one in found["programs"].values()} == {None}
    assert found["missing"]["programs.*.joules_per_job"] == "a job left no account of its CPU time"
