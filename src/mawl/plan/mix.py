"""Workloads by rule: the mixed ones for N sessions (docs/design/workloads.md), and each program alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import tomli_w

from mawl.base.errors import UsageError
from mawl.plan.catalogue import CATALOGUE, Command
from mawl.plan.derived_program import DerivedJobPlan
from mawl.plan.spec import JobSpec, SessionSpec, WorkloadSpec
from mawl.plan.workload import START_GATE, JobPlan, Plan, SessionPlan
from mawl.records.spec.program_options import Options
from mawl.records.spec.run_spec import MOST_SESSIONS

SESSIONS_PER_CORE = 1.25
"""As the published studies ran: 20 sessions on 16 cores, 30 on 24."""

FEWEST_FULL_SESSIONS = 5
"""Below it the gate would release fewer jobs (2N - 5) than there are sessions: each program runs once."""

MIX_CHANGES = f"the mix changes at {FEWEST_FULL_SESSIONS} sessions (26 jobs in place of 20)"

LOAD_VERSION = 2
"""What the programs of the catalogue do: figures of two versions are of different loads.

2, November 2026: wide_sort also writes its sorted table under data, which 1 did not.
"""

COPIES: dict[str, int] = {
    "census_load": 4,
    "census_load_single": 3,
    "census_query": 4,
    "wide_sort": 2,
    "dimension_load": 5,
    "random_access": 4,
    "customer_profile": 4,
    "ledger_update": 3,
    "stress_projection": 4,
    "pension_cube": 4,
    "stepwise_selection": 4,
    "gee_repeated": 3,
    "mixed_model": 4,
    "survey_logistic": 3,
    "factorial_design": 3,
    "tree_ensemble": 4,
    "segmentation": 4,
    "forecasting": 3,
    "text_topics": 3,
    "portfolio_optimization": 3,
}
"""Jobs of each program in 20 sessions; other numbers of sessions have them in proportion."""

CPU_WEIGHTS: dict[str, float] = {
    "census_load": 218.9,
    "census_load_single": 343.3,
    "census_query": 263.2,
    "wide_sort": 2041.6,
    "dimension_load": 287.1,
    "random_access": 192.5,
    "customer_profile": 452.2,
    "ledger_update": 179.5,
    "stress_projection": 1145.0,
    "pension_cube": 359.3,
    "stepwise_selection": 479.7,
    "gee_repeated": 649.2,
    "mixed_model": 580.5,
    "survey_logistic": 475.2,
    "factorial_design": 361.1,
    "tree_ensemble": 1895.4,
    "segmentation": 280.4,
    "forecasting": 4352.0,
    "text_topics": 778.3,
    "portfolio_optimization": 3244.8,
}
"""By these CPU seconds at full the jobs are dealt to sessions: a part of the load, so that new reference
times do not change who runs when.  They are rounded declarations of November 2026."""

LEFT_OUT = "census_load_single"
"""What mixed30-19 does without: the I/O program whose work is nearest to another's (census_load)."""

TRAIL_OUT_JOBS = 2
TRAIL_OUT_MARGIN = 0.1
"""Share of the mean length of a session by which those that trail out should be longer than others."""


def mixed(sessions: int, name: str = "mixed20") -> WorkloadSpec:
    """``mixed20`` for any number N of sessions: 3N + 11 jobs of twenty programs, 2N - 5 at the gate.

    Below 5 sessions it has each program once, and N jobs at the gate.
    Raises ``UsageError`` outside 1 to 500 sessions.
    """
    if not 1 <= sessions <= MOST_SESSIONS:
        raise UsageError(
            f"--sessions {sessions}: expected 1 to {MOST_SESSIONS}",
            cure="choose a number of sessions in that range",
        )
    if sessions < FEWEST_FULL_SESSIONS:
        dealt = once_each(sessions)
    else:
        dealt = session_specs(sessions, apportion(COPIES, 3 * sessions + 11), gate=2 * sessions - 5)
    return WorkloadSpec(name=name, title=f"All twenty programs in {sessions} sessions", sessions=dealt)


class SessionRange(NamedTuple):
    """Numbers of sessions, both ends included."""

    fewest: int
    most: int


def mix_range(sessions: int) -> SessionRange:
    """The numbers of sessions that have the same rule as ``sessions``: 1 to 4, or 5 to 500.

    A search, a series or a forecast stays in it, because slowdowns of two mixes do not make one curve.
    """
    if sessions < FEWEST_FULL_SESSIONS:
        return SessionRange(1, FEWEST_FULL_SESSIONS - 1)
    return SessionRange(FEWEST_FULL_SESSIONS, MOST_SESSIONS)


def mixed30_19() -> WorkloadSpec:
    """``mixed30-19``: 102 jobs of nineteen programs, seven of them I/O, in 30 sessions."""
    kept = {program: copies for program, copies in COPIES.items() if program != LEFT_OUT}
    return WorkloadSpec(
        name="mixed30-19",
        title="Nineteen programs, seven of them I/O, in 30 sessions",
        sessions=session_specs(30, apportion(kept, 102), gate=55),
    )


def apportion(weights: Mapping[str, int], jobs: int) -> dict[str, int]:
    """``jobs`` shared out in proportion to the weights, at least one each (Webster's method).

    More jobs never mean fewer of one program; of equal claims the first in the order of ``weights`` goes
    before.
    """
    copies = dict.fromkeys(weights, 1)
    for _ in range(jobs - len(weights)):
        copies[max(weights, key=lambda program: weights[program] / (2 * copies[program] + 1))] += 1
    return copies


def lengths_of(programs: Iterable[str]) -> dict[str, float]:
    """Seconds that each program is taken to run alone at full where jobs are dealt to sessions."""
    return {program: CPU_WEIGHTS[program] + CATALOGUE[program].waiting_seconds(1.0) for program in programs}


def session_specs(sessions: int, copies: Mapping[str, int], *, gate: int) -> list[SessionSpec]:
    """Lay jobs out into sessions, the longest first; ``gate`` of them stand in the first stages.

    1. The two longest jobs of the compute class are put aside: they trail out.
    2. Each other session begins with one of the longest jobs.
    3. The shortest jobs fill the gate: one beside the first job in all sessions but those with the
       longest, one each at the start of the two sessions that trail out.
    4. Every job left, the longest first, goes after the jobs of the session that is shortest so far.
    5. The jobs put aside end the last two sessions.

    Lengths are sums of each stage's longest job.
    """
    seconds = lengths_of(copies)
    jobs = _longest_first((program for program, count in copies.items() for _ in range(count)), seconds)
    trailing = [program for program in jobs if CATALOGUE[program].program_class == "compute"][:TRAIL_OUT_JOBS]
    for program in trailing:
        jobs.remove(program)
    leading, jobs = jobs[: sessions - TRAIL_OUT_JOBS], jobs[sessions - TRAIL_OUT_JOBS :]
    beside = gate - sessions
    kept = len(jobs) - beside - TRAIL_OUT_JOBS
    later, before, short = jobs[:kept], jobs[kept : kept + TRAIL_OUT_JOBS], jobs[kept + TRAIL_OUT_JOBS :]
    stages: list[list[list[str | JobSpec]]] = [[[program]] for program in (*leading, *before)]
    lengths = [seconds[program] for program in (*leading, *before)]
    # Of the sessions with a second job, the one with the longest first job has the shortest beside it.
    for session, program in zip(stages[len(leading) - beside : len(leading)], reversed(short), strict=True):
        session[0].append(program)
    mean = sum(seconds[program] * count for program, count in copies.items()) / sessions
    last = range(sessions - TRAIL_OUT_JOBS, sessions)
    for number, program in zip(last, trailing, strict=True):
        lengths[number] += seconds[program] - TRAIL_OUT_MARGIN * mean
    for program in later:
        number = lengths.index(min(lengths))
        stages[number].append([program])
        lengths[number] += seconds[program]
    for number, program in zip(last, trailing, strict=True):
        stages[number].append([JobSpec(program=program, trail_out=True)])
    digits = len(str(sessions))
    return [
        SessionSpec(name=f"analyst-{number:0{digits}}", stages=session)
        for number, session in enumerate(stages, start=1)
    ]


def once_each(sessions: int) -> list[SessionSpec]:
    """Each program once, in sessions that end together.

    1. Every program, the longest first, goes to the session that is shortest so far.
    2. Two programs of different sessions change places as long as that makes the sessions more alike, in
       length and in CPU seconds: the faster the storage, the more the latter decide.
    3. In a session the classes take turns in proportion, the longest job of each first; every second
       session begins with its smaller class.
    """
    seconds = lengths_of(COPIES)
    dealt: list[list[str]] = [[] for _ in range(sessions)]
    for program in _longest_first(COPIES, seconds):
        min(dealt, key=lambda session: sum(seconds[one] for one in session)).append(program)

    def unlike(deal: Sequence[Sequence[str]]) -> float:
        sums = [[fsum(of[one] for one in session) for session in deal] for of in (seconds, CPU_WEIGHTS)]
        return sum((max(each) - min(each)) / fsum(each) for each in sums)

    while (better := min(_exchanged(dealt), key=unlike, default=dealt)) and unlike(better) < unlike(dealt):
        dealt = better
    return [
        SessionSpec(
            name=f"analyst-{number}",
            stages=[[program] for program in _in_turns(_longest_first(session, seconds), number % 2 == 0)],
        )
        for number, session in enumerate(dealt, start=1)
    ]


def _exchanged(sessions: Sequence[Sequence[str]]) -> Iterator[list[list[str]]]:
    """The sessions with two programs of different sessions in each other's place."""
    for one, other in combinations(range(len(sessions)), 2):
        for here, there in product(sessions[one], sessions[other]):
            places = {here: there, there: here}
            yield [[places.get(program, program) for program in session] for session in sessions]


def _in_turns(programs: Sequence[str], smaller_first: bool) -> list[str]:
    """Programs whose classes take turns in proportion; of equal claims the larger class goes first."""
    classes: dict[str, list[str]] = {}
    for program in programs:
        classes.setdefault(CATALOGUE[program].program_class, []).append(program)
    groups = sorted(classes.values(), key=len, reverse=not smaller_first)
    placed = [
        ((place + 0.5) / len(group), order, program)
        for order, group in enumerate(groups)
        for place, program in enumerate(group)
    ]
    return [program for _, _, program in sorted(placed)]


def _longest_first(programs: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    return sorted(programs, key=lambda program: -seconds[program])


class JobKind(NamedTuple):
    """What decides how long a job takes alone, beside the system: jobs of one kind share a time alone."""

    program: str
    scale: float
    options: Options
    command: Command | None = None
    derived: DerivedJobPlan | None = None


def job_kinds(plan: Plan) -> dict[JobKind, list[str]]:
    """The kinds of jobs of a plan, with their jobs, in the order of the plan."""
    found: dict[JobKind, list[str]] = {}
    for job in plan.jobs():
        found.setdefault(kind_of(job), []).append(job.job)
    return found


def kind_of(job: JobPlan) -> JobKind:
    """The kind of a job."""
    return JobKind(job.program, job.scale, job.options, job.command, job.derived)


def is_of_catalogue(job: JobPlan) -> bool:
    """Whether a job runs a program of the catalogue: no command, none derived, none of a user."""
    return job.command is None and job.entry is None and job.derived is None


def keeps_results(job: JobPlan, *, keeps_outputs: bool) -> bool:
    """Whether what a job puts under data stays after it: always for those that mawl does not know."""
    return keeps_outputs or not is_of_catalogue(job)


def solo_plan(plan: Plan, wanted: Collection[JobKind]) -> Plan:
    """One session that runs the first job of each wanted kind, one after another.

    It reads the same replica as that job, so it needs no input table of its own.
    """
    chosen: dict[JobKind, JobPlan] = {}
    for job in plan.jobs():
        if (kind := kind_of(job)) in wanted:
            chosen.setdefault(kind, job)
    stages = tuple(
        (
            msgspec.structs.replace(
                job,
                job=f"alone.{number}.{job.program}",
                session="alone",
                stage=number,
                after=(),
                start_delay_seconds=0.0,
                trail_out=False,
                gate=START_GATE if number == 1 else None,
            ),
        )
        for number, job in enumerate(chosen.values(), 1)
    )
    return msgspec.structs.replace(
        plan,
        workload=f"{plan.workload}-alone",
        title=f"each program of {plan.workload} alone",
        sessions=(SessionPlan(name="alone", stages=stages),),
    )


_HERE = re.compile(r"(?<!\{)((?:\{\{)*)\{here\}")


def in_turns(spec: WorkloadSpec, sessions: int, where: str) -> WorkloadSpec:
    """The first ``sessions`` of the file's sessions, begun anew as often as it takes (``NAME-2`` and so on).

    Raises ``UsageError`` for a file whose jobs have names of their own or wait for
    named jobs, since a copy of such a session would be another plan; and for derived jobs, of which each
    ran once.
    """
    if spec.derived is not None:
        raise UsageError(
            f"{where} has no rule for another number of sessions",
            why="its jobs were derived from logs, and each of them ran once in the night",
            cure="derive a larger night with mawl derive --growth, or search with mixed20, which has a rule",
        )
    for session in spec.sessions:
        for stage in session.stages:
            for job in stage:
                if isinstance(job, JobSpec) and (job.name is not None or job.after):
                    raise UsageError(
                        f"{where} has no rule for another number of sessions",
                        why=f"session {session.name} names its jobs, or jobs to wait for",
                        cure="leave name and after out, or search with mixed20, which has a rule",
                    )
    return msgspec.structs.replace(spec, sessions=[_session(spec, number) for number in range(sessions)])


def _session(spec: WorkloadSpec, number: int) -> SessionSpec:
    turn, place = divmod(number, len(spec.sessions))
    session = spec.sessions[place]
    return session if turn == 0 else msgspec.structs.replace(session, name=f"{session.name}-{turn + 1}")


def workload_toml(spec: WorkloadSpec, here: Path | None = None) -> str:
    """A workload as the text of a file, without what is not set.

    ``here`` is where the workload came from, if the text will lie elsewhere: it stands in for ``{here}``.
    """
    plain = _without_null(msgspec.to_builtins(spec))
    return tomli_w.dumps(plain if here is None else _at_home(plain, str(here.absolute())))


def _at_home(value: Any, here: str) -> Any:
    if isinstance(value, dict):
        return {name: _at_home(one, here) for name, one in value.items()}
    if isinstance(value, list):
        return [_at_home(one, here) for one in value]
    braced = here.replace("{", "{{").replace("}", "}}")
    return _HERE.sub(lambda match: match[1] + braced, value) if isinstance(value, str) else value


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_null(one) for name, one in value.items() if one is not None}
    return [_without_null(one) for one in value] if isinstance(value, list) else value
