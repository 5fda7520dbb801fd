"""Make the answer that README.md shows: ``mawl qualify`` on a bed whose work device has a rate cap (root).

``python -m tools.shown_answer DIRECTORY [OPTION...]`` makes a file system for each role on loop devices in
DIRECTORY, caps reads and writes of work's device at ``CAP`` by a control group, and runs ``mawl qualify``
with the options.  Text, page and record stay in DIRECTORY/answer; the file systems go.  It needs a quiet
machine.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mawl.records.spec.program_options import ROLES
from tests.advice.limit.beds import AMPLE_BYTES_PER_SECOND, Bed

CAP = 25_000_000
"""Bytes a second, reads and writes each."""
IMAGE_BYTES = 8 * 2**30


def main(arguments: Sequence[str]) -> int:
    """Make the bed, ask, and take the bed away; the exit status of ``mawl qualify``."""
    directory, options = Path(arguments[0]).absolute(), list(arguments[1:])
    bed = Bed(directory, IMAGE_BYTES)
    try:
        for role in ROLES:
            bed.volumes[role].open()
            bed.volumes[role].cap(CAP if role == "work" else AMPLE_BYTES_PER_SECOND)
        places = [word for role in ROLES for word in (f"--{role}", str(bed.volumes[role].place))]
        words = [sys.executable, "-m", "mawl", "qualify", *places, *options, "--yes", "--output", "answer"]
        with (directory / "answer.txt").open("w") as file:
            return subprocess.run(words, cwd=directory, stdout=file, stdin=subprocess.DEVNULL).returncode
    finally:
        bed.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
