"""Every figure is defined once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mawl.analysis.missing import generalised
from mawl.analysis.summary import summary_of
from mawl.model.metrics import METRICS, USAGE_METRICS
from mawl.model.usage import FIELDS
from tests.fakes.stored_run import facts, jobs

NAMES = [metric.name for metric in METRICS]


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of everything in a summary that holds no more of it."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    if not members:
        yield path
    for name, member in members:
        yield from leaves(member, (*path, str(name)))


def test_every_usage_field_has_an_entry_and_none_is_made_up() -> None:
    assert [metric.name for metric in USAGE_METRICS] == list(FIELDS)


def test_every_leaf_of_the_summary_has_an_entry() -> None:
    summary = summary_of(facts(remarks=["torn"]), jobs())
    named = {
        f"{path[0]}.*" if path[0] in ("missing", "remarks") else ".".join(generalised(path))
        for path in leaves(summary)
    }
    assert named - set(NAMES) == set()


def test_no_entry_is_about_nothing() -> None:
    in_summary = {name for name in NAMES if "." in name}
    whole = summary_of(facts(remarks=["torn"]), jobs())
    nothing = summary_of(facts(outside_cpu=None), jobs())
    known = {
        f"{path[0]}.*" if path[0] in ("missing", "remarks") else ".".join(generalised(path))
        for summary in (whole, nothing)
        for path in leaves(summary)
    }
    assert in_summary - known == {"workload.options"}


def test_names_are_unique_and_carry_their_unit() -> None:
    assert len(NAMES) == len(set(NAMES))
    for metric in METRICS:
        last = metric.name.split(".")[-1]
        assert (metric.unit == "seconds") == (
            last.endswith("_seconds") or ".real_time_seconds." in metric.name
        ) or (last == "seconds_near_peak")
        if metric.unit == "bytes":
            assert last.endswith("_bytes")


def test_definitions_are_one_sentence_with_a_source() -> None:
    for metric in METRICS:
        assert metric.definition.endswith(".") or metric.definition.endswith(".)"), metric.name
        assert metric.source
