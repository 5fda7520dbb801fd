"""The declarations: bytes by role that docs/design/workloads.md adds up, and what every one must hold.

Programs that declare util bytes have more rows than sort memory holds, at every scale that has a name.

The names of steps in the SAS-style log.
"""

from __future__ import annotations

import importlib
import subprocess
import sys

import msgspec
import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.needs import needs
from mawl.plan.programs import BYTES_PER_SECOND_ALONE, PROCEDURES, Pass, Program, Step, sas_name
from mawl.plan.spec import SCALES, JobSpec, SessionSpec, WorkloadSpec, scaled_options
from mawl.plan.workload import make_plan
from mawl.programs.toolkit.partitions import partition_count
from mawl.records.spec.program_options import MIB, Options

GB = 10**9

# Data read and written, work read and written, util read and written, in GB at full scale: the design
# whose totals and shares are in docs/design/workloads.md.
DESIGN = {
    "census_load": (37, 0, 140, 41, 33, 33),
    "customer_profile": (0, 0, 190, 58, 50, 50),
    "random_access": (0, 0, 112, 80, 0, 0),
    "ledger_update": (18, 4, 60, 26, 0, 0),
    "census_load_single": (45, 0, 150, 48, 30, 30),
    "census_query": (36, 0, 170, 40, 30, 30),
    "wide_sort": (145, 145, 520, 240, 240, 240),
    "dimension_load": (19, 0, 75, 30, 16, 16),
    "stress_projection": (10, 0, 6, 4, 0, 0),
    "segmentation": (18, 0, 28, 14, 0, 0),
    "tree_ensemble": (18, 0, 28, 14, 0, 0),
    "portfolio_optimization": (8, 0, 10, 5, 0, 0),
    "pension_cube": (0, 0, 10, 6, 0, 0),
    "text_topics": (12, 0, 16, 8, 0, 0),
    "gee_repeated": (6, 0, 10, 5, 0, 0),
    "mixed_model": (10, 0, 14, 7, 0, 0),
    "stepwise_selection": (10, 0, 16, 8, 0, 0),
    "survey_logistic": (14, 0, 20, 10, 0, 0),
    "forecasting": (10, 0, 12, 6, 0, 0),
    "factorial_design": (4, 0, 6, 3, 0, 0),
}


@pytest.mark.parametrize("program", sorted(DESIGN))
def test_bytes_by_role_at_full_scale_are_those_of_the_design(program: str) -> None:
    found = CATALOGUE[program].bytes_by_role(1.0)
    sums = [
        found[role][direction] / GB for role in ("data", "work", "util") for direction in ("read", "written")
    ]
    assert sums == pytest.approx(DESIGN[program], rel=0.05)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_a_declaration_is_consistent(name: str) -> None:
    program = CATALOGUE[name]
    assert program.name == name
    assert [step.kind for step in program.steps].count("verify") == 1
    assert program.steps[-1].kind == "verify"
    assert len({step.name for step in program.steps}) == len(program.steps)
    temporaries = {temporary.name for temporary in program.temporaries}
    written = {declared.table for step in program.steps for declared in step.writes}
    read = {declared.table for step in program.steps for declared in step.reads}
    assert written == temporaries
    assert read == temporaries | {table.name for table in program.inputs}
    assert callable(importlib.import_module(program.modules[-1]).run)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_modules_of_a_declaration_can_be_imported(name: str) -> None:
    for module in CATALOGUE[name].modules:
        assert importlib.import_module(module).__name__ == module


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_bytes_are_linear_in_the_scale(name: str) -> None:
    program = CATALOGUE[name]
    full = sum(sum(role.values()) for role in program.bytes_by_role(1.0).values())
    quick = sum(sum(role.values()) for role in program.bytes_by_role(SCALES["quick"]).values())
    assert quick == pytest.approx(full * SCALES["quick"], rel=0.001)


def test_a_program_without_inputs_has_rows_of_its_own() -> None:
    program = CATALOGUE["customer_profile"]
    assert program.inputs == ()
    assert program.rows(0.5) == pytest.approx(program.rows(1.0) / 2, abs=8)
    assert program.rows(1e-9) == 4000
    assert program.rows(0.00123) % 8 == 0
    without = msgspec.structs.replace(program, own_rows=None)
    with pytest.raises(ValueError, match="neither inputs nor its own rows"):
        without.rows(1.0)


def test_what_verify_reads_is_left_out_of_bytes_by_role() -> None:
    program = CATALOGUE["segmentation"]
    verify = msgspec.structs.replace(program.steps[-1], reads=(Pass("prepared"),))
    reading = msgspec.structs.replace(program, steps=(*program.steps[:-1], verify))
    assert reading.bytes_by_role(0.01) == program.bytes_by_role(0.01)
    assert len(list(reading.passes(0.01))) == len(list(program.passes(0.01))) + 1


@pytest.mark.parametrize(("keeps", "jobs"), [(False, 1), (True, 3)])
def test_results_that_stay_need_space_for_all_jobs(keeps: bool, jobs: int) -> None:
    program = CATALOGUE["ledger_update"]
    where = "ledgers"
    job = JobSpec(program=program.name, replica=1)
    spec = WorkloadSpec(
        name=where, title=where, sessions=[SessionSpec(name="a", stages=[[job], [job], [job]])]
    )
    plan = make_plan(spec, where=where, scale=0.01)
    found = needs(plan, keeps_outputs=keeps)
    results = program.space(0.01)["data"]
    assert results == pytest.approx(0.04e9, rel=0.05)
    assert found.space_bytes["data"] == pytest.approx(1.05 * (jobs * results + program.inputs[0].bytes(0.01)))
    assert found.space_bytes["work"] == pytest.approx(1.05 * program.space(0.01)["work"])


@pytest.mark.parametrize("name", ["stress_projection", "pension_cube"])
def test_memory_of_the_memory_programs_is_four_gib_at_full_scale(name: str) -> None:
    declared = CATALOGUE[name].memory_bytes(scaled_options(Options(), 1.0))
    assert declared == pytest.approx(4096 * MIB, rel=0.02)


def test_the_catalogue_needs_no_engine() -> None:
    code = "import sys, mawl.plan.catalogue\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert not {"duckdb", "numpy", "pyarrow", "scipy", "sklearn", "statsmodels"} & set(loaded)
    packages = {name.split(".")[2] for name in loaded if name.startswith("mawl.programs.")}
    assert packages == {"declarations"}


def test_random_access_takes_less_than_an_hour_at_full_scale_where_a_request_takes_5_ms() -> None:
    program = CATALOGUE["random_access"]
    requests = program.random_requests(1.0)
    assert requests == pytest.approx(15_000_000 * 3 * (0.08 + 2 * 0.01), rel=1e-5)
    moved = sum(sum(ways.values()) for ways in program.bytes_by_role(1.0).values())
    waiting = requests * 5e-3 / Options().queue_depth
    assert waiting + program.cpu_seconds(1.0) + moved / BYTES_PER_SECOND_ALONE < 3600
    assert program.expected_seconds(1.0, queue_depth=1) > 2 * program.expected_seconds(1.0)


def test_requests_are_counted_beside_the_bytes() -> None:
    counts = CATALOGUE["random_access"].requests_by_role(0.01, 256 * 1024)["work"]
    tables = 150_000 * (8192 / 68 + 8192 / 8 + 8192 / 2)
    assert counts["read"].random == pytest.approx(150_000 * 3 * 0.09, abs=3)
    assert counts["written"].random == pytest.approx(150_000 * 3 * 0.01, abs=3)
    assert counts["read"].sequential == pytest.approx(tables / (256 * 1024), rel=0.001)
    others = [name for name in CATALOGUE if CATALOGUE[name].random_requests(1.0)]
    assert others == ["random_access"]


SPILLING = sorted(
    name for name, program in CATALOGUE.items() if any(part.role == "util" for part in program.temporaries)
)


def distributed(program: Program, step: Step, scale: float) -> int:
    """Bytes that a step distributes to util: parts that are written side by side share the partitions."""
    sizes = [program.table_size(written.table, scale) for written in step.writes]
    return sum(size for role, size in sizes if role == "util")


def test_six_programs_of_the_catalogue_spill() -> None:
    assert SPILLING == [
        "census_load",
        "census_load_single",
        "census_query",
        "customer_profile",
        "dimension_load",
        "wide_sort",
    ]


@pytest.mark.parametrize("scale", [*SCALES.values(), 0.02])
@pytest.mark.parametrize("name", SPILLING)
def test_what_is_distributed_does_not_fit_in_sort_memory(name: str, scale: float) -> None:
    program = CATALOGUE[name]
    sortsize = scaled_options(Options(), scale).sortsize_bytes
    sizes = [size for step in program.steps if (size := distributed(program, step, scale))]
    assert sizes
    for size in sizes:
        assert size / sortsize > 1.5
        assert partition_count(size, sortsize) > 3
    util = program.bytes_by_role(scale)["util"]
    assert util["written"] == sum(sizes)
    assert util["read"] == sum(sizes)


@pytest.mark.parametrize(
    ("scale", "ratio"),
    [("smoke", 17), ("quick", 54), ("standard", 54), ("full", 540)],
)
def test_the_ratios_of_the_scales_page(scale: str, ratio: int) -> None:
    factor = SCALES[scale]
    (table,) = CATALOGUE["wide_sort"].inputs
    assert round(table.bytes(factor) / scaled_options(Options(), factor).sortsize_bytes) == ratio


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_each_step_of_kind_procedure_names_one_and_no_other_does(name: str) -> None:
    for step in CATALOGUE[name].steps:
        assert (step.procedure in PROCEDURES) == (step.kind == "procedure"), step.name


def test_no_procedure_is_there_for_nothing() -> None:
    assert {step.procedure for program in CATALOGUE.values() for step in program.steps} == {None, *PROCEDURES}


def test_steps_that_no_declaration_knows_have_no_name() -> None:
    assert sas_name(CATALOGUE["wide_sort"], "sort_narrow") == "SORT"
    assert sas_name(CATALOGUE["wide_sort"], "of another version") is None
    assert sas_name(None, "sort") is None
