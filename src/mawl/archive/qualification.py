"""Rules V28 and V29: the answer of a qualification follows from its runs, and is not preliminary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import isclose

import msgspec

from mawl.advice.answer import PUBLISHABLE_SECONDS
from mawl.advice.bounds import AnswerBounds
from mawl.advice.qualification.answer import FEWEST_RUNS
from mawl.advice.qualification.gather import answer_of, core_speed_of, disturbance_of, forecast_of
from mawl.advice.validity.host import foreign_cpu_ratio
from mawl.archive.difference import differences, differing_claims, named
from mawl.archive.packing import PrintedRun, in_folders
from mawl.archive.subject import Fault, ValidationRule, ValidationSubject
from mawl.base.units import format_plain, format_ratio, format_seconds
from mawl.plan.spec import SCALES
from mawl.records.model.probe import Probe
from mawl.records.model.qualification import (
    ENDED_STATES,
    Qualification,
    QualificationChoice,
    QualifyRun,
)
from mawl.records.store.files import QUALIFICATION
from mawl.version import source_sha256

_CURE = "ask for the pack as its maker has it; the answer of edited runs or of an edited record is none"


def _check_answer(subject: ValidationSubject) -> Iterator[Fault] | None:
    record = subject.record
    return _answer_faults(subject, record) if isinstance(record, Qualification) else None


def _answer_faults(subject: ValidationSubject, record: Qualification) -> Iterator[Fault]:
    """Whether the runs are those of the record, then whether the answer is that of the runs."""
    assert subject.place is not None
    choice, answer = record.choice, record.answer
    if choice is None or answer is None:
        yield Fault(where=QUALIFICATION, sentence="has no answer yet", cure="mawl qualify --continue")
        return
    if set(subject.runs) != {run.name for run in _ended(record)}:
        return  # V01 names the runs that are missing or cannot be read
    same_code = {_code_of(subject)} == {source_sha256()}
    runs = [(run, subject.runs[run.name]) for run in _ended(record)]
    unlike = [
        Fault(where=run.folder, sentence=f"is not the run of {QUALIFICATION}: {why}", cure=_CURE)
        for run, printed in runs
        for why in _differences_of_run(record, choice, run, printed, same_code=same_code)
    ]
    if _calibration(record) is None:
        sentence = "names no calibration that finished, which gives the speed of a core"
        unlike.append(Fault(where=QUALIFICATION, sentence=sentence, cure=_CURE))
    twice = Counter(printed.run.facts.run_id for _, printed in runs)
    unlike += [
        Fault(where=run_id, sentence=f"{count} of the runs are one and the same run", cure=_CURE)
        for run_id, count in twice.items()
        if count > 1
    ]
    if unlike:
        yield from unlike
        return
    wrong = [
        *_forecast_differences(record, choice, [one for run, one in runs if _counts(run)], exact=same_code),
        *differing_claims(
            answer,
            answer_of(in_folders(record, subject.folders), subject.place, AnswerBounds()),
            exact=same_code,
        ),
    ]
    if wrong:
        sentence = f"its answer does not follow from the runs: {named(wrong)}"
        yield Fault(where=QUALIFICATION, sentence=sentence, cure=_CURE)


def _ended(record: Qualification) -> list[QualifyRun]:
    return [run for run in record.runs if run.state in ENDED_STATES]


def _calibration(record: Qualification) -> QualifyRun | None:
    """The run of each program alone that gave the speed of a core; those that were disturbed did not."""
    return next(iter(record.runs_for("calibration")), None)


def _counts(run: QualifyRun) -> bool:
    return run.purpose == "measured" and run.state == "finished"


def _code_of(subject: ValidationSubject) -> str | None:
    """The digest of the code that made the answer: that of the pack, or of all runs of a folder."""
    if subject.pack is not None:
        return subject.pack.manifest.source_sha256
    codes = {run.run.facts.source_sha256 for run in subject.runs.values()}
    return codes.pop() if len(codes) == 1 else None


def _differences_of_run(
    record: Qualification,
    choice: QualificationChoice,
    run: QualifyRun,
    printed: PrintedRun,
    *,
    same_code: bool,
) -> Iterator[str]:
    """What the record says of a run, and the run does not: its load, its identity, other work."""
    facts = printed.run.facts
    alone, smoke = run.purpose == "calibration", run.purpose.startswith("calibration")
    nodes = len(record.nodes) if record.nodes and run.purpose == "measured" else 1
    workload = "alone" if alone else record.asked.workload
    cache = None if smoke or facts.cache is None else facts.cache.mode
    wanted: list[tuple[str, object, object]] = [
        ("run", run.run_id, facts.run_id),
        ("workload", f"{nodes}x{workload}" if record.nodes else workload, facts.workload.name),
        ("version of the load", record.load_version, facts.workload.load_version),
        ("number of sessions", nodes * run.sessions, facts.workload.sessions),
        ("cache mode", None if smoke else choice.cache, cache),
        ("outcome", run.outcome, facts.outcome),
    ]
    if run.purpose == "measured":
        wanted.append(("number of sessions", choice.sessions, run.sessions))
    for what, said, found in wanted:
        if said != found:
            yield f"its {what} is {found}, and the record says {said}"
    scale, found_scale = SCALES["smoke"] if smoke else choice.scale, facts.workload.scale or 0.0
    if not isclose(scale, found_scale):
        yield f"its scale is {format_plain(found_scale, 6)}, and the record says {format_plain(scale, 6)}"
    ratio, disturbance = foreign_cpu_ratio(printed.view), disturbance_of(printed.view)
    if list(differences(run.others_cpu_ratio, ratio, exact=same_code, path="others")):
        yield f"other work used {ratio} of its processors, and the record says {run.others_cpu_ratio}"
    alike = run.disturbance == disturbance
    if not same_code:  # another version may say it in other words
        alike = (run.disturbance is None) == (disturbance is None)
    if not alike:
        yield f"what other work did is {disturbance}, and the record says {run.disturbance}"
    if run.state != "finished" and disturbance is None:
        yield f"the record calls it {run.state}, and no other work disturbed it"
    if run is _calibration(record) and not isclose(
        choice.core_speed, core_speed_of(printed.run), rel_tol=1e-9
    ):
        yield f"the speed of a core is {core_speed_of(printed.run)}, and the record says {choice.core_speed}"


def _forecast_differences(
    record: Qualification, choice: QualificationChoice, measured: list[PrintedRun], *, exact: bool
) -> list[str]:
    """The forecast of sessions is that of the measured runs that there were when it was made."""
    if record.nodes or not measured:
        return []
    probe = measured[0].view.probe
    found: list[str] = []
    for count in range(1, len(measured) + 1):
        folders = [one.folder for one in measured[:count]]
        asked = choice.sessions, record.asked.answer_bound
        now = forecast_of(folders, probe if isinstance(probe, Probe) else None, *asked)
        stated = msgspec.to_builtins(record.search_forecast)
        found = list(differences(stated, msgspec.to_builtins(now), exact=exact, path="search_forecast"))
        if not found:
            break
    return found


ANSWER_RULE = ValidationRule(
    number=28,
    name="answer",
    title="The answer of a qualification follows from its runs",
    shows="mawl made the answer again from the runs of the qualification, and every figure is equal: what is "
    "carried, how many sessions fit, the slowdown, what limits. Each run has the id, load, scale, sessions "
    "and cache mode that qualify.json says, and other work disturbed it as qualify.json says. If another "
    "version of mawl made the answer, mawl compares its figures and not its words.",
    limits="Whether a run was left out together with its lines in qualify.json.",
    check=_check_answer,
)


def _check_preliminary(subject: ValidationSubject) -> list[Fault] | None:
    record = subject.record
    if not isinstance(record, Qualification):
        return None
    found = []
    if record.answer is None or record.answer.preliminary:
        said = "has no answer yet" if record.answer is None else "its answer is preliminary"
        found.append((said, "qualify the system again with more time"))
    bound, usual = record.asked.answer_bound, AnswerBounds().answer_bound
    closed = subject.pack is None or subject.pack.manifest.division == "closed"
    if closed and bound != usual:
        sentence = f"was asked with the bound {format_ratio(bound)}, and that of the closed division is "
        found.append((f"{sentence}{format_ratio(usual)}", "pack it with --division open"))
    return [Fault(where=QUALIFICATION, sentence=sentence, cure=cure) for sentence, cure in found]


PRELIMINARY_RULE = ValidationRule(
    number=29,
    name="preliminary",
    title="The answer of a qualification is not preliminary",
    shows=f"At least {FEWEST_RUNS} measured runs at a scale from quick to 0.2, and together "
    f"{format_seconds(PUBLISHABLE_SECONDS)} of load, stand in place of V10, V11 and V25, and the bound of "
    "the closed division is mawl's own.",
    limits="Whether the qualification was the first: a maker can repeat it and publish only the best one.",
    check=_check_preliminary,
)


QUALIFICATION_RULES = (ANSWER_RULE, PRELIMINARY_RULE)
