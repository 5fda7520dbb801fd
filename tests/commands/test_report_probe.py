"""A run that was imported from fio alone: its report shows what fio measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.commands.main import main
from tests.importers.test_fio_files import document


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
