"""What ran where and how: nodes, storage, options, settings, software, and what mawl itself cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from markupsafe import Markup

from mawl.analysis.view import RunView
from mawl.model.run import NodeFacts, RunFacts
from mawl.model.summary.volumes import VolumeFigures
from mawl.reporters.figure import ABSENT, Form, figure
from mawl.reporters.head import scale_text
from mawl.reporters.html.figures import Cell, ShownFigures, absent, folded, part, table
from mawl.reporters.html.sections.system_drawing import drawing
from mawl.reporters.html.tables import tables_in
from mawl.reporters.html.templating import fill
from mawl.spec.program_options import AUTO, ROLES, Options
from mawl.units import format_memory, format_plain, format_seconds

OWN: dict[str, tuple[str, Form]] = {
    "CPU of mawl itself, launcher included": ("cpu_seconds", format_seconds),
    "of it before the start": ("startup_cpu_seconds", format_seconds),
    "memory of mawl itself": ("peak_memory_bytes", format_memory),
}


def system(figures: ShownFigures, view: RunView) -> Markup:
    """Facts a reader needs to judge or repeat the run."""
    return part(
        "system",
        "System, settings and options",
        drawing(figures, view),
        _run(figures, view.facts),
        _nodes(figures),
        _volumes(figures.summary.volumes),
        _named("Options of the run", _options(figures.summary.workload.options)),
        folded("Settings of the machine and software", _settings(view.facts)),
        *tables_in("system", figures, view),
        _cost(figures),
    )


def _run(figures: ShownFigures, facts: RunFacts) -> Markup:
    summary = figures.summary
    workload = summary.workload
    mode = summary.start_mode
    cells: list[tuple[str, Cell]] = [
        ("run", summary.run_id),
        ("kind", f"{summary.kind}, by mawl {summary.mawl_version}, format {summary.format_version}"),
        ("workload", f"{workload.name}: {workload.title}" if workload.title else workload.name),
        (
            "scale",
            _absent(figures, "workload.scale")
            if workload.scale is None
            else scale_text(workload.scale_name, workload.scale),
        ),
        ("start of jobs", mode or _absent(figures, "start_mode")),
        ("began, ended", f"{summary.started_at}, {summary.ended_at or _not_ended(figures)}"),
        (
            "outcome",
            summary.outcome + (f": {summary.outcome_reason}" if summary.outcome_reason else ""),
        ),
        ("command", fill("code.html", text=" ".join(facts.command)) if facts.command else ABSENT),
    ]
    return fill("facts.html", facts=cells)


def _not_ended(figures: ShownFigures) -> str:
    return f"not known ({figures.reason(('ended_at',))})" if figures.imported else "not yet"


def _absent(figures: ShownFigures, path: str) -> Cell:
    """In words where that is the rule of such runs, else a dash; with the reason."""
    reason = figures.reason(path.split("."))
    return f"not known ({reason})" if figures.imported else absent(reason)


def _nodes(figures: ShownFigures) -> Markup:
    head = ("node", "processor", "cores", "counted as", "memory", "kernel", "held to")
    rows = [
        (
            node.name,
            node.cpu_model or ABSENT,
            figure(node.cores, format_plain),
            node.core_basis or ABSENT,
            figures.show(format_memory, "nodes", number, "memory_bytes"),
            node.kernel or ABSENT,
            _held(node),
        )
        for number, node in enumerate(figures.summary.nodes)
    ]
    return table("Nodes", head, rows, words=(1,), texts=(3, 5, 6)) if rows else Markup()


def _held(node: NodeFacts) -> str:
    held = []
    if node.cpus_used is not None:
        held.append(f"{len(node.cpus_used)} CPUs")
    if node.cpu_quota is not None:
        held.append(f"CPU quota {node.cpu_quota:g}")
    if node.memory_limit_bytes is not None:
        held.append(format_memory(node.memory_limit_bytes))
    return ", ".join(held) or "nothing"


def _volumes(volumes: Iterable[VolumeFigures]) -> Markup:
    rows = [
        (
            volume.role,
            volume.node,
            volume.directory,
            volume.file_system or ABSENT,
            volume.mount_point or ABSENT,
            ", ".join(volume.devices) or volume.reason or ABSENT,
            ", ".join(volume.shared_with) or "no role",
        )
        for volume in volumes
    ]
    head = ("role", "node", "directory", "file system", "mounted at", "devices", "shared with")
    return table("What holds the roles", head, rows, words=(2, 5), texts=(1, 3, 4, 6)) if rows else Markup()


def _options(options: Options | None) -> dict[str, object]:
    """Options by name, sizes in words."""
    if options is None:
        return {}
    shown = {
        name.removesuffix("_bytes"): format_memory(value) if name.endswith("_bytes") else value
        for name, value in msgspec.structs.asdict(options).items()
    }
    return {**shown, "cpucount": "auto"} if options.cpucount == AUTO else shown


def _settings(facts: RunFacts) -> Markup:
    roles = {f"directories of {role}": ", ".join(facts.roles.get(role, [])) for role in ROLES}
    settings = {
        name: facts.missing.get(f"settings.{name}", ABSENT) if value is None else value
        for name, value in facts.settings.items()
    }
    return _named("Settings", {**roles, **settings}) + _named("Software", facts.software)


def _named(caption: str, values: Mapping[str, object]) -> Markup:
    rows = [(name, ABSENT if value is None else str(value)) for name, value in values.items()]
    return table(caption, ("name", "value"), rows, words=(1,), narrow=True) if rows else Markup()


def _cost(figures: ShownFigures) -> Markup:
    """What mawl itself took of the machine."""
    own, _ = figures.told(OWN, lambda named: [figures.value("overhead", named[0])])
    costs = [
        (figures.term(label, f"overhead.{field}"), figures.show(form, "overhead", field))
        for label, (field, form) in own.items()
    ]
    return table("What mawl itself cost", ("figure", "value"), costs, narrow=True) if costs else Markup()
