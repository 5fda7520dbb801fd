"""The state machine: what may start next, under delays, dependencies, failures and a stop."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mawl.plan.progress import Progress
from mawl.plan.workload import JobPlan, Plan, SessionPlan
from mawl.records.spec.program_options import Options


def job(name: str, stage: int = 1, after: tuple[str, ...] = (), delay: float = 0.0) -> JobPlan:
    return JobPlan(
        job=name,
        program="wide_sort",
        session=name[0],
        stage=stage,
        replica=1,
        scale=1.0,
        options=Options(),
        after=after,
        start_delay_seconds=delay,
    )


def plan(*sessions: SessionPlan) -> Plan:
    return Plan(
        workload="test", title="", scale=1.0, seed=1, saving=0.9, options=Options(), sessions=sessions
    )


def session(name: str, *stages: tuple[JobPlan, ...], delay: float = 0.0) -> SessionPlan:
    return SessionPlan(name=name, stages=stages, start_delay_seconds=delay)


def names(jobs: list[JobPlan]) -> list[str]:
    return [one.job for one in jobs]


def test_a_stage_opens_when_the_one_before_has_ended() -> None:
    progress = Progress(plan(session("a", (job("a1"), job("a2")), (job("a3", 2),))))
    assert names(progress.startable(0)) == ["a1", "a2"]
    progress.start("a1")
    progress.start("a2")
    progress.end("a1", well=True)
    assert progress.startable(1) == []
    progress.end("a2", well=False)
    assert names(progress.startable(2)) == ["a3"]
    progress.start("a3")
    progress.end("a3", well=True)
    assert progress.finished


def test_sessions_do_not_wait_for_each_other() -> None:
    progress = Progress(plan(session("a", (job("a1"),), (job("a2", 2),)), session("b", (job("b1"),))))
    for name in names(progress.startable(0)):
        progress.start(name)
    progress.end("a1", well=True)
    assert names(progress.startable(1)) == ["a2"]


def test_delays_count_from_the_run_for_sessions_and_from_the_stage_for_jobs() -> None:
    progress = Progress(
        plan(session("a", (job("a1"),), (job("a2", 2, delay=3),)), session("b", (job("b1"),), delay=5))
    )
    assert names(progress.startable(0)) == ["a1"]
    assert progress.next_start_seconds(0) == 5
    progress.start("a1")
    progress.end("a1", well=True)
    assert progress.startable(1) == []
    assert progress.next_start_seconds(1) == 4
    assert names(progress.startable(4)) == ["a2"]
    progress.start("a2")
    assert progress.next_start_seconds(4) == 5
    assert names(progress.startable(5)) == ["b1"]


def test_a_dependency_that_ends_badly_skips_what_hangs_on_it_and_the_session_goes_on() -> None:
    progress = Progress(
        plan(
            session("a", (job("a1"),)),
            session("b", (job("b1", after=("a1",)),), (job("b2", 2, after=("b1",)), job("b3", 2))),
        )
    )
    assert names(progress.startable(0)) == ["a1"]
    progress.start("a1")
    progress.end("a1", well=False)
    assert names(progress.startable(1)) == ["b3"]
    assert [(one.job, "did not end well" in why) for one, why in progress.skipped()] == [
        ("b1", True),
        ("b2", True),
    ]


def test_abort_stops_at_the_first_bad_end_and_continue_does_not() -> None:
    two = plan(session("a", (job("a1"),), (job("a2", 2),)))
    for policy, next_ones in (("abort", []), ("continue", ["a2"])):
        progress = Progress(two, policy)  # type: ignore[arg-type]
        progress.start(names(progress.startable(0))[0])
        progress.end("a1", well=False)
        assert names(progress.startable(1)) == next_ones


def test_a_stop_keeps_running_jobs_and_skips_the_rest() -> None:
    progress = Progress(plan(session("a", (job("a1"),), (job("a2", 2),))))
    progress.startable(0)
    progress.start("a1")
    progress.stop("told to")
    assert progress.running == ["a1"]
    progress.end("a1", well=True)
    assert progress.finished
    assert [(one.job, why) for one, why in progress.skipped()] == [("a2", "told to")]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans of up to four sessions with dependencies on jobs that come earlier in plan order."""
    earlier: list[str] = []
    sessions = []
    for number in range(draw(st.integers(1, 4))):
        stages = []
        for stage in range(draw(st.integers(1, 3))):
            row = []
            for place in range(draw(st.integers(1, 3))):
                after = draw(st.lists(st.sampled_from(earlier), max_size=2)) if earlier else []
                delay = draw(st.sampled_from([0.0, 0.0, 1.0, 2.5]))
                row.append(job(f"{'abcd'[number]}{stage}{place}", stage + 1, tuple(after), delay))
            earlier += [one.job for one in row]
            stages.append(tuple(row))
        sessions.append(session("abcd"[number], *stages, delay=draw(st.sampled_from([0.0, 3.0]))))
    return plan(*sessions)


@given(plans(), st.randoms(use_true_random=False), st.floats(0, 0.5))
def test_every_plan_comes_to_its_end_and_no_job_starts_before_it_may(
    made: Plan, chance: object, bad_share: float
) -> None:
    progress = Progress(made)
    now, started, ended = 0.0, set[str](), dict[str, bool]()
    while not progress.finished:
        for one in progress.startable(now):
            assert all(ended.get(name) for name in one.after)
            progress.start(one.job)
            started.add(one.job)
        if progress.running:
            name = chance.choice(progress.running)  # type: ignore[attr-defined]
            well = chance.random() >= bad_share  # type: ignore[attr-defined]
            progress.end(name, well=well)
            ended[name] = well
            now += 0.25
        elif not progress.finished:
            later = progress.next_start_seconds(now)
            assert later is not None, "nothing runs, nothing is due, and yet the plan is not finished"
            now = later
    assert len(started) + len(progress.skipped()) == sum(1 for _ in made.jobs())
