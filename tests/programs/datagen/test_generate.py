"""Generation as a whole: built, continued after kills, verified, repaired, refused."""

from __future__ import annotations

import collections
import concurrent.futures
import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mawl.base.errors import InterruptedRunError, UnsuitableMachineError
from mawl.programs.datagen import generate as construction
from mawl.programs.datagen import parts as build
from mawl.programs.datagen.generate import GenerationProgress, TableRequest, generate, spread_tables
from mawl.programs.datagen.parts import JOURNAL
from mawl.programs.tables.arrow import add_sums, column_sums, read_batches
from mawl.programs.tables.manifest import MANIFEST, check_sizes, read_manifest

BUFSIZE = 256 * 1024
SMALL = (
    TableRequest(table="policies", scale=0.001, seed=1),
    TableRequest(table="census", scale=0.0001, seed=1),
)

CHILD = """
import sys
from pathlib import Path
from mawl.programs.datagen import parts as slots
from mawl.programs.datagen.generate import TableRequest, generate

if __name__ == "__main__":
    slots.PART_BYTES = 40_000
    slots.CHUNK_ROWS = 100
    requests = [
        TableRequest(table="policies", scale=0.001, seed=1),
        TableRequest(table="census", scale=0.0001, seed=1),
    ]
    generate(requests, Path(sys.argv[1]), processes=1, bufsize_bytes=4096)
"""


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of 40 kB of text or one batch (1 MiB), so that small tables have many."""
    monkeypatch.setattr(build, "PART_BYTES", 40_000)
    monkeypatch.setattr(build, "CHUNK_ROWS", 100)


def contents(inputs: Path) -> dict[str, bytes]:
    return {str(path.relative_to(inputs)): path.read_bytes() for path in inputs.rglob("*") if path.is_file()}


def noted(inputs: Path) -> int:
    """Parts in the journals of unfinished tables."""
    return sum(max(path.read_bytes().count(b"\n") - 1, 0) for path in inputs.rglob(JOURNAL))


def statuses(inputs: Path, *, verify: bool = True) -> list[str]:
    found = generate(SMALL, inputs, processes=1, bufsize_bytes=BUFSIZE, verify=verify)
    return [made.status for made in found]


def test_a_table_is_built_then_verified_then_only_looked_at(small_parts: None, tmp_path: Path) -> None:
    assert statuses(tmp_path) == ["built", "built"]
    before = contents(tmp_path)
    assert statuses(tmp_path) == ["verified", "verified"]
    assert statuses(tmp_path, verify=False) == ["present", "present"]
    assert contents(tmp_path) == before
    assert not [name for name in before if name.endswith((".partial", JOURNAL))]


def test_the_manifest_is_what_a_reader_finds(small_parts: None, tmp_path: Path) -> None:
    made, _ = generate(SMALL, tmp_path, processes=1, bufsize_bytes=BUFSIZE)
    manifest = check_sizes(made.directory)
    sums: dict[str, int] = {}
    rows = 0
    for batch in read_batches(made.directory, bufsize_bytes=BUFSIZE):
        rows += batch.num_rows
        add_sums(sums, column_sums(batch))
    assert len(manifest.parts) == 10
    assert rows == manifest.rows == 22_726
    assert sums == manifest.sums
    assert manifest.bytes == sum(path.stat().st_size for path in made.directory.glob("part-*"))


def test_the_bytes_do_not_depend_on_parts_chunks_or_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    _, census = generate(SMALL, one, processes=1, bufsize_bytes=BUFSIZE)
    monkeypatch.setattr(build, "PART_BYTES", 40_000)
    monkeypatch.setattr(build, "CHUNK_ROWS", 100)
    monkeypatch.setattr("mawl.programs.datagen.generate._BYTES_PER_PROCESS", 1)
    policies, again = generate(SMALL, two, processes=2, bufsize_bytes=BUFSIZE)
    assert again.manifest.sums == census.manifest.sums
    assert policies.manifest.sums == read_manifest(one / policies.directory.name).sums
    for path in sorted(census.directory.glob("state-*")):
        assert path.read_bytes() == (again.directory / path.name).read_bytes()


def test_kill_at_any_point_and_continue_gives_the_same_bytes(small_parts: None, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    made = generate(SMALL, whole, processes=1, bufsize_bytes=4096)
    parts = sum(len(table.manifest.parts) for table in made)
    chance = random.Random(20)
    continued = 0
    for target in sorted(chance.sample(range(2, parts), 5)):
        child = subprocess.Popen([sys.executable, str(script), str(killed)])
        try:
            deadline = time.monotonic() + 30
            while noted(killed) < target and child.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(chance.uniform(0, 0.002))
        finally:
            child.send_signal(signal.SIGKILL)
            continued += child.wait() == -signal.SIGKILL
    assert continued > 0
    journal = next(killed.rglob(JOURNAL), None)
    if journal is not None:
        with open(journal, "ab") as sink:
            sink.write(b'{"file": "part-0')
    found = {made.status for made in generate(SMALL, killed, processes=1, bufsize_bytes=4096)}
    assert found <= {"continued", "built", "verified"}
    assert contents(killed) == contents(whole)


def test_finished_parts_are_not_made_again(small_parts: None, tmp_path: Path) -> None:
    made: list[str] = []

    def stop_halfway(progress: GenerationProgress) -> None:
        made.append(progress.file)
        if progress.done_bytes > progress.total_bytes * 0.9:
            raise KeyboardInterrupt

    with pytest.raises(InterruptedRunError, match="give the same command again, it continues"):
        generate(SMALL, tmp_path, processes=1, bufsize_bytes=BUFSIZE, progress=stop_halfway)
    policies, census = generate(
        SMALL, tmp_path, processes=1, bufsize_bytes=BUFSIZE, progress=lambda step: made.append(step.file)
    )
    assert (policies.status, census.status) == ("continued", "continued")
    assert len(made) == len(policies.manifest.parts) + len(census.manifest.parts)
    parts = collections.Counter(part.file for part in (*policies.manifest.parts, *census.manifest.parts))
    assert collections.Counter(made) == parts


@pytest.mark.parametrize("name", ["part-00003.arrow", "state-02.txt"])
@pytest.mark.parametrize("damage", ["flip", "cut", "remove", "grow"])
def test_a_damaged_file_is_rebuilt_and_named(
    name: str, damage: str, small_parts: None, tmp_path: Path
) -> None:
    statuses(tmp_path)
    before = contents(tmp_path)
    (path,) = tmp_path.rglob(name)
    content = path.read_bytes()
    if damage == "flip":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif damage == "cut":
        path.write_bytes(content[:-1000])
    elif damage == "grow":
        path.write_bytes(content + content[:231])
    else:
        path.unlink()
    found = generate(SMALL, tmp_path, processes=1, bufsize_bytes=BUFSIZE)
    assert [made.damaged for made in found if made.status == "repaired"] == [(name,)]
    assert contents(tmp_path) == before


def test_a_table_of_another_declaration_is_made_anew(
    small_parts: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses(tmp_path)
    before = contents(tmp_path)
    stray = next(tmp_path.glob("policies-*")) / "part-99999.arrow"
    stray.write_bytes(b"left by an older version")
    monkeypatch.setattr(construction, "GENERATOR_VERSION", 99)
    assert statuses(tmp_path) == ["built", "built"]
    after = contents(tmp_path)
    assert {name: after[name] for name in after if not name.endswith(MANIFEST)} == {
        name: before[name] for name in before if not name.endswith(MANIFEST)
    }


def test_too_little_space_is_said_before_the_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    actual = os.statvfs(tmp_path)
    few = 10_000_000 // actual.f_frsize
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*actual[:4], few, *actual[5:])))
    with pytest.raises(UnsuitableMachineError, match=r"do not fit: they need \d.* more \(\d+ bytes\) and"):
        generate(SMALL, tmp_path, processes=1, bufsize_bytes=BUFSIZE)
    assert contents(tmp_path) == {}


def test_what_is_there_already_counts_for_the_space(
    small_parts: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses(tmp_path)
    next(tmp_path.rglob("part-00001.arrow")).unlink()
    next(tmp_path.glob("policies-*/manifest.json")).unlink()
    actual = os.statvfs(tmp_path)
    few = 3_000_000 // actual.f_frsize
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*actual[:4], few, *actual[5:])))
    assert statuses(tmp_path) == ["built", "verified"]


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from mawl.programs.datagen.generate import TableRequest, generate
from mawl.base.errors import MawlError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    requests = [TableRequest(table="policies", scale=0.0001, seed=1)]
    generate(requests, Path(sys.argv[1]), processes=1, bufsize_bytes=4096)
except MawlError as error:
    print(error)
"""


def test_a_write_that_fails_is_one_sentence_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    # A limit on file sizes stands for the full disk: the same system call fails in the same place.
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("\n") == 1
    assert "part-00000.arrow: a part of an input table cannot be written: " in done.stdout
    assert "file too large; make room and run mawl generate again" in done.stdout
    assert done.stderr == ""
    assert [path.name for path in tmp_path.rglob("part-*")] == []


def test_a_second_generation_waits_for_the_first_and_finds_its_tables(tmp_path: Path) -> None:
    (made, _) = generate(SMALL, tmp_path, processes=1, bufsize_bytes=BUFSIZE)
    holder = os.open(made.directory, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        second = pool.submit(generate, SMALL, tmp_path, processes=1, bufsize_bytes=BUFSIZE)
        with pytest.raises(TimeoutError):
            second.result(timeout=0.2)
        os.close(holder)
        assert [one.status for one in second.result(timeout=60)] == ["verified", "verified"]


SCALE = 0.00001
REQUESTS = [TableRequest(table="policies", scale=SCALE, seed=1, replica=replica) for replica in range(8)]
SIZES = [800, 700, 600, 500, 400, 300, 200, 100]


@pytest.fixture
def homes(tmp_path: Path) -> list[Path]:
    made = [tmp_path / name for name in "abcd"]
    for home in made:
        home.mkdir()
    return made


def test_by_rotation_each_volume_gets_the_same_bytes(homes: list[Path]) -> None:
    chosen = spread_tables(REQUESTS, SIZES, homes, "rotation")
    held = [sum(size for home, size in zip(chosen, SIZES, strict=True) if home == each) for each in homes]
    assert held == [900, 900, 900, 900]


def test_what_is_there_stays_whatever_becomes_of_the_list(homes: list[Path]) -> None:
    first = spread_tables(REQUESTS, SIZES, homes[:2], "rotation")
    made = generate(REQUESTS, first, processes=1, bufsize_bytes=4096)
    assert [table.directory.parent for table in made] == first
    assert {table.status for table in made} == {"built"}
    for other in (homes, homes[:2][::-1], [homes[2], *homes[:2]]):
        assert spread_tables(REQUESTS, SIZES, other, "rotation") == first
        assert spread_tables(REQUESTS, SIZES, other, "free-space") == first
    again = generate(
        REQUESTS, spread_tables(REQUESTS, SIZES, homes, "rotation"), processes=1, bufsize_bytes=4096
    )
    assert {table.status for table in again} == {"verified"}
    without = spread_tables(REQUESTS, SIZES, homes[1:], "rotation")
    gone = [place for place, home in enumerate(first) if home == homes[0]]
    assert gone
    assert all(without[place] != homes[0] for place in gone), "made again elsewhere"
    assert all((table.directory / "manifest.json").is_file() for table in made), "nothing was removed"


def test_a_table_that_was_begun_is_continued_where_it_is(homes: list[Path]) -> None:
    (whole,) = generate(REQUESTS[:1], homes[2], processes=1, bufsize_bytes=4096)
    (whole.directory / "manifest.json").unlink()
    assert spread_tables(REQUESTS[:1], SIZES[:1], homes, "rotation") == [homes[2]]


def test_by_free_space_a_full_volume_gets_nothing(homes: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mawl.records.volumes._free_bytes", lambda home: 0 if home == homes[0] else 1000)
    chosen = spread_tables(REQUESTS, SIZES, homes, "free-space")
    assert homes[0] not in chosen
    assert [chosen.count(home) for home in homes[1:]] == pytest.approx([8 / 3] * 3, abs=1.5)
