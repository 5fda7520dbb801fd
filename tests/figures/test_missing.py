"""Which nulls of a summary are gaps."""

from __future__ import annotations

from mawl.figures.job_sums import gaps
from tests.fakes.stored_run import facts, jobs
from tests.fakes.views import as_summary, summary_of


def test_a_null_that_is_an_answer_is_no_gap_nor_is_what_its_block_holds() -> None:
    summary = as_summary(summary_of(facts(outcome_reason=None), jobs()))
    found = gaps(summary)
    assert found.items() <= summary.missing.items()
    for path in ("host", "inputs", "io.device.peak.total_bytes_per_second"):
        assert found[path]
    for path in ("outcome_reason", "cluster", "compressibility", "volumes.*.disks", "nodes.*.sockets"):
        assert path not in found
    assert {path.split(".")[0] for path in summary.missing} > {"outcome_reason", "cluster", "nodes"}
