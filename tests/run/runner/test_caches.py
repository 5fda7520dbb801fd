"""The input tables in the page cache before a run."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.measure.page_cache import Residency
from mawl.plan.workload import load_workload, make_plan
from mawl.records.spec.program_options import CacheMode
from mawl.records.spec.run_spec import RunSpec
from mawl.records.volumes import Volumes
from mawl.run.runner import preparation
from mawl.run.runner.preparation import MOST_REMARKS, deny_cache, prepare_inputs, require_uncached
from mawl.run.runner.request import RunRequest

SIZE = 2**20


def request(tmp_path: Path, cache: CacheMode | None = None) -> RunRequest:
    """A request with two input tables, of which one is named twice."""
    spec, where = load_workload("nano")
    tables = {}
    for name in ("a", "b"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "part").write_bytes(bytes(SIZE))
        tables[name, 1.0, 0] = tmp_path / name
    tables["b", 1.0, 1] = tmp_path / "b"
    return RunRequest(
        run_id="r1",
        folder=tmp_path / "run",
        plan=make_plan(spec, where=where, scale=0.0005),
        inputs=tables,
        spec=RunSpec(cache=cache),
    )


def test_left_alone_they_are_only_looked_at(tmp_path: Path) -> None:
    facts = prepare_inputs(request(tmp_path))
    assert (facts.mode, facts.input_bytes, facts.resident_bytes) == (None, 2 * SIZE, 2 * SIZE)
    assert facts.remarks == [] and not facts.machine_wide


def test_cold_inputs_are_gone_or_it_is_said_why_not(tmp_path: Path) -> None:
    facts = prepare_inputs(request(tmp_path, "cold"))
    assert facts.mode == "cold"
    if facts.resident_bytes:
        assert "a file system that is memory (tmpfs)" in facts.remarks[0]
    else:
        assert facts.remarks == []
    warm = prepare_inputs(request(tmp_path, "warm"))
    assert (warm.resident_bytes, warm.remarks) == (2 * SIZE, [])


@pytest.mark.parametrize(
    ("mode", "changes", "sentence"),
    [
        ("warm", {"resident_bytes": SIZE}, "only 1.05 MB of 2.10 MB of the inputs stayed in memory"),
        (
            "cold",
            {"resident_bytes": 4096, "dirty_bytes": 4096},
            "dropped: 4.10 kB of them are not",
        ),
        ("cold", {"resident_bytes": 4096, "dirty_bytes": 0}, "other processes have them mapped"),
        ("cold", {"resident_bytes": None, "reason": "not told"}, None),
    ],
)
def test_what_did_not_work_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: CacheMode,
    changes: dict[str, int | None],
    sentence: str | None,
) -> None:
    found = msgspec.structs.replace(Residency(bytes=2 * SIZE, resident_bytes=0), **changes)
    monkeypatch.setattr(preparation, "residency", lambda files: found)
    monkeypatch.setattr(preparation, "read_mounts", list)
    facts = prepare_inputs(request(tmp_path, mode))
    assert [sentence in remark for remark in facts.remarks] == ([True] if sentence else [])  # type: ignore[operator]
    assert facts.reason == found.reason


def test_long_lists_of_remarks_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "drop", lambda files: [f"file {number}" for number in range(20)])
    monkeypatch.setattr(preparation, "residency", lambda files: Residency(bytes=1, resident_bytes=0))
    remarks = prepare_inputs(request(tmp_path, "cold")).remarks
    assert len(remarks) == MOST_REMARKS + 1 and remarks[-1] == "and 15 more files"


def test_a_run_without_page_cache_needs_the_library_and_places_that_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volumes = Volumes({"data": [tmp_path], "work": [tmp_path], "util": [tmp_path / "u"]})
    (tmp_path / "u").mkdir()
    with pytest.raises(UnsuitableMachineError, match="counting library: no C compiler; install a C compiler"):
        require_uncached(volumes.directories, "no C compiler")
    monkeypatch.setattr(preparation, "keeps", lambda place: "tmpfs keeps all" if place.name == "u" else None)
    with pytest.raises(
        UnsuitableMachineError, match=r"/u: --cache none has no effect on the util directory: tmpfs"
    ):
        require_uncached(volumes.directories, None)
    monkeypatch.setattr(preparation, "keeps", lambda place: None)
    require_uncached(volumes.directories, None)


def test_without_page_cache_the_inputs_are_cold(tmp_path: Path) -> None:
    facts = prepare_inputs(request(tmp_path, "none"))
    assert facts.mode == "none" and (facts.resident_bytes == 0 or facts.remarks)


def test_a_command_without_a_role_has_no_cache_to_be_denied(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without a directory of a role"):
        deny_cache({"data": [tmp_path / "absent"], "work": []})


def test_files_of_a_command_are_dropped_and_what_stays_is_remarked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "require_uncached", lambda roles, no_library: None)
    monkeypatch.setattr(preparation, "drop", lambda files: [f"{path}: not dropped" for path in files])
    monkeypatch.setattr(
        preparation, "residency", lambda files: Residency(bytes=len(files) * SIZE, resident_bytes=SIZE)
    )
    for number in range(MOST_REMARKS + 2):
        (tmp_path / str(number)).write_bytes(b"")
    facts = deny_cache({"work": [tmp_path], "util": [tmp_path, tmp_path / "absent"]})
    assert (facts.mode, facts.input_bytes) == ("none", (MOST_REMARKS + 2) * SIZE)
    assert facts.remarks[MOST_REMARKS] == "and 2 more files"
    assert "could not be dropped" in facts.remarks[-1]
