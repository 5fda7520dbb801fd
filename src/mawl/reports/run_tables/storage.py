"""Tables of a run's storage: devices, volumes, arrays, caps, and demand of each role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from mawl.base.units import (
    format_bytes,
    format_latency,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
)
from mawl.figures.caps import DIRECTIONS as CAPS_DIRECTIONS
from mawl.figures.caps import NOT_RECORDED, PARTLY, cap_of
from mawl.figures.view import RunView
from mawl.importers.formats.text import one_line
from mawl.records.model.summary.host import DeviceFigures, Host
from mawl.records.model.summary.storage import CachedInputs, RoleVolumes
from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import ROLES
from mawl.reports.compressibility import headline, saving, title
from mawl.reports.layout import figure, figures, format_count
from mawl.reports.tables import (
    CSV,
    EVERY,
    HTML,
    MARKDOWN,
    SHOWN,
    TEXT,
    Formats,
    Note,
    Row,
    RunColumn,
    RunTable,
)

DIFFERENCE = (
    "Beyond the array is the host's mean latency less the array's: queues of the host, adapters, fabric and "
    "multipath, which these figures do not tell apart."
)


def _array_rows(_: RunView, summary: Summary) -> list[Row]:
    by_role = summary.arrays.by_role if summary.arrays is not None else {}
    return [Row(role, ("arrays", "by_role", role)) for role in by_role]


def _array_notes(_: RunView, summary: Summary) -> list[Note]:
    if summary.arrays is None:
        return []
    names = dict.fromkeys(name for one in summary.arrays.by_role.values() for name in one.arrays)
    return [Note(f"Statistics of {', '.join(names)}. {DIFFERENCE}")]


def _column(label: str, side: str, figure: str, formats: Formats = SHOWN) -> RunColumn:
    form = format_latency if "latency" in figure else format_rate
    return RunColumn(label=label, path=(side, figure), form=form, formats=formats)


ARRAYS = RunTable(
    name="arrays",
    caption="Throughput and latency at the array and at the host",
    section="roles",
    first="role",
    block=("arrays", "by_role", "*"),
    rows=_array_rows,
    columns=(
        _column("array", "array", "mean_bytes_per_second"),
        _column("array peak", "array", "peak_bytes_per_second"),
        _column("host", "host", "mean_bytes_per_second"),
        _column("host peak", "host", "peak_bytes_per_second"),
        _column("array peak, read", "array", "peak_read_bytes_per_second", HTML),
        _column("array peak, written", "array", "peak_written_bytes_per_second", HTML),
        _column("array latency", "array", "mean_latency_seconds"),
        _column("array peak latency", "array", "peak_latency_seconds"),
        _column("host latency", "host", "mean_latency_seconds"),
        _column("host peak latency", "host", "peak_latency_seconds"),
        RunColumn(label="beyond the array", path=("beyond_array_seconds",), form=format_latency),
    ),
    formats=EVERY,
    notes=_array_notes,
)
"""CSV has every figure of a role, cache hits and savings too."""


WHOLE_ARRAY = "all of it"


def _array_volume_rows(_: RunView, summary: Summary) -> list[Row]:
    volumes = summary.arrays.volumes if summary.arrays is not None else []
    return [
        Row(one_line(f"{one.array} {one.volume or WHOLE_ARRAY}"), ("arrays", "volumes", place))
        for place, one in enumerate(volumes)
    ]


def _array_volume_notes(_: RunView, summary: Summary) -> list[Note]:
    block = summary.compressibility
    if summary.arrays is None or not summary.arrays.volumes:
        return []
    if block is None or not block.role_estimates:
        return [Note("A run with --compressibility yes estimates the saving of each role next to these.")]
    chosen = headline(block)
    own = [
        f"{role_estimate.role} {saving(role_estimate)}"
        for role_estimate in block.role_estimates
        if (role_estimate.storage, role_estimate.codec, role_estimate.level, role_estimate.block_bytes)
        == chosen
    ]
    return [Note(f"Estimated by mawl, {title(chosen)}: {', '.join(own)}.")]


ARRAY_VOLUMES = RunTable(
    name="array_volumes",
    caption="Volumes at the array",
    section="roles",
    first="volume",
    block=("arrays", "volumes", "*"),
    rows=_array_volume_rows,
    columns=(
        RunColumn(label="role", path=("role",), form=str, formats=SHOWN),
        RunColumn(label="read", path=("read_bytes_per_second",), form=format_rate),
        RunColumn(label="written", path=("written_bytes_per_second",), form=format_rate),
        RunColumn(label="saved", title="saved by compression", path=("saved_ratio",), form=format_percent),
    ),
    formats=EVERY,
    fold="Volumes at the array",
    folded=MARKDOWN,
    notes=_array_volume_notes,
)


CAP_PLACES = (*ROLES, "together")
CAP_UNITS = {"bytes_per_second": "bytes", "requests_per_second": "requests"}


def _cap_rows(_: RunView, summary: Summary) -> list[Row]:
    return [
        Row(f"{'all roles' if place == 'together' else place}, {way}", ("caps", place, way))
        for place in CAP_PLACES
        for way in CAPS_DIRECTIONS
        if any(getattr(cap_of(summary.caps, place, way), unit) is not None for unit in CAP_UNITS)
    ]


def cap_sentence(summary: Summary) -> str | None:
    """What the roles may move at most, in a line: ``work writes 40 MB/s at loop3``; None without a cap."""
    said: dict[str, list[str]] = {}
    for role in ROLES:
        for way in CAPS_DIRECTIONS:
            cap = cap_of(summary.caps, role, way)
            parts = [
                text
                for text in (
                    None if cap.bytes_per_second is None else format_rate(cap.bytes_per_second),
                    None
                    if cap.requests_per_second is None
                    else f"{format_count(cap.requests_per_second)} requests/s",
                )
                if text is not None
            ]
            if parts:
                what = f"{' and '.join(parts)} at {', '.join(cap.devices)}"
                said.setdefault(what, []).append(f"{role} {way}s")
    lines = [f"{', '.join(names)} at most {what}" for what, names in said.items()]
    return "; ".join(lines) or None


def _uncapped_notes(view: RunView, summary: Summary) -> Sequence[Note]:
    """Why roles have no cap, or have one on a part of their bytes; empty if the run did not look for caps."""
    capped = {row.path[1] for row in _cap_rows(view, summary)}
    roles: dict[str, list[str]] = {}
    for role in ROLES:
        reasons = dict.fromkeys(
            why
            for way in CAPS_DIRECTIONS
            for unit in CAP_UNITS
            if (why := summary.missing.get(f"caps.{role}.{way}.{unit}")) not in (None, NOT_RECORDED)
        )
        partly = [why for why in reasons if why.startswith(PARTLY)]
        for why in partly or ([] if role in capped else list(reasons)[:1]):
            roles.setdefault(why, []).append(role)
    return [Note(f"I/O caps of control groups, {', '.join(names)}: {why}") for why, names in roles.items()]


CAPS = RunTable(
    name="caps",
    caption="I/O caps of control groups",
    section="system",
    first="role, at its devices",
    block=("caps", "data", "read"),
    rows=_cap_rows,
    columns=(
        RunColumn(label="at most", path=("bytes_per_second",), form=format_rate),
        RunColumn(label="requests/s", path=("requests_per_second",), form=format_count),
        RunColumn(label="applies at", path=("devices",), form=", ".join, holds="words"),
        RunColumn(label="read from", path=("files",), form=", ".join, holds="code"),
    ),
    lead=_uncapped_notes,
    spare=("read from",),
)


DIRECTIONS = ("read", "write")


def _demand_rows(_: RunView, summary: Summary) -> list[Row]:
    if summary.storage is None:
        return []
    return [
        Row(f"{role}, {direction}", ("storage", "by_role", role, direction))
        for role in ROLES
        for direction in DIRECTIONS
    ]


def _demand_notes(_: RunView, summary: Summary) -> list[Note]:
    storage, missing = summary.storage, summary.missing
    if storage is None:
        return []
    found: dict[str, list[str]] = {}
    for role in ROLES:
        block = storage.by_role[role]
        if block.shared_with:
            found.setdefault(f"its figures are also of {' and '.join(block.shared_with)}", []).append(role)
        if block.disks_shared_with:
            others = " and ".join(block.disks_shared_with)
            sentence = f"its disks also hold {others}, whose demand is not in these figures"
            found.setdefault(sentence, []).append(role)
        for direction in DIRECTIONS:
            test = getattr(block, direction).test
            why = missing.get(f"storage.by_role.{role}.{direction}.test", "")
            found.setdefault(f"can do: {test}" if test else why, []).append(f"{role} {direction}")
    sentences = [f"{', '.join(names)}: {sentence}" for sentence, names in found.items() if sentence]
    return [Note(f"Probed {storage.probed_at[:10]} with {storage.tool}."), *map(Note, sentences)]


DEMAND = RunTable(
    name="demand",
    caption="Demand and capability by role",
    section="storage",
    first="role, at its devices",
    block=("storage", "by_role", "*", "read"),
    rows=_demand_rows,
    columns=(
        RunColumn(label="median request", path=("request_bytes",), form=format_memory),
        RunColumn(label="peak", path=("peak_bytes_per_second",), form=format_rate),
        RunColumn(label="sustained", path=("sustained_bytes_per_second",), form=format_rate),
        RunColumn(label="can do", path=("capability_bytes_per_second",), form=format_rate),
        RunColumn(label="peak used", path=("peak_used_ratio",), form=format_percent),
        RunColumn(label="sustained used", path=("sustained_used_ratio",), form=format_percent),
    ),
    notes=_demand_notes,
)


MOST_DEVICES = 8
"""Rows in text."""


def active_devices(devices: Mapping[str, DeviceFigures]) -> list[str]:
    """Names of devices that hold roles or moved bytes: the former first, each by how much they moved."""

    def order(name: str) -> tuple[bool, float]:
        one = devices[name]
        return not one.roles, -((one.read_bytes or 0) + (one.written_bytes or 0))

    return [name for name in sorted(devices, key=order) if devices[name].roles or order(name)[1] < 0]


def _device_rows(_: RunView, summary: Summary) -> list[Row]:
    devices = (summary.host.device if summary.host else None) or {}
    return [
        Row(name, ("host", "device", name), EVERY if place < MOST_DEVICES else EVERY - TEXT)
        for place, name in enumerate(active_devices(devices))
    ]


def _host_notes(_: RunView, summary: Summary) -> list[Note]:
    if summary.host is None:
        return []
    notes = [Note(_processors(summary.host), TEXT, "host"), *_inputs(summary.inputs)]
    for reason in dict.fromkeys(volume.reason for volume in summary.volumes if volume.reason):
        roles = dict.fromkeys(volume.role for volume in summary.volumes if volume.reason == reason)
        notes.append(Note(f"no device for {', '.join(roles)}: {reason}", TEXT))
    return notes


def _processors(block: Host) -> str:
    shares = figures(
        *((getattr(block, f"cpu_{kind}_ratio"), format_percent) for kind in ("busy", "iowait", "steal")),
        (block.core_busy_ratio, format_percent),
        (block.runnable.mean, format_ratio),
        (block.runnable.peak, format_ratio),
    )
    sentence = "processors {} busy, {} iowait, {} steal; cores {} busy; runnable {}, peak {}"
    text = sentence.format(*shares)
    pressure = ", ".join(
        f"{name.removesuffix('_ratio').replace('_', ' ')} {format_percent(value)}"
        for name, value in msgspec.structs.asdict(block.pressure).items()
        if value is not None
    )
    swapped = [block.swap_read_bytes, block.swap_written_bytes]
    if any(swapped):
        text += "; swapped in {} and out {}".format(*figures(*((size, format_memory) for size in swapped)))
    if pressure:
        text += f"; pressure over the run: {pressure}"
    return f"{text}; at least {figure(block.least_memory_available_bytes, format_memory)} of memory free"


def _inputs(block: CachedInputs | None) -> list[Note]:
    if block is None or block.resident_ratio is None:
        return []
    asked = "" if block.mode is None else f", asked to be {block.mode}"
    share = format_percent(block.resident_ratio)
    text = f"{share} of them in the page cache before the start{asked}"
    return [Note("; ".join([text, *block.remarks]), TEXT, "inputs")]


def _device_notes(view: RunView, summary: Summary) -> list[Note]:
    more = len(_device_rows(view, summary)) - MOST_DEVICES
    if more <= 0:
        return []
    return [Note(f"and {format_count(more)} more devices (--format json lists all)", TEXT)]


DEVICES = RunTable(
    name="devices",
    caption="Block devices; a peak is the highest window mean",
    section="host",
    first="device",
    block=("host", "device", "*"),
    rows=_device_rows,
    columns=(
        RunColumn(
            label="holds", value=lambda one: " ".join(one.roles), form=str, holds="words", formats=TEXT
        ),
        RunColumn(
            label="holds",
            value=lambda one: ", ".join(one.roles) or "no role",
            form=str,
            holds="words",
            formats=HTML,
        ),
        RunColumn(label="reads", path=("reads",), form=format_count, formats=HTML),
        RunColumn(label="writes", path=("writes",), form=format_count, formats=HTML),
        RunColumn(label="read", path=("read_bytes",), form=format_bytes),
        RunColumn(label="written", path=("written_bytes",), form=format_bytes),
        *(
            RunColumn(label=label, path=(f"{way}_await_seconds", part), form=format_latency)
            for way in ("read", "write")
            for part, label in (("mean", f"{way} await"), ("peak", "peak"))
        ),
        RunColumn(label="utilisation", path=("utilisation_ratio",), form=format_percent),
        RunColumn(label="queue", path=("queue_length",), form=format_ratio, formats=HTML),
    ),
    formats=TEXT | HTML | CSV,
    lead=_host_notes,
    notes=_device_notes,
)


def _roles_with_several(summary: Summary) -> dict[str, RoleVolumes]:
    """The roles with several volumes: one alone is its role's row."""
    return {role: block for role, block in msgspec.structs.asdict(summary.roles).items() if block.volumes > 1}


def _volume_rows(_: RunView, summary: Summary) -> list[Row]:
    """``work 1``, ``work 2``, ``util 1``: numbered within each role of a node, which several nodes name.

    CSV has those of roles with one volume, too.
    """
    several, count = _roles_with_several(summary), Counter[tuple[str, str]]()
    nodes = {volume.node for volume in summary.volumes}
    rows = []
    for place, volume in enumerate(summary.volumes):
        count[volume.node, volume.role] += 1
        name = f"{volume.role} {count[volume.node, volume.role]}"
        name = f"{volume.node} {name}" if len(nodes) > 1 else name
        rows.append(Row(name, ("volumes", place), EVERY if volume.role in several else CSV))
    return rows


def _volume_notes(view: RunView, summary: Summary) -> list[Note]:
    several = _roles_with_several(summary)
    places = [
        f"{row.name}: {summary.volumes[int(row.path[1])].directory}"
        for row in _volume_rows(view, summary)
        if row.formats > CSV
    ]
    notes = [Note("; ".join(places), TEXT)]
    if summary.kind == "imported" and all(block.spread_ratio is None for block in several.values()):
        return notes
    parts = [
        f"{role} {figure(block.spread_ratio, format_ratio)} over {block.volumes}"
        for role, block in several.items()
    ]
    order = f" (order: {summary.volume_order})" if summary.volume_order else ""
    spread = f"spread of the bytes, largest less smallest over the mean: {', '.join(parts)}{order}"
    return [*notes, Note(spread)]


VOLUMES = RunTable(
    name="volumes",
    caption="Volumes of the roles that have several",
    section="roles",
    first="volume",
    block=("volumes", "*"),
    rows=_volume_rows,
    columns=(
        RunColumn(label="directory", path=("directory",), form=str, holds="code", formats=MARKDOWN | HTML),
        RunColumn(label="size", path=("size_bytes",), form=format_memory),
        RunColumn(label="used before", path=("used_before_bytes",), form=format_memory),
        RunColumn(label="after", title="used after", path=("used_after_bytes",), form=format_memory),
        RunColumn(label="free", title="free after", path=("free_after_bytes",), form=format_memory),
        RunColumn(label="read", path=("read_bytes",), form=format_bytes),
        RunColumn(label="written", path=("written_bytes",), form=format_bytes),
        RunColumn(label="share", path=("share_ratio",), form=format_percent),
        RunColumn(label="device read", path=("device_read_bytes",), form=format_bytes),
        RunColumn(label="written", title="device written", path=("device_written_bytes",), form=format_bytes),
        RunColumn(
            label="peak", title="peak of the run's files", path=("peak_used_bytes",), form=format_memory
        ),
    ),
    formats=EVERY,
    fold="Volumes",
    folded=MARKDOWN,
    notes=_volume_notes,
)
