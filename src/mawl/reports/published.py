"""Published results as text: the list, one result, and a paper's tables with the figures of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from mawl.base.units import (
    counted_noun,
    format_bits,
    format_bytes,
    format_change,
    format_latency,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.published_tables import NOT_PRINTED, FilledTable, TableCell, TableColumn
from mawl.importers.formats.text import one_line
from mawl.records.model.published import (
    Compression,
    Paper,
    PaperChange,
    PaperDevice,
    PaperFabric,
    PaperFileSystem,
    PaperRange,
    PaperRates,
    PublishedFigures,
    RowUnit,
)
from mawl.records.spec.program_options import Role
from mawl.reports.document import TEXT, Document, Headline, Lines, Part, Sentences, Table, each
from mawl.reports.layout import ABSENT, Form, figure, figures, format_count

HEAD = ("id", "sessions", "jobs", "cores", "real time", "CPU/real", "peak", "sustained", "per core", "read")
LEGEND = (
    "real time: sum over the jobs; peak, sustained, per core (sustained): device throughput; read: read "
    "share of device bytes; -: the paper does not give it. mawl published ID shows one, with its caveats."
)

SHAPE: dict[str, tuple[str, Form]] = {
    "read_ratio": ("read share of device bytes", format_percent),
    "work_util_ratio": ("work + util share of I/O", format_percent),
    "cpu_real_ratio": ("CPU/real of the sums", format_ratio),
    "system_cpu_ratio": ("system share of CPU time", format_percent),
    "peak_per_sustained": ("peak : sustained", format_ratio),
    "initial_per_peak": ("initial : peak", format_ratio),
    "active_ratio": ("active share of elapsed time", format_percent),
    "jobs_per_session": ("jobs : sessions", format_ratio),
    "peak_jobs_per_session": ("most jobs at once : sessions", format_ratio),
    "memory_per_job_bytes": ("memory per job, mean", format_memory),
    "device_bytes_per_input_byte": ("device bytes : inputs", format_ratio),
    "plateau_bytes_per_core_second": ("sustained per busy core", format_rate),
    "bytes_per_cpu_second": ("device bytes per CPU second", format_rate),
}
"""Figure of a shape to its title and form."""


def listing(blocks: Sequence[PublishedFigures]) -> list[Part]:
    """A row per result of ``published_block``, and the papers they are from."""
    rows = [
        (
            block.id,
            sessions_of(block),
            *figures(
                (block.jobs.total, format_count),
                (block.per_core.cores, format_count),
                (block.time.real_time_seconds, format_seconds),
                (block.shape.cpu_real_ratio, format_ratio),
                (block.io.device.peak.total_bytes_per_second, format_rate),
                (block.io.device.sustained.total_bytes_per_second, format_rate),
                (block.per_core.sustained_bytes_per_second, format_rate),
                (block.shape.read_ratio, format_percent),
            ),
        )
        for block in blocks
    ]
    papers = list(dict.fromkeys(block.source.citation for block in blocks))
    return each(Table(head=HEAD, rows=rows), Sentences([LEGEND]), Sentences(papers, "From:", "  "))


NO_ANSWER = (
    "mawl gives no answer here: it divides real time by the reference time of mawl's own programs, and other "
    "programs ran. CPU time over real time is no substitute"
)


def page(block: PublishedFigures) -> list[Part]:
    """One result: every figure that its paper gives, what follows from them, and the caveats."""
    return each(
        Sentences([f"{block.id}: {block.title}", f"from {block.source.citation}"]),
        Lines(list(_published(block)), "As published", "  "),
        Lines(list(_worked_out(block)), "Per core and in shape, worked out of these", "  "),
        _compression(block.compression),
        Sentences([*block.caveats, NO_ANSWER], "Caveats", "  "),
        Sentences(block.findings, "The paper also found", "  "),
    )


def sessions_of(block: PublishedFigures) -> str:
    """``4 x 30``, ``20``, and ``4 x -`` where a paper does not say how many a node ran."""
    workload = block.workload
    each = figure(workload.sessions_per_node, format_count)
    return each if workload.nodes == 1 else f"{workload.nodes} x {each}"


def _published(block: PublishedFigures) -> Iterator[tuple[str, str]]:
    system, time, host = block.system, block.time, block.host
    yield "sessions", sessions_of(block)
    yield from _figure_rows((block.jobs, ("total", "peak_concurrent"), format_count, "jobs, "))
    yield from _figure_rows((system, ("memory_bytes_per_node",), format_memory, ""))
    yield "processor", f"{system.processor or ABSENT}, SMT {figure(system.smt, format_count)}"
    cores = system.cores_per_node
    yield "cores per node", ABSENT if cores is None else ", ".join(map(str, cores))
    if system.storage_description:
        yield "storage", system.storage_description
    if system.fabric is not None:
        yield "fabric", _fabric(system.fabric)
    for role, one in system.file_systems.items():
        yield f"file system, {role}", _file_system(one)
    for way in ("read", "write"):
        rating = getattr(system, f"sequential_{way}")
        if rating is not None:
            parts = figures(
                (rating.request_bytes, format_memory),
                (rating.bytes_per_second, format_rate),
                (rating.response_seconds, format_latency),
            )
            yield f"sequential {way}s, rated", "requests of {}: {}, {} each".format(*parts)
    names = ("real_time", "user_cpu", "system_cpu", "elapsed", "active")
    yield from _figure_rows((time, tuple(f"{name}_seconds" for name in names), format_seconds, ""))
    yield "CPU accounting", block.cpu_accounting or ABSENT
    if time.adjusted_cpu_seconds is not None:
        yield "CPU time adjusted for SMT (a range)", _span(time.adjusted_cpu_seconds, format_seconds)
    ratios = block.cpu_real_ratio
    yield from _figure_rows((ratios, ("mean", "stddev", "range"), format_ratio, "CPU/real of single jobs, "))
    if ratios.above_one:
        yield "CPU/real", "above 1; the figure is in a graph only"
    yield from _figure_rows((time, ("memory_bytes",), format_bytes, "sum of the jobs' "))
    yield from _figure_rows((host, ("cpu_busy_ratio", "cpu_iowait_ratio"), format_percent, ""))
    yield from _device(block.io.device)
    for place, latency in msgspec.structs.asdict(block.latency).items():
        if latency is not None:
            forms = figures((latency.mean_seconds, format_latency), (latency.peak_seconds, format_latency))
            yield f"latency, {place.replace('_', ' ')}", "mean {}, peak {}".format(*forms)
    if block.limit is not None:
        yield "limited by", block.limit.verdict
    yield from _change(block.change)


def _fabric(fabric: PaperFabric) -> str:
    ports = fabric.ports or fabric.ports_per_node
    each = " a node" if fabric.ports is None else ""
    speed = format_bits(fabric.bits_per_second_per_port)
    text = f"{fabric.kind}, {ports} x {speed}{each}"
    if fabric.capability_bytes_per_second is not None:
        text += f", capable of more than {format_rate(fabric.capability_bytes_per_second)}"
    return text


def _file_system(one: PaperFileSystem) -> str:
    parts = [
        figure(one.size_bytes, format_bytes),
        *([] if one.volumes is None else [f"{one.volumes} volumes"]),
        *([] if one.block_bytes is None else [f"blocks of {format_memory(one.block_bytes)}"]),
        *(part for part in (one.allocation, one.shared) if part),
    ]
    return ", ".join(parts)


def _device(device: PaperDevice) -> Iterator[tuple[str, str]]:
    yield from _figure_rows((device, ("read_bytes", "written_bytes"), format_bytes, "device, "))
    yield "read share", figure(device.read_ratio, format_percent)
    for name in ("initial", "peak", "sustained", "lowest"):
        rates: PaperRates = getattr(device, name)
        text = figure(rates.total_bytes_per_second, format_rate)
        if rates.read_bytes_per_second is not None:
            ways = (rates.read_bytes_per_second, rates.write_bytes_per_second)
            text += " (reads {}, writes {})".format(*figures(*((way, format_rate) for way in ways)))
        yield f"throughput, {name}", text
    printed = device.sustained_bytes_per_second_per_core
    yield "sustained per core, as printed", figure(printed, format_rate)


def _change(change: PaperChange | None) -> Iterator[tuple[str, str]]:
    if change is None:
        return
    said = {
        "elapsed time": change.elapsed_ratio,
        "summed real time": change.real_time_ratio,
    }
    text = [f"{name} {format_change(value)}" for name, value in said.items() if value is not None]
    if change.programs_faster is not None:
        span, margin = change.programs_faster_ratio, change.programs_alike_ratio
        assert span is not None and margin is not None, "a paper that counts faster programs says by how much"
        low, high, near = (f"{100 * ratio:.0f} %" for ratio in (span.low, span.high, margin))
        text.append(f"{change.programs_faster} programs {low} to {high} faster, several others within {near}")
    yield f"against {change.against}, as printed", ", ".join(text)


def _worked_out(block: PublishedFigures) -> Iterator[tuple[str, str]]:
    core, shape = block.per_core, block.shape
    rates = ("peak_bytes_per_second", "initial_bytes_per_second", "sustained_bytes_per_second")
    yield from _figure_rows((core, rates, format_rate, "per core: "))
    yield from _figure_rows((core, ("sessions",), format_ratio, "per core: "))
    yield from _figure_rows((core, ("memory_bytes",), format_memory, "per core: "))
    for name, (title, form) in SHAPE.items():
        value: PaperRange | float | None = getattr(shape, name)
        yield title, _span(value, form) if isinstance(value, PaperRange) else figure(value, form)


def _compression(compression: Mapping[Role, Compression]) -> Table:
    rows = [
        (
            role,
            *figures(
                (one.volumes, format_count),
                (one.volume_used_bytes, format_bytes),
                (one.volume_stored_bytes, format_bytes),
                (one.saving_ratio, format_percent),
            ),
            _span(one.estimated_saving_ratio, format_percent),
        )
        for role, one in compression.items()
    ]
    head = ("Compression, per volume", "volumes", "used", "stored", "saving", "estimated")
    return Table(head=head, rows=rows)


def _figure_rows(given: tuple[msgspec.Struct, Sequence[str], Form, str]) -> Iterator[tuple[str, str]]:
    block, names, form, before = given
    for name in names:
        yield before + _name_words(name), figure(getattr(block, name), form)


def _name_words(name: str) -> str:
    for unit in ("_bytes_per_second", "_seconds", "_ratio", "_bytes"):
        name = name.removesuffix(unit)
    return name.replace("_bytes_", "_").replace("_", " ").replace("cpu", "CPU")


def _span(span: PaperRange | None, form: Form) -> str:
    return ABSENT if span is None else f"{form(span.low)} to {form(span.high)}"


FORMS: dict[RowUnit, Form] = {
    "seconds": format_seconds,
    "latency": format_latency,
    "rate": format_rate,
    "memory": format_memory,
    "storage": format_bytes,
    "share": format_percent,
    "ratio": format_ratio,
    "count": format_count,
}

TABLES_LEGEND = (
    "Columns of the paper have its ids. Machines differ, so totals are shown and not judged; mawl compare ID "
    "RUN compares per core and in shape. Throughput of a run is that of the host's devices; mawl published "
    "ID says where the paper measured its own. -: the reason is below the table, or the paper has no figure."
)


def tables_document(paper: Paper, tables: Sequence[FilledTable]) -> Document:
    """Every table, with the reasons for what runs lack."""
    source = str(paper.source)
    return Document(
        headline=Headline(sign="measured", sentence=source),
        parts=[
            *each(Sentences([source])),
            *(part for one in tables for part in _paper_table(one)),
            *each(Sentences([TABLES_LEGEND])),
        ],
    )


def cell(one: TableCell, unit: RowUnit) -> str:
    """``4.50 GB/s``, ``90 % to 91 %``, or a figure for each part."""
    form = FORMS[unit]
    if one.low is not None and one.high is not None:
        return f"{form(one.low)} to {form(one.high)}"
    if not one.figures:
        return ABSENT
    return ", ".join(f"{figure.part} {form(figure.value)}".strip() for figure in one.figures)


def _paper_table(table: FilledTable) -> list[Part]:
    title = f"{table.exhibit}: {table.title}"
    head = ("", *(_column_name(one) for one in table.columns))
    rows = [(row.title, *(cell(one, row.unit) for one in row.cells)) for row in table.rows]
    shown = Table(title=title, head=head, rows=rows)
    return [Part([Sentences([title])], formats=TEXT), Part([shown, Sentences([*_reason_lines(table)])])]


def _column_name(one: TableColumn) -> str:
    name = one_line(one.name)
    return f"{name} (mean of {counted_noun(one.runs, 'run')})" if one.runs > 1 else name


def _reason_lines(table: FilledTable) -> Iterator[str]:
    rows: dict[str, dict[str, None]] = {}
    for row in table.rows:
        for one in row.cells:
            if one.reason is not None and one.reason != NOT_PRINTED:
                rows.setdefault(one.reason, {})[row.title] = None
    for why, titles in rows.items():
        yield f"{'; '.join(titles)}: {why}"
