"""``evidence.html``: for each program and step what is told, inferred and assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from markupsafe import Markup

from mawl.base.units import counted_noun, format_bytes, format_memory, format_percent, format_seconds
from mawl.derive.evidence import DerivedEvidence, LoadOfProgram, whole
from mawl.derive.jobs import StepEvidence
from mawl.derive.tables import Ranged
from mawl.derive.text import memory_of, row, sentences_of
from mawl.records.spec.program_options import ROLES
from mawl.reports.html.figures import folded, paragraph, section, table
from mawl.reports.html.page import page

MOST_STEPS = 5000
"""Steps that the page shows, those of the most CPU time first; evidence.json has all."""

PROGRAM_HEAD = (
    "program", "jobs", "steps", "CPU", "range of CPU", "moved", "range of moved", "told", "inferred",
    "assumed",
    "CPU told", "memory a step",
)  # fmt: skip
STEP_HEAD = (
    "step", "kernel", "CPU", "memory", "threads",
    *(f"{role} {way}" for role in ROLES for way in ("read", "written")),
    "rules",
)  # fmt: skip


def html_of(evidence: DerivedEvidence) -> str:
    """The page; it holds no text of a log."""
    return page(
        "Evidence of a derived workload",
        Markup("\n").join(
            (
                _overview(evidence),
                section("programs", "Programs", _programs(evidence)),
                section("steps", "Steps", *_steps(evidence)),
                section("rules", "Rules", _rules(evidence)),
            )
        ),
        sections=(
            ("overview", "Overview"), ("programs", "Programs"), ("steps", "Steps"), ("rules", "Rules")
        ),
    )  # fmt: skip


def _overview(evidence: DerivedEvidence) -> Markup:
    facts = table(
        "What was derived",
        ("figure", "value"),
        [*sentences_of(evidence), *_asked(evidence)],
        words=(1,),
    )
    meaning = paragraph(
        "A told figure is in the log. An inferred one follows from figures of the log. "
        "An assumed one rests on a convention of mawl. Each has a range; the rules are below."
    )
    return section("overview", "Overview", meaning, facts)


def _asked(evidence: DerivedEvidence) -> Iterator[tuple[str, str]]:
    yield "names", evidence.names
    yield "arrivals", evidence.arrivals
    if evidence.growth != 1:
        yield "growth", f"rows, bytes and CPU time of the logs times {evidence.growth:g}"
    if evidence.scale != 1:
        yield "scale", f"rows, bytes, CPU time, memory and times of the clock times {evidence.scale:g}"


def _programs(evidence: DerivedEvidence) -> Markup:
    return table(
        "Load by program; told, inferred and assumed are shares of the bytes moved",
        PROGRAM_HEAD,
        [(*row(load), _cpu_told(load), memory_of(load)) for load in evidence.programs],
    )


def _cpu_told(load: LoadOfProgram) -> str:
    cpu = whole(load.cpu_seconds)
    return format_percent(load.cpu_seconds["told"] / cpu) if cpu else "-"


def _steps(evidence: DerivedEvidence) -> Iterator[Markup]:
    every = [(f"{job.job} {step.name}", step) for job in evidence.jobs for step in job.steps]
    every.sort(key=lambda pair: -pair[1].cpu_seconds.value)
    shown = every[:MOST_STEPS]
    yield paragraph("Each cell has the value, its range, and t (told), i (inferred) or a (assumed).")
    if len(every) > len(shown):
        yield paragraph(f"The {len(shown)} steps of the most CPU time; evidence.json has all {len(every)}.")
    yield folded(
        counted_noun(len(shown), "step"),
        table("Steps", STEP_HEAD, [_step(name, step) for name, step in shown], texts=(1,), words=(11,)),
    )


def _step(name: str, step: StepEvidence) -> tuple[str, ...]:
    parts = [part.get(role) for role in ROLES for part in (step.read_bytes, step.written_bytes)]
    known = (step.cpu_seconds, step.memory_bytes, step.threads, *(part for part in parts if part))
    return (
        name,
        step.kernel,
        _cell(step.cpu_seconds, format_seconds),
        _cell(step.memory_bytes, format_memory),
        _cell(step.threads, lambda count: f"{count:.0f}"),
        *("" if part is None else _cell(part, format_bytes) for part in parts),
        ", ".join(dict.fromkeys(part.rule for part in known)),
    )


def _cell(part: Ranged, form: Callable[[float], str]) -> str:
    value, low, high = form(part.value), form(part.low), form(part.high)
    ends = "" if low == high == value else f" ({low} to {high})"
    return f"{value}{ends} {part.origin[0]}"


def _rules(evidence: DerivedEvidence) -> Markup:
    return table(
        "Rules of the numbers on this page", ("rule", "meaning"), list(evidence.rules.items()), words=(1,)
    )
