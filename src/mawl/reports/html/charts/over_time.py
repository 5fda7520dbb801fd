"""Charts over time: throughput, latency, jobs, processors, memory, networks, sessions as a Gantt chart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from bokeh.models import AdaptiveTicker, DataRange1d, FixedTicker, PlainText, Range1d
from bokeh.models.annotations import BoxAnnotation
from bokeh.models.glyphs import Text
from bokeh.plotting import figure
from bokeh.transform import factor_cmap

from mawl.records.spec.program_options import ROLES
from mawl.reports.html.charts.frame import WAYS, Chart, Form, Key, Sources, hover, latency_ticks, time_figure
from mawl.reports.html.colours import CLEAR, light

ROW_PIXELS = 22
LEAST_PIXELS, MOST_PIXELS = 180, 1400
MOST_NAMES = 80
"""Names at the axis: further apart where there are more rows."""
LONGEST_NAME = 18
"""Characters of a name at the axis; a bar under the pointer says the whole."""

STATES: Mapping[str, tuple[str, str]] = {
    "on_cpu_seconds": ("on processors", "on-cpu"),
    "run_queue_seconds": ("waiting for processors", "cpu-wait"),
    **{f"blocked_{role}_seconds": (role, role) for role in ROLES},
    "blocked_other_seconds": ("other waits", "other"),
}
"""Wait of a job to its words and the meaning of its colour."""
NOT_KNOWN = "not known"
MEANINGS = {**dict(STATES.values()), NOT_KNOWN: "quiet"}
WELL, BADLY = "well", "badly"

HOVER = [
    ("job", "@job"),
    ("program", "@program (@program_class)"),
    ("session", "@session"),
    ("node", "@node"),
    ("start, end", "@left{00:00:00}, @right{00:00:00}"),
    ("real time", "@real_time"),
    *((words, f"@{field}") for field, (words, _) in STATES.items()),
    ("outcome", "@outcome"),
]


def sessions(
    sources: Sources, time: Range1d, reason: str, rows: Sequence[str], tail: tuple[float, float] | None
) -> Chart:
    """``rows`` are the names of the rows from the top, ``tail`` its begin and end in seconds."""
    plot = None
    if not reason:
        height = min(max(len(rows) * ROW_PIXELS, LEAST_PIXELS), MOST_PIXELS) + 60
        from_top = Range1d(start=len(rows) - 0.4, end=-0.6)
        plot = time_figure("sessions", time, "session", "plain", y_range=from_top, height=height)
        plot.ygrid.visible = False
        step = -(-len(rows) // MOST_NAMES)
        named = [at for at in range(0, len(rows), step) if at == 0 or rows[at] != rows[at - 1]]
        plot.yaxis.ticker = FixedTicker(ticks=named)
        plot.yaxis.major_label_overrides = {at: PlainText(text=_short(rows[at])) for at in named}
        paints = [light(meaning) for meaning in MEANINGS.values()]
        bars = plot.quad(
            left="left",
            right="right",
            top="top",
            bottom="bottom",
            source=sources["sessions"],
            fill_color=factor_cmap("mostly", paints, list(MEANINGS)),
            line_color=factor_cmap("ended", [CLEAR, light("bad")], [WELL, BADLY]),
            line_width="edge_width",
        )
        hover(plot, bars, HOVER)
        if len(rows) * ROW_PIXELS <= MOST_PIXELS:  # below that a name would cover the bar of another row
            names = Text(x="left", y="top", text="name", text_color=light("ink"), text_font_size="10px")
            plot.add_glyph(sources["sessions"], names)
        if tail is not None:
            plot.add_layout(
                BoxAnnotation(
                    left=tail[0], right=tail[1], fill_color=light("quiet"), fill_alpha=0.18, level="underlay"
                )
            )
    data = sources["sessions"].data
    keys = [Key(f"mostly {words}", MEANINGS[words]) for words in MEANINGS if words in set(data["mostly"])]
    if BADLY in data["ended"]:
        keys.append(Key("failed or stopped (frame)", "bad", "mark"))
    if tail is not None:
        keys.append(Key("tail (grey ground)", "quiet", "pale"))
    return Chart(
        "sessions",
        "Sessions",
        "A row per session (several where jobs ran side by side), a bar per job in the colour of what most "
        "of its time went into, its program's name above it. Point at a bar to see all of its time.",
        "Gantt chart of the jobs of each session over time; the tables of programs and of the slowest jobs "
        "hold their times.",
        keys,
        plot,
        reason,
    )


def _short(name: str) -> str:
    """A name without its middle where it is too long: names of a kind differ at their ends."""
    end = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - end - 1]}\u2026{name[-end:]}"


def keyed(keys: dict[str, Key]) -> dict[str, Key]:
    """Keys by the column that each shows and switches."""
    return {column: key._replace(series=column) for column, key in keys.items()}


CPU = keyed(
    {
        "cpu_user_ratio": Key("user", "on-cpu"),
        "cpu_system_ratio": Key("system and interrupts", "on-cpu", "hatched"),
        "cpu_steal_ratio": Key("stolen by the hypervisor", "stolen"),
        "cpu_iowait_ratio": Key("idle, a task waiting for I/O", "other", "hatched"),
    }
)
JOBS = keyed(
    {
        "jobs_on_cpu": Key(*STATES["on_cpu_seconds"]),
        "jobs_in_run_queue": Key(*STATES["run_queue_seconds"]),
        **{f"jobs_blocked_{place}": Key(*STATES[f"blocked_{place}_seconds"]) for place in (*ROLES, "other")},
        "jobs_blocked_unknown": Key(NOT_KNOWN, "other", "hatched"),
    }
)
MEMORIES = keyed(
    {
        "jobs_resident_bytes": Key("resident in jobs, shared pages in each", "memory", "line"),
        "memory_cached_bytes": Key("page cache", "cached", "line"),
        "memory_available_bytes": Key("available", "ink", "line"),
        "memory_dirty_bytes": Key("dirty, not written yet", "written", "dashed"),
        "memory_limit_bytes": Key("memory limit of the jobs", "ink", "dashed"),
    }
)
NETWORK = keyed(
    {
        "network_received_bytes_per_second": Key("received", "network", "line"),
        "network_sent_bytes_per_second": Key("sent", "network", "dashed"),
    }
)
LATENCY = keyed(
    {
        f"{role}_{way}_latency_seconds": Key(f"{role} {way}s", role, "line" if way == "read" else "dashed")
        for role in ROLES
        for way in ("read", "write")
    }
)
HATCH = {"hatch_pattern": "right_diagonal_line", "hatch_scale": 6.0, "hatch_weight": 2.0}
HATCHED_ALPHA = 0.25


def device_latency(sources: Sources, time: Range1d, reason: str, having: Sequence[str]) -> Chart:
    """Mean time inside a call, by role and direction, on a logarithmic axis."""
    plot = None
    if not reason:
        plot = lines("latency", sources, time, LATENCY, having, "latency", log=True)
        plot.yaxis.axis_label = "mean time of a call"
        latency_ticks(plot.yaxis)
    return Chart(
        "latency",
        "Latency of calls by role",
        "Mean time inside read and write calls of each second; the axis is logarithmic. "
        "A call on cached data counts, too.",
        "Line chart over time of the mean latency of reads and writes by role.",
        [key for name, key in LATENCY.items() if name in having],
        plot,
        reason,
        form="latency",
    )


def jobs(sources: Sources, time: Range1d, reason: str, having: Sequence[str]) -> Chart:
    """Mean numbers of jobs by what they did or waited for."""
    names = [name for name in JOBS if name in having]
    plot = None if reason else areas("jobs", sources, time, JOBS, names, "jobs", "count")
    return Chart(
        "jobs",
        "What the jobs did and waited for",
        "Mean number of jobs (of threads) in each state.",
        "Area chart over time of the number of jobs on a processor, waiting for one, and blocked by role.",
        [JOBS[name] for name in names],
        plot,
        reason,
        form="count",
    )


def cpu(sources: Sources, time: Range1d, reason: str, having: Sequence[str]) -> Chart:
    """Shares of the time of all processors."""
    names = [name for name in CPU if name in having]
    plot = None
    if not reason:
        whole = Range1d(start=0, end=1)
        plot = areas("cpu", sources, time, CPU, names, "share of processor time", "share", whole)
    return Chart(
        "cpu",
        "Processors",
        "Share of the time of all processors (logical ones as the kernel counts them); what is left is idle.",
        "Area chart over time of the shares of processor time in user mode, system, steal and I/O wait.",
        [CPU[name] for name in names],
        plot,
        reason,
        form="share",
    )


def memory(sources: Sources, time: Range1d, reason: str, having: Sequence[str]) -> Chart:
    """Memory of the jobs and of the page cache."""
    plot = None
    if not reason:
        plot = lines("memory", sources, time, MEMORIES, having, "memory")
        plot.yaxis.axis_label = "memory, all nodes"
        plot.yaxis.ticker = AdaptiveTicker(base=1024, mantissas=[2.0**power for power in range(10)])
    return Chart(
        "memory",
        "Memory",
        "Memory of the jobs' processes, of the page cache, and what is left (powers of 1024).",
        "Line chart over time of memory resident in jobs, cached, available and dirty.",
        [key for name, key in MEMORIES.items() if name in having],
        plot,
        reason,
        form="memory",
    )


def network(sources: Sources, time: Range1d, reason: str, having: Sequence[str]) -> Chart:
    """Bytes of all networks and fabrics."""
    plot = None
    if not reason:
        plot = lines("network", sources, time, NETWORK, having, "rate")
        plot.yaxis.axis_label = "throughput"
    return Chart(
        "network",
        "Networks",
        "Bytes per second of all networks but the loopback one, and of fabrics.",
        "Line chart over time of bytes per second received and sent.",
        [key for name, key in NETWORK.items() if name in having],
        plot,
        reason,
        form="rate",
    )


def areas(
    name: str,
    sources: Sources,
    time: Range1d,
    keys: dict[str, Key],
    having: Sequence[str],
    axis: str,
    form: Form,
    y_range: Range1d | None = None,
) -> figure:
    """Areas on top of each other; each is named as its column."""
    plot = time_figure(name, time, axis, form, y_range=y_range)
    drawn = plot.varea_stack(list(having), x="seconds", source=sources[name])
    for area, column in zip(drawn, having, strict=True):
        key = keys[column]
        hatched = key.swatch == "hatched"
        area.name = column
        area.glyph.update(
            fill_color=key.paint,
            fill_alpha=HATCHED_ALPHA if hatched else 1.0,
            **({"hatch_color": key.paint, **HATCH} if hatched else {}),
        )
    return plot


def lines(
    name: str,
    sources: Sources,
    time: Range1d,
    keys: dict[str, Key],
    having: Sequence[str],
    form: Form,
    *,
    log: bool = False,
) -> figure:
    """A line for each column that there is; it is named as its column."""
    if log:
        plot = time_figure(name, time, "", form, y_range=DataRange1d(), y_axis_type="log")
    else:
        plot = time_figure(name, time, "", form)
    for column, key in keys.items():
        if column in having:
            plot.line(
                "seconds",
                column,
                name=column,
                source=sources[name],
                color=key.paint,
                line_width=1.8,
                line_dash="solid" if key.swatch == "line" else "dashed",
            )
    return plot


MARKS = Key("initial, peak and sustained: means of windows, in total", "ink", "mark", "marks")


def device(sources: Sources, time: Range1d, reason: str, others: str | None) -> Chart:
    """Bytes that reached the block devices, read and written on top of each other.

    ``others`` says how much other programs moved there, where it is so much that the chart is not the run's.
    """
    compared = (
        f"It is not comparable with published figures: {others}"
        if others
        else ("Compare this chart with published figures")
    )
    keys = _sides("device")
    return Chart(
        "device",
        "Throughput at the device",
        f"Bytes per second that reached the devices, written on top of read. {compared}.",
        "Area chart over time of bytes per second read from and written to the devices.",
        [*keys.values(), _all("device"), MARKS],
        None if reason else _drawn("device", sources, time, keys),
        reason,
        form="rate",
    )


def application(sources: Sources, time: Range1d, reason: str, *, by_role: bool) -> Chart:
    """Bytes that programs asked for, by role and direction; without roles by direction."""
    keys = _sides("application")
    what = "written on top of read; I/O by role was not measured"
    if by_role:
        what = "by role, written hatched"
        keys = {
            column: Key(f"{role} {word}", role, "area" if way == "read" else "hatched", column)
            for role in ROLES
            for way, word in WAYS.items()
            for column in (f"{role}_{way}_bytes_per_second",)
        }
    return Chart(
        "application",
        "Throughput at the application",
        f"Bytes per second that programs asked for, cache hits included, {what}.",
        f"Area chart over time of bytes per second that programs read and wrote, {what}.",
        [*keys.values(), _all("application"), MARKS],
        None if reason else _drawn("application", sources, time, keys),
        reason,
        form="rate",
    )


def _sides(side: str) -> dict[str, Key]:
    columns = {f"{side}_{way}_bytes_per_second": word for way, word in WAYS.items()}
    return {column: Key(word, word, "area", column) for column, word in columns.items()}


def _all(side: str) -> Key:
    return Key("all" if side == "device" else "all, other files included", "ink", "line", _total(side))


def _total(side: str) -> str:
    return f"{side}_total_bytes_per_second"


def _drawn(side: str, sources: Sources, time: Range1d, keys: dict[str, Key]) -> figure:
    """The areas, the line of read and written together, and the marks."""
    plot = areas(side, sources, time, keys, list(keys), "throughput", "rate")
    total = _total(side)
    plot.line("seconds", total, name=total, source=sources[side], color=light("ink"), line_width=1)
    plot.segment(
        "left",
        "value",
        "right",
        "value",
        name=MARKS.series,
        source=sources[f"{side}_marks"],
        color=light("ink"),
        line_width=3,
    )
    return plot


THROUGHPUT = keyed({f"{role}_array_bytes_per_second": Key(role, role, "line") for role in ROLES})
ARRAY_LATENCY = keyed({f"{role}_array_latency_seconds": Key(role, role, "line") for role in ROLES})


def throughput(sources: Sources, time: Range1d, having: Collection[str]) -> Chart:
    """Bytes that the array read and wrote, by role."""
    plot = lines("array", sources, time, THROUGHPUT, list(having), "rate")
    plot.yaxis.axis_label = "throughput"
    return Chart(
        "array",
        "Throughput at the array",
        "Bytes per second that the storage array read and wrote for each role, by its own statistics; "
        "means of the windows of the active phase.",
        "Line chart over time of bytes per second at the storage array by role.",
        [key for name, key in THROUGHPUT.items() if name in having],
        plot,
        form="rate",
    )


def array_latency(sources: Sources, time: Range1d, having: Collection[str]) -> Chart:
    """Mean time of a request at the array, by role."""
    plot = lines("array", sources, time, ARRAY_LATENCY, list(having), "latency")
    plot.name = "array_latency"
    plot.yaxis.axis_label = "mean time of a request"
    return Chart(
        "array_latency",
        "Latency at the array",
        "Mean time of a request at the storage array for each role, by its own statistics.",
        "Line chart over time of the mean latency of requests at the storage array by role.",
        [key for name, key in ARRAY_LATENCY.items() if name in having],
        plot,
        form="latency",
    )
