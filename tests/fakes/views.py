"""Views and summaries of runs that are in no folder, from their parts; summaries as they are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_origin

import msgspec

from mawl.advice import judge as judging
from mawl.advice.bounds import AnswerBounds
from mawl.figures.io import DeviceBytes
from mawl.figures.series import RunSamples
from mawl.figures.view import RunView
from mawl.records.model.fields import Place, place
from mawl.records.model.node import ArrayStatistics
from mawl.records.model.probe import Probe
from mawl.records.model.records import EventRecord, JobRecord
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.summary import Judged, Summary
from tests.fakes.stored_run import facts

BARE = RunView(facts(), [])
"""The view of a run of no records, for reports of a summary alone."""


def plain(record: object) -> dict[str, Any]:
    """A record of a summary by the names of its JSON."""
    found: dict[str, Any] = msgspec.to_builtins(record)
    return found


def as_summary(of: Mapping[str, Any]) -> Summary:
    """What was printed as a record, without a judgement where it has none."""
    return msgspec.convert(of, Judged if of.get("validity") else Summary)


def typed(of: Mapping[str, Any]) -> Judged:
    """What was printed as a judged summary."""
    return msgspec.convert(of, Judged)


def partly(of: Mapping[str, Any]) -> Judged:
    """A summary of which only these figures are known; all others are None, lists are empty."""
    found: Judged = _made(place(Judged), of)
    return found


def _made(here: Place, value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return value
    if value is None and (here.nullable or not (here.many or list(here.inside()))):
        return None
    if value is None:
        value = [] if get_origin(here.kind) is list else {}
    if here.many:
        (member,) = here.inside()
        if isinstance(value, list):
            return [_made(member, one) for one in value]
        return {name: _made(member, one) for name, one in value.items()}
    fields = {one.path[-1]: one for one in here.inside()}
    if not fields:
        return value
    assert value.keys() <= fields.keys(), value.keys() - fields.keys()
    return here.kind(**{name: _made(one, value.get(name)) for name, one in fields.items()})


def summary_of(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    rows: Mapping[str, int] | None = None,
    samples: RunSamples | None = None,
    events: Sequence[EventRecord] = (),
    probe: Probe | str | None = None,
    moved: DeviceBytes | None = None,
    arrays: ArrayStatistics | str | None = None,
) -> dict[str, Any]:
    """The summary of a run of these parts, not judged."""
    view = RunView(facts, jobs, samples, events=events, rows=rows, probe=probe, moved=moved, arrays=arrays)
    return plain(view.summary)


def judged(view: RunView, bounds: AnswerBounds | None = None) -> dict[str, Any]:
    """The judged summary of a run."""
    return plain(judging.judged(view, bounds))


def judge(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    of: Mapping[str, Any],
    samples: RunSamples | None = None,
    bounds: AnswerBounds | None = None,
    events: Sequence[EventRecord] = (),
    probe: Probe | None = None,
) -> dict[str, Any]:
    """The summary ``of``, which may have been changed, with its judgement."""
    view = RunView(facts, jobs, samples, events=events, probe=probe)
    view.summary = msgspec.convert(of, Summary)
    return judged(view, bounds)
