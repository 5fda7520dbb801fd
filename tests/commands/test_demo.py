"""The first screen of ``make demo``: what the run shows, what it does not, and what answers for real."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import asdict

from mawl.advice.next_step import qualify_command
from mawl.advice.qualification.machine import limit_by
from mawl.commands.demo import first_screen, started_as
from mawl.records.model.summary.judgement import Cause
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import Role
from tests.fakes.answered import QUEUE
from tests.fakes.qualifications import choice
from tests.fakes.views import partly

FOLDER = Path("/the runs/demo")
ROLES: dict[Role, list[str]] = {"data": ["/a b"], "work": ["/w"], "util": ["/u"]}


def summary(costs: Sequence[Cause] | None = (QUEUE,)) -> Judged:
    return partly(
        {
            "workload": {"sessions": 20},
            "jobs": {"total": 71, "counted": 70},
            "time": {"elapsed_seconds": 61.0},
            "io": {
                "application": {"read_bytes": 4_000_000_000, "written_bytes": 2_000_000_000},
                "reach": {"read_ratio": 0.97, "write_ratio": 1.04},
            },
            "limit": None if costs is None else asdict(limit_by(list(costs), is_named=len(costs) > 0)),
        }
    )


def test_it_says_that_it_is_no_answer_what_happened_and_which_command_answers() -> None:
    text = first_screen(summary(), choice(), roles=ROLES, folder=FOLDER, page=FOLDER / "report.html")
    assert "It is too short to answer for this machine." in text
    assert "71 jobs of twenty programs in 20 sessions; 70 gave the right answer" in text
    assert "61.0 s; the programs moved 6.00 GB, and 97 % of the bytes read and 100 %" in text
    assert "limited by   processors (too few), 60 % of the jobs' time" in text
    assert "mawl qualify --data '/a b' --work /w --util /u --minutes 30" in text
    assert "forecast: 10 min 12 s, 9.00 GB disk, 8 sessions" in text
    assert "every figure: /the runs/demo/report.html, or mawl report '/the runs/demo'" in text


def test_without_a_limit_and_without_a_forecast_nothing_is_made_up() -> None:
    unknown = msgspec.structs.replace(summary(None), missing={"limit": "there is no C compiler"})
    text = first_screen(unknown, None, roles=ROLES, folder=FOLDER, page=None)
    assert "limit        not known: there is no C compiler" in text
    nothing = first_screen(summary(()), None, roles=ROLES, folder=FOLDER, page=None)
    assert "limit        nothing that this short run could show" in nothing
    assert "forecast" not in text


def test_a_reader_who_has_no_mawl_on_the_path_gets_commands_that_work() -> None:
    text = first_screen(summary(), None, roles=ROLES, folder=FOLDER, page=None, program=".venv/bin/mawl")
    assert (
        "  .venv/bin/mawl qualify --data" in text
        and "every figure: .venv/bin/mawl report '/the runs/demo'" in text
    )


def test_a_program_is_started_by_its_name_its_path_or_its_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert started_as(".venv/bin/mawl") == f"{tmp_path}/.venv/bin/mawl"
    assert started_as("/lib/mawl/__main__.py") == f"{sys.executable} -m mawl"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mawl").touch(mode=0o755)
    assert started_as(".venv/bin/mawl") == "mawl"


def test_the_command_that_it_gives_works_from_anywhere() -> None:
    here: dict[Role, list[str]] = {role: [f"a b/{role}"] for role in ROLES}
    words = shlex.split(qualify_command(here))
    assert [word for word in words if "/" in word] == [str(Path.cwd() / "a b" / role) for role in ROLES]
    assert words[:3] == ["mawl", "qualify", "--data"] and words[-2:] == ["--minutes", "30"]
