"""How the library comes to be, and every way in which it does not.

What a job writes down beside its counters is read as it comes, whatever else is in the file.

The layout of counter files, from which the library's header is printed.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.base.errors import UnsuitableMachineError
from mawl.measure.preload import build
from mawl.measure.preload.build import Library, install, library
from mawl.measure.preload.counters import (
    CLASSES,
    FILE_BYTES,
    HEADER,
    HEADER_BYTES,
    HISTOGRAM_WORDS,
    KINDS,
    LATENCY_BUCKETS,
    SHARD_WORDS,
    SHARDS,
    SUM_WORDS,
    SUMS,
    SUMS_WORDS_PADDED,
    c_header,
    histogram_word,
    lower_bound,
    sum_word,
)
from mawl.measure.preload.job import Entry, Ledger, append_entry, ledger_of
from mawl.measure.suitability import compiler_check, why_cached
from mawl.records.compiled import NO_COMPILER, find_compiler
from mawl.records.model.role_io import FILE_ROLES, RoleIo, upper_bound
from tests import needs


def fake_compiler(folder: Path, script: str) -> dict[str, str]:
    """An environment whose C compiler is a script, and whose cache is empty."""
    compiler = folder / "fake-cc"
    compiler.write_text(f"#!/bin/sh\n{script}\n")
    compiler.chmod(0o755)
    return {**os.environ, "CC": str(compiler), "XDG_CACHE_HOME": str(folder / "cache")}


def test_it_is_compiled_once_and_kept_for_its_user_alone(made: Library) -> None:
    assert made.path is not None
    first = made.path.stat().st_mtime_ns
    again = library({**os.environ, "XDG_CACHE_HOME": str(made.path.parents[1]), "CC": "/bin/false"})
    assert again == made
    assert made.path.stat().st_mtime_ns == first
    assert made.path.parent.stat().st_mode & 0o077 == 0
    assert [path.name for path in made.path.parent.iterdir()] == [made.path.name]


def test_without_a_compiler_there_is_a_reason(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    assert find_compiler(environment) is None
    assert library(environment) == Library(None, NO_COMPILER)


def test_a_compiler_that_fails_is_quoted_and_leaves_nothing(tmp_path: Path) -> None:
    found = library(fake_compiler(tmp_path, "echo 'tap.h:1: error: no such header' >&2; exit 1"))
    assert found.path is None
    assert found.reason is not None
    assert found.reason.endswith("tap.h:1: error: no such header")
    assert list((tmp_path / "cache" / "mawl").iterdir()) == []


@needs.marks(needs.COMPILER)
def test_a_library_that_does_not_count_is_not_used(tmp_path: Path) -> None:
    empty = 'while [ "$1" != -o ]; do shift; done; echo "int x;" | cc -shared -x c - -o "$2"'
    found = library(fake_compiler(tmp_path, empty))
    assert found.path is None
    assert "failed its trial" in (found.reason or "")


def test_a_cache_that_cannot_be_made_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = library({**os.environ, "XDG_CACHE_HOME": str(tmp_path / "file")})
    assert found.path is None
    assert found.reason is not None


@pytest.mark.parametrize(
    ("name", "said"), [("my cache", "a blank"), ("a:b", "a colon"), ("$ORIGIN", "a dollar sign")]
)
def test_a_cache_that_the_loader_cannot_name_is_a_reason_with_its_cure(
    name: str, said: str, tmp_path: Path
) -> None:
    place = tmp_path / name
    found = library({**os.environ, "XDG_CACHE_HOME": str(place)})
    assert found.path is None
    assert found.reason is not None
    assert said in found.reason and f"{place}/mawl" in found.reason and "set XDG_CACHE_HOME" in found.reason
    assert not place.exists()


@needs.marks(needs.COMPILER)
def test_an_installation_that_the_loader_cannot_name_leaves_it_to_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Library
) -> None:
    assert made.path is not None
    odd = tmp_path / "my programs" / "built"
    odd.mkdir(parents=True)
    (odd / made.path.name).write_bytes(made.path.read_bytes())
    monkeypatch.setattr(build, "_INSTALLED", odd)
    assert library({**os.environ, "XDG_CACHE_HOME": str(made.path.parents[1])}) == made


def test_what_a_user_preloads_stays(tmp_path: Path) -> None:
    made = Library(tmp_path / "c.so")
    assert made.environment({})["LD_PRELOAD"] == f"{tmp_path}/c.so"
    both = made.environment({"LD_PRELOAD": "/other.so"})
    assert both["LD_PRELOAD"] == f"{tmp_path}/c.so:/other.so"
    assert made.environment(both) == both
    assert Library(None).environment({"A": "b"}) == {"A": "b"}


@needs.marks(needs.COMPILER)
def test_an_installed_library_serves_every_user_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    monkeypatch.setattr(build, "_INSTALLED", tmp_path / "built")
    elsewhere = {**bare, "XDG_CACHE_HOME": str(tmp_path / "elsewhere")}
    assert "no C compiler" in (why_cached({}, elsewhere) or "")
    made = install(place=tmp_path / "built")
    os.chown(made, *((1, 1) if os.geteuid() == 0 else (-1, -1)))
    assert why_cached({}, bare) is None
    assert library(bare) == Library(made)
    assert compiler_check(bare).status == "ok"
    assert not (tmp_path / "cache").exists()


def test_a_compiler_that_cannot_compile_keeps_no_files_out_of_the_cache(tmp_path: Path) -> None:
    broken = tmp_path / "gcc"
    broken.write_text("#!/bin/sh\necho 'stdio.h: No such file or directory' >&2\nexit 1\n")
    broken.chmod(0o755)
    reason = why_cached({}, {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert reason is not None and "stdio.h: No such file or directory" in reason


def test_a_library_in_the_cache_needs_no_compiler(tmp_path: Path, made: Library) -> None:
    assert made.path is not None
    bare = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(made.path.parents[1])}
    assert library(bare) == made


@needs.marks(needs.COMPILER)
def test_a_library_that_was_cut_is_made_again(tmp_path: Path, made: Library) -> None:
    assert made.path is not None
    whole = made.path.read_bytes()
    cut = tmp_path / "cache" / "mawl" / made.path.name
    cut.parent.mkdir(parents=True)
    cut.write_bytes(whole[: len(whole) // 2])
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert library(environment) == Library(cut)
    assert len(cut.read_bytes()) == len(whole)


@needs.marks(needs.COMPILER)
def test_an_installed_library_that_was_cut_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_INSTALLED", tmp_path / "built")
    installed = install(place=tmp_path / "built")
    installed.write_bytes(installed.read_bytes()[:4096])
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert library(environment) == Library(tmp_path / "cache" / "mawl" / installed.name)


def test_what_cannot_be_installed_is_one_error_with_its_reason(tmp_path: Path) -> None:
    place = tmp_path / "built"
    with pytest.raises(UnsuitableMachineError, match=NO_COMPILER):
        install({"PATH": str(tmp_path)}, place)
    with pytest.raises(UnsuitableMachineError, match="no such header"):
        install(fake_compiler(tmp_path, "echo 'tap.h:1: error: no such header' >&2; exit 1"), place)
    assert list(place.iterdir()) == []


@needs.marks(needs.COMPILER)
def test_a_library_that_does_not_count_is_not_installed(tmp_path: Path) -> None:
    empty = 'while [ "$1" != -o ]; do shift; done; echo "int x;" | cc -shared -x c - -o "$2"'
    with pytest.raises(UnsuitableMachineError, match="failed its trial"):
        install(fake_compiler(tmp_path, empty), tmp_path / "built")
    assert list((tmp_path / "built").iterdir()) == []


def entry(number: int) -> Entry:
    """An entry with some I/O."""
    io = {"work": RoleIo(reads=number, read_bytes=7, read_nanoseconds_histogram={16: number})}
    return Entry(number=number, io=io, moved_read_bytes=7, moved_written_bytes=0)  # type: ignore[arg-type]


def test_entries_come_one_by_one(tmp_path: Path) -> None:
    counters = str(tmp_path / "job")
    ledger = Ledger(counters)
    assert ledger.entries() == {}
    for number in (0, 1):
        append_entry(counters, entry(number))
        assert ledger.entries()[number] == entry(number)
    assert sorted(ledger.entries()) == [0, 1]


def test_a_torn_line_waits_and_a_damaged_one_is_left_out(tmp_path: Path) -> None:
    counters = str(tmp_path / "job")
    ledger = Ledger(counters)
    append_entry(counters, entry(1))
    with ledger_of(counters).open("ab") as file:
        file.write(b"what is this\n" + b'{"number": 2, "io": {}, ')
    assert sorted(ledger.entries()) == [1]
    with ledger_of(counters).open("ab") as file:
        file.write(b'"moved_read_bytes": 1, "moved_written_bytes": 2}\n')
    assert sorted(ledger.entries()) == [1, 2]


def test_no_word_has_two_meanings() -> None:
    sums = {sum_word(kind, name, figure) for kind in KINDS for name in CLASSES for figure in SUMS}
    assert sums == set(range(SUM_WORDS))
    starts = sorted(histogram_word(role, way) for role in FILE_ROLES for way in ("read", "write"))
    assert starts[0] >= SUMS_WORDS_PADDED >= SUM_WORDS
    assert all(later - first == HISTOGRAM_WORDS for first, later in pairwise(starts))
    assert starts[-1] + HISTOGRAM_WORDS <= SHARD_WORDS
    assert FILE_BYTES == HEADER_BYTES + SHARDS * SHARD_WORDS * 8
    assert len(HEADER) * 8 <= 256


@given(st.integers(0, LATENCY_BUCKETS - 2))
def test_buckets_touch_and_are_at_most_a_sixteenth_wide(bucket: int) -> None:
    lower = lower_bound(bucket)
    assert upper_bound(lower) == lower_bound(bucket + 1)
    assert lower < 16 or (upper_bound(lower) - lower) * 16 <= lower


@pytest.mark.parametrize("name", ["CLASS_STREAM", "KIND_SUBMIT_WRITE", "SUM_LONGEST", "HEADER_REAPER"])
def test_the_library_is_compiled_with_the_same_names(name: str) -> None:
    assert re.search(rf"\b{name}\b", c_header())
