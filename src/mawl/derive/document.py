"""The folder of a derived workload, and its evidence as a document: what is told, inferred and assumed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import tomli_w

from mawl.base.errors import UnsuitableMachineError, UsageError, cure_of
from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_change,
    format_memory,
    format_percent,
    format_seconds,
)
from mawl.derive.derive import Derivation
from mawl.derive.evidence import (
    DerivedEvidence,
    LeftOut,
    LoadOfProgram,
    QueueOfNight,
    Shares,
    UnknownBytes,
    whole,
)
from mawl.derive.jobs import StepEvidence
from mawl.derive.nights import ChosenNight, Thinning
from mawl.derive.step_bytes import counts_reads
from mawl.derive.tables import ORIGINS, Origin, Ranged
from mawl.plan.derived_jobs import encoded
from mawl.records.model.derived import FILE, MOST_STEPS
from mawl.records.model.records import MOST_TABLES
from mawl.records.spec.program_options import ROLES
from mawl.records.store.files import replace_file
from mawl.reports.document import Block, Document, Headline, Lines, Part, Sentences, Table, each, rendered
from mawl.reports.layout import ABSENT, figure
from mawl.reports.run_tables.jobs import chain_words, times_words

MOST_PROGRAMS = 10
NIGHTS_HEAD = ("folder", "represents", "jobs", "CPU", "real", "block I/O", "most at once")
HEAD = ("program", "jobs", "steps", "CPU", "range", "moved", "range", "told", "inferred", "assumed")


SHOWN_STEPS = 5000
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
MEANING = (
    "A told figure is in the log. An inferred one follows from figures of the log.",
    "An assumed one rests on a convention of mawl. Each has a range; the rules are below.",
)
SHARES = "told, inferred, assumed: shares of the bytes moved. evidence.html has every step, ranges and rules."


def document(evidence: DerivedEvidence, folder: str) -> Document:
    """What was derived, and from how sure numbers; the page has every step, and no text of a log."""
    sentences = list(sentences_of(evidence))
    more = len(evidence.programs) - MOST_PROGRAMS
    left_out = [f"and {counted_noun(more, 'more program')} (evidence.html)"] if more > 0 else []
    overview: list[Block] = [Lines([*sentences, *_asked(evidence)]), Sentences(MEANING)]
    every = Table(
        title="load by program; told, inferred and assumed are shares of the bytes moved",
        head=PROGRAM_HEAD,
        rows=[(*row(load), _logged_cpu_share(load), memory_of(load)) for load in evidence.programs],
    )
    rules = Table(
        title="rules of the numbers on this page", head=("rule", "meaning"), rows=[*evidence.rules.items()]
    )
    few = [row(load) for load in evidence.programs[:MOST_PROGRAMS]]
    return Document(
        headline=Headline(sign="measured", sentence="Evidence of a derived workload"),
        tag=("derived", ""),
        parts=[
            Part([Lines([*sentences, ("folder", folder), ("next", _next(folder))])]),
            Part([Table(head=HEAD, rows=few), Sentences([*left_out, SHARES])]),
        ],
        folds=[
            Part(overview, "overview", "Overview", "Overview"),
            Part([every], "programs", "Programs", "Programs"),
            Part(_steps(evidence), "steps", "Steps", "Steps"),
            Part([rules], "rules", "Rules", "Rules"),
        ],
    )


def _next(folder: str) -> str:
    run = shlex.join(["mawl", "run", f"{folder}/workload.toml", "--cache", "none"])
    return f"run it on the system in question, on the storage of its --data, --work and --util: {run}"


def nights_parts(thinning: Thinning, folder: str) -> list[Part]:
    """Which nights represent all, and how far their sums are off."""
    which = f"{len(thinning.chosen)} of {thinning.nights}; folders {folder}/night-1 and so on"
    known = [
        f"{name.replace('_', ' ')} {format_change(error)}"
        for name, error in thinning.errors.items()
        if error is not None
    ]
    sentence = (
        f"Sums of the chosen nights, each multiplied by the nights that it represents, against all nights: "
        f"{', '.join(known)}."
    )
    nights = Table(head=NIGHTS_HEAD, rows=[_night(one) for one in thinning.chosen])
    return [*each(Lines([("nights", which)])), Part([nights, Sentences([sentence])])]


def _night(night: ChosenNight) -> tuple[str, ...]:
    load = night.load
    return (
        f"night-{night.number}",
        str(night.nights),
        str(load.jobs),
        figure(load.cpu_seconds, format_seconds),
        figure(load.real_seconds, format_seconds),
        figure(load.block_bytes, format_bytes),
        str(load.peak_jobs),
    )


def sentences_of(evidence: DerivedEvidence) -> Iterator[tuple[str, str]]:
    """Label and sentence of what holds for all jobs together."""
    steps = sum(len(job.steps) for job in evidence.jobs)
    yield (
        "derived",
        f"{counted_noun(len(evidence.jobs), 'job')} with {counted_noun(steps, 'step')}, "
        f"of {counted_noun(evidence.jobs_in_logs, 'job')} in the logs",
    )
    for label, form, field in FIGURES:
        sums = total(evidence, field)
        if whole(sums):
            parts = ", ".join(f"{origin} {format_percent(sums[origin] / whole(sums))}" for origin in ORIGINS)
            untold = sum(getattr(load, field) is None for load in evidence.programs)
            scope = f"without {counted_noun(untold, 'program')} of unknown bytes" if untold else "in all"
            yield label, f"{form(whole(sums))} {scope}: {parts}"
    if left := _left_out(evidence.left_out):
        yield "left out", left
    for sentence in _unknown_bytes(evidence.not_told):
        yield "not told", sentence
    yield "reads", _reads(evidence.device_share)
    if (host := evidence.host) is not None:
        yield (
            "host",
            f"devices read {format_bytes(host.device_read_bytes)} and wrote "
            f"{format_bytes(host.device_written_bytes)} while the jobs ran, for all programs; the steps "
            f"read {format_bytes(host.steps_read_bytes)} and wrote {format_bytes(host.steps_written_bytes)}",
        )
    if evidence.queue is not None:
        yield "queue", "; ".join(_queue(evidence.queue, evidence))
    if evidence.night is not None and evidence.window_seconds is not None:
        spare = evidence.night.spare_seconds
        held = "before the end of the night: held" if spare >= 0 else "after the end of the night: missed"
        yield (
            "night",
            f"in the logs the last job ended {format_seconds(abs(spare))} {held}; "
            f"it is the last of a chain of {counted_noun(len(evidence.night.chain), 'job')}",
        )
        if (grown := evidence.night.grown_end_seconds) is not None:
            yield "grown", _grown(evidence.growth, evidence.window_seconds - grown)


def _grown(growth: float, spare: float) -> str:
    where = (
        "before the end of the night: it fits"
        if spare >= 0
        else "after the end of the night: it does not fit"
    )
    return (
        f"with {growth:g} times the rows, if each job took {growth:g} times as long, the last would end "
        f"{format_seconds(abs(spare))} {where}; a run of the workload shows what your storage makes of it"
    )


def _queue(queue: QueueOfNight, evidence: DerivedEvidence) -> Iterator[str]:
    jobs = counted_noun(len(evidence.jobs), "job")
    yield f"the history of the scheduler has the submission of {queue.submitted} of {jobs}"
    if queue.times is not None:
        yield f"in the queue: {times_words(queue.times)}"
    if queue.chain is not None:
        yield chain_words(queue.chain)
    if queue.not_before:
        yield (
            f"{counted_noun(queue.not_before, 'job')} that followed another cannot start before the time "
            "that the history has as its earliest start"
        )
    if evidence.arrivals == "clock":
        yield "other jobs start when they started in the logs: the derived night has no queue"


FIGURES: tuple[tuple[str, Callable[[float], str], str], ...] = (
    ("CPU", format_seconds, "cpu_seconds"),
    ("moved", format_bytes, "moved_bytes"),
)


def total(evidence: DerivedEvidence, field: str) -> Mapping[Origin, float]:
    found: list[Shares | None] = [getattr(load, field) for load in evidence.programs]
    return {origin: sum(share[origin] for share in found if share is not None) for origin in ORIGINS}


def _left_out(left: LeftOut) -> str:
    told = (
        (left.jobs_outside_the_night, "job", "outside the night"),
        (left.jobs_without_times, "job", "without times"),
        (left.jobs_not_chosen, "job", "by --only and --without"),
        (left.jobs_without_steps, "job", "without steps"),
        (left.views_and_startup_steps, "note", "of views, steps within steps, initialization or checks"),
        (left.tables_of_databases, "table", "of databases or other sessions"),
        (left.tables_beyond_the_first, "table", f"beyond the first {MOST_TABLES} of a step"),
        (left.steps_beyond_the_first, "step", f"beyond the first {MOST_STEPS:,} of a job"),
        (left.lines_skipped, "line", "of logs that cannot be read"),
    )
    return ", ".join(f"{counted_noun(count, noun)} {what}" for count, noun, what in told if count)


def _unknown_bytes(open_: UnknownBytes) -> Iterator[str]:
    if count := open_.steps_of_unknown_block_size:
        yield (
            f"the platform of {counted_noun(count, 'step')} does not say how large a block operation is (AIX "
            "counts operations), so mawl does not use it: bytes follow from rows and sizes of tables"
        )
    if count := open_.steps_of_assumed_block_size:
        yield (
            f"mawl takes a block operation of {counted_noun(count, 'step')} as 512 bytes, as on Linux: their "
            "logs, or others of the same node, name no platform"
        )
    if count := open_.steps_without_utility_files:
        steps = counted_noun(count, "step")
        infers = f"nothing tells the bytes of the {steps} that may use them"
        if open_.bytes_of_these:
            part = f"which part of {format_bytes(open_.bytes_of_these)} is util, and which is work or data"
            infers = f"for {steps} that may use them mawl infers {part}"
        yield f"SAS writes no note on utility files: {infers}"


def _reads(share: float | None) -> str:
    if share is None:
        return "no step shows whether memory served reads: their ranges allow for it"
    if counts_reads(share):
        return f"devices served {format_percent(share)} of reads of known size: block operations count them"
    return f"devices served {format_percent(share)} of reads of known size: memory served the rest"


def row(load: LoadOfProgram) -> tuple[str, ...]:
    """A program's cells under HEAD."""
    parts = load.moved_bytes
    moved = None if parts is None else whole(parts)
    shares = [format_percent(parts[origin] / moved) if parts and moved else ABSENT for origin in ORIGINS]
    return (
        load.program,
        str(load.jobs),
        str(load.steps),
        format_seconds(whole(load.cpu_seconds)),
        _range(load.cpu_seconds_range, format_seconds),
        figure(moved, format_bytes),
        _range(load.moved_bytes_range, format_bytes),
        *shares,
    )


def memory_of(load: LoadOfProgram) -> str:
    """The mean of the steps' peaks, with its range."""
    return f"{format_memory(whole(load.memory_bytes))} ({_range(load.memory_bytes_range, format_memory)})"


def _range(ends: tuple[float, float], form: Callable[[float], str]) -> str:
    low, high = map(form, ends)
    return low if low == high else f"{low} to {high}"


def _asked(evidence: DerivedEvidence) -> Iterator[tuple[str, str]]:
    yield "names", evidence.names
    yield "arrivals", evidence.arrivals
    if evidence.growth != 1:
        yield "growth", f"rows, bytes and CPU time of the logs times {evidence.growth:g}"
    if evidence.scale != 1:
        yield "scale", f"rows, bytes, CPU time, memory and times of the clock times {evidence.scale:g}"


def _logged_cpu_share(load: LoadOfProgram) -> str:
    cpu = whole(load.cpu_seconds)
    return format_percent(load.cpu_seconds["told"] / cpu) if cpu else "-"


def _steps(evidence: DerivedEvidence) -> list[Block]:
    every = [(f"{job.job} {step.name}", step) for job in evidence.jobs for step in job.steps]
    every.sort(key=lambda pair: -pair[1].cpu_seconds.value)
    shown = every[:SHOWN_STEPS]
    sentences = ["Each cell has the value, its range, and t (told), i (inferred) or a (assumed)."]
    if len(every) > len(shown):
        sentences.append(f"The {len(shown)} steps of the most CPU time; evidence.json has all {len(every)}.")
    rows = [_step(name, step) for name, step in shown]
    return [Sentences(sentences), Table(title="steps", head=STEP_HEAD, rows=rows)]


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


WORKLOAD = "workload.toml"
EVIDENCE = "evidence.json"
PAGE = "evidence.html"
NIGHTS = "nights.json"


def make_derived_folder(path: Path) -> None:
    """An empty directory, before any work.

    Raises ``UsageError`` where it holds something, and
    ``UnsuitableMachineError`` where it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UsageError(
                "already holds files", where=str(path), cure="name a new directory with --output"
            )
    except OSError as error:
        raise UnsuitableMachineError(
            "the derived folder cannot be made",
            where=str(path),
            why=(error.strerror or str(error)).lower(),
            cure=cure_of(error, path, "name a writable directory with --output"),
        ) from None


def write_derived(path: Path, derived: Derivation) -> None:
    """Write the four files; the workload file comes last, so that a folder that has it is whole."""
    evidence = derived.evidence
    files: dict[str, Callable[[], bytes]] = {
        FILE: lambda: encoded(derived.workload),
        EVIDENCE: lambda: msgspec.json.format(msgspec.json.encode(evidence), indent=1),
        PAGE: lambda: rendered(document(evidence, str(path)), "html").encode(),
        WORKLOAD: lambda: _workload(derived).encode(),
    }
    for name, made in files.items():
        replace_file(path / name, made())


def write_nights(path: Path, thinning: Thinning, nights: Sequence[Derivation]) -> None:
    """A derived folder for each night (``night-1``), and ``nights.json`` with what each stands for."""
    for one, derived in zip(thinning.chosen, nights, strict=True):
        folder = path / f"night-{one.number}"
        folder.mkdir()
        write_derived(folder, derived)
    replace_file(path / NIGHTS, msgspec.json.format(msgspec.json.encode(thinning), indent=1))


def _workload(derived: Derivation) -> str:
    jobs = len(derived.workload.jobs)
    head = "# Derived from logs by mawl: evidence.html says how sure each number is.\n"
    return head + tomli_w.dumps({"name": "shop", "title": f"{jobs} jobs derived from logs", "derived": FILE})
