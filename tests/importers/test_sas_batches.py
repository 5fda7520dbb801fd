"""A run folder is the same whether a large log was read in batches or note by note."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from pyarrow import parquet

from bench.saslog import write_log
from mawl.importers import sas_jobs
from mawl.importers.clock import Clocks, parse_zones
from mawl.importers.formats import saslog
from mawl.importers.import_files import ImportRequest, import_files
from mawl.records.model.records import Usage
from tests import needs
from tests.importers.layouts import LAYOUTS

pytestmark = needs.marks(needs.COMPILER)

TOO_LONG = """\
NOTE: PROCEDURE SORT used (Total process time):
      real time           9999:12:12.90
      cpu time            10:00:00.00
      Timestamp           11/20/2026 08:00:01 AM
      \n"""
DATABASE = """\
NOTE: Libref ORA was successfully assigned as follows:
      Engine:        ORACLE
      Physical Name: x
"""
READS_IT = """\
NOTE: There were 5 observations read from the data set ORA.Q.
NOTE: DATA statement used (Total process time):
      real time           1:02.24
      cpu time            0.31 seconds
      \n"""


def folder(directory: Path, name: str, log: Path) -> tuple[list[dict[str, object]], object, object]:
    """Steps, jobs, and what was skipped of an import into ``directory / name``."""
    request = ImportRequest(
        paths=[str(log)],
        folder=directory / name,
        run_id="x",
        clocks=Clocks(parse_zones(["Europe/Berlin"], ["saslog"])),
    )
    made = import_files(request)
    tables = [parquet.read_table(directory / name / f"{table}.parquet") for table in ("steps", "jobs")]
    return tables[0].to_pylist(), tables[1].to_pylist(), (made.blocks, made.steps, made.skipped)


@pytest.mark.parametrize(
    "middle", ["", TOO_LONG, DATABASE + READS_IT, READS_IT, *LAYOUTS["stimer"].text.split("\f")]
)
def test_batches_and_single_notes_make_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, middle: str
) -> None:
    log = tmp_path / "night.log"
    write_log(log, 300_000, 0)
    lines = log.read_text().split("\n\n")
    half = len(lines) // 2
    log.write_text("\n\n".join([*lines[:half], middle, *lines[half:]]))
    batched = folder(tmp_path, "batched", log)
    monkeypatch.setattr(saslog, "LEAST_SCANNED_BYTES", 10**9)
    assert batched == folder(tmp_path, "single", log)
    monkeypatch.setattr(saslog, "LEAST_SCANNED_BYTES", 0)
    monkeypatch.setattr(sas_jobs, "FEWEST_NOTES", 1)
    assert batched == folder(tmp_path, "smallest", log)


def test_sums_of_steps_do_not_depend_on_their_grouping(tmp_path: Path) -> None:
    """A tenth of a second added up 12,000 times is 1,200 seconds, in floats it is not."""
    log = tmp_path / "steps.log"
    log.write_text(READS_IT.replace("1:02.24", "0.10 seconds").replace("ORA.", "WORK.") * 12_000)
    _, jobs, _ = folder(tmp_path, "run", log)
    assert isinstance(jobs, list)
    found = msgspec.convert({name: jobs[0][name] for name in Usage.__struct_fields__}, Usage)
    assert (found.real_time_seconds, found.cpu_seconds) == (1200.0, 3720.0)
