"""Views and summaries of runs that are in no folder, from their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mawl.advice import judge as judging
from mawl.advice.capacity.bounds import Bounds
from mawl.analysis.device_bytes import DeviceBytes
from mawl.analysis.series import Samples
from mawl.analysis.view import RunView
from mawl.model.probe import Probe
from mawl.model.records import EventRecord, JobRecord
from mawl.model.run import RunFacts


def summary_of(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    rows: Mapping[str, int] | None = None,
    samples: Samples | None = None,
    events: Sequence[EventRecord] = (),
    probe: Probe | str | None = None,
    moved: DeviceBytes | None = None,
) -> dict[str, Any]:
    """The summary of a run of these parts, not judged."""
    return RunView(facts, jobs, samples, events=events, rows=rows, probe=probe, moved=moved).summary


def judge(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    summary: dict[str, Any],
    samples: Samples | None = None,
    bounds: Bounds | None = None,
    events: Sequence[EventRecord] = (),
    probe: Probe | None = None,
) -> dict[str, Any]:
    """``summary``, which may have been changed, with its judgement."""
    view = RunView(facts, jobs, samples, events=events, probe=probe)
    view.summary = summary
    return judging.judged(view, bounds)
