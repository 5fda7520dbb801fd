"""The declarations: what PROGRAMS.md designs on paper, and what every one of them must hold."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from mawl.model.options import MIB, Options
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.scale import SCALES, scaled_options

GB = 10**9

# Data read and written, work read and written, util read and written, in GB at full scale (PROGRAMS.md).
DESIGN = {
    "census_load": (37, 0, 140, 41, 33, 33),
    "census_load_single": (45, 0, 150, 48, 30, 30),
    "census_query": (36, 0, 170, 40, 30, 30),
    "wide_sort": (145, 0, 520, 240, 240, 240),
    "dimension_load": (19, 0, 75, 30, 16, 16),
    "stress_projection": (10, 0, 6, 4, 0, 0),
    "segmentation": (18, 0, 28, 14, 0, 0),
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
    assert f"mawl.programs.{name}" in program.modules


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_modules_of_a_declaration_can_be_imported(name: str) -> None:
    for module in CATALOGUE[name].modules:
        importlib.import_module(module)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_bytes_are_linear_in_the_scale(name: str) -> None:
    program = CATALOGUE[name]
    full = sum(sum(role.values()) for role in program.bytes_by_role(1.0).values())
    quick = sum(sum(role.values()) for role in program.bytes_by_role(SCALES["quick"]).values())
    assert quick == pytest.approx(full * SCALES["quick"], rel=0.001)


def test_memory_of_the_memory_program_is_four_gib_at_full_scale() -> None:
    declared = CATALOGUE["stress_projection"].memory_bytes(scaled_options(Options(), 1.0))
    assert declared == pytest.approx(4096 * MIB, rel=0.02)


def test_the_catalogue_needs_no_engine() -> None:
    code = (
        "import sys, mawl.plan.catalogue\n"
        "print([m for m in ('duckdb', 'sklearn', 'numpy', 'pyarrow', 'mawl.programs') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
