"""The limit of imported logs with a recording of their host, by exclusion."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mawl.advice.limit.imports import RecordedWindow
from mawl.figures.view import StoredView
from mawl.reports import screen
from tests.fakes.recorded_host import aix_recording
from tests.fakes.views import BARE, as_summary, judged
from tests.importers.test_import import imported, log, write
from tests.importers.test_nights import HOURS, TEN, linux


def host_and_logs(
    folder: Path, jobs: int, cpu_ratio: float, minutes: int = 70, *, host: dict[str, float]
) -> dict[str, Any]:
    """Jobs of an hour side by side, on a CPU for a share of it, and a recording of two processors."""
    logs = {f"job{number}": log(TEN, HOURS, cpu_ratio=cpu_ratio) for number in range(jobs)}
    (folder / "lab1.nmon").write_text("".join(linux(TEN - timedelta(minutes=5), minutes, **host)))
    _, run = imported(folder, write(folder / "logs", **logs), folder / "lab1.nmon")
    return judged(StoredView(run))


@pytest.mark.parametrize(
    ("jobs", "cpu_ratio", "host", "verdict"),
    [
        (8, 0.23, {"busy": 97.0, "iowait": 2.0, "disk": 30.0}, "cpu"),
        (8, 0.07, {"busy": 30.0, "iowait": 20.0, "disk": 97.0}, "storage"),
        (2, 0.30, {"busy": 30.0, "iowait": 60.0, "disk": 60.0}, "storage"),
        (2, 0.95, {"busy": 97.0, "iowait": 0.0, "disk": 10.0}, "none"),
    ],
)
def test_logs_and_a_recording_name_the_limit(
    tmp_path: Path, jobs: int, cpu_ratio: float, host: dict[str, float], verdict: str
) -> None:
    summary = host_and_logs(tmp_path, jobs, cpu_ratio, host=host)
    limit = summary["limit"]
    assert (limit["verdict"], limit["told_ratio"]) == (verdict, pytest.approx(1.0))
    waited = {"cpu": 0.0, "storage": 0.0} | ({verdict: 1.0 - cpu_ratio} if verdict != "none" else {})
    assert {name: limit["losses"][name] for name in waited} == pytest.approx(waited, abs=0.001)
    assert limit["losses"]["memory"] is None and summary["missing"]["limit.losses.memory"]
    left = 0.0 if verdict == "cpu" else 1 - host["busy"] / 100
    assert limit["headroom"]["cpu_ratio"] == pytest.approx(left)
    assert any(one["name"] == "imported.limit.full_processors_ratio" for one in summary["thresholds"])
    shown = " ".join(screen.render(BARE, as_summary(summary)).split())
    words = {"cpu": "processors, 77 %", "storage": f"storage, {100 * (1 - cpu_ratio):.0f} %"}.get(verdict)
    assert (f"cost {words} of the jobs' time" if words else "cost no cause cost") in shown


@pytest.mark.parametrize(
    ("cpu_ratio", "minutes", "host", "why"),
    [
        (0.20, 70, {"busy": 95.0, "iowait": 0.0, "disk": 97.0}, "only 0 % of the active time"),
        (0.05, 70, {"busy": 30.0, "iowait": 2.0, "disk": 20.0}, "mawl measure, which sees what each waits"),
        (0.20, 20, {"busy": 97.0, "iowait": 0.0, "disk": 20.0}, "only 25 % of the active time"),
    ],
)
def test_what_they_do_not_decide_is_not_known_with_its_reason(
    tmp_path: Path, cpu_ratio: float, minutes: int, host: dict[str, float], why: str
) -> None:
    summary = host_and_logs(tmp_path, 8, cpu_ratio, minutes, host=host)
    assert summary["limit"] is None and why in summary["missing"]["limit"]


def test_logs_alone_recordings_alone_nights_and_aix_say_what_lacks(tmp_path: Path) -> None:
    night = log(TEN, HOURS)
    cases = {
        "alone": ([write(tmp_path / "one", a=night)], "no recording of the host was imported"),
        "nights": (
            [write(tmp_path / "two", a=night, b=log(TEN + timedelta(days=2), HOURS))],
            "run mawl import on the logs of one with a recording of its host (nmon, sar)",
        ),
    }
    recording = tmp_path / "lab1.nmon"
    recording.write_text("".join(linux(TEN, 60)))
    cases["host"] = ([recording], "import the logs of the jobs, too")
    aix = tmp_path / "aix.nmon"
    aix.write_text("".join(aix_recording(2, 61, began=TEN.timestamp())))
    cases["aix"] = ([tmp_path / "one", aix], "CPU times of AIX are scaled")
    for name, (paths, why) in cases.items():
        folder = tmp_path / f"run-{name}"
        folder.mkdir()
        _, run = imported(folder, *paths)
        summary = judged(StoredView(run))
        assert summary["limit"] is None and why in summary["missing"]["limit"], name


def window(**figures: float | bool | None) -> RecordedWindow:
    known: dict[str, Any] = {
        "seconds": 60.0,
        "waited": 0.8,
        "full": 0.95,
        "iowait_ratio": 0.0,
        "device": None,
        "swapping": False,
    }
    return RecordedWindow(**known | figures)


def test_a_window_is_named_by_exclusion() -> None:
    assert window().name == "cpu"
    assert window(device=0.95).name is None
    assert window(full=0.5, device=0.95).name == "storage"
    assert window(full=0.5, device=0.95, swapping=True).name is None
    assert window(full=0.5, iowait_ratio=0.25).name == "storage"
    assert window(full=0.5, device=0.5).name is None
    assert window(waited=0.1).name == "none"
    assert window(waited=None).name is None and window(full=None).name is None
