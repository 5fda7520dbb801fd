"""The output of jobs is bounded while they print."""

from __future__ import annotations

import os
from pathlib import Path

from mawl.runner.job_logs import JobLogs


def test_a_log_that_grew_beyond_the_bound_is_cut_and_its_writer_goes_on(tmp_path: Path) -> None:
    logs = JobLogs(tmp_path, largest_bytes=4 * 2**20)
    loud, quiet = tmp_path / "a.1.loud.log", tmp_path / "a.2.quiet.log"
    quiet.write_text("done\n")
    with loud.open("ab", buffering=0) as file:
        for _ in range(3):
            file.write(b"x" * 3 * 2**20)
            logs.look()
        file.write(b"the last line\n")
    content = loud.read_bytes()
    assert len(content) < 6 * 2**20
    assert content.startswith(b"x" * 2 * 2**20)
    assert b"[mawl: this output passed 4 MiB; here a part of it was left out]" in content
    assert content.endswith(b"the last line\n")
    assert quiet.read_text() == "done\n"
    assert logs.remarks() == ["a part was left out of logs that passed 4 MiB: a.1.loud.log"]


def test_what_is_no_file_of_a_job_is_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"x" * 100)
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "linked.log").symlink_to(outside)
    os.mkfifo(folder / "pipe.log")
    logs = JobLogs(folder, largest_bytes=10)
    logs.look()
    assert logs.remarks() == []
    JobLogs(tmp_path / "gone", largest_bytes=10).look()
    assert outside.stat().st_size == 100
