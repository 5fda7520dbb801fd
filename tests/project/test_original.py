"""What docs/reference/original.md says of mawl's programs, options and mix is what they declare."""

from collections import Counter
from pathlib import Path

import pytest

from mawl.base.units import format_bytes, format_memory
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import COPIES
from mawl.records.spec.program_options import SIZE_OPTIONS, Options

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/original.md").read_text()
CENSUS = ("households", "persons")
RESULTS = {"census_load": CENSUS, "census_load_single": CENSUS, "dimension_load": ("unique",)}


def test_each_program_has_one_row_with_its_class_input_time_and_share() -> None:
    minutes = {name: one.expected_seconds(1.0) / 60 for name, one in CATALOGUE.items()}
    total = sum(minutes[name] * copies for name, copies in COPIES.items())
    for name, one in CATALOGUE.items():
        size = format_bytes(sum(table.bytes(1.0) for table in one.inputs))
        size = size if one.inputs else f"makes {one.rows(1.0) / 1e6:.0f} million rows"
        start, share = f"| {name} | {one.program_class} |", 100 * minutes[name] * COPIES[name] / total
        row = f"{start} {size} | {minutes[name]:.0f} min | {share:.1f} % |"
        assert (PAGE.count(row), PAGE.count(start)) == (1, 1), row
    for name, field in SIZE_OPTIONS.items():
        assert f"\n| {name} | " in PAGE and f" | {format_memory(getattr(Options(), field))} |\n" in PAGE


@pytest.mark.parametrize(
    ("left_out", "results"), [((), {}), (("data",), {}), (("data", "work", "util"), {}), ((), RESULTS)]
)
def test_mixes_are_as_declared(left_out: tuple[str, ...], results: dict[str, tuple[str, ...]]) -> None:
    moved, cpu = Counter[tuple[str, str]](), 0.0
    for name, one in ((name, CATALOGUE[name]) for name, copies in COPIES.items() for _ in range(copies)):
        cpu += one.cpu_seconds(1.0)
        moved["data", "written"] += sum(one.table_size(table, 1.0)[1] for table in results.get(name, ()))
        for role, ways in one.bytes_by_role(1.0).items():
            if one.program_class == "io" or role not in left_out:
                moved.update({(role, way): size for way, size in ways.items()})
    total, data = moved.total(), moved["data", "read"] + moved["data", "written"]
    read = sum(moved[role, "read"] for role in ("data", "work", "util"))
    shares = (read / total, 1 - data / total, moved["data", "written"] / data)
    cells = (format_bytes(total), *(f"{100 * share:.1f} %" for share in shares), f"{total / cpu / 1e6:.0f}")
    assert f"| {' | '.join(cells)} |" in PAGE
