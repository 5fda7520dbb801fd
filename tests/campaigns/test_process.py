"""A task in a process of its own: its answer, its error, and its end without an answer."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import InterruptedRunError, MawlError, UsageError
from mawl.campaigns.process import run_task
from mawl.campaigns.series import back_and_forth, begin, conduct, held, smt_arms
from mawl.commands.campaign_settings import settings_of, this_machine
from mawl.figures.campaign import campaign_figures
from mawl.figures.comparison.compare import compare
from mawl.figures.comparison.programs import Statement
from mawl.figures.knee import SmtRow, smt_sentence
from mawl.measure.machine import SmtMode, SmtModes
from mawl.records.model.campaign import Arm, Campaign
from mawl.records.spec.campaign import CampaignSpec
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.task import Task, TaskAnswer
from mawl.reports.campaign_document import document
from mawl.reports.document import rendered
from tests.fakes.campaign_runs import FakeRuns, campaign
from tests.fakes.compared_runs import pair
from tests.fakes.found_campaigns import all_runs, finished

SPEC = RunSpec(workload="nano", seed=7)


def child(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"import os, signal, sys, time\n{code}")


def test_the_spec_goes_there_and_the_answer_comes_back(tmp_path: Path) -> None:
    log = tmp_path / "log"
    echo = child('t = sys.stdin.read(); print(t, file=sys.stderr); print(\'{"status": 0, "run_id": "r"}\')')
    assert run_task(Task(spec=SPEC), log, program=echo) == TaskAnswer(status=0, run_id="r")
    assert '"seed":7' in log.read_text()


def test_an_error_of_the_real_process_is_data(tmp_path: Path) -> None:
    """Refused before anything is made: the workload has a scale of its own."""
    spec = RunSpec(workload="nano", scale="0.01", work=(str(tmp_path / "work"),))
    answer = run_task(Task(spec=spec), tmp_path / "log", directory=tmp_path)
    assert answer.failure is not None
    assert (answer.status, answer.failure.kind) == (2, "UsageError")
    assert answer.failure.what.startswith("workload nano fixes its scale")
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@pytest.mark.parametrize(
    ("code", "kind", "sentence"),
    [
        ("sys.exit(3)", MawlError, "ended with status 3 and without an answer"),
        ("print('no JSON'); sys.exit(0)", MawlError, "ended with status 0 and without an answer"),
        ("os.kill(os.getpid(), signal.SIGKILL)", InterruptedRunError, "ended by SIGKILL"),
    ],
)
def test_an_end_without_an_answer_is_an_error(
    code: str, kind: type[MawlError], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=sentence):
        run_task(Task(spec=SPEC), tmp_path / "log", program=child(code))


def test_what_the_look_raises_stops_the_process_and_waits_for_it(tmp_path: Path) -> None:
    ended = tmp_path / "ended"

    def look() -> None:
        if (tmp_path / "ready").exists():
            raise KeyboardInterrupt

    code = (
        f"def end(*_): open({str(ended)!r}, 'w').close(); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        f"open({str(tmp_path / 'ready')!r}, 'w').close()\ntime.sleep(60)"
    )
    with pytest.raises(KeyboardInterrupt):
        run_task(Task(spec=SPEC), tmp_path / "log", program=child(code), look=look)
    assert ended.exists()


def test_one_that_does_not_end_is_killed(tmp_path: Path) -> None:
    def look() -> None:
        if (tmp_path / "ready").exists():
            raise KeyboardInterrupt

    code = (
        f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen({str(tmp_path / 'ready')!r}, 'w').close()\n"
        "time.sleep(60)"
    )
    with pytest.raises(KeyboardInterrupt):
        run_task(Task(spec=SPEC), tmp_path / "log", program=child(code), look=look, patience=0.1)
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN


def test_an_interrupt_right_after_the_fork_is_not_lost(tmp_path: Path) -> None:
    """Functions of Python run then, and what is raised in them is printed and lost."""
    script = f"""
import os, signal, sys
from pathlib import Path
from mawl.campaigns.process import run_task
from mawl.records.spec.task import Task
from mawl.records.spec.run_spec import RunSpec
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
try:
    run_task(Task(spec=RunSpec()), Path({str(tmp_path / "log")!r}), program=sleeping)
except KeyboardInterrupt:
    sys.exit(7)
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stderr) == (7, "")


def power(control: Path, current: str = "SMT=4") -> SmtModes:
    """A POWER system whose mode is in a file."""
    modes = [
        SmtMode(word=f"SMT={threads}", threads=threads, command=f"echo SMT={threads} > {control}")
        for threads in (1, 4, 8)
    ]
    (now,) = (mode for mode in modes if mode.word == current)
    return SmtModes(check=f"cat {control}", current=now, modes=modes)


def record(control: Path, repeats: int = 2) -> Campaign:
    arms = smt_arms(power(control), RunSpec(workload="tiny"))
    return campaign(
        kind="smt",
        arms=arms,
        slots=back_and_forth(arms, repeats),
        machine=this_machine(),
        directory=str(control.parent),
    )


def test_each_mode_is_on_in_the_runs_of_its_arm_and_the_first_one_at_the_end(tmp_path: Path) -> None:
    control, folder = tmp_path / "control", tmp_path / "c"
    control.write_text("SMT=4\n")
    folder.mkdir()
    seen: list[tuple[str, str]] = []

    class Looking(FakeRuns):
        def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
            seen.append((arm.name, control.read_text().strip()))
            super().__call__(arm, folder, lock)

    made = record(control)
    with held(folder) as lock, settings_of(folder, made) as changing:
        assert conduct(begin(folder, made, Looking(), lock, changing)).outcome == "completed"
    assert seen == [
        *(("smt-1", "SMT=1"), ("smt-4", "SMT=4"), ("smt-8", "SMT=8")),
        *(("smt-8", "SMT=8"), ("smt-4", "SMT=4"), ("smt-1", "SMT=1")),
    ]
    assert control.read_text() == "SMT=4\n"


def test_the_mode_that_is_on_is_checked_and_the_others_go_back_to_it(tmp_path: Path) -> None:
    settings = {arm.name: arm.setting for arm in record(tmp_path / "control").arms}
    four, eight = settings["smt-4"], settings["smt-8"]
    assert four is not None and (four.before, four.after, four.expect) == (None, None, "SMT=4")
    assert eight is not None and eight.after == f"echo SMT=4 > {tmp_path / 'control'}"
    assert all(setting is not None and setting.problem() is None for setting in settings.values())


@pytest.mark.parametrize(
    ("factor", "sentence"),
    [
        (1.0, "as in the paper, SMT=1 and SMT=8 perform alike"),
        (0.98, "as in the paper, SMT=1 and SMT=8 perform alike"),
        (0.5, "contrary to what the paper measured with 20 sessions"),
        (2.0, "contrary to the paper, jobs were slower with SMT=8 than with SMT=1"),
    ],
)
def test_it_ends_with_the_sentence_of_the_paper_or_its_contrary(
    factor: float, sentence: str, tmp_path: Path
) -> None:
    made = finished(record(tmp_path / "control", repeats=5))
    told = campaign_figures(made, all_runs(made, {"smt-1": 1.0, "smt-4": 1.0, "smt-8": factor}))
    assert told.smt_sentence is not None and told.smt_sentence.startswith(sentence)
    assert [(row.threads, row.runs) for row in told.smt] == [(1, 5), (4, 5), (8, 5)]
    assert f"SMT        {sentence.split(',')[0]}" in rendered(document(told), "text")
    assert "## modes of hardware threads" in rendered(document(told), "markdown").lower()


def test_noise_is_not_said_to_be_alike() -> None:
    """Runs that scatter by a third leave a large change possible."""
    noisy = [0.7, 1.3, 1.0, 0.8, 1.2]
    undecided = compare(*pair(noisy, [1.1 * factor for factor in noisy]))
    rows = [row(1), row(2)]
    said = smt_sentence(rows, undecided)
    assert said.startswith("not decided: no difference between SMT=1 and SMT=2 was found, and only changes ")
    assert "alike" not in said


@pytest.mark.parametrize(
    ("busy", "load"),
    [
        (0.9, ", as the paper suggests above 70 % busy; processors were busy 90 % with SMT=1"),
        (0.7, ", although processors were not above 70 % busy; processors were busy 70 % with SMT=1"),
        (None, ""),
    ],
)
def test_a_gain_names_the_load_only_if_it_is_known(busy: float | None, load: str) -> None:
    faster = compare(*pair([1.0] * 5, [0.5] * 5))
    said = smt_sentence([msgspec.structs.replace(row(1), cpu_busy_ratio=busy), row(2)], faster)
    assert said.endswith(
        f"jobs were faster with SMT=2 than with SMT=1{load} (REDP-5288, SMT8 considerations)"
    )


def test_runs_without_a_job_in_common_are_not_asked_for_again() -> None:
    statement = Statement(
        verdict="not judged",
        jobs=0,
        jobs_left_out=3,
        reference_runs=5,
        candidate_runs=5,
        more_runs_needed=0,
        change_ratio=None,
        margin_ratio=0.05,
    )
    steady = [0.98, 1.02, 1.0, 0.99, 1.01]
    nothing = msgspec.structs.replace(compare(*pair(steady, steady)), statement=statement)
    assert smt_sentence([row(1), row(2)], nothing) == (
        "not decided: no job counts in every run of both modes"
    )


def row(threads: int) -> SmtRow:
    """A mode of which nothing but its runs is known."""
    unknown = dict.fromkeys(
        ("real_time_seconds", "elapsed_seconds", "bytes_per_second", "core_busy_ratio", "cpu_busy_ratio")
    )
    title = f"SMT={threads}"
    return SmtRow(arm=title, title=title, threads=threads, runs=5, core_busy_basis=None, **unknown)


def test_without_enough_runs_nothing_is_decided(tmp_path: Path) -> None:
    made = finished(record(tmp_path / "control"))
    told = campaign_figures(made, all_runs(made, {"smt-1": 1.0, "smt-4": 1.0, "smt-8": 2.0}))
    assert told.smt_sentence == "not decided: it takes five finished runs of each mode"
    one = msgspec.structs.replace(made, slots=made.slots[:1])
    assert campaign_figures(one, {}).smt_sentence == told.smt_sentence


@pytest.mark.parametrize("given", ["ssh", "cluster", "cores"])
def test_what_does_not_go_with_it_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="--smt does not go with"):
        CampaignSpec(smt=True).check({given})
    with pytest.raises(UsageError, match="do not go together"):
        CampaignSpec(smt=True, ab=("a", "b")).check(())
