"""Values of input tables: any rows alone, on any machine the same, and spread as declared."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.plan.catalogue import INPUTS
from mawl.plan.columns import (
    Bell,
    Code,
    Column,
    Feature,
    GroupNumber,
    GroupPlace,
    InputTable,
    Paired,
    PerGroup,
    Repeated,
    RowNumber,
    Text,
    Uniform,
    Values,
)
from mawl.programs.datagen.values import cluster_centres, column_values, true_cluster
from mawl.programs.declarations.segmentation import CLUSTER_SHARES

TABLES = pytest.mark.parametrize("table", INPUTS.values(), ids=INPUTS)
EMPTY = InputTable(name="sample", full_bytes=0)


def columns_of(table: InputTable) -> list[Column]:
    """Columns of a table or of its records, fillers included."""
    fields = [field.column for layout in table.records for field in (*layout.fields, layout.filler)]
    return [*table.columns, *fields]


def sample(values: Values, width: int | None = None, *, start: int = 0, count: int = 40_000) -> NDArray[Any]:
    return column_values(EMPTY, Column("x", values, width), seed=1, replica=0, start=start, count=count)


@TABLES
@pytest.mark.parametrize("start", [0, 2**31 - 7, 2**32 - 7])
def test_any_rows_can_be_made_alone(table: InputTable, start: int) -> None:
    for column in columns_of(table):
        whole = column_values(table, column, seed=1, replica=0, start=start, count=64, filled=11)
        alone = column_values(table, column, seed=1, replica=0, start=start + 13, count=22, filled=11)
        assert alone.dtype == whole.dtype == (np.float64 if column.width is None else f"S{column.width}")
        assert alone.tobytes() == whole[13:35].tobytes(), column.name


GOLDEN = {
    "transactions": "d4b9ba859e300f53",
    "census": "be39e9019766141a",
    "ledger": "e9ef53022416b1ee",
    "policies": "e36b73e02a08f1ae",
    "customers": "fb275104c62acb5d",
    "notes": "b08c5ba72b8b1e3f",
    "candidates": "d52df66dad27ada1",
    "applications": "b90eac838c6a9500",
    "census_single": "2b35f27e520c4775",
    "households": "cf1f8da5cffa1fb2",
    "persons": "80be162e31c8d736",
    "customer_records": "d4472399e382ac6a",
    "visits": "e1d886d679c9735e",
    "store_weeks": "ef5a25b2ae67c447",
    "measurements": "7c44b3d144841b54",
    "respondents": "258ce4c97b3e9777",
    "sales": "88c90fffe53c3c2e",
    "experiment_runs": "4dc7b5866a92ac81",
}


@TABLES
def test_the_same_bytes_on_every_machine(table: InputTable) -> None:
    digest = hashlib.blake2b(digest_size=8)
    for column in columns_of(table):
        for start in (0, 2**32):
            digest.update(
                column_values(table, column, seed=1, replica=0, start=start, count=500, filled=9).tobytes()
            )
    assert digest.hexdigest() == GOLDEN[table.name]


@TABLES
def test_seeds_and_replicas_differ_in_every_column_that_is_drawn(table: InputTable) -> None:
    for column in columns_of(table):
        made = [
            column_values(table, column, seed=seed, replica=replica, start=0, count=1000, filled=8).tobytes()
            for seed, replica in ((1, 0), (1, 1), (2, 0))
        ]
        values = column.values.values if isinstance(column.values, PerGroup) else column.values
        if isinstance(values, RowNumber | GroupNumber | GroupPlace):
            assert len(set(made)) == 1
        else:
            assert len(set(made)) == 3, column.name


def test_row_numbers_are_exact_past_four_thousand_million() -> None:
    assert sample(RowNumber(), start=2**32 + 1, count=3).tolist() == [2**32 + 1, 2**32 + 2, 2**32 + 3]


@pytest.mark.parametrize("start", [0, 3 * 2**31 + 1])
def test_groups_are_numbered_and_so_are_their_rows(start: int) -> None:
    numbers, places = (
        sample(GroupNumber(7), start=start, count=50),
        sample(GroupPlace(7), start=start, count=50),
    )
    assert (numbers * 7 + places).tolist() == list(range(start, start + 50))
    assert set(places.tolist()) == set(range(7))


@pytest.mark.parametrize(
    "values",
    [
        Uniform(3, 9),
        Uniform(0, 4, skew=3),
        Uniform(-10, 500, step=10),
        Uniform(1, 90_000, skew=2),
        Uniform(0, 999),
    ],
    ids=str,
)
def test_uniform_has_its_bounds_steps_and_skew(values: Uniform) -> None:
    found = sample(values)
    assert found.min() >= values.low
    assert found.max() <= values.high
    assert np.all((found - values.low) % values.step == 0)
    # P(value < low + span/4) is the s-th root of a quarter for skew s; steps are coarse, hence the bins.
    quarter = values.choices // 4 or 1
    expected = (quarter / values.choices) ** (1 / values.skew)
    assert np.mean(found < values.low + quarter * values.step) == pytest.approx(expected, abs=0.01)


def test_every_choice_of_a_small_uniform_appears() -> None:
    assert set(sample(Uniform(1, 12)).tolist()) == set(range(1, 13))


@pytest.mark.parametrize("start", [0, 1, 7])
def test_paired_has_exactly_one_of_each_two_rows(start: int) -> None:
    found = sample(Paired(), start=start, count=1001)
    whole = found[start % 2 :][:1000].reshape(-1, 2)
    assert np.all(whole.sum(axis=1) == 1)
    assert 200 < whole[:, 0].sum() < 300


@pytest.mark.parametrize("start", [0, 3 * 10**9])
def test_repeated_has_one_of_each_five_numbers_twice_and_no_other(start: int) -> None:
    found = sample(Repeated(5), start=start, count=50_000)
    numbers, counts = np.unique(found, return_counts=True)
    assert len(numbers) == 40_000
    assert counts.max() == 2
    assert numbers.max() < 2**32
    assert numbers.min() >= 0
    for group in found[:500].reshape(-1, 5):
        assert group[4] in group[:4]
    assert found[:4000].mean() == pytest.approx(2**31, rel=0.1)


def test_repeated_numbers_are_different_past_four_thousand_million() -> None:
    across = sample(Repeated(5), start=2**32 // 4 * 5 - 500, count=1000)
    assert len(np.unique(across)) == 800
    assert across.max() >= 2**32


def test_bell_has_its_mean_deviation_and_steps() -> None:
    found = sample(Bell(mean=50.0, stddev=8.0, steps_per_unit=4))
    assert found.mean() == pytest.approx(50.0, abs=0.2)
    assert found.std() == pytest.approx(8.0, rel=0.02)
    assert np.all(found * 4 == np.round(found * 4))
    assert abs(found - 50).max() <= 3.47 * 8


def test_code_is_blank_padded_and_prefers_the_first() -> None:
    found = sample(Code(("AB", "C", "D"), skew=2), 8)
    names, counts = np.unique(found, return_counts=True)
    assert found.dtype == "S8"
    assert names.tolist() == [b"AB      ", b"C       ", b"D       "]
    assert counts[0] > counts[1] > counts[2]


@pytest.mark.parametrize("filled", [0, 3, 8, 13, 24])
def test_text_fills_so_many_bytes_and_pads_with_blanks(filled: int) -> None:
    found = sample(Text(filled), 24).view(np.uint8).reshape(-1, 24)
    assert np.all(found[:, filled:] == 0x20)
    for place in range(filled):
        assert len(np.unique(found[:, place])) == 128
    assert not np.isin(found, np.arange(0x20)).any()


def test_clusters_have_their_shares_and_features_their_centres() -> None:
    table = INPUTS["customers"]
    clusters = true_cluster(table, seed=1, replica=0, start=0, count=60_000)
    centres = cluster_centres(table, seed=1)
    assert centres.shape == (8, 20)
    assert np.bincount(clusters) / 60_000 == pytest.approx(np.array(CLUSTER_SHARES) / 256, abs=0.006)
    features = [column for column in table.columns if column.name.startswith("feature")]
    for index, column in enumerate(features):
        found = column_values(table, column, seed=1, replica=0, start=0, count=60_000)
        for cluster in range(8):
            inside = found[clusters == cluster]
            assert inside.mean() == pytest.approx(centres[cluster, index], abs=0.15)
            assert inside.std() == pytest.approx(2.5, abs=0.1)


@pytest.mark.parametrize("shares", [(128, 127), (128, 129), ()])
def test_shares_that_do_not_add_up_are_refused(shares: tuple[int, ...]) -> None:
    table = INPUTS["customers"]
    feature = Column("feature", Feature(index=0, shares=shares, noise=1.0))
    odd = msgspec.structs.replace(table, columns=(feature,))
    with pytest.raises(ValueError, match=f"must add up to 256, found {sum(shares)}"):
        true_cluster(odd, seed=1, replica=0, start=0, count=1)


def test_a_table_without_features_has_no_clusters() -> None:
    with pytest.raises(ValueError, match="sample has no feature columns"):
        true_cluster(EMPTY, seed=1, replica=0, start=0, count=1)


@pytest.mark.parametrize("start", [0, 5, 2**32 + 3])
def test_groups_share_a_value_and_their_places_come_back(start: int) -> None:
    found = sample(PerGroup(32, Uniform(0, 999)), start=start, count=3200)
    groups = np.arange(start, start + 3200) // 32
    changes = np.flatnonzero(np.diff(found))
    assert np.all(np.diff(groups)[changes] == 1)
    assert len(np.unique(found)) > 80
    strata = sample(PerGroup(32, GroupPlace(16)), start=start, count=3200)
    assert np.array_equal(strata, groups % 16)
