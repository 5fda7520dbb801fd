"""Programs that declare util bytes have more rows than sort memory holds, at every scale that has a name."""

from __future__ import annotations

import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.programs import Program, Step
from mawl.plan.spec import SCALES, scaled_options
from mawl.programs.toolkit.partitions import partition_count
from mawl.records.spec.program_options import Options

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
