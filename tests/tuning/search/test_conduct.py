"""A search over the runs of a campaign: its record, its end after any kill, and its profile."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UnreadableRunError, UsageError
from mawl.figures.comparison.sides import at
from mawl.records.model.campaign import Arm
from mawl.records.spec.sources import load_profile, load_side
from mawl.records.store import open_run
from mawl.records.store.campaign import read_campaign, write_campaign
from mawl.records.store.files import LARGEST_FACTS_BYTES
from mawl.tuning.search.records import (
    OBJECTIVES,
    RECORD,
    Objective,
    read_search,
    write_search,
)
from mawl.tuning.search.results import write_profile
from tests.fakes.measured_run import IDLE, four_jobs, samples
from tests.fakes.search_runs import SearchRuns, asked, campaign, carried_out
from tests.fakes.stored_run import facts
from tests.fakes.views import summary_of


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search that nobody stopped."""
    folder = tmp_path_factory.mktemp("search") / "whole"
    carried_out(folder, SearchRuns())
    return folder


def test_a_gain_is_established_over_runs_of_a_campaign(whole: Path) -> None:
    found = carried_out(whole, SearchRuns())
    assert found.outcome == "gain"
    assert found.setting is not None and found.setting["cpucount"] == 2
    assert found.statement.startswith("gain established with 95 % confidence: ")
    assert "response time -2" in found.statement
    record = read_campaign(whole)
    assert record.outcome == "completed"
    assert [slot.state for slot in record.slots] == ["finished"] * found.runs
    facts = [open_run(whole / str(slot.folder)).facts for slot in record.slots]
    assert found.spent_seconds == pytest.approx(sum((one.ended_at or 0.0) - one.started_at for one in facts))
    arms = [slot.arm for slot in record.slots]
    assert arms[:3] == ["baseline", "baseline", "trial-1"]
    assert sorted(arms[-4:]) == ["candidate", "candidate", "reference", "reference"]
    tested = record.arm("candidate").spec
    assert tested is not None and tested.options.cpucount == 2


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=lambda one: one.name)
def test_each_objective_is_made_better_by_its_own_figure(objective: Objective, tmp_path: Path) -> None:
    found = carried_out(tmp_path / "search", SearchRuns(), asked(objective=objective.name))
    assert (found.outcome, found.figure) == ("gain", objective.figure)
    assert found.setting is not None and found.setting["cpucount"] == 2
    assert found.low_ratio is not None and found.high_ratio is not None
    assert found.low_ratio > 0.0 if objective.more_is_better else found.high_ratio < 0.0
    assert f"cpucount=2: {objective.title} " in found.statement


def test_a_real_summary_has_the_figure_of_each_objective() -> None:
    summary = summary_of(facts(), four_jobs(60), samples=samples(60, IDLE))
    assert [one.name for one in OBJECTIVES.values() if not (at(summary, one.figure) or 0.0) > 0.0] == []


def test_what_is_finished_is_not_run_again(whole: Path) -> None:
    runs = SearchRuns()
    first, second = carried_out(whole, runs), carried_out(whole, runs)
    assert runs.made == []
    assert first == second


def test_a_search_killed_at_random_points_ends_with_the_same_statement(whole: Path, tmp_path: Path) -> None:
    """SIGKILL twice, each somewhere in another run, and then to the end."""
    chance = random.Random(11)
    folder, statement = tmp_path / "killed", carried_out(whole, SearchRuns()).statement
    runs = len(read_campaign(whole).slots)
    for made in sorted(chance.sample(range(1, runs - 2), 2)):
        process = search_process(folder)
        while len(list(folder.glob("*/run.json"))) < made:
            assert process.poll() is None, "it ended before it was killed"
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.1))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    process = search_process(folder)
    stdout, _ = process.communicate()
    assert (process.returncode, stdout.strip()) == (0, statement)
    assert carried_out(folder, SearchRuns()) == carried_out(whole, SearchRuns())
    arms = [[slot.arm for slot in read_campaign(place).slots] for place in (folder, whole)]
    assert arms[0] == arms[1]


def search_process(folder: Path) -> subprocess.Popen[str]:
    """A search in a process of its own, which begins or goes on."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.search_runs", str(folder)], stdout=subprocess.PIPE, text=True
    )


def test_a_stop_between_a_run_and_its_note_loses_nothing(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stopped"

    class Stopping(SearchRuns):
        def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
            super().__call__(arm, folder, lock)
            if len(self.made) == 6:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carried_out(folder, Stopping())
    assert read_campaign(folder).outcome == "interrupted"
    assert read_campaign(folder).slots[5].state == "running"
    runs = SearchRuns()
    found, expected = carried_out(folder, runs), carried_out(whole, SearchRuns())
    assert found.statement == expected.statement
    assert found.spent_seconds == expected.spent_seconds
    assert found == expected
    assert runs.made[0].startswith("007-")


def test_where_nothing_helps_it_says_so(tmp_path: Path) -> None:
    found = carried_out(tmp_path / "flat", SearchRuns(effects={}))
    assert found.outcome in ("excluded", "nothing better")
    assert found.statement.startswith("no gain: ")
    assert found.profile is None
    worse = carried_out(
        tmp_path / "worse",
        SearchRuns(effects={"cpucount=2": 1.0}),
        asked(dimensions={"cpucount": [1, 2]}, unchanged={"cpucount": [1]}),
    )
    assert worse.statement == "no gain: none of the 1 setting tried looked better than the baseline"
    assert worse.trials[0].pruned


def test_a_gain_becomes_a_profile_that_runs_take(whole: Path, tmp_path: Path) -> None:
    found = carried_out(whole, SearchRuns())
    file = tmp_path / "profile.toml"
    record = msgspec.structs.replace(read_search(whole), profile=str(file))
    write_profile(found, record, campaign().created_at)
    profile = load_profile(file)
    ((_, options),) = profile.options
    assert options == {"sortsize": (found.setting or {})["sortsize"], "cpucount": 2}
    origin = tomllib.loads(file.read_text())["origin"]
    assert (origin["statement"], origin["pairs"]) == (found.statement, 2 * found.blocks)
    assert load_side(file)[0] == profile


def test_a_changed_record_is_refused(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    folder.mkdir()
    record = read_campaign(whole)
    slots = [msgspec.structs.replace(slot, arm="trial-1") for slot in record.slots]
    write_campaign(folder, msgspec.structs.replace(record, slots=slots))
    write_search(folder, read_search(whole))
    with pytest.raises(UnreadableRunError, match="run 1 is of trial-1, and the search asks for baseline"):
        carried_out(folder, SearchRuns())


@pytest.mark.parametrize(
    ("content", "kind", "reason"),
    [
        (None, UsageError, "is no search"),
        (b"{", UnreadableRunError, "is no record of a search"),
        (b'{"seed": 1}', UnreadableRunError, "is no record of a search"),
        (b'{"dimensions": ' + b"[" * 100_000, UnreadableRunError, "is no record of a search"),
        (b" " * (LARGEST_FACTS_BYTES + 1), UnreadableRunError, "larger than the"),
        (
            msgspec.json.encode(asked(objective="speed")),
            UnreadableRunError,
            "is no record of a search",
        ),
        (
            msgspec.json.encode(asked(format_version="2.0")),
            UnreadableRunError,
            "was written in format 2.0",
        ),
    ],
)
def test_a_record_that_is_none_is_refused(
    tmp_path: Path, content: bytes | None, kind: type[Exception], reason: str
) -> None:
    if content is not None:
        (tmp_path / RECORD).write_bytes(content)
    with pytest.raises(kind, match=reason):
        read_search(tmp_path)
