"""The columns of the tables, and the page that lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.model.records import EventRecord, JobRecord, StepRecord
from mawl.model.usage import FIELDS
from mawl.store.columns import PREFIXES, SCHEMAS, to_records, to_table
from tests.fakes.stored_run import events, jobs, steps

PAGE = (Path(__file__).parents[2] / "docs" / "design" / "run-folder.md").read_text()


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_page_lists_every_column_with_its_type(name: str) -> None:
    section = PAGE.split(f"### {name}\n")[1].split("##")[0]
    usages = {prefix + field for prefix in PREFIXES.values() for field in FIELDS}
    for column in SCHEMAS[name]:
        if column.name not in usages:
            null = "may be" if column.nullable else "never"
            assert f"| {column.name} | {column.type} | {null} |" in section
    assert all(f"`{field}`" in PAGE for field in FIELDS)


def test_records_survive_a_table() -> None:
    assert list(to_records("jobs", to_table("jobs", jobs()), JobRecord)) == jobs()
    assert list(to_records("steps", to_table("steps", steps()), StepRecord)) == steps()
    assert list(to_records("events", to_table("events", events()), EventRecord)) == events()


def test_every_field_of_a_record_has_a_column() -> None:
    for name, kind in (("jobs", JobRecord), ("steps", StepRecord), ("events", EventRecord)):
        plain = {field for field in kind.__struct_fields__ if field not in PREFIXES}
        assert plain <= set(SCHEMAS[name].names)
