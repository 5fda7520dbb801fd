"""Journal to tables: at the end of a run, or by the first reader of a killed one.

While the journal is there it is the truth and the tables are ignored; the tables are written and
synced first, then the journal is renamed away in one step.  A crash at any point loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa

from mawl.base.removal import remove_below
from mawl.records.model.records import EventRecord, JobRecord, StepRecord, Usage
from mawl.records.model.run import PLANNED_FIELDS, PlannedJob, RunFacts
from mawl.records.store.columns import SCHEMAS, in_bounds, to_table
from mawl.records.store.facts import write_facts
from mawl.records.store.files import COMPACTED, FACTS, JOURNAL, SAMPLES_STREAM, sync_directory
from mawl.records.store.journal import Remarks, read_lines, read_samples
from mawl.records.store.parquet import write_parquet

ROWS_PER_GROUP = 2**20

LOST_REASON = "no record of its end: the runner was gone before it"
NOT_STARTED_REASON = "the run ended before this job started"
INTERRUPTED_REASON = "the runner ended without finishing the run (killed, or the machine stopped)"


class Journal(msgspec.Struct, kw_only=True):
    """What a journal holds, and what of it had to be left out."""

    events: list[EventRecord]
    jobs: list[JobRecord]
    steps: list[StepRecord]
    remarks: Remarks

    def last_at(self) -> float | None:
        times = [event.happened_at for event in self.events]
        times += [step.ended_at for step in self.steps if step.ended_at is not None]
        times += [job.ended_at for job in self.jobs if job.ended_at is not None]
        return max(times, default=None)


def read_journal(folder: Path) -> Journal:
    """Read the line files; FileNotFoundError when another reader has just compacted the run."""
    remarks = Remarks()
    journal = folder / JOURNAL

    def lines(name: str, kind: type) -> list:  # type: ignore[type-arg]
        try:
            return read_lines(journal / f"{name}.jsonl", name, kind, remarks)
        except FileNotFoundError:
            if not journal.is_dir():
                raise
            remarks.add(f"{journal / name}.jsonl: missing")
            return []

    return Journal(
        events=lines("events", EventRecord),
        jobs=lines("jobs", JobRecord),
        steps=lines("steps", StepRecord),
        remarks=remarks,
    )


def final_facts(facts: RunFacts, journal: Journal) -> RunFacts:
    """The facts of a run whose runner is gone: ``running`` becomes ``interrupted``."""
    remarks = [*facts.remarks, *(text for text in journal.remarks.sentences() if text not in facts.remarks)]
    facts = msgspec.structs.replace(facts, remarks=remarks)
    if facts.outcome != "running":
        return facts
    return msgspec.structs.replace(
        facts,
        outcome="interrupted",
        outcome_reason=facts.outcome_reason or INTERRUPTED_REASON,
        ended_at=journal.last_at() if facts.ended_at is None else facts.ended_at,
    )


def with_unrecorded_jobs(facts: RunFacts, journal: Journal) -> list[JobRecord]:
    """The job records, and one for each planned job that left none.

    A job that had started is ``lost``; one that had not is ``not_started``.  A job that events or
    steps name but the plan does not is remarked.
    """
    started = {event.job: event.happened_at for event in journal.events if event.event == "job_started"}
    step_counts: dict[str, int] = {}
    for step in journal.steps:
        step_counts[step.job] = step_counts.get(step.job, 0) + 1
        if step.started_at is not None:
            started.setdefault(step.job, step.started_at)
    recorded = {job.job for job in journal.jobs}
    jobs = list(journal.jobs)
    for planned in facts.planned_jobs:
        if planned.job not in recorded:
            recorded.add(planned.job)
            jobs.append(_without_record(planned, started.get(planned.job), step_counts.get(planned.job, 0)))
    for name in sorted(name for name in started if name is not None and name not in recorded):
        journal.remarks.add(f"job {name[:80]} started but is neither recorded nor planned, left out")
    return jobs


def _without_record(planned: PlannedJob, started_at: float | None, steps: int) -> JobRecord:
    lost = started_at is not None
    return JobRecord(
        **{name: getattr(planned, name) for name in PLANNED_FIELDS},
        outcome="lost" if lost else "not_started",
        verified=None,
        reason=LOST_REASON if lost else NOT_STARTED_REASON,
        started_at=started_at,
        usage=Usage(),
        startup=Usage(),
        verify=Usage(),
        total=Usage(),
        steps=steps,
    )


def compact(folder: Path, facts: RunFacts) -> RunFacts:
    """Write the tables from the journal, then the facts, then remove the journal.

    Returns the facts as written.  Raises OSError where the folder cannot be written, and
    FileNotFoundError when another reader has just done the same.
    """
    journal = read_journal(folder)
    for name, table in line_tables(journal, with_unrecorded_jobs(facts, journal)).items():
        write_parquet(folder / f"{name}.parquet", iter([table]), name)
    samples = sample_tables(folder, journal.remarks)
    write_parquet(folder / "samples.parquet", _grouped(samples), "samples")
    facts = final_facts(facts, journal)
    write_facts(folder, facts)
    remove_journal(folder)
    return facts


def line_tables(journal: Journal, jobs: list[JobRecord]) -> dict[str, pa.Table]:
    """Tables of jobs, steps and events; a record with a figure no column can hold is remarked."""

    def table(name: str, records: Sequence[msgspec.Struct]) -> pa.Table:
        try:
            return in_bounds(to_table(name, records))
        except (pa.ArrowException, ValueError, OverflowError):
            fitting = [record for record in records if _fits(name, record)]
            journal.remarks.add(
                f"{len(records) - len(fitting)} of the {name} hold impossible figures, left out"
            )
            return to_table(name, fitting)

    return {
        "jobs": table("jobs", jobs),
        "steps": table("steps", journal.steps),
        "events": table("events", journal.events),
    }


def _fits(name: str, record: msgspec.Struct) -> bool:
    try:
        in_bounds(to_table(name, [record]))
    except (pa.ArrowException, ValueError, OverflowError):
        return False
    return True


def sample_tables(folder: Path, remarks: Remarks) -> Iterator[pa.Table]:
    """The journal's samples, a second each; FileNotFoundError when the whole journal is gone."""
    stream = folder / JOURNAL / SAMPLES_STREAM
    try:
        yield from read_samples(stream, remarks)
    except FileNotFoundError:
        if not stream.parent.is_dir():
            raise
        remarks.add(f"{stream}: missing")


def _grouped(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = [SCHEMAS["samples"].empty_table()]
    rows = 0
    for table in tables:
        waiting.append(table)
        rows += table.num_rows
        if rows >= ROWS_PER_GROUP:
            yield pa.concat_tables(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.concat_tables(waiting)


def remove_journal(folder: Path) -> None:
    """Rename the journal away in one step, when the tables last, and then remove it."""
    sync_directory(folder)
    journal, compacted = folder / JOURNAL, folder / COMPACTED
    remove_below(folder, COMPACTED, mark=FACTS)
    journal.rename(compacted)
    remove_below(folder, COMPACTED, mark=FACTS)
