"""The manifest of an input table, and what is said when it or a file is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import DamagedTableError
from mawl.plan.catalogue import INPUTS
from mawl.programs.tables.manifest import (
    MANIFEST,
    Manifest,
    Part,
    check_sizes,
    read_manifest,
    table_directory,
    write_manifest,
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "state-01.txt").write_bytes(b"x" * 30)
    (tmp_path / "state-02.txt").write_bytes(b"x" * 5)
    parts = (
        Part(file="state-01.txt", start=0, rows=2, bytes=20, sums={"H.serial": 2**64 - 1}, words=2**63),
        Part(file="state-01.txt", start=2, rows=1, bytes=10, offset=20, sums={"H.serial": 1}, words=0),
        Part(file="state-02.txt", start=3, rows=1, bytes=5, sums={"H.serial": 0}, words=7),
    )
    manifest = Manifest(
        table="census",
        layout="text",
        seed=1,
        replica=0,
        scale=0.5,
        saving=0.9,
        declaration="d",
        rows=4,
        bytes=35,
        row_bytes=10,
        sums={"H.serial": 0},
        parts=parts,
    )
    write_manifest(tmp_path, manifest)
    return tmp_path


def test_what_is_written_is_read_back_and_sizes_are_those_of_files(table: Path) -> None:
    manifest = check_sizes(table)
    assert manifest == read_manifest(table)
    assert manifest.files == {"state-01.txt": 30, "state-02.txt": 5}
    assert manifest.parts[0].sums["H.serial"] == 2**64 - 1
    assert [path.name for path in table.glob("*.partial")] == []


def test_a_missing_manifest_names_the_cure(tmp_path: Path) -> None:
    with pytest.raises(DamagedTableError, match=r"no manifest\.json; run mawl generate"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b'{"table": "census"}', b"\xff\xfe"])
def test_an_unreadable_manifest_names_the_cure(table: Path, content: bytes) -> None:
    (table / MANIFEST).write_bytes(content)
    with pytest.raises(DamagedTableError, match=r"cannot be read: .*; run mawl generate"):
        read_manifest(table)


def test_another_version_is_refused(table: Path) -> None:
    path = table / MANIFEST
    path.write_bytes(path.read_bytes().replace(b'"schema_version": 1', b'"schema_version": 9'))
    with pytest.raises(DamagedTableError, match="expected 1, found 9"):
        read_manifest(table)


def test_a_missing_file_is_found(table: Path) -> None:
    (table / "state-02.txt").unlink()
    with pytest.raises(DamagedTableError, match=r"state-02\.txt: a file of an input table is missing"):
        check_sizes(table)


def test_a_file_of_another_size_is_found(table: Path) -> None:
    (table / "state-02.txt").write_bytes(b"four")
    with pytest.raises(DamagedTableError, match="expected 5 bytes, found 4"):
        check_sizes(table)


def test_the_directory_says_what_lies_in_it(tmp_path: Path) -> None:
    table = INPUTS["policies"]
    found = table_directory(tmp_path, table, scale=0.0005, seed=7, replica=2, saving=0.9)
    assert found == tmp_path / "policies-rows11362-seed7-replica2-saving90"
