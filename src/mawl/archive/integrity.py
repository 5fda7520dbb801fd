"""Rules V01 to V07: the files of a pack are whole, and its figures and pages follow from its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from mawl.archive.agreement import RunRecords, node_faults, plan_faults, step_faults, time_faults
from mawl.archive.container import (
    CONTENTS,
    LARGEST_TEXT_BYTES,
    MANIFEST,
    NEEDED,
    PRINTED,
    PRINTED_FILES,
    RECORDS,
    RUNS,
    SIGNATURES,
    SUMMARY,
)
from mawl.archive.difference import differences, named
from mawl.archive.manifest import Contents, check_signature
from mawl.archive.packing import PrintedRun
from mawl.archive.subject import Fault, ValidationRule, ValidationSubject
from mawl.base.errors import MawlError
from mawl.base.foreign import json_record, json_tree, read_regular
from mawl.importers.formats.saslog_write import job_log
from mawl.plan.derived_jobs import derived_programs
from mawl.records.model.records import Answer, JobRecord
from mawl.records.model.run import RunFacts
from mawl.records.store import Run
from mawl.records.store.campaign import ended_runs
from mawl.records.store.files import JOURNAL, LOGS, OWN_LOG
from mawl.version import __version__, source_sha256

_COPY_AGAIN = "copy it again from where it was made"


def _check_complete(subject: ValidationSubject) -> Iterator[Fault]:
    for name, why in subject.unreadable.items():
        yield Fault(where=name, sentence=str(why), cure=_COPY_AGAIN)
    for name, folder in subject.folders.items():
        if (folder / JOURNAL).exists():
            yield Fault(where=name, sentence="the run did not end: its journal is there", cure="run it again")
        for file in NEEDED:
            if not (folder / file).is_file() and not (folder / JOURNAL).exists():
                yield Fault(where=name, sentence=f"{file} is missing", cure=_COPY_AGAIN)
    for name, run in subject.runs.items():
        yield from _missing_logs(name, run.run, run.view.jobs)
        for place, node in run.nodes.items():
            yield from _missing_logs(f"{name}/{place}", node, node.job_records())
    yield from _pack_members(subject)
    try:
        record = subject.record
    except MawlError as error:
        yield Fault(where=RECORDS[subject.kind], sentence=str(error), cure=_COPY_AGAIN)
        return
    if record is not None:
        ended = ended_runs(record)
        if subject.pack is not None and ended != list(subject.folders):
            sentence = f"{RECORDS[subject.kind]} names {len(ended)} ended runs, and the pack holds others"
            cure = f"pack the whole {subject.kind}"
            yield Fault(where=RECORDS[subject.kind], sentence=sentence, cure=cure)


def _missing_logs(name: str, run: Run, jobs: Sequence[JobRecord]) -> Iterator[Fault]:
    """Jobs of a cluster's run have their logs in the runs of its nodes."""
    options = run.facts.workload.options
    if options is not None and options.fullstimer and not run.facts.node_runs:
        wanted = [f"{job.job}{OWN_LOG}" for job in jobs if job.outcome == "finished"]
        missing = [log for log in wanted if not (run.path / LOGS / log).is_file()]
        if missing:
            sentence = f"{len(missing)} of {len(wanted)} logs are missing, such as {LOGS}/{missing[0]}"
            yield Fault(where=name, sentence=sentence, cure=_COPY_AGAIN)


def _pack_members(subject: ValidationSubject) -> Iterator[Fault]:
    """Of a pack: what was printed of each run, and no file that belongs to none."""
    if subject.pack is None:
        return
    places = [f"{folder}/{name}/" for folder in (RUNS, PRINTED) for name in subject.folders]
    records = {RECORDS[subject.kind]} - {""}
    wanted = {f"{PRINTED}/{name}/{file}" for name in subject.folders for file in PRINTED_FILES}
    wanted |= records
    for name in sorted(wanted - set(subject.pack.members)):
        yield Fault(where=name, sentence="is missing", cure=_COPY_AGAIN)
    for name in subject.pack.manifest.members:
        printed = name.startswith(f"{PRINTED}/")
        placed = any(name.startswith(place) for place in places) or name in records
        if not placed or (printed and name not in wanted):
            yield Fault(where=name, sentence="belongs to no run of the pack", cure="make the pack again")


COMPLETE_RULE = ValidationRule(
    number=1,
    name="complete",
    title="Every file of every run is there and can be read",
    shows="Facts, plan, four tables and logs of each run are there, in a format that this mawl reads; of a "
    "campaign or qualification every run that ended, and of a run on several nodes the logs of each node.",
    limits="Whether there are other runs: a maker of three campaigns can publish only the best one.",
    check=_check_complete,
)


_COPY_PACK_AGAIN = "copy the pack again from where it was made"


def _check_unaltered(subject: ValidationSubject) -> Iterator[Fault]:
    assert subject.pack is not None
    own = {MANIFEST, *SIGNATURES}
    there = {name: one for name, one in subject.pack.members.items() if name not in own}
    summed = subject.pack.manifest.members
    for name in sorted(set(there) ^ set(summed)):
        where = "in the manifest, and not in the pack" if name in summed else "in no manifest"
        yield Fault(where=name, sentence=f"is {where}", cure=_COPY_PACK_AGAIN)
    for name in sorted(set(there) & set(summed)):
        if (there[name].size, there[name].sha256) != (summed[name].bytes, summed[name].sha256):
            yield Fault(
                where=name,
                sentence="does not have the size and the SHA-256 that the manifest lists",
                cure=_COPY_PACK_AGAIN,
            )


UNALTERED_RULE = ValidationRule(
    number=2,
    name="unaltered",
    title="Every file has the size and the SHA-256 that the manifest lists",
    shows="The pack has exactly the bytes that mawl would write, and each file has the size and the SHA-256 "
    "that the manifest lists.",
    limits="Whether the manifest is the original one: after altering a file, anybody can write a new "
    "manifest. Later rules look for that, and a signature (V03) binds the manifest to a key.",
    check=_check_unaltered,
    of_packs=True,
)


def _check_signature(subject: ValidationSubject) -> list[Fault] | None:
    assert subject.pack is not None
    if subject.pack.signature is None and subject.signers is None:
        return None
    if subject.pack.signature is None:
        cure = "ask for a signed pack, or leave --signers out"
        return [Fault(where=MANIFEST, sentence="is not signed", cure=cure)]
    check = check_signature(subject.pack.manifest_bytes, *subject.pack.signature, subject.signers)
    if check.good:
        return []
    cure = "ask who made the pack for it again, and for the public key"
    return [Fault(where=MANIFEST, sentence=check.sentence, cure=cure, known=check.good is False)]


SIGNATURE_RULE = ValidationRule(
    number=3,
    name="signature",
    title="If the pack is signed, the signature is valid for its manifest",
    shows="The holder of a key signed exactly this manifest, and with it every file. With --signers the key "
    "is one that the reader named.",
    limits="Whether the figures are true: a signature only says who vouches for them. Without --signers mawl "
    "does not check whose key it is, and accepts a pack without a signature.",
    check=_check_signature,
    of_packs=True,
)


_NOT_OURS = "is not what mawl writes there"
_CONTENTS_CURE = "ask for the pack as its maker has it"


def _check_contents(subject: ValidationSubject) -> Iterator[Fault]:
    assert subject.pack is not None
    same_code = subject.pack.manifest.source_sha256 == source_sha256()
    for name, run in subject.runs.items():
        where = f"{PRINTED}/{name}/{CONTENTS}"
        stated = subject.printed(name).get(CONTENTS)
        if stated is None:
            continue
        now = run.contents().encode()
        if stated != now:
            difference = _contents_difference(stated, now)
            if difference is not None or same_code:
                yield Fault(where=where, sentence=difference or _NOT_OURS, cure=_CONTENTS_CURE)


def _contents_difference(stated: bytes, now: bytes) -> str | None:
    """What is not as it was, of tables, columns and files that both versions know."""
    try:
        before = json_record(stated, Contents)
    except ValueError:
        return _NOT_OURS
    current = json_record(now, Contents)
    for table, found in current.tables.items():
        if table not in before.tables or before.tables[table].rows != found.rows:
            return f"{table} has other rows than when it was packed"
        for column, digest in found.columns.items():
            if before.tables[table].columns.get(column, digest) != digest:
                return f"{table}.{column} does not hold what it held when it was packed"
    for name, digest in current.files.items():
        if before.files.get(name) != digest:
            return f"{name} is not the file that was packed"
    return None


CONTENTS_RULE = ValidationRule(
    number=4,
    name="contents",
    title="Tables and files are unchanged since the figures were printed",
    shows="Every column of every table, and every other file, has the digest that mawl wrote with the "
    "figures. The digest of a column depends on its values only, not on the layout of the file.",
    limits="Whether the digests are the original ones: after altering a table, anybody can pack again.",
    check=_check_contents,
    of_packs=True,
)


_FIGURES_CURE = "ask for the pack as its maker has it; mawl report prints the figures of the tables"


def _check_figures(subject: ValidationSubject) -> Iterator[Fault]:
    assert subject.pack is not None
    same_code = subject.pack.manifest.source_sha256 == source_sha256()
    for name, run in subject.runs.items():
        stated = subject.printed(name).get(SUMMARY)
        now = run.pages[SUMMARY].encode()
        if stated is None or stated == now:
            continue
        where = f"{PRINTED}/{name}/{SUMMARY}"
        try:
            paths = list(differences(json_tree(stated), json_tree(now), exact=same_code))
        except ValueError:
            yield Fault(where=where, sentence="is no summary", cure=_FIGURES_CURE)
            continue
        if paths:
            sentence = f"does not agree with the tables: {named(paths)}"
            yield Fault(where=where, sentence=sentence, cure=_FIGURES_CURE)
        elif same_code:
            yield Fault(where=where, sentence="is not written as mawl writes it", cure=_FIGURES_CURE)


FIGURES_RULE = ValidationRule(
    number=5,
    name="figures",
    title="Every printed figure follows from the tables",
    shows="mawl computed each figure of summary.json again from jobs, steps, events, samples and facts, and "
    "it is equal. If another version of mawl printed it, mawl compares the figures that both versions have; "
    "their relative difference is at most 1e-9.",
    limits="Whether the tables were measured.",
    check=_check_figures,
    of_packs=True,
)


PAGE = "report.html"
_PAGES_CURE = "print it again from the tables with mawl report"
_PLOT_IDS = re.compile(rb"\bp\d{4,}\b")
"""Names that the plotting library counts up within a process."""


def _check_pages(subject: ValidationSubject) -> Iterator[Fault]:
    for name, run in subject.runs.items():
        if subject.pack is not None:
            yield from _pages_of_pack(subject, name, run)
        else:
            yield from _pages_of_folder(name, run)


def _pages_of_pack(subject: ValidationSubject, name: str, run: PrintedRun) -> Iterator[Fault]:
    assert subject.pack is not None
    manifest = subject.pack.manifest
    if manifest.source_sha256 != source_sha256():
        yield _other_version(name, f"mawl {manifest.mawl_version} (code {manifest.source_sha256[:12]})")
        return
    stated = subject.printed(name)
    for file, text in run.pages.items():
        if file != SUMMARY and file in stated and stated[file] != text.encode():
            yield _edited(f"{PRINTED}/{name}/{file}")
    yield from _changed_logs(name, run)


def _pages_of_folder(name: str, run: PrintedRun) -> Iterator[Fault]:
    facts = run.run.facts
    if facts.mawl_version != __version__:
        yield _other_version(name, f"mawl {facts.mawl_version}")
        return
    yield from _changed_logs(name, run)
    if (run.folder / PAGE).exists():
        # Bokeh takes a second to import, which only a folder with a page pays.
        from mawl.reports.html.report import render

        try:
            stated = read_regular(run.folder / PAGE, LARGEST_TEXT_BYTES, inside=run.folder)
        except OSError as error:
            yield Fault(where=f"{name}/{PAGE}", sentence=str(error.strerror or error), cure=_PAGES_CURE)
            return
        if with_plots_renumbered(stated) != with_plots_renumbered(render(run.view, run.summary).encode()):
            yield _other_bytes(f"{name}/{PAGE}", facts)


def _changed_logs(name: str, run: PrintedRun) -> Iterator[Fault]:
    """The SAS-style log of each job, which holds the figures of its steps, also on each node."""
    yield from _changed_logs_of(name, run.run, run.view.jobs)
    for place, node in run.nodes.items():
        yield from _changed_logs_of(f"{name}/{place}", node, node.job_records())


def _changed_logs_of(name: str, run: Run, jobs: Sequence[JobRecord]) -> Iterator[Fault]:
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
            yield Fault(where=f"{name}/{file}", sentence=str(error.strerror or error), cure=_PAGES_CURE)
            continue
        if stated != text.encode():
            yield _other_bytes(f"{name}/{file}", facts)


def _other_bytes(where: str, facts: RunFacts) -> Fault:
    """What other bytes mean: an edit if this code wrote the run, else perhaps only other wording."""
    if facts.source_sha256 not in (None, source_sha256()):
        return _other_version(where, f"mawl {facts.mawl_version} (code {facts.source_sha256:.12})")
    return _edited(where, by_other_code=facts.source_sha256 is None)


def with_plots_renumbered(page: bytes) -> bytes:
    """A page with the plotting library's names counted from its beginning, whatever newline ends it."""
    seen: dict[bytes, bytes] = {}
    return _PLOT_IDS.sub(lambda found: seen.setdefault(found[0], b"p%d" % len(seen)), page.rstrip(b"\n"))


def _edited(where: str, *, by_other_code: bool = False) -> Fault:
    sentence = "is not what this mawl prints of the tables: it was edited, or the tables were"
    if by_other_code:  # a folder of format 2.2 or before does not say which code wrote it
        sentence += ", or other code of the same version printed it"
    return Fault(where=where, sentence=sentence, cure=_PAGES_CURE)


def _other_version(where: str, made_by: str) -> Fault:
    return Fault(
        where=where,
        sentence=f"its pages were printed by {made_by}, and this is mawl {__version__} "
        f"(code {source_sha256()[:12]}), which words them in its own way",
        cure="validate it with the mawl that wrote it",
        known=False,
    )


PAGES_RULE = ValidationRule(
    number=6,
    name="pages",
    title="Every page and log follows from the tables",
    shows="mawl printed these again, with equal bytes: report.md and disclosure.md of a pack, report.html of "
    "a run folder, and the SAS-style log of each job, on every node, if this version of mawl wrote it.",
    limits="Whether a page was edited, if another version of mawl printed it, or if it differs and other "
    "code of the same version printed it (run.json names the code). The rule is then not known, and the pack "
    "is not accepted. Output that a program wrote itself (logs/JOB.log) is not checked.",
    check=_check_pages,
)


MOST_CONTRADICTIONS = 10
_AGREEMENT_CURE = (
    "the tables contradict each other, so at least one was altered or damaged; ask for the run again"
)


def _check_agreement(subject: ValidationSubject) -> Iterator[Fault]:
    for name, run in subject.runs.items():
        records = RunRecords(run.view)
        for faults in (plan_faults, step_faults, time_faults):
            for sentence in islice(faults(records), MOST_CONTRADICTIONS):
                yield Fault(where=name, sentence=sentence, cure=_AGREEMENT_CURE)
        for sentence in islice(node_faults(records, run.nodes), MOST_CONTRADICTIONS):
            yield Fault(where=name, sentence=sentence, cure=_AGREEMENT_CURE)
    yield from _unequal_answers(subject)


def _unequal_answers(subject: ValidationSubject) -> Iterator[Fault]:
    """Jobs of one name, of runs with the same inputs and options, have the same answer."""
    seen: dict[tuple[object, ...], tuple[str, Answer]] = {}
    for name, run in subject.runs.items():
        workload = run.run.facts.workload
        inputs = (workload.name, workload.scale, workload.seed, repr(workload.options))
        for job in run.view.jobs:
            if job.outcome == "finished" and job.answer:
                other, answer = seen.setdefault((*inputs, job.job, job.program), (name, job.answer))
                if answer != job.answer:
                    sentence = f"{job.job} has another answer than in {other}"
                    yield Fault(where=name, sentence=sentence, cure=_AGREEMENT_CURE)


AGREEMENT_RULE = ValidationRule(
    number=7,
    name="agreement",
    title="Jobs, steps, events, samples and facts agree",
    shows="Jobs are those of the plan. The kernel's figures of a job are the sum of start-up, steps and "
    "check. Calls by role agree with their histograms and volumes. Waits add up to the time. Events and "
    "samples agree with the times of the jobs. Sums never fall. Equal jobs of several runs have equal "
    "answers. Jobs and steps of a run on several nodes are those of the nodes' own runs.",
    limits="Consistent changes of all tables: halved times and halved bytes agree with each other, too.",
    check=_check_agreement,
)


INTEGRITY_RULES = (
    COMPLETE_RULE,
    UNALTERED_RULE,
    SIGNATURE_RULE,
    CONTENTS_RULE,
    FIGURES_RULE,
    PAGES_RULE,
    AGREEMENT_RULE,
)
