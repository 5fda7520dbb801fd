"""``mawl probe --output``: links stay, what is no file is not replaced; and the report of fio's figures."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.commands.main import main
from mawl.commands.probe import ProbeOutput
from mawl.records.store.side_files import read_probe
from tests import needs
from tests.fakes.probes import disk, probe, target
from tests.importers.test_fio_files import document


def kept(path: Path) -> None:
    output = ProbeOutput(str(path))
    output.keep(probe(disk()))
    output.finish()


def test_the_file_behind_a_link_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link"
    link.symlink_to("there/real.json")
    kept(link)
    kept(link)
    assert link.is_symlink()
    assert read_probe(tmp_path / "there" / "real.json") == probe(disk())


def test_a_pipe_gets_the_whole_once_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    output = ProbeOutput(str(pipe))
    output.keep(probe(target("first", [])))
    output.keep(probe(disk()))
    output.finish()
    reader.join(60)
    assert pipe.is_fifo()
    (tmp_path / "read").write_bytes(read[0])
    assert read_probe(tmp_path / "read") == probe(disk())


def test_files_beside_it_are_not_touched(tmp_path: Path) -> None:
    names = (".probe.json.probe", f".probe.json.{os.getpid()}")
    for name in names:
        (tmp_path / name).write_text("somebody's")
    kept(tmp_path / "probe.json")
    assert [(tmp_path / name).read_text() for name in names] == ["somebody's"] * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "probe.json"])


def test_nothing_is_made_before_there_are_figures(tmp_path: Path) -> None:
    output = ProbeOutput(str(tmp_path / "probe.json"))
    output.keep(probe(target("first", [])))
    output.finish()
    assert output.tests == 0
    assert list(tmp_path.iterdir()) == []


def test_a_directory_and_a_missing_one_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: is a directory; name a file"):
        ProbeOutput(str(tmp_path))
    with pytest.raises(UsageError, match="cannot be written: no such file or directory"):
        ProbeOutput(str(tmp_path / "nowhere" / "probe.json"))


@pytest.mark.lab
@needs.marks(needs.ROOT)
def test_a_device_node_stays_one_and_a_block_device_is_refused(tmp_path: Path) -> None:
    full, block = tmp_path / "full", tmp_path / "block"
    os.mknod(full, 0o20600, os.makedev(1, 7))
    os.mknod(block, 0o60600, os.makedev(7, 250))
    with pytest.raises(UnsuitableMachineError, match="full: cannot be written: no space left on device"):
        kept(full)
    assert full.is_char_device()
    with pytest.raises(UsageError, match="it is a block device"):
        ProbeOutput(str(block))
    assert block.is_block_device()


@pytest.mark.parametrize("options", [[], ["--all"]])
def test_the_report_of_an_import_of_fio_has_its_rates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    (tmp_path / "fio.json").write_text(document())
    run = tmp_path / "run"
    assert main(["import", str(tmp_path / "fio.json"), "--output", str(run)]) == 0
    capsys.readouterr()
    assert main(["report", str(run), *options]) == 0
    printed = capsys.readouterr().out
    assert "IOPS" in printed and "MB/s" in printed
    assert "/sas/work" in printed
