"""Real savings beside estimates and papers: within three points, and the spread over volumes."""

from __future__ import annotations

import pytest

from mawl.lab.experiment.evidence import saving_result
from mawl.lab.experiment.records import RoleKept, SavingResult, SavingSpec, VolumeKept
from mawl.records.papers import published_result

NAME = "e880-xiv-compressed-30"
SPEC = SavingSpec(arm="software", storage="btrfs", codec="zstd", level=1, published=NAME)


def judged(*volumes: tuple[int, int], estimated: float | None = 0.88) -> SavingResult:
    kept = RoleKept(
        arm="software",
        role="work",
        codec="zstd-1",
        storage="btrfs",
        source="btrfs (compsize)",
        volumes=[
            VolumeKept(volume=f"v{number}", original_bytes=original, stored_bytes=stored)
            for number, (original, stored) in enumerate(volumes)
        ],
        estimated_saving_ratio=estimated,
        half_width_ratio=0.0,
        block_bytes=131072,
    )
    return saving_result(kept, [SPEC], {NAME: published_result(NAME)}, {NAME: "A Paper"})


@pytest.mark.parametrize(("stored", "agrees"), [(100, True), (149, True), (151, False), (89, False)])
def test_three_points_are_the_bound(stored: int, agrees: bool) -> None:
    found = judged((1000, stored))
    assert found.agrees is agrees
    assert found.off_ratio == pytest.approx(0.12 - stored / 1000)


def test_a_role_is_weighted_by_bytes_and_stands_beside_the_paper() -> None:
    found = judged((3000, 300), (1000, 200))
    assert found.saving_ratio == pytest.approx(1 - 500 / 4000)
    assert found.spread_ratio == pytest.approx(0.1)
    assert found.published_saving_ratio == pytest.approx(0.79)


def test_a_volume_with_next_to_nothing_is_left_out_of_the_spread() -> None:
    assert judged((1000, 100), (1000, 110), (10, 10)).spread_ratio == pytest.approx(0.01)


def test_nothing_there_is_no_figure() -> None:
    found = judged(estimated=None)
    assert (found.saving_ratio, found.agrees, found.spread_ratio) == (None, None, None)
