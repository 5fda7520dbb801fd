"""What mawl prints of fixed inputs is what it printed before; a commit that changes it says why.

``MAWL_UPDATE_GOLDEN=1 pytest tests/frozen`` writes the digests anew.  To read a difference, run
``python -m tests.frozen.outputs PART --keep DIR`` before and after the change, and compare the folders.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = sorted(Path(__file__).parent.glob("*.sums"))


def digests(text: str) -> dict[str, str]:
    """Digest by name of the output."""
    return {name: digest for digest, _, name in (line.partition(" ") for line in text.splitlines())}


@pytest.mark.parametrize("file", PARTS, ids=lambda file: file.stem)
def test_outputs_are_those_of_before(file: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.frozen.outputs", file.stem], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    if os.environ.get("MAWL_UPDATE_GOLDEN") == "1":
        file.write_text(done.stdout)
    before, now = digests(file.read_text()), digests(done.stdout)
    changed = [name for name in before.keys() | now.keys() if before.get(name) != now.get(name)]
    assert sorted(changed) == [], f"{len(changed)} outputs changed; see the head of {__file__}"


def test_every_part_is_frozen() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.frozen.outputs", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    parts = done.stdout.partition("{")[2].partition("}")[0].split(",")
    assert sorted(parts) == [file.stem for file in PARTS]
