"""A run in the formats of other programs: %LOGPARSE, iotest.sh, SAS logs and JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree

from mawl.advice.conditions import ConditionCheck, State
from mawl.base.errors import UsageError
from mawl.base.printable import printable
from mawl.figures.throughput import cores_of
from mawl.figures.view import RunView
from mawl.importers.formats.saslog_write import job_log, procedure_name
from mawl.importers.formats.text import one_line
from mawl.plan.derived_jobs import derived_programs
from mawl.records.model.records import StepRecord
from mawl.records.model.summary.summary import Summary
from mawl.records.store import Run
from mawl.records.store.files import OWN_LOG
from mawl.reports.csv import CsvTable, Row, written

MEGABYTE_BYTES = 2**20
IOTEST_TITLES = {"read": "read throughput rate:   ", "write": "write throughput rate:  "}


def render_iotest(view: RunView, summary: Summary) -> str:
    """Throughput per core in megabytes (2**20 bytes), as iotest.sh and rhel_iotest.sh print their results.

    Scripts around these look for the lines ``read throughput rate:`` and ``write throughput rate:``.  The
    figure is the sustained throughput at the device (the median window of the active phase) over the cores
    that the jobs could use.  A direction that is not known has no line, since a script would take 0 for a
    measurement.
    """
    device = summary.io.device.sustained
    cores, reason = cores_of(view.facts)
    rates = {direction: getattr(device, f"{direction}_bytes_per_second") for direction in IOTEST_TITLES}
    basis = next((node.core_basis for node in view.facts.nodes), None) or "core"
    statistics = [
        f"  {IOTEST_TITLES[direction]}{rate / cores / MEGABYTE_BYTES:.2f} megabytes/second per {basis}"
        for direction, rate in rates.items()
        if rate is not None and cores
    ]
    if not statistics:
        why = summary.missing["io.device.sustained.read_bytes_per_second"] if cores else reason
        statistics = [f"  not known: {one_line(why)}"]
    return "\n".join(
        [
            "RESULTS",
            "-------",
            f"INVOCATION:  mawl report {one_line(summary.run_id)} --format throughput",
            "",
            "TARGET DETAILS",
            *(f"  {volume.role}:         {one_line(volume.directory)}" for volume in summary.volumes),
            "",
            "STATISTICS",
            *statistics,
            "-----------------------------",
        ]
    )


LOGPARSE_COLUMNS = (
    "logfile", "stepname", "stepcnt", "realtime", "usertime", "systime", "cputime", "memused", "osmem",
    "pageflt", "pagercl", "pageswp", "osvconsw", "osiconsw", "blkinput", "bkoutput", "obsin", "obsout",
    "varsout", "host", "platform", "scp", "portdate", "datetime",
)  # fmt: skip
"""The macro's names in its order."""


def render_logparse(run: Run) -> str:
    """The CSV that SAS's %LOGPARSE macro makes of logs: a row per data and procedure step of every job.

    Units are the macro's: times in seconds, memory in k (1024 bytes), as a log prints them.  What mawl does
    not have is an empty cell: variables written, the operating system's SAS name, the date of a SAS port.
    """
    return written(CsvTable(LOGPARSE_COLUMNS, _logparse_rows(run)))


def _logparse_rows(run: Run) -> Iterator[Row]:
    kernels = {node.name: node.kernel for node in run.facts.nodes}
    places = {job.job: job.node for job in run.job_records()}
    shown = [step for step in run.step_records() if step.kind in ("data", "procedure")]
    for step in shown:
        node = places.get(step.job)
        moment = _datetime(step.started_at)
        yield {**_logparse_row(step), "host": node, "platform": kernels.get(node or ""), "datetime": moment}


def _logparse_row(step: StepRecord) -> Row:
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
    return None if seconds is None else round(seconds, 2)


def _kilobytes(size_bytes: int | None) -> float | None:
    return None if size_bytes is None else round(size_bytes / 1024, 2)


def _datetime(at: float | None) -> str | None:
    """SAS's DATETIME18.: ``01JAN2026:08:00:01``, in UTC."""
    if at is None:
        return None
    return f"{datetime.fromtimestamp(at, UTC):%d%b%Y:%H:%M:%S}".upper()


def render_saslog(run: Run, jobs: Sequence[str] = ()) -> str:
    """The logs of all jobs that started, or of the named ones, in the order of their records.

    Raises ``UsageError`` for a name that is no job of the run.
    """
    steps = run.steps_by_job()
    records = run.job_records()
    unknown = sorted(set(jobs) - {job.job for job in records})
    if unknown:
        raise UsageError(
            f"{', '.join(unknown)} is no job of run {run.facts.run_id}",
            cure=f"choose from: {', '.join(job.job for job in records[:10])}",
        )
    derived = derived_programs(run.path)
    platforms = {node.name: node.kernel for node in run.facts.nodes}
    return "\n".join(
        job_log(
            job,
            steps.get(job.job, []),
            platform=platforms.get(job.node),
            program=derived.get(job.program),
        )
        for job in records
        if (job.job in jobs if jobs else job.outcome != "not_started")
    )


JUNIT_ELEMENTS: dict[State, str | None] = {
    "not met": None,
    "met": "failure",
    "failed": "failure",
    "not known": "error",
}


def render_junit(suite: str, checks: Sequence[ConditionCheck], seconds: float) -> str:
    """Checks as JUnit XML, which CI servers read, a test case each; ``seconds`` is how long the verb took.

    A condition that is met is a failure.  One that is not known is an error, because a skipped test would
    pass.
    """
    elements = [JUNIT_ELEMENTS[check.state] for check in checks]
    counts = {
        "tests": str(len(checks)),
        "failures": str(elements.count("failure")),
        "errors": str(elements.count("error")),
        "time": f"{seconds:.3f}",
    }
    root = ElementTree.Element("testsuites", {"name": "mawl", **counts})
    one = ElementTree.SubElement(root, "testsuite", {"name": suite, **counts, "skipped": "0"})
    for check, element in zip(checks, elements, strict=True):
        case = ElementTree.SubElement(
            one, "testcase", {"classname": _xml_text(check.subject), "name": check.name, "time": "0.000"}
        )
        place = ElementTree.SubElement(case, "system-out")
        if element is not None:
            case.remove(place)
            place = ElementTree.SubElement(
                case, element, {"type": check.state.replace(" ", "-"), "message": _xml_text(check.sentence)}
            )
        place.text = _xml_text(check.sentence)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _xml_text(text: str) -> str:
    """XML has no place for control characters, escaped or not."""
    return printable(text).replace("\ufffe", "").replace("\uffff", "")
