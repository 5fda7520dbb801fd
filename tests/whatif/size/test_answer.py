"""The answer of ``mawl size`` over a small run that the model itself made."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.plan.mix import mix_range
from mawl.records.model.run import CacheFacts
from mawl.reports.document import rendered
from mawl.whatif.size.answer import _limit, size
from mawl.whatif.size.candidates import load_catalogue
from mawl.whatif.size.document import document, finding, printed
from mawl.whatif.size.question import (
    ROOFLINE_ERROR,
    UNSEEN_ERROR,
    SizeAnswer,
    SizedCandidate,
    SizedRun,
    SizeQuestion,
    fitted_of,
)
from tests.fakes.fitted import SESSIONS, fitted
from tests.simulation.scenes import flow, side_by_side, simulated, step, system
from tests.simulation.test_measured_errors import printed as reference_rows

ASKED = SizeQuestion(sessions=None, answer_bound=2.0, within_seconds=None, probability=0.5)

SMALL = '[[candidate]]\nname = "small"\nprice = 10\ncores = 2\n'
LARGE = '[[candidate]]\nname = "large"\nprice = 40\ncores = 8\n'
HUGE = '[[candidate]]\nname = "huge"\nprice = 90\ncores = 32\n'
DISK = (
    '[[candidate]]\nname = "disk"\nprice = 5\ncores = 2\n[candidate.devices.slow]\n'
    'read_bytes_per_second = "10MB"\nwrite_bytes_per_second = "10MB"\nlocal = true\n'
)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> SizedRun:
    """Six sessions that were measured as three times their reference time."""
    fitting = fitted(tmp_path_factory.mktemp("size") / "run")
    return SizedRun(base=fitting.base, slowdown=fitting.measured, doubt=None)


def sized(start: SizedRun, tmp_path: Path, *parts: str, question: SizeQuestion = ASKED) -> SizeAnswer:
    file = tmp_path / "offers.toml"
    file.write_text("".join(('currency = "EUR"\nperiod = "a month"\n', *parts)))
    return size(start, question, load_catalogue(file))


def named(answer: SizeAnswer, name: str) -> SizedCandidate:
    return next(one for one in answer.candidates if one.name == name)


def test_the_cheapest_that_carries_is_picked_and_comes_first(start: SizedRun, tmp_path: Path) -> None:
    answer = sized(start, tmp_path, HUGE, SMALL, LARGE)
    assert answer.pick == answer.forecast_pick == "large"
    assert [one.name for one in answer.candidates] == ["large", "huge", "small"]
    assert [one.carries for one in answer.candidates] == [True, True, False]
    small = named(answer, "small")
    assert small.figure == pytest.approx(3.0) and small.limit == "cores"
    assert small.fits is not None and small.fits < SESSIONS
    assert small.probability == 0.0 and small.error_basis == "lab beds"
    large = named(answer, "large")
    assert large.error_basis == "published systems" and large.forecasts == 7
    assert large.fits is not None and large.fits >= SESSIONS and large.fits_safe is not None
    assert large.fits_safe <= large.fits
    assert finding(answer).startswith(
        "Buy large: it carries 6 sessions for 40 EUR a month (probability at least "
    )
    assert finding(answer) in rendered(document(answer), "text", 200) and finding(answer) in rendered(
        document(answer), "markdown"
    )
    assert printed(answer).finding == finding(answer)
    assert small.limit_ratio is not None and 0.5 < small.limit_ratio < 1.0


def test_a_candidate_has_at_least_the_probability_if_it_has_the_sessions(
    start: SizedRun, tmp_path: Path
) -> None:
    """The two views of one answer agree at every number of sessions."""
    for sessions in (2, 5, 8, 14, 20):
        question = SizeQuestion(sessions=sessions, answer_bound=2.0, within_seconds=None, probability=0.5)
        for one in sized(start, tmp_path, SMALL, LARGE, question=question).candidates:
            assert one.probability is not None
            assert (one.figure <= 2.0) is (one.fits is not None and sessions <= one.fits)
            assert (one.probability >= 0.8) is (one.fits_safe is not None and sessions <= one.fits_safe)


def test_slower_devices_with_the_runs_latency_are_forecast_slower(start: SizedRun, tmp_path: Path) -> None:
    answer = sized(start, tmp_path, SMALL, DISK)
    assert named(answer, "disk").figure > named(answer, "small").figure
    assert any("latency of slow" in said for said in named(answer, "disk").taken)
    assert any("devices are those of the run" in said for said in named(answer, "small").taken)


def test_of_several_nodes_each_has_its_part_of_the_sessions(start: SizedRun, tmp_path: Path) -> None:
    cluster = '[[candidate]]\nname = "three"\nprice = 30\ncores = 2\nnodes = 3\n'
    answer = sized(start, tmp_path, SMALL, cluster)
    three, small = named(answer, "three"), named(answer, "small")
    assert small.fits is not None and three.fits == 3 * small.fits
    assert three.figure < small.figure


def test_more_sessions_on_a_node_than_a_run_may_have_are_refused(start: SizedRun, tmp_path: Path) -> None:
    """They would be simulated for many minutes; the error names the candidate that has too few nodes."""
    asked = replace(ASKED, sessions=501, within_seconds=60.0)
    two = LARGE.replace("large", "two").replace("price = 40", "price = 80\nnodes = 2")
    with pytest.raises(UsageError, match="--sessions 501: candidate large would get 501 on a node"):
        sized(start, tmp_path, two, LARGE, question=asked)
    assert sized(start, tmp_path, two, question=replace(asked, sessions=40)).sessions == 40


@pytest.mark.parametrize(
    ("offer", "said"),
    [
        ("threads_per_core = 5000\n", "threads_per_core is 5000, and no machine"),
        (
            "[candidate.devices.x]\nread_bytes_per_second = 1e9\nwrite_bytes_per_second = 1e9\n"
            "spinning_streams = 1.0000001\n",
            "spinning_streams is 1, and no machine",
        ),
    ],
)
def test_figures_that_no_machine_has_are_refused(
    start: SizedRun, tmp_path: Path, offer: str, said: str
) -> None:
    with pytest.raises(InvalidFileError, match=said):
        sized(start, tmp_path, LARGE + offer)


def test_a_bound_that_no_session_keeps_is_said_so(start: SizedRun, tmp_path: Path) -> None:
    answer = sized(start, tmp_path, SMALL, question=replace(ASKED, within_seconds=1e-3))
    assert "fits: the forecast of 1 session on a node is above the bound" in named(answer, "small").reasons


def test_the_errors_of_model_and_rule_are_those_that_the_reference_prints() -> None:
    (every,) = (row for row in reference_rows("published-forecasts.md") if row[0] == "all")
    assert (float(every[3]), float(every[6])) == (UNSEEN_ERROR, ROOFLINE_ERROR)


def test_the_upgrade_with_the_most_sessions_for_its_price_is_the_next_buy(
    start: SizedRun, tmp_path: Path
) -> None:
    upgrades = (
        '[[upgrade]]\nname = "dear cores"\nprice = 50\nset = { cores = 16 }\n'
        '[[upgrade]]\nname = "cheap cores"\nprice = 5\nset = { cores = 12 }\n'
        '[[upgrade]]\nname = "bandwidth"\nprice = 500\nset = { "disk.write" = "900MB" }\n'
        '[[upgrade]]\nname = "elsewhere"\nprice = 1\nset = { "array.read" = "9GB" }\n'
        '[[upgrade]]\nname = "for huge"\nprice = 1\nset = { cores = 64 }\ncandidates = ["huge"]\n'
    )
    middle = LARGE.replace("large", "middle").replace("cores = 8", "cores = 4")
    answer = sized(start, tmp_path, middle, HUGE, upgrades)
    assert answer.upgraded == answer.pick == "middle"
    assert answer.upgrades[0].name == "cheap cores"
    found = {one.name: one for one in answer.upgrades}
    assert "for huge" not in found
    cheap, dear = found["cheap cores"], found["dear cores"]
    assert cheap.gained_sessions is not None and dear.gained_sessions is not None
    assert dear.gained_sessions >= cheap.gained_sessions > 0
    assert cheap.gained_sessions_per_price == pytest.approx(cheap.gained_sessions / 5)
    assert found["elsewhere"].reason == "middle has no device array, only disk"
    assert "add cheap cores to middle" in rendered(document(answer), "text", 200)


def test_too_little_memory_does_not_carry_however_fast(start: SizedRun, tmp_path: Path) -> None:
    tiny = '[[candidate]]\nname = "tiny"\nprice = 1\ncores = 64\nmemory_bytes = "2MiB"\n'
    answer = sized(start, tmp_path, LARGE, tiny)
    one = named(answer, "tiny")
    assert one.memory_bytes is not None and one.memory_bytes > 2 * 2**20
    assert one.limit == "memory" and one.carries is False and one.fits is None
    assert answer.pick == answer.rule_pick == "large"


def test_the_limit_is_that_of_the_active_phase_of_all_nodes(tmp_path: Path) -> None:
    # Of twelve jobs on a node one computes much longer.  On four nodes these four are the tail of 48 jobs.
    fitting = fitted(tmp_path / "run", [step(0.1, flow(200), blocked=2.0)] * 11 + [step(200.0)])
    start = SizedRun(base=fitting.base, slowdown=fitting.measured, doubt=None)
    shares = []
    for nodes in (1, 4):
        asked = replace(ASKED, sessions=12 * nodes)
        offer = f'[[candidate]]\nname = "same"\nprice = 1\ncores = 2\nnodes = {nodes}\n'
        one = named(sized(start, tmp_path, offer, question=asked), "same")
        assert one.limit == "disk" and one.limit_ratio is not None
        shares.append(one.limit_ratio)
    assert shares[0] == shares[1] > 0.8


def test_a_window_bounds_the_elapsed_time(start: SizedRun, tmp_path: Path) -> None:
    elapsed = start.base.elapsed_seconds or 0.0
    question = SizeQuestion(sessions=None, answer_bound=2.0, within_seconds=elapsed / 2.0, probability=0.5)
    answer = sized(start, tmp_path, SMALL, LARGE, question=question)
    assert answer.bounded == "elapsed_seconds" and answer.measured == pytest.approx(elapsed)
    assert named(answer, "small").figure == pytest.approx(elapsed)
    assert answer.forecast_pick == "large" and named(answer, "large").figure <= elapsed / 2.0
    due = replace(start, window_seconds=elapsed / 2.0)
    assert sized(due, tmp_path, SMALL, LARGE).bound == elapsed / 2.0


@pytest.mark.parametrize(
    ("measured", "asked", "said"),
    [
        (
            3,
            replace(ASKED, within_seconds=60.0),
            "3 sessions: elapsed time grows .* only from 5 on",
        ),
        (6, replace(ASKED, sessions=4), "fewer than 5 have another mix"),
    ],
)
def test_a_run_answers_for_sessions_of_its_own_mix(
    tmp_path: Path, measured: int, asked: SizeQuestion, said: str
) -> None:
    fitting = fitted(tmp_path / "run", [step(1.5, flow(20), blocked=0.1)] * measured)
    plans = tuple(msgspec.structs.replace(plan, workload="mixed20") for plan in fitting.base.plans)
    base = replace(fitting.base, plans=plans)
    start = SizedRun(base=base, slowdown=fitting.measured, doubt=None)
    assert start.simulated == mix_range(measured)
    with pytest.raises(UsageError, match=said):
        fitted_of(start, asked)


def test_a_run_on_devices_without_a_probe_has_forecasts_but_no_probability(
    start: SizedRun, tmp_path: Path
) -> None:
    base = replace(start.base, unknown={one.name: ["read", "write"] for one in start.base.own.devices})
    unknown = replace(start, base=base)
    answer = sized(unknown, tmp_path, SMALL, LARGE)
    large = named(answer, "large")
    assert answer.pick is None and answer.forecast_pick == "large"
    assert large.carries is None and large.probability is None and large.fits is not None
    assert any("mawl probe" in said for said in large.reasons)
    assert finding(answer) == "No candidate is known to carry 6 sessions with a probability of at least 50 %"
    assert "By the forecast alone large" in rendered(document(answer), "text", 80)


def test_a_probability_that_so_few_forecasts_cannot_give_is_not_known_rather_than_missed(
    start: SizedRun, tmp_path: Path
) -> None:
    answer = sized(
        start, tmp_path, HUGE, SMALL, question=replace(ASKED, answer_bound=20.0, probability=0.995)
    )
    huge = named(answer, "huge")
    assert huge.forecasts == 7 and huge.probability == 7 / 8 and huge.carries is None and answer.pick is None
    assert "carries: 7 checked forecasts cannot give a probability of 0.995" in huge.reasons
    assert "fits_safe: no number is known to have a probability of 0.995" in huge.reasons
    missed = sized(start, tmp_path, SMALL, question=replace(ASKED, answer_bound=0.1, probability=0.995))
    assert named(missed, "small").probability == 0.0 and named(missed, "small").carries is False


def test_a_run_with_other_work_on_its_devices_has_no_probability(start: SizedRun, tmp_path: Path) -> None:
    answer = sized(replace(start, doubt="others moved half of the bytes"), tmp_path, SMALL)
    assert named(answer, "small").reasons[0] == "others moved half of the bytes"


def test_a_run_without_a_slowdown_is_refused_with_its_reason(start: SizedRun, tmp_path: Path) -> None:
    unknown = replace(start, slowdown=None, unknown="imported files have no reference times")
    with pytest.raises(UsageError, match="slowdown is not known: imported files have no reference times; "):
        sized(unknown, tmp_path, SMALL)


def test_the_rule_is_shown_if_the_errors_are_those_of_papers(start: SizedRun, tmp_path: Path) -> None:
    answer = sized(start, tmp_path, SMALL, LARGE)
    assert any("roofline is nearer" in said for said in answer.remarks)
    assert named(answer, "small").rule_figure == pytest.approx(3.0)
    assert named(answer, "small").rule_fits == 4  # 0.5 a session
    # Nine CPU seconds on two cores take 4.5 s; on eight the disk takes longer: 120 MB at 100 MB/s, 1.2 s.
    assert named(answer, "large").rule_figure == pytest.approx(3.0 * 1.2 / 4.5)
    assert named(answer, "large").rule_fits == pytest.approx(2.0 / (3.0 * 1.2 / 4.5 / 6.0), abs=1)


def test_what_an_upgrade_gains_beyond_the_search_is_not_known(start: SizedRun, tmp_path: Path) -> None:
    upgrade = '[[upgrade]]\nname = "more"\nprice = 10\nset = { cores = 64 }\n'
    answer = sized(start, tmp_path, HUGE, upgrade, question=replace(ASKED, answer_bound=4.0))
    assert named(answer, "huge").more_may_fit and named(answer, "huge").fits == 24
    (more,) = answer.upgrades
    assert (more.fits, more.more_may_fit, more.gained_sessions, more.gained_sessions_per_price) == (
        24,
        True,
        None,
        None,
    )
    assert more.reason == "the search ended at 24 sessions, with it and without it"
    assert "What an upgrade brings is not known" in rendered(document(answer), "text", 80)
    assert "Not known" in rendered(document(answer), "html")
    beyond = sized(start, tmp_path, SMALL, upgrade, question=replace(ASKED, answer_bound=4.0))
    assert beyond.upgrades[0].gained_sessions == 24 - (named(beyond, "small").fits or 0)
    assert "by the forecast at least 16 more sessions fit" in " ".join(
        rendered(document(beyond), "text", 80).split()
    )
    assert "at least 16 more sessions" in rendered(document(beyond), "html")


def uncached(start: SizedRun) -> SizedRun:
    """The same of a run that kept files out of the page cache."""
    cache = CacheFacts(mode="none", input_bytes=10**9)
    return replace(
        start, base=replace(start.base, facts=msgspec.structs.replace(start.base.facts, cache=cache))
    )


def test_less_memory_than_the_page_cache_of_the_run_had_is_not_known(start: SizedRun, tmp_path: Path) -> None:
    own = start.base.own.nodes[0]
    less = HUGE + f"memory_bytes = {own.memory_bytes // 2:.0f}\n"
    one = named(sized(start, tmp_path, less), "huge")
    assert (one.carries, one.probability, one.fits_safe) == (None, None, None)
    assert any("its page cache keeps less" in reason for reason in one.reasons)
    found = named(sized(uncached(start), tmp_path, less), "huge")
    assert found.carries is True and found.probability == 7 / 8
    nearly = HUGE + f"memory_bytes = {0.995 * own.memory_bytes:.0f}\n"
    assert named(sized(start, tmp_path, nearly), "huge").carries is True


def test_less_memory_is_not_known_to_hold_jobs_whose_memory_is_not(start: SizedRun, tmp_path: Path) -> None:
    base = uncached(start).base
    jobs = {name: replace(job, memory_bytes=None) for name, job in base.demand.jobs.items()}
    untold = replace(start, base=replace(base, demand=replace(base.demand, jobs=jobs)))
    less = HUGE + f"memory_bytes = {base.own.nodes[0].memory_bytes // 2:.0f}\n"
    one = named(sized(untold, tmp_path, less), "huge")
    assert (one.carries, one.probability, one.fits_safe) == (None, None, None)
    assert any("not known whether the jobs fit" in reason for reason in one.reasons)


def test_safe_sessions_other_than_the_run_had_have_the_errors_of_such_forecasts(
    start: SizedRun, tmp_path: Path
) -> None:
    """The run's own system with a bound far above: six sessions by 23 forecasts, more by those of papers."""
    same = '[[candidate]]\nname = "same"\nprice = 1\ncores = 2\n'
    question = replace(ASKED, answer_bound=9.0)
    few = named(sized(start, tmp_path, same, question=question), "same")
    many = named(sized(start, tmp_path, same, question=replace(question, sessions=12)), "same")
    assert (few.error_basis, few.forecasts) == ("lab beds", 23)
    assert (many.error_basis, many.forecasts) == ("published systems", 7)
    assert few.fits_safe == many.fits_safe
    tight = named(sized(start, tmp_path, same, question=replace(ASKED, answer_bound=3.4)), "same")
    assert tight.fits_safe == SESSIONS, "by the errors of beds alone"


def test_the_sessions_that_fit_keep_within_the_memory(start: SizedRun, tmp_path: Path) -> None:
    start = uncached(start)
    question = replace(ASKED, answer_bound=4.0)
    needed = named(sized(start, tmp_path, HUGE, question=question), "huge").memory_bytes
    assert needed
    one = needed / SESSIONS
    room = HUGE + f"memory_bytes = {math.ceil(10 * one)}\n"
    upgrade = f'[[upgrade]]\nname = "memory"\nprice = 10\nset = {{ memory = {math.ceil(14 * one)} }}\n'
    for asked, limit in ((SESSIONS, "none"), (12, "memory")):
        answer = sized(start, tmp_path, room, upgrade, question=replace(question, sessions=asked))
        huge = named(answer, "huge")
        assert (huge.fits, huge.fits_safe, huge.more_may_fit) == (10, 10, False)
        assert huge.limit == limit
        assert (answer.upgrades[0].fits, answer.upgrades[0].gained_sessions) == (14, 4)


def test_the_limit_is_that_of_the_active_phase() -> None:
    """Four jobs share one core for 4 s; then one of them writes for 50 s, which is tail."""
    jobs = [[step(1.0)], [step(1.0)], [step(1.0)], [step(1.0), step(0.0, flow(5000.0))]]
    outcome = simulated(system(cores=1.0), *side_by_side(jobs))
    assert outcome.elapsed_seconds == pytest.approx(54.0)
    assert _limit(outcome, sessions=4)[0] == "cores"
    assert _limit(outcome, sessions=3)[0] == "disk"
