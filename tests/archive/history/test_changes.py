"""What a history says of a change: size, role, cause, and whether it is a regression."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import exp, log1p
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from mawl.archive.history.changes import History, history_of, nights_of
from mawl.archive.history.document import document
from mawl.base.errors import UsageError
from mawl.commands.main import main
from mawl.figures.comparison.sides import ComparedRun
from mawl.records.model.campaign import Arm, Slot
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import Waits
from mawl.records.model.run import CacheFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store.campaign import write_campaign
from mawl.records.store.folder import WholeRunWriter
from mawl.reports.document import rendered
from tests.fakes.campaign_runs import campaign
from tests.fakes.compared_runs import compared, jobs
from tests.fakes.stored_run import START, facts
from tests.fakes.synthetic_nights import RUN_NOISE, RUNS, noise

DAY = 86_400.0
BEFORE, AFTER = 12, 3


def longer(record: JobRecord, factor: float, role: Role | None, share: float) -> JobRecord:
    """A job ``factor`` times as long in every place, and blocked in a role for a share of that more."""
    real = (record.usage.real_time_seconds or 0.0) * factor
    waits = {name: (value or 0.0) * factor for name, value in msgspec.structs.asdict(record.waits).items()}
    if role is not None:
        waits[f"blocked_{role}_seconds"] += real * share
        real *= 1.0 + share
    usage = msgspec.structs.replace(record.usage, real_time_seconds=real)
    return msgspec.structs.replace(record, usage=usage, waits=Waits(**waits))


def nights_with_step(
    seed: int, role: Role, share: float = 0.05, runs: int = RUNS, **after: object
) -> list[ComparedRun]:
    """Runs of nights of which the last three are slower because of a role; ``after`` are their facts."""
    draw = np.random.default_rng(seed)
    deviations = RUN_NOISE * noise(draw, BEFORE + AFTER, runs)
    found = []
    for night, row in enumerate(deviations):
        late = night >= BEFORE
        for number, deviation in enumerate(row):
            records = [
                longer(one, exp(float(deviation)), role if late else None, share if late else 0.0)
                for one in jobs({})
            ]
            begun = START + DAY * night + 100.0 * number
            changes: dict[str, Any] = {
                "started_at": begun,
                "ended_at": begun + 60.0,
                **(after if late else {}),
            }
            found.append(compared(RUNS * night + number, records=records, **changes))
    return found


def followed(runs: Sequence[ComparedRun]) -> History:
    return history_of(nights_of(runs))


def test_a_step_has_its_size_role_and_cause() -> None:
    runs = nights_with_step(1, "work", 0.1, software={"pyarrow": "27.0.0"})
    history = followed(runs)
    assert len(history.nights) == BEFORE + AFTER and history.nights[0].runs == RUNS
    [change] = history.changes
    assert change.night == f"run-{RUNS * BEFORE}"
    first = change.series[0]
    assert first.kind == "whole" and first.change_ratio is not None
    assert first.low < 0.1 < first.high and first.low > 0.05
    assert (change.role, change.slower, history.regression) == ("work", True, True)
    assert [(one.name, one.reference, one.candidate) for one in change.causes] == [
        ("software pyarrow", "26.0.1", "27.0.0")
    ]
    said = rendered(document(history), "text")
    assert "blocked in work" in said and "software pyarrow: 26.0.1 -> 27.0.0" in said
    assert "limit" in said


def test_a_program_without_an_established_change_is_not_named() -> None:
    runs = [
        compared(
            night,
            {
                "wide_sort": (1.3 if night >= BEFORE else 1.0) + 0.001 * (night % 3),
                "census_load": 1.0 + 0.05 * (night % 2),
            },
            started_at=START + DAY * night,
            ended_at=START + DAY * night + 60.0,
        )
        for night in range(BEFORE + AFTER)
    ]
    [change] = followed(runs).changes
    assert [one.name for one in change.programs] == ["wide_sort"]


def roles_named(draws: int) -> float:
    """Steps of 5 % that are put down to the right role, of those that are found."""
    named = found = 0
    for seed in range(draws):
        role = ROLES[seed % len(ROLES)]
        for change in followed(nights_with_step(seed, role)).changes:
            found += 1
            named += change.role == role
    assert found >= draws // 2
    return named / found


def test_the_right_role_is_named() -> None:
    assert roles_named(3) == 1.0


@pytest.mark.long(minutes=5)
def test_the_right_role_is_named_in_nine_of_ten() -> None:
    assert roles_named(60) >= 0.9


def test_a_change_back_is_no_regression_any_more() -> None:
    runs = nights_with_step(2, "work", 0.2, runs=1)
    quiet = [
        msgspec.structs.replace(
            run,
            facts=msgspec.structs.replace(
                run.facts, run_id=f"later-{place}", started_at=run.facts.started_at + 40 * DAY
            ),
        )
        for place, run in enumerate(runs[:BEFORE])
    ]
    history = followed([*runs, *quiet])
    assert [change.slower for change in history.changes][-1] is False
    assert history.regression is False


def test_nothing_recorded_changed_is_said() -> None:
    history = followed(nights_with_step(1, "data", 0.1))
    assert "nothing that mawl recorded" in rendered(document(history), "text")


def test_too_few_nights_do_not_tell() -> None:
    history = followed(nights_with_step(1, "data", 0.5)[: 5 * RUNS])
    assert history.regression is None and history.changes == []
    assert "too few nights to tell: 10 required" in rendered(document(history), "text")


def test_runs_of_two_workloads_are_no_history() -> None:
    runs = [compared(0), compared(1, workload=msgspec.structs.replace(facts().workload, scale=0.05))]
    with pytest.raises(UsageError, match="runs of 2 kinds"):
        nights_of(runs)
    with pytest.raises(UsageError, match="is given twice"):
        nights_of([compared(0), compared(0)])


def test_runs_without_the_page_cache_do_not_follow_runs_with_it() -> None:
    runs = [compared(0), compared(1, cache=CacheFacts(mode="none", input_bytes=1))]
    said = r"kinds: page cache in use \(run-0\); page cache denied \(--cache none\) \(run-1\)"
    with pytest.raises(UsageError, match=said):
        nights_of(runs)


def test_runs_of_an_hour_are_one_night_unless_each_counts() -> None:
    runs = [compared(number) for number in range(4)]
    assert [len(night.runs) for night in nights_of(runs)] == [4]
    assert [len(night.runs) for night in nights_of(runs, each=True)] == [1, 1, 1, 1]


def test_the_page_escapes_names_and_has_each_night_and_change() -> None:
    history = followed(nights_with_step(1, "work", 0.1, software={"a<b>": "1"}))
    lead = document(history).lead
    chart = None if lead is None else lead()
    assert chart is not None and chart.figure is not None
    dots: Any = chart.figure.select_one({"name": "history_nights"})
    assert len(dots.data_source.data["day"]) == BEFORE + AFTER
    page = rendered(document(history), "html")
    assert "a<b>" not in page and "a&lt;b&gt;" in page


def test_markdown_has_a_heading_for_each_change() -> None:
    listed = rendered(document(followed(nights_with_step(1, "work", 0.1))), "markdown")
    assert listed.startswith("# 1 change found; ") and "<details><summary>15 nights</summary>" in listed
    assert listed.count("\n## ") == 1


def store_nights(folder: Path) -> Path:
    """A folder with twelve stored nights, the last three slower."""
    for night, run in enumerate(nights_with_step(3, "work", 0.3, runs=1)):
        records = [
            longer(one, 1.0 + 0.002 * (night % 3), "work" if night >= BEFORE else None, 0.3)
            for one in jobs({})
        ]
        writer = WholeRunWriter(folder / run.facts.run_id)
        writer.finish(run.facts, records)
    return folder


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """The stored nights."""
    return store_nights(tmp_path / "runs")


def test_the_verb_fails_a_pipeline_on_a_regression(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    junit = tmp_path / "history.xml"
    assert main(["history", str(stored), "--fail-on", "regression", "--junit", str(junit)]) == 3
    assert "1 change found" in capsys.readouterr().out
    assert 'failures="1"' in junit.read_text()
    assert main(["history", "--runs", str(stored), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["regression"] is True and len(found["nights"]) == BEFORE + AFTER
    few = [str(path) for path in sorted(stored.iterdir())[:4]]
    assert main(["history", *few, "--fail-on", "regression"]) == 4


def test_a_run_that_did_not_complete_is_left_out_and_named(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = next(iter(sorted(stored.iterdir()))) / "run.json"
    record.write_text(record.read_text().replace('"outcome": "completed"', '"outcome": "failed"', 1))
    assert main(["history", str(stored), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["left_out"] == [record.parent.name] and len(found["nights"]) == BEFORE + AFTER - 1
    assert main(["history", str(stored)]) == 0
    assert f"did not complete: {record.parent.name}" in capsys.readouterr().out


def test_damaged_folders_among_the_nights_are_skipped_with_a_sentence_each(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (stored / "broken").mkdir()
    (stored / "broken" / "campaign.json").write_text('{"name": ')
    first, second, *_ = sorted(path for path in stored.iterdir() if (path / "run.json").is_file())
    (first / "run.json").write_text("{")
    (second / "jobs.parquet").write_bytes(b"PAR1 is not enough")
    assert main(["history", str(stored)]) == 0
    printed = capsys.readouterr().out
    skipped = [line for line in printed.splitlines() if line.startswith("skipped: ")]
    assert len(skipped) == 3 and f"{BEFORE + AFTER - 2} nights" in printed
    for line, name in zip(skipped, ("broken", first.name, second.name), strict=True):
        assert name in line
    assert main(["history", str(stored), str(first)]) == 1, "a run that the user named is no such folder"


def test_a_campaign_that_lost_a_run_hides_no_other_run(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slots = [Slot(position=1, arm="a", state="finished", folder="001-a", outcome="completed")]
    (stored / "lost").mkdir()
    arms = [Arm(name="a", workload="tiny")]
    write_campaign(stored / "lost", campaign(kind="repeat", arms=arms, slots=slots, outcome="completed"))
    assert main(["history", str(stored)]) == 0
    printed = capsys.readouterr().out
    assert f"{BEFORE + AFTER} nights" in printed
    assert len([line for line in printed.splitlines() if line.startswith("skipped: ")]) == 1
    assert main(["history", str(stored), str(stored / "lost")]) == 2, "a campaign that the user named"


def test_nothing_but_damaged_folders_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "campaign.json").write_text("[]")
    assert main(["history", str(tmp_path)]) == 2
    assert "broken/campaign.json: is no record of a campaign" in capsys.readouterr().err


def test_a_folder_without_runs_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", str(tmp_path)]) == 2
    assert "is neither a run nor a folder of runs" in capsys.readouterr().err


def test_the_smallest_change_is_what_a_step_of_that_size_shows() -> None:
    history = followed(nights_with_step(5, "work", 0.0))
    assert history.smallest_ratio is not None and 0.01 < history.smallest_ratio < 0.15
    assert log1p(history.smallest_ratio) > 2 * RUN_NOISE / RUNS**0.5
