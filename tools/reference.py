"""Print from the code the pages of docs/reference, src/mawl/commands/shell, and the diagrams of docs/images.

``python -m tools.reference`` writes them; ``--check`` writes nothing and names the pages that the
code no longer agrees with.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from mawl.base.units import format_bytes, format_memory
from mawl.commands import schema
from mawl.commands.verbs import EXIT_STATUS
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import FEWEST_FULL_SESSIONS, mixed
from mawl.plan.needs import tables_of
from mawl.plan.programs import DATA_STEP, PROCEDURES, Pass, Program, Step, reference_times
from mawl.plan.spec import SCALES, JobSpec, SessionSpec, WorkloadSpec, scale_name
from mawl.plan.workload import load_workload, make_plan, shipped
from mawl.records.spec.program_options import PLAIN_OPTIONS, ROLES, SIZE_OPTIONS, Options
from mawl.records.spec.run_spec import MOST_SESSIONS
from mawl.records.spec.sources import FileSettings, RunKeys, RunOfPlan
from tools import diagrams, measured, mix
from tools.api_page import api_page
from tools.markdown import plain, table
from tools.metric_pages import metrics_page
from tools.papers_page import papers_page
from tools.rules_page import rules_page
from tools.shell import files as shell
from tools.shell.tree import Verb, tree
from tools.threshold_page import thresholds_page

ROOT = Path(__file__).resolve().parent.parent
PAGES, SHELL = Path("docs/reference"), Path("src/mawl/commands/shell")
STAGE_MARKS = "`;` one after another, `+` side by side, `*` marked to trail out"
NOTICE = "<!-- Printed from the code by tools/reference.py (make reference); do not edit. -->"


def commands_page() -> list[str]:
    """Every verb with its arguments."""
    mawl = tree()
    lines = [
        "# Commands",
        "",
        "`mawl VERB ...`; `mawl --version` and `mawl --help` stand alone.",
        "",
        f"{_sentence(mawl.exit_status)}; some verbs have more, named below.",
        "",
        "With `--debug` an error shows its traceback.",
        "",
    ]
    for verb in mawl.verbs:
        lines += [f"## mawl {verb.words[-1]}", "", plain(verb.description), ""]
        if verb.exit_status not in ("", EXIT_STATUS):
            lines += [f"{_sentence(verb.exit_status)}.", ""]
        lines += [] if verb.verbs else _arguments(verb)
        for below in verb.verbs:
            lines += [f"### mawl {' '.join(below.words)}", "", *_arguments(below)]
    return lines


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _arguments(verb: Verb) -> list[str]:
    rows = []
    for one in verb.arguments:
        if "--help" in one.flags or "--help-all" in one.flags:
            continue
        names = [f"`{flag} {one.value}`".replace(" `", "`") for flag in one.flags] or [f"`{one.value}`"]
        rows.append((", ".join(names), one.help))
    return table(("argument", "meaning"), rows) if rows else ["No arguments.", ""]


def options_page() -> list[str]:
    """Run options and the keys of mawl.toml."""
    names = {field: name for name, field in SIZE_OPTIONS.items()} | {name: name for name in PLAIN_OPTIONS}
    rows = []
    for field in msgspec.structs.fields(Options):
        default = (
            format_memory(field.default) if field.encode_name.endswith("_bytes") else _default(field.default)
        )
        rows.append((f"`{names[field.name]}`", f"`{field.name}`", default, _description(field.type)))
    settings = [
        (f"`{field.name}`", type_words(field.type))
        for field in msgspec.structs.fields(FileSettings)
        if field.type is not object  # an old name, which is refused
    ]
    return [
        "# Options and settings",
        "",
        plain(Options.__doc__),
        "",
        "They are given as `--option NAME=VALUE`, in a workload file, or under `[options]` in `mawl.toml`.",
        "",
        *table(("option", "in run.json", "default", "meaning"), rows),
        "## Keys of mawl.toml",
        "",
        "A command-line option goes before the environment variable `MAWL_NAME`, that before `mawl.toml`",
        "in the current directory (or the file that `MAWL_CONFIG` names), and that before the default.",
        "",
        *table(("key", "type"), settings),
    ]


def _description(kind: Any) -> str:
    for meta in getattr(kind, "__metadata__", ()):
        if isinstance(meta, msgspec.Meta) and meta.description:
            return plain(meta.description)
    return ""


def _default(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return (
        ""
        if value is None or value is msgspec.NODEFAULT
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def type_words(kind: Any) -> str:
    """A field's type in plain words: ``text``, ``list of whole number``."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return type_words(parts[0])
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in parts)
    if origin in (Union, UnionType):
        return " or ".join(type_words(part) for part in parts if part is not type(None))
    if origin is list:
        return f"list of {type_words(parts[0])}"
    if origin is dict:
        return f"table of {type_words(parts[1])}"
    if issubclass(kind, RunKeys):
        return "table of options"
    words = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return words[kind] if kind in words else str(kind.__name__).removesuffix("Spec").lower()


def programs_page() -> list[str]:
    """The catalogue."""
    head = (
        "program",
        "class",
        *(f"{role} {way}" for role in ROLES for way in ("read", "written")),
        "memory",
        "what it does",
    )
    rows = []
    for program in CATALOGUE.values():
        moved = program.bytes_by_role(1.0)
        sizes = [format_bytes(moved[role][way]) for role in ROLES for way in ("read", "written")]
        sizes.append(format_bytes(program.memory_bytes(Options())))
        rows.append((f"[{program.name}](#{program.name})", program.program_class, *sizes, program.title))
    lines = [
        "# Programs",
        "",
        "Application bytes that one job moves at scale `full`; they are linear in the scale.",
        "Memory is the declared peak at `full`, with default options and beyond the process itself.",
        "",
    ]
    lines += [*table(head, rows), *_memory()]
    for kept in map(measured.load, measured.FILES):
        lines += [] if kept is None else measured.page(kept)
    lines += _procedures()
    for program in CATALOGUE.values():
        lines += _program(program)
    return lines


def _memory() -> list[str]:
    """How flat declared memory is, over programs and over the jobs of mixed workloads."""
    jobs = {"each program once": [program.name for program in CATALOGUE.values()]}
    for name in ("mixed20", "mixed30", "mixed30-19"):
        spec, where = load_workload(name)
        plan = make_plan(spec, where=where, scale=1.0)
        jobs[f"`{name}`"] = [job.program for job in plan.jobs()]
    rows = []
    for name, programs in jobs.items():
        declared = [CATALOGUE[program].memory_bytes(Options()) for program in programs]
        others = [
            CATALOGUE[program].memory_bytes(Options())
            for program in programs
            if CATALOGUE[program].program_class != "memory"
        ]
        figures = (min(declared), statistics.median(declared), statistics.fmean(declared), max(declared))
        rows.append(
            (name, len(declared), *(format_bytes(round(one)) for one in (*figures, statistics.fmean(others))))
        )
    head = ("jobs", "number", "least", "median", "mean", "most", "mean without class memory")
    return [
        "## Declared memory at full",
        "",
        "Why the mean is what it is: [memory](../design/memory.md).",
        "",
        *table(head, rows),
    ]


def _in_sas(step: Step) -> str:
    """What the SAS-style log calls a step; ``verify`` does not stand in it."""
    return {"data": "DATA step", "procedure": f"PROC {step.procedure}"}.get(step.kind, "-")


def _procedures() -> list[str]:
    """Why a step has the name that it has in the SAS-style log."""
    used = {
        f"{program.name}: {step.name}": step.procedure
        for program in CATALOGUE.values()
        for step in program.steps
        if step.procedure is not None
    }
    rows = [
        (f"PROC {name}", why, ", ".join(step for step, one in used.items() if one == name))
        for name, why in PROCEDURES.items()
    ]
    return [
        "## Names in the SAS-style log",
        "",
        "The [SAS-style log](../design/sas-log.md) names each step of kind `procedure` after the SAS "
        f"procedure that does such work; {DATA_STEP}. No SAS runs.",
        "",
        *table(("name", "a SAS programmer would use it because", "steps"), rows),
    ]


def _program(program: Program) -> list[str]:
    def passes(declared: Sequence[Pass]) -> str:
        return ", ".join(p.table if p.share == 1 else f"{p.table} x {p.share:.3g}" for p in declared) or "-"

    inputs = [
        (f"`{t.name}`", t.layout, format_bytes(t.bytes(1.0)), f"{t.rows(1.0):,}", t.row_bytes)
        for t in program.inputs
    ]
    made = [f"No input: it makes {program.rows(1.0):,} rows of its own at `full`.", ""]
    steps = [(s.name, s.kind, _in_sas(s), passes(s.reads), passes(s.writes), s.title) for s in program.steps]
    return [
        f"## {program.name}",
        "",
        f"{program.title}",
        "",
        f"- Class: {program.program_class}",
        f"- Size: {program.size_knob}",
        f"- Answer: {program.check}",
        f"- Memory with the default options at `full`: {format_memory(program.memory_bytes(Options()))}",
        f"- Reference time: {_reference_times(program.name)}",
        f"- Libraries: {', '.join(f'`{name}`' for name in program.modules)}",
        "",
        *(table(("input at `full`", "layout", "size", "rows", "bytes a row"), inputs) if inputs else made),
        *table(("step", "kind", "in SAS", "reads", "writes", "what it does"), steps),
    ]


def _reference_times(program: str) -> str:
    """``0.281 s at smoke (0.275 to 0.290), ...``: medians over the seeds with their range."""
    found = ((scale_name(knot.scale), knot.programs[program]) for knot in reference_times().knots)
    return ", ".join(f"{one.median:g} s at {scale} ({one.low:g} to {one.high:g})" for scale, one in found)


def workloads_page() -> list[str]:
    """Shipped workloads, and the keys of a workload file."""
    scales = ", ".join(f"`{name}` ({value:g})" for name, value in SCALES.items())
    lines = ["# Workloads", "", f"Scales: {scales}, or any factor of `full`.", ""]
    rows, bodies = [], []
    for name in shipped():
        spec, where = load_workload(name)
        plan = make_plan(spec, where=where, scale=1.0)
        jobs = sum(1 for _ in plan.jobs())
        fixed = "any" if spec.scale is None else f"{spec.scale:g}, fixed"
        rows.append(
            (
                f"[{name}](#{name})",
                len(plan.sessions),
                jobs,
                plan.gate_jobs,
                plan.peak_concurrent,
                fixed,
                spec.title,
            )
        )
        sessions = []
        for session in plan.sessions:
            stages = "; ".join(
                " + ".join(job.program + ("\\*" if job.trail_out else "") for job in stage)
                for stage in session.stages
            )
            sessions.append((session.name, stages))
        bodies += [
            f"## {name}",
            "",
            *table(("session", f"stages ({STAGE_MARKS})"), sessions),
        ]
    lines += table(
        ("workload", "sessions", "jobs", "released together", "side by side", "scale", "what it is"), rows
    )
    lines += [*mixes_section(), *bodies, "## Workload files", ""]
    for place, kind in (
        ("Top level", WorkloadSpec),
        ("`[run]`", RunOfPlan),
        ("`[[sessions]]`", SessionSpec),
        ("A job", JobSpec),
    ):
        keys = []
        for field in msgspec.structs.fields(kind):
            default = "required" if field.required else _default(field.default)
            keys.append((f"`{field.name}`", type_words(field.type), default))
        lines += [
            f"### {place}",
            "",
            plain(kind.__doc__ or RunKeys.__doc__),
            "",
            *table(("key", "type", "default"), keys),
        ]
    return lines


def mixes_section() -> list[str]:
    """The rule that mixed20 and mixed30 come from."""
    rows = []
    for sessions in (1, 2, 3, 4, FEWEST_FULL_SESSIONS, 10, 20, 30, 40, 60, MOST_SESSIONS):
        plan = make_plan(mixed(sessions), where="", scale=1.0)
        inputs = sum(need.bytes for need in tables_of(plan))
        rows.append((sessions, sum(1 for _ in plan.jobs()), plan.gate_jobs, format_bytes(inputs)))
    return [
        "## The rule of the mixes",
        "",
        "`--sessions N` scales `mixed20`: 3N + 11 jobs, 2N - 5 released together, N from "
        f"{FEWEST_FULL_SESSIONS} to {MOST_SESSIONS};",
        "`mixed30` is the same rule at 30.",
        f"With fewer than {FEWEST_FULL_SESSIONS} sessions each program runs once, one job at a time in each "
        "session. [How jobs are shared out and laid out, and why]"
        "(../design/workloads.md).",
        "",
        *table(("sessions", "jobs", "released together", "inputs with their copies at `full`"), rows),
    ]


WRITERS: dict[str, Callable[[], list[str]]] = {
    "api": api_page,
    "commands": commands_page,
    "metrics": metrics_page,
    "options": options_page,
    "programs": programs_page,
    "signature": mix.page,
    "papers": papers_page,
    "rules": rules_page,
    "thresholds": thresholds_page,
    "workloads": workloads_page,
}


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with ``--check`` compare them; 1 when one is stale."""
    stale = []
    texts = {
        PAGES / f"{name}.md": "\n".join([NOTICE, "", *write()]).rstrip() + "\n"
        for name, write in WRITERS.items()
    }
    texts |= {PAGES / "schemas" / f"{name}.schema.json": schema.text(name) for name in schema.FORMATS}
    texts |= diagrams.files()
    texts |= {SHELL / name: text for name, text in shell.files().items()}
    for name, text in texts.items():
        path = ROOT / name
        if path.is_file() and path.read_text() == text:
            continue
        stale.append(str(name))
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if "--check" in arguments and stale:
        print(
            f"reference: no longer what the code says: {', '.join(stale)}; run make reference",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
