"""What a run of a mix showed is kept as its report printed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import stored_run
from tests.files import text_of
from tools import mix

REPORT = text_of(__file__, "mix_report.txt")


def test_head_and_signature_are_kept_and_nothing_else(tmp_path: Path) -> None:
    command = ["/some/where/mawl", "run", "mixed20"]
    stored_run.write_run(tmp_path / "run").finish(stored_run.facts(command=command))
    found = mix.shown(tmp_path / "run", REPORT)
    assert found.command == ["run", "mixed20"]
    assert [line.split()[0] for line in found.head] == ["run", "workload", "jobs", "reach"]
    assert [line.split()[0] for line in found.signature] == ["signature", "read", "(1)"]


def test_a_report_without_signature_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no signature"):
        mix.shown(tmp_path, "run x\n")


def test_the_page_shows_every_kept_run() -> None:
    text = "\n".join(mix.page())
    assert mix.load()
    for one in mix.load():
        assert f"$ mawl {' '.join(one.command)}" in text
        assert one.signature[0] in text
