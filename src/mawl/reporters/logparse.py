"""The step table that SAS's %LOGPARSE macro makes of a log: its column names, one row per step, as CSV.

Units are the macro's: times in seconds, memory in k (1024 bytes), as a log prints them.  What mawl does
not have is an empty cell: variables written, the operating system's SAS name, the date of a SAS port.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from mawl.formats.saslog_write import procedure_name
from mawl.model.records import StepRecord
from mawl.reporters.csv import CsvTable, Row, written
from mawl.store import Run
from mawl.store.layout import OWN_LOG

COLUMNS = (
    "logfile", "stepname", "stepcnt", "realtime", "usertime", "systime", "cputime", "memused", "osmem",
    "pageflt", "pagercl", "pageswp", "osvconsw", "osiconsw", "blkinput", "bkoutput", "obsin", "obsout",
    "varsout", "host", "platform", "scp", "portdate", "datetime",
)  # fmt: skip
"""The macro's names in its order."""


def render(run: Run) -> str:
    """A row per ``data`` and ``procedure`` step of every job, as in the SAS-style logs of the run."""
    return written(CsvTable(COLUMNS, _rows(run)))


def _rows(run: Run) -> Iterator[Row]:
    kernels = {node.name: node.kernel for node in run.facts.nodes}
    places = {job.job: job.node for job in run.job_records()}
    shown = [step for step in run.step_records() if step.kind in ("data", "procedure")]
    for step in shown:
        node = places.get(step.job)
        moment = _datetime(step.started_at)
        yield {**_step(step), "host": node, "platform": kernels.get(node or ""), "datetime": moment}


def _step(step: StepRecord) -> Row:
    usage = step.usage
    return {
        "logfile": f"{step.job}{OWN_LOG}",
        "stepname": "DATA" if step.kind == "data" else procedure_name(step.name),
        "stepcnt": step.number,
        "realtime": _hundredths(usage.real_time_seconds),
        "usertime": _hundredths(usage.user_cpu_seconds),
        "systime": _hundredths(usage.system_cpu_seconds),
        "cputime": _hundredths(usage.cpu_seconds),
        "memused": _kilobytes(usage.memory_bytes),
        "osmem": _kilobytes(usage.os_memory_bytes),
        "pageflt": usage.page_faults,
        "pagercl": usage.page_reclaims,
        "pageswp": usage.page_swaps,
        "osvconsw": usage.voluntary_context_switches,
        "osiconsw": usage.involuntary_context_switches,
        "blkinput": usage.block_input_operations,
        "bkoutput": usage.block_output_operations,
        "obsin": step.rows_read,
        "obsout": step.rows_written,
        "varsout": step.variables_written,
    }


def _hundredths(seconds: float | None) -> float | None:
    """Seconds as a log has them: to the hundredth."""
    return None if seconds is None else round(seconds, 2)


def _kilobytes(size_bytes: int | None) -> float | None:
    return None if size_bytes is None else round(size_bytes / 1024, 2)


def _datetime(at: float | None) -> str | None:
    """SAS's DATETIME18.: ``01JAN2026:08:00:01``, in UTC."""
    if at is None:
        return None
    return f"{datetime.fromtimestamp(at, UTC):%d%b%Y:%H:%M:%S}".upper()
