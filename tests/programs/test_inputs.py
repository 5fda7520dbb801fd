"""The declared input tables: sizes that bytes by role rest on, and rules that readers rely on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.plan.catalogue import INPUTS
from mawl.plan.columns import GB, GroupNumber, InputTable, PerGroup, RecordLayout, Uniform
from mawl.programs.declarations.census_load import HOUSEHOLD, PERSON, SIZES
from mawl.programs.declarations.census_query import HOUSEHOLDS, PERSONS
from mawl.programs.declarations.dimension_load import CUSTOMER, CUSTOMER_TYPES, REPEATED_GROUP
from mawl.programs.declarations.segmentation import FEATURES
from mawl.programs.declarations.stepwise_selection import DEFECTS, TABLE, YIELD
from mawl.programs.declarations.survey_logistic import CLUSTER_ROWS, STRATA, UNINSURED
from mawl.programs.declarations.survey_logistic import TABLE as SURVEY_LOGISTIC_TABLE
from mawl.programs.declarations.wide_sort import NARROW_COLUMNS

TABLES = pytest.mark.parametrize("table", INPUTS.values(), ids=INPUTS)


@pytest.mark.parametrize(
    ("name", "full_bytes", "row_bytes"),
    [
        ("transactions", 145 * GB, 640),
        ("census", 37 * GB, 231),
        ("ledger", 18 * GB, 240),
        ("policies", 10 * GB, 440),
        ("customers", 18 * GB, 360),
        ("applications", 18 * GB, 360),
        ("candidates", 8 * GB, 320),
        ("notes", 12 * GB, 768),
        ("visits", 6 * GB, 480),
        ("store_weeks", 10 * GB, 400),
        ("sales", 10 * GB, 240),
        ("experiment_runs", 4 * GB, 256),
        ("census_single", 45 * GB, 231),
        ("households", HOUSEHOLDS.full_bytes, 248),
        ("persons", PERSONS.full_bytes, 504),
        ("customer_records", 19 * GB, 400),
        ("measurements", 10 * GB, 416),
        ("respondents", 14 * GB, 456),
    ],
)
def test_sizes_are_those_that_bytes_by_role_are_designed_on(
    name: str, full_bytes: int, row_bytes: int
) -> None:
    table = INPUTS[name]
    assert table.row_bytes == row_bytes
    assert full_bytes - table.group_rows * row_bytes < table.bytes(1.0) <= full_bytes


@TABLES
def test_rows_are_linear_in_the_scale_down_to_a_minimum(table: InputTable) -> None:
    assert table.rows(0.5) == pytest.approx(table.rows(1.0) / 2, abs=table.group_rows)
    assert table.rows(1e-9) == table.minimum_rows
    assert table.rows(0.00123) % table.group_rows == 0


@TABLES
def test_names_are_unique_and_characters_are_whole_words(table: InputTable) -> None:
    kinds = [table.columns, *[tuple(field.column for field in layout.fields) for layout in table.records]]
    for columns in kinds:
        assert len({column.name for column in columns}) == len(columns)
        assert all(column.stored_bytes % 8 == 0 for column in columns)


def test_transactions_are_forty_numerics_and_fifteen_characters() -> None:
    columns = INPUTS["transactions"].columns
    assert len(columns) == 55
    assert sum(column.stored_bytes for column in columns if column.width is None) == 320
    assert sum(1 for column in columns if column.width is not None) == 15


def test_the_narrow_table_has_the_keys_and_two_thirds_of_the_bytes() -> None:
    columns = [column for column in INPUTS["transactions"].columns if column.name in NARROW_COLUMNS]
    assert {"row", "account", "posted", "merchant", "amount_cents"} < set(NARROW_COLUMNS)
    assert len(columns) == len(NARROW_COLUMNS)
    assert sum(column.stored_bytes for column in columns) == pytest.approx(419, abs=4)


def test_census_records_become_rows_of_120_and_240_bytes() -> None:
    assert HOUSEHOLD.row_bytes == 120
    assert PERSON.row_bytes == 240
    assert sum(field.column.width is None for field in HOUSEHOLD.fields) == 12
    assert sum(field.column.width is None for field in PERSON.fields) == 26
    assert len(INPUTS["census"].file_weights) == 51
    assert len(INPUTS["census_single"].file_weights) == 1
    assert INPUTS["census_single"].records == INPUTS["census"].records


@pytest.mark.parametrize("layout", [HOUSEHOLD, PERSON, CUSTOMER], ids=["H", "P", "C"])
def test_text_fields_follow_one_another_and_hold_their_largest_value(layout: RecordLayout) -> None:
    position = 1
    for field in (*layout.fields, layout.filler):
        assert field.start == position
        position += field.width
        if isinstance(field.column.values, Uniform):
            assert field.width >= len(str(field.column.values.high))
    (table,) = [INPUTS[name] for name in ("census", "customer_records") if layout in INPUTS[name].records]
    assert position == table.row_bytes - 1


def test_the_largest_census_has_serials_of_at_most_ten_digits() -> None:
    groups = INPUTS["census"].rows(100.0) // INPUTS["census"].group_rows
    assert len(str(groups * HOUSEHOLD.per_group)) <= 10


@given(scale=st.floats(1e-6, 100.0))
def test_households_and_persons_have_rows_for_the_same_groups(scale: float) -> None:
    households, persons = HOUSEHOLDS.rows(scale), PERSONS.rows(scale)
    assert households * sum(SIZES) == persons * len(SIZES)


def test_households_and_persons_are_thirty_six_gb() -> None:
    assert HOUSEHOLDS.bytes(1.0) + PERSONS.bytes(1.0) == pytest.approx(36 * GB, rel=0.001)


def test_customer_records_become_rows_of_320_bytes_and_mostly_have_a_type() -> None:
    assert CUSTOMER.row_bytes == 320
    assert len(CUSTOMER_TYPES) == 960


def test_the_largest_customer_records_have_numbers_that_sort() -> None:
    rows = INPUTS["customer_records"].rows(100.0)
    # A sort key must be below 2**32, a record number of at most ten digits.
    assert rows // REPEATED_GROUP * (REPEATED_GROUP - 1) < 2**32
    assert len(str(rows)) <= 10


def test_customers_have_twenty_features_of_eight_clusters() -> None:
    names = [column.name for column in INPUTS["customers"].columns]
    assert len(FEATURES) == 20
    assert set(FEATURES) < set(names)


def test_responses_depend_on_columns_of_their_table() -> None:
    for table, responses in (
        (TABLE, (YIELD, *DEFECTS)),
        (SURVEY_LOGISTIC_TABLE, (UNINSURED,)),
    ):
        for response in responses:
            used = {factor.column for term in response.terms for factor in term.factors}
            assert used <= set(table.columns)


def test_clusters_are_whole_and_strata_have_many() -> None:
    table = SURVEY_LOGISTIC_TABLE
    assert table.group_rows == CLUSTER_ROWS
    assert table.minimum_rows >= 20 * CLUSTER_ROWS * STRATA
    shared = [column.values for column in table.columns if isinstance(column.values, PerGroup | GroupNumber)]
    assert {values.rows for values in shared} == {CLUSTER_ROWS}
