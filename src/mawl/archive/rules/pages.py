"""V06 pages: every page and log follows from the tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mawl.archive.layout import LARGEST_TEXT_BYTES, PRINTED, SUMMARY
from mawl.archive.printed import PrintedRun
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject
from mawl.foreign import read_regular
from mawl.formats.saslog_write import job_log
from mawl.model.records import JobRecord
from mawl.model.run import RunFacts
from mawl.plan.derived import derived_programs
from mawl.store import Run
from mawl.store.layout import LOGS, OWN_LOG
from mawl.version import __version__, source_sha256

PAGE = "report.html"
_CURE = "print it again from the tables with mawl report"
_IDS = re.compile(rb"\bp\d{4,}\b")
"""Names that the plotting library counts up within a process."""


def _check(subject: ValidationSubject) -> Iterator[Fault]:
    for name, run in subject.runs.items():
        if subject.pack is not None:
            yield from _of_pack(subject, name, run)
        else:
            yield from _of_folder(name, run)


def _of_pack(subject: ValidationSubject, name: str, run: PrintedRun) -> Iterator[Fault]:
    assert subject.pack is not None
    manifest = subject.pack.manifest
    if manifest.source_sha256 != source_sha256():
        yield _other_version(name, f"mawl {manifest.mawl_version} (code {manifest.source_sha256[:12]})")
        return
    stated = subject.printed(name)
    for file, text in run.pages.items():
        if file != SUMMARY and file in stated and stated[file] != text.encode():
            yield _edited(f"{PRINTED}/{name}/{file}")
    yield from _logs(name, run)


def _of_folder(name: str, run: PrintedRun) -> Iterator[Fault]:
    facts = run.run.facts
    if facts.mawl_version != __version__:
        yield _other_version(name, f"mawl {facts.mawl_version}")
        return
    yield from _logs(name, run)
    if (run.folder / PAGE).exists():
        # Bokeh takes a second to import, which only a folder with a page pays.
        from mawl.reporters.html.report import render

        try:
            stated = read_regular(run.folder / PAGE, LARGEST_TEXT_BYTES, inside=run.folder)
        except OSError as error:
            yield Fault(where=f"{name}/{PAGE}", sentence=str(error.strerror or error), cure=_CURE)
            return
        if counted_anew(stated) != counted_anew(render(run.view, run.summary).encode()):
            yield _unlike(f"{name}/{PAGE}", facts)


def _logs(name: str, run: PrintedRun) -> Iterator[Fault]:
    """The SAS-style log of each job, which holds the figures of its steps, also on each node."""
    yield from _logs_of(name, run.run, run.view.jobs)
    for place, node in run.nodes.items():
        yield from _logs_of(f"{name}/{place}", node, node.job_records())


def _logs_of(name: str, run: Run, jobs: Sequence[JobRecord]) -> Iterator[Fault]:
    facts = run.facts
    options = facts.workload.options
    if options is None or not options.fullstimer or facts.node_runs or facts.mawl_version != __version__:
        return  # another version wrote its logs in its own words
    steps, derived = run.steps_by_job(), derived_programs(run.path)
    kernels = {node.name: node.kernel for node in facts.nodes}
    for job in jobs:
        file = f"{LOGS}/{job.job}{OWN_LOG}"
        if job.started_at is None or not (run.path / file).is_file():
            continue
        text = job_log(
            job,
            steps.get(job.job, []),
            platform=kernels.get(job.node),
            program=derived.get(job.program),
        )
        try:
            stated = read_regular(run.path / file, LARGEST_TEXT_BYTES, inside=run.path)
        except OSError as error:
            yield Fault(where=f"{name}/{file}", sentence=str(error.strerror or error), cure=_CURE)
            continue
        if stated != text.encode():
            yield _unlike(f"{name}/{file}", facts)


def _unlike(where: str, facts: RunFacts) -> Fault:
    """What other bytes mean: an edit if this code wrote the run, else perhaps only other wording."""
    if facts.source_sha256 not in (None, source_sha256()):
        return _other_version(where, f"mawl {facts.mawl_version} (code {facts.source_sha256:.12})")
    return _edited(where, by_other_code=facts.source_sha256 is None)


def counted_anew(page: bytes) -> bytes:
    """A page with the plotting library's names counted from its beginning, whatever newline ends it."""
    seen: dict[bytes, bytes] = {}
    return _IDS.sub(lambda found: seen.setdefault(found[0], b"p%d" % len(seen)), page.rstrip(b"\n"))


def _edited(where: str, *, by_other_code: bool = False) -> Fault:
    sentence = "is not what this mawl prints of the tables: it was edited, or the tables were"
    if by_other_code:  # a folder of format 2.2 or before does not say which code wrote it
        sentence += ", or other code of the same version printed it"
    return Fault(where=where, sentence=sentence, cure=_CURE)


def _other_version(where: str, made_by: str) -> Fault:
    return Fault(
        where=where,
        sentence=f"its pages were printed by {made_by}, and this is mawl {__version__} "
        f"(code {source_sha256()[:12]}), which words them in its own way",
        cure="validate it with the mawl that wrote it",
        known=False,
    )


RULE = ValidationRule(
    number=6,
    name="pages",
    title="Every page and log follows from the tables",
    shows="mawl printed these again, with equal bytes: report.md and disclosure.md of a pack, report.html of "
    "a run folder, and the SAS-style log of each job, on every node, if this version of mawl wrote it.",
    limits="Whether a page was edited, if another version of mawl printed it, or if it differs and other "
    "code of the same version printed it (run.json names the code). The rule is then not known, and the pack "
    "is not accepted. Output that a program wrote itself (logs/JOB.log) is not checked.",
    check=_check,
)
