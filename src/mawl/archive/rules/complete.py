"""V01 complete: every file of every run is there, and can be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mawl.archive.folder import NEEDED
from mawl.archive.layout import CAMPAIGN, PRINTED, PRINTED_FILES, RUNS
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject
from mawl.errors import MawlError
from mawl.model.records import JobRecord
from mawl.store import Run
from mawl.store.campaign import finished_runs
from mawl.store.layout import JOURNAL, LOGS, OWN_LOG

_AGAIN = "copy it again from where it was made"


def _check(subject: ValidationSubject) -> Iterator[Fault]:
    for name, why in subject.unreadable.items():
        yield Fault(where=name, sentence=str(why), cure=_AGAIN)
    for name, folder in subject.folders.items():
        if (folder / JOURNAL).exists():
            yield Fault(where=name, sentence="the run did not end: its journal is there", cure="run it again")
        for file in NEEDED:
            if not (folder / file).is_file() and not (folder / JOURNAL).exists():
                yield Fault(where=name, sentence=f"{file} is missing", cure=_AGAIN)
    for name, run in subject.runs.items():
        yield from _logs(name, run.run, run.view.jobs)
        for place, node in run.nodes.items():
            yield from _logs(f"{name}/{place}", node, node.job_records())
    yield from _members(subject)
    try:
        campaign = subject.campaign
    except MawlError as error:
        yield Fault(where=CAMPAIGN, sentence=str(error), cure=_AGAIN)
        return
    if campaign is not None:
        finished = finished_runs(campaign)
        if subject.pack is not None and finished != list(subject.folders):
            sentence = f"{CAMPAIGN} names {len(finished)} finished runs, and the pack holds others"
            yield Fault(where=CAMPAIGN, sentence=sentence, cure="pack the whole campaign")


def _logs(name: str, run: Run, jobs: Sequence[JobRecord]) -> Iterator[Fault]:
    """Jobs of a cluster's run have their logs in the runs of its nodes."""
    options = run.facts.workload.options
    if options is not None and options.fullstimer and not run.facts.node_runs:
        wanted = [f"{job.job}{OWN_LOG}" for job in jobs if job.outcome == "finished"]
        missing = [log for log in wanted if not (run.path / LOGS / log).is_file()]
        if missing:
            sentence = f"{len(missing)} of {len(wanted)} logs are missing, such as {LOGS}/{missing[0]}"
            yield Fault(where=name, sentence=sentence, cure=_AGAIN)


def _members(subject: ValidationSubject) -> Iterator[Fault]:
    """Of a pack: what was printed of each run, and no file that belongs to none."""
    if subject.pack is None:
        return
    places = [f"{folder}/{name}/" for folder in (RUNS, PRINTED) for name in subject.folders]
    campaign = subject.pack.manifest.kind == "campaign"
    wanted = {f"{PRINTED}/{name}/{file}" for name in subject.folders for file in PRINTED_FILES}
    wanted |= {CAMPAIGN} if campaign else set()
    for name in sorted(wanted - set(subject.pack.members)):
        yield Fault(where=name, sentence="is missing", cure=_AGAIN)
    for name in subject.pack.manifest.members:
        printed = name.startswith(f"{PRINTED}/")
        placed = any(name.startswith(place) for place in places) or (campaign and name == CAMPAIGN)
        if not placed or (printed and name not in wanted):
            yield Fault(where=name, sentence="belongs to no run of the pack", cure="make the pack again")


RULE = ValidationRule(
    number=1,
    name="complete",
    title="Every file of every run is there and can be read",
    shows="Facts, plan, four tables and logs of each run are there, in a format that this mawl reads; of a "
    "campaign every run that it finished, and of a run on several nodes the logs of each node.",
    limits="Whether there are other runs: a maker of three campaigns can publish only the best one.",
    check=_check,
)
