"""Small test beds on one machine, whose right answer is known: the papers' experiments, made small (root).

up builds a bed and leaves it; run builds one, checks that it is as fast as it says, runs a workload over
each of its arms, and takes it down; report holds what was found against what the papers found; down
removes a bed, also after a crash.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.base.errors import UnsuitableMachineError
from mawl.commands.arguments import JSON, RUNS, bounds_of, settings
from mawl.commands.compare import as_block
from mawl.commands.verbs import Arguments, Verb, operand, option, switch
from mawl.figures.comparison.sides import Side, at, compared_run, published_side, side_of
from mawl.figures.view import StoredView
from mawl.lab.bed import ArmSpec, BedSpec, checked_name, load_bed, shipped
from mawl.lab.build import Bed, build, calibrate_all, stands, tear_down
from mawl.lab.calibration import sentence
from mawl.lab.experiment.document import document
from mawl.lab.experiment.evidence import with_evidence
from mawl.lab.experiment.figures import lab_report
from mawl.lab.experiment.records import LabRecord
from mawl.lab.experiment.run import (
    Busy,
    Choices,
    Experiment,
    read_record,
    remove_trials,
    role_places,
    spec_of,
    take_away,
    take_down,
    workload_of,
)
from mawl.lab.needs import EVERY, check, needs_of, offered
from mawl.lab.state import held, known_beds, state_directory
from mawl.plan.spec import parse_scale
from mawl.plan.workload import load_workload
from mawl.records.model.published import published_result
from mawl.records.spec.sources import as_command
from mawl.records.store import open_run
from mawl.records.store.files import LATEST
from mawl.reports import json
from mawl.reports.document import rendered

_OWN_CPU = ("time.user_cpu_seconds", "time.system_cpu_seconds", "overhead.cpu_seconds")


BED_NAMES = f"{', '.join(shipped())}, or a TOML file"
IMAGES = option("DIR", "where images lie (default: /dev/shm)")


class UpArguments(Arguments):
    bed: str | None = operand("BED", BED_NAMES, nargs="?")
    arm: list[str] | None = option("ARM", "only the volumes of these arms (default: all)", nargs="+")
    images: str | None = IMAGES
    check: bool = switch("only try what beds need of this machine")


class LabRunArguments(Arguments):
    bed: str = operand("BED", BED_NAMES)
    arm: list[str] | None = option("ARM", "only these arms (default: all)", nargs="+")
    workload: str | None = option("WORKLOAD", "instead of the bed's: a shipped workload or a file")
    scale: str | None = option(None, "instead of the bed's")
    images: str | None = IMAGES
    keep: bool = switch("leave the bed standing")
    runs: str | None = RUNS
    json: bool = JSON


class LabReportArguments(Arguments):
    campaign: str = operand("CAMPAIGN", "folder, id or latest", default=LATEST)
    runs: str | None = RUNS
    json: bool = JSON


class DownArguments(Arguments):
    bed: str | None = operand("BED", "its name (default: every bed that is up)", nargs="?")


def _up(arguments: UpArguments) -> int:
    if arguments.check:
        return _check(arguments)
    if arguments.bed is None:
        for name in shipped():
            bed = load_bed(name)
            print(f"{name:<20}  {bed.title} (arms: {', '.join(arm.name for arm in bed.arms)})")
        return 0
    bed, directory = load_bed(arguments.bed), state_directory(os.environ)
    arms = arms_of(bed, arguments.arm)
    require(bed, arms)
    arms, left_out = offered(bed, arms, directory)
    with held(directory, bed.name):
        standing = build(directory, bed, arms, _images(arguments))
        try:
            _calibrated(standing, arms)
        except BaseException:
            tear_down(directory, standing.state)
            raise
    for line in left_out:
        print(line)
    if standing.fabric is None:
        workload = workload_of(bed, Path(standing.state.directory))
        for arm in arms:
            spec = msgspec.structs.replace(spec_of(bed, arm, workload), **role_places(standing, arm))
            print(f"arm {arm.name}: mawl {shlex.join(as_command(spec))}")
    else:
        first = standing.fabric.clients[0]
        print(f"at {first}: {shlex.join(standing.fabric.inside(first))} COMMAND")
        print(f"all see the same files in {standing.fabric.shared}; mawl lab run {bed.name} runs over them")
    print(f"to remove it: mawl lab down {bed.name}")
    return 0


def _choices(arguments: argparse.Namespace) -> Choices:
    if arguments.scale is not None:
        parse_scale(arguments.scale)
    if arguments.workload is not None:
        load_workload(arguments.workload)
    return Choices(workload=arguments.workload, scale=arguments.scale)


def _calibrated(standing: Bed, arms: list[ArmSpec]) -> None:
    for name in standing.volumes:
        standing.slow(name)
    for measured in calibrate_all(standing, _say, arms):
        print(sentence(measured), flush=True)


def _run(arguments: LabRunArguments) -> int:
    bed, directory = load_bed(arguments.bed), state_directory(os.environ)
    arms = arms_of(bed, arguments.arm)
    chosen = settings()
    runs, bounds = chosen.runs(arguments.runs), bounds_of(chosen)
    choices = _choices(arguments)
    require(bed, arms)
    arms, left_out = offered(bed, arms, directory)
    with held(directory, bed.name):
        standing = stands(directory, bed.name) or build(directory, bed, arms, _images(arguments))
        keep = arguments.keep
        try:
            experiment = Experiment(
                standing, arms, choices, runs, lambda folder: _busy(folder, bounds), _say, left_out
            )
            record = experiment.carry_out()
        finally:
            if not keep:
                take_away(directory, standing.state)
    _print(record, experiment.folder, bounds, as_json=arguments.json)
    print(f"campaign folder: {shlex.quote(str(experiment.folder))}", file=sys.stderr)
    return 0


def _report(arguments: LabReportArguments) -> int:
    chosen = settings()
    record, folder = read_record(arguments.campaign, chosen.runs(arguments.runs))
    _print(record, folder, bounds_of(chosen), as_json=arguments.json)
    return 0


def _print(record: LabRecord, folder: Path, bounds: AnswerBounds, *, as_json: bool) -> None:
    folders: dict[str, list[Path]] = {}
    for run in record.arms:
        if not run.repeated:
            folders.setdefault(run.arm, []).append(folder / run.folder)
    arms = {name: _side(name, own, bounds) for name, own in folders.items()}
    cited = {
        result: published_side(as_block(published_result(result)))
        for claim in record.claims
        for result in (claim.published_reference, claim.published_candidate)
    }
    judged_campaign = with_evidence(lab_report(record, arms, cited), record, arms)
    as_text = rendered(document(judged_campaign), "text")
    print(json.render(msgspec.to_builtins(judged_campaign)) if as_json else as_text)


def _side(name: str, folders: Sequence[Path], bounds: AnswerBounds) -> Side:
    views = (StoredView(open_run(folder)) for folder in folders)
    return side_of(name, [compared_run(view, judged(view, bounds)) for view in views])


def _busy(folder: Path, bounds: AnswerBounds) -> Busy:
    summary = judged(StoredView(open_run(folder)), bounds)
    spent = [at(summary, path) for path in _OWN_CPU]
    elapsed, cores = at(summary, "time.elapsed_seconds"), os.cpu_count()
    known = elapsed and cores and None not in spent
    return Busy(
        busy_ratio=at(summary, "host.cpu_busy_ratio"),
        own_ratio=(sum(spent) - at(summary, "overhead.startup_cpu_seconds")) / elapsed / cores
        if known
        else None,
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _images(arguments: argparse.Namespace) -> Path | None:
    return Path(arguments.images).absolute() if arguments.images else None


def _check(arguments: argparse.Namespace) -> int:
    if arguments.bed is None:
        names = list(EVERY)
    else:
        bed = load_bed(arguments.bed)
        names = needs_of(bed, bed.volumes_of(arms_of(bed, arguments.arm)))
    tried = check(names, state_directory(os.environ))
    for need in tried:
        print(
            f"{'ok' if need.reason is None else 'lacking':<7}  {need.name:<15}  {need.reason or ''}".rstrip()
        )
    return 1 if arguments.bed is not None and any(need.reason for need in tried) else 0


def _down(arguments: DownArguments) -> int:
    named = None if arguments.bed is None else checked_name(arguments.bed)
    directory = state_directory(os.environ)
    if os.geteuid() != 0:
        raise UnsuitableMachineError("a bed is root's", cure="run it with sudo")
    remove_trials(directory)
    beds = [named] if named is not None else [bed for bed in known_beds(directory) if "." not in bed]
    done = [f"{bed}: removed {what}" for bed in beds for what in take_down(directory, bed)]
    print("\n".join(done) or "no bed is up")
    return 0


def arms_of(bed: BedSpec, names: list[str] | None) -> list[ArmSpec]:
    return [bed.arm(name) for name in names] if names else list(bed.arms)


def require(bed: BedSpec, arms: list[ArmSpec]) -> None:
    for need in check(needs_of(bed, bed.volumes_of(arms)), state_directory(os.environ)):
        if need.reason is not None:
            raise UnsuitableMachineError(
                f"bed {bed.name} cannot be built here: {need.name}",
                why=need.reason,
                cure="mawl lab up --check",
            )


VERBS = {
    "lab up": Verb(
        UpArguments, _up, help="build a bed, slow it to its speed and calibrate it; or list the beds"
    ),
    "lab run": Verb(LabRunArguments, _run, help="build, calibrate, run the arms, report, and remove the bed"),
    "lab report": Verb(
        LabReportArguments, _report, help="what the papers found, what was found here, do they agree"
    ),
    "lab down": Verb(DownArguments, _down, help="remove everything of a bed; without BED of all beds"),
}
