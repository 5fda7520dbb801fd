"""A look at several volumes of which one cannot be read: it has the reason, and the others their figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import MawlError, UsageError
from mawl.measure.compressibility.codecs import LZ4, Codec, CodecKey, EstimateRequest
from mawl.measure.compressibility.population import Kind, Population
from mawl.measure.compressibility.volumes import LookRequest, look_at
from mawl.records.spec.program_options import Role

FIGURES = [EstimateRequest("plain", LZ4, 4096)]


def half(key: CodecKey) -> Codec:
    return Codec(key, lambda block: len(block) // 2)


@pytest.fixture
def volumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two folders with data; the device of the first fails when it is listed."""
    places = [tmp_path / "bad", tmp_path / "good"]
    for place in places:
        place.mkdir()
        (place / "file").write_bytes(b"x" * 8192)
    add = Population.add

    def failing(self: Population, path: Path) -> Kind:
        if path == places[0]:
            raise MawlError("cannot be read", where=str(path), why="input/output error")
        return add(self, path)

    monkeypatch.setattr(Population, "add", failing)
    return places


def test_one_that_cannot_be_read_costs_itself_and_its_roles_figure(volumes: list[Path]) -> None:
    roles: dict[Role, list[Path]] = {"work": volumes}
    found = look_at(LookRequest(roles=roles, figures=FIGURES, seed=1), loader=half)
    bad, good = found.volumes
    assert good.estimates[0].saving_ratio == 0.5 and good.reason is None
    assert bad.estimates[0].saving_ratio is None and bad.reason == "input/output error"
    assert (bad.kind, bad.files, bad.data_bytes, bad.hole_bytes, bad.zero_share.ratio) == (None,) * 5
    assert bad.estimates[0].original_bytes is None and found.roles[0].data_bytes is None
    (role,) = found.roles[0].estimates
    assert role.saving_ratio is None and role.reason == "input/output error", "half of it is not known"


def test_where_none_can_be_read_or_one_is_not_there_it_is_an_error(volumes: list[Path]) -> None:
    with pytest.raises(MawlError, match="bad: cannot be read: input/output error"):
        look_at(LookRequest(paths=volumes[:1], figures=FIGURES, seed=1), loader=half)
    with pytest.raises(UsageError, match="cannot be looked at"):
        look_at(LookRequest(paths=[*volumes, volumes[0] / "none"], figures=FIGURES, seed=1), loader=half)
