"""Where ``mawl size`` begins: the middle measured run of a qualification, or one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import MawlError
from mawl.records.store.campaign import write_qualification
from mawl.whatif.size.answer import size
from mawl.whatif.size.candidates import load_catalogue
from mawl.whatif.size.question import SizeQuestion, start_of, window_of
from tests.fakes.fitted import SESSIONS, write
from tests.fakes.qualifications import finished_run, qualification
from tests.figures.test_night import HOUR, ran
from tests.reports.test_night import MISSED, report
from tests.simulation.scenes import device, flow, step, system

ASKED = SizeQuestion(sessions=None, answer_bound=2.0, within_seconds=None, probability=0.5)


def test_a_qualification_is_sized_from_its_middle_measured_run(tmp_path: Path) -> None:
    for number, seconds in enumerate((1.5, 1.6, 1.4), 1):
        write(tmp_path / f"runs/measured-{number}", [step(seconds, flow(20, direction="read"))] * SESSIONS)
    runs = [finished_run("measured", number, SESSIONS) for number in (1, 2, 3)]
    write_qualification(tmp_path, qualification(runs=runs))
    start = start_of(str(tmp_path), tmp_path, None)
    single = start_of(str(tmp_path / "runs/measured-1"), tmp_path, None)
    assert start.slowdown == single.slowdown and start.slowdown is not None
    assert start.sessions == start.every_session == SESSIONS
    offers = tmp_path / "offers.toml"
    offers.write_text('[[candidate]]\nname = "many cores"\nprice = 2\ncores = 64\n')
    answer = size(start, ASKED, load_catalogue(offers))
    assert answer.sessions == SESSIONS and answer.measured == start.slowdown
    # What the device can do for more cores is not known, so the forecast counts for nothing.
    assert answer.candidates[0].probability is None and answer.pick is None
    assert any("mawl probe" in said for said in answer.candidates[0].reasons)


def test_derived_jobs_that_are_due_have_the_window_of_their_night(tmp_path: Path) -> None:
    """The first job starts at 1:00 and all are due at 10:00: nine hours, whenever the last one ended."""
    for name, jobs in (("missed", MISSED), ("held", ran(a=(1, 3), b=(3, 5), c=(5, 8), d=(3, 4)))):
        (tmp_path / name).mkdir()
        report(tmp_path / name, jobs)
        start = start_of(str(tmp_path / name / "run"), tmp_path, system(device()))
        assert start.window_seconds == pytest.approx(9 * HOUR)
        assert window_of(start, ASKED) == start.window_seconds
        asked = SizeQuestion(sessions=None, answer_bound=2.0, within_seconds=60.0, probability=0.5)
        assert window_of(start, asked) == 60.0


def test_a_qualification_without_a_measured_run_says_what_to_do(tmp_path: Path) -> None:
    write_qualification(tmp_path, qualification(runs=[]))
    with pytest.raises(MawlError, match="has no measured run with a known slowdown"):
        start_of(str(tmp_path), tmp_path, None)
