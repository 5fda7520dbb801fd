"""Commands of the documents that take minutes run, among the others of their page and in order.

``MAWL_TEST_DOCUMENTS`` names a file that gets a line of JSON for each; ``tools/documents.py`` prints them.
``-k`` chooses pages by their names, ``MAWL_TEST_MINUTES`` is put in place of the number of ``--minutes``,
``MAWL_TEST_BESIDE`` says that other work uses the machine.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from tests import needs
from tools import documents

ROOT = documents.ROOT
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if any(one.fence == documents.LONG for one in documents.commands(page.read_text(), long=True))
]


@pytest.mark.lab
@pytest.mark.long(minutes=240)
@needs.marks(needs.program("fio"))
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_long_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAWL_")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    minutes = os.environ.get("MAWL_TEST_MINUTES")
    try:
        rows = documents.run_long(
            page,
            tmp_path,
            environment,
            int(minutes) if minutes else None,
            beside="MAWL_TEST_BESIDE" in os.environ,
        )
    finally:
        for place in ("mnt", "san", "flash", "srv", "local", "new", "old", "mawl-data"):
            shutil.rmtree(tmp_path / place, ignore_errors=True)
    assert rows, "a page of long commands ran none of them"
    if named := os.environ.get("MAWL_TEST_DOCUMENTS"):
        with Path(named).open("ab") as file:
            file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)
