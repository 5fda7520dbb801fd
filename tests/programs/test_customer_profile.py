"""customer_profile: the table it makes, and wrong answers planted in each of its parts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mawl.model.options import MIB, Options
from mawl.plan.catalogue.customer_profile import HOUSEHOLD_ROWS
from mawl.programs import customer_profile
from mawl.programs.groups import group_means
from mawl.programs.profile_table import household, make_rows
from mawl.tables import arrow
from tests.contract.jobs import Job, assign, run_here

OPTIONS = Options(memsize_bytes=64 * MIB, sortsize_bytes=MIB)
SCALE = 0.00006


def job(place: Path) -> Job:
    return run_here(assign("customer_profile", SCALE, OPTIONS, {}, place))


def test_rows_are_the_same_on_every_machine_and_any_can_be_made_alone() -> None:
    digest = hashlib.blake2b(digest_size=8)
    for start in (0, 2**31 - 100, 2**32):
        batch = make_rows(seed=1, replica=0, rows=2**33, start=start, count=500)
        alone = make_rows(seed=1, replica=0, rows=2**33, start=start + 13, count=22)
        assert alone.equals(batch.slice(13, 22))
        for column in batch.columns:
            digest.update(arrow.numbers(column).tobytes())
        assert all((arrow.numbers(column) % 1 == 0).all() for column in batch.columns)
    assert digest.hexdigest() == "e326f584af93df1f"


@pytest.mark.parametrize("rows", [4000, 8 * 1_000_003, 39_056])
def test_each_household_has_eight_customers(rows: int) -> None:
    found = household(np.arange(rows, dtype=np.float64), rows)
    assert np.bincount(found.astype(np.intp)).tolist() == [HOUSEHOLD_ROWS] * (rows // HOUSEHOLD_ROWS)


def test_means_of_groups_in_order() -> None:
    rows = np.array([[1.0, 2.0], [1.0, 4.0], [3.0, 5.0]])
    assert group_means(rows).tolist() == [[1.0, 3.0], [3.0, 5.0]]
    assert group_means(rows[:0]).tolist() == []


def test_a_right_job_at_its_smallest(tmp_path: Path) -> None:
    found = job(tmp_path)
    assert found.failed is None
    assert found.answer is not None
    assert found.answer["households"] == found.answer["customers"] // HOUSEHOLD_ROWS  # type: ignore[operator]


def _scaled(name: str, factor: float) -> Callable[[pytest.MonkeyPatch], None]:
    """Multiply what a function of the program returns."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right: Callable[..., Any] = getattr(customer_profile, name)
        patch.setattr(customer_profile, name, lambda *arguments: right(*arguments) * factor)

    return plant


def _other_order(patch: pytest.MonkeyPatch) -> None:
    right: Callable[..., Any] = vars(customer_profile)["sorted_batches"]

    def backwards(*arguments: Any) -> Any:
        return (batch.take(_backwards(batch)) for batch in right(*arguments))

    patch.setattr(customer_profile, "sorted_batches", backwards)


def _backwards(batch: Any) -> np.ndarray:
    return np.arange(batch.num_rows - 1, -1, -1)


def _lost_batch(patch: pytest.MonkeyPatch) -> None:
    right: Callable[..., Any] = vars(customer_profile)["sorted_batches"]

    def fewer(*arguments: Any) -> Any:
        batches = right(*arguments)
        next(batches)
        yield from batches

    patch.setattr(customer_profile, "sorted_batches", fewer)


def _repeated_batch(patch: pytest.MonkeyPatch) -> None:
    right: Callable[..., Any] = vars(customer_profile)["sorted_batches"]

    def more(*arguments: Any) -> Any:
        for batch in right(*arguments):
            yield batch
            yield batch

    patch.setattr(customer_profile, "sorted_batches", more)


def _other_truth(name: str, shift: float) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(patch: pytest.MonkeyPatch) -> None:
        right: Callable[..., Any] = getattr(customer_profile, name)
        patch.setattr(customer_profile, name, lambda *arguments: right(*arguments) + shift)

    return plant


def _noisier(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(customer_profile, "NOISE_VARIANCE", 250.0**2)


@pytest.mark.parametrize(
    "plant",
    [
        _scaled("design", 1.1),
        _scaled("group_means", 2.0),
        _scaled("total", 2),
        _scaled("total_rows", 2),
        _other_truth("truth", 5.0),
        _other_truth("segment_truth", 50.0),
        _other_order,
        _lost_batch,
        _repeated_batch,
        _noisier,
    ],
)
def test_a_planted_wrong_answer_is_rejected(
    plant: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    found = job(tmp_path)
    assert found.failed is not None
    assert found.failed.wrong_answer, found.failed.sentence
    assert found.answer is None
