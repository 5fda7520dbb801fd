"""The JSON Schema of a summary: what reports print is valid by it, and what is not is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from mawl.records.model.fields import schema_of
from mawl.records.model.summary.summary import Judged

GOLDEN = Path(__file__).parents[2] / "golden" / "report.json"
SCHEMA = schema_of(Judged, "summary", "1.0", "A summary")


@pytest.fixture
def summary() -> Any:
    """A summary as it is printed."""
    return json.loads(GOLDEN.read_text())


def test_a_printed_summary_is_valid_and_the_schema_is_one(summary: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(summary)


@pytest.mark.parametrize("spoil", ["another type", "a field less", "no block"])
def test_what_is_no_summary_is_refused(summary: Any, spoil: str) -> None:
    if spoil == "another type":
        summary["time"]["elapsed_seconds"] = "1 s"
    elif spoil == "a field less":
        del summary["io"]["reach"]
    else:
        summary["jobs"] = None
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(summary)


def test_a_figure_has_its_definition_unit_and_source() -> None:
    peak = SCHEMA["properties"]["io"]["properties"]["device"]["properties"]["peak"]  # type: ignore[index]
    assert peak["properties"]["total_bytes_per_second"] == {
        "type": ["number", "null"],
        "description": "Bytes read and written per second in the highest window of at least half the length, "
        "the initial one among them.",
        "unit": "bytes per second",
        "source": "docs/design/figures.md, Windows",
    }
