"""A workload in any number of sessions: those of its file by turns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from mawl.base.errors import UsageError
from mawl.plan.spec import JobSpec, SessionSpec, WorkloadSpec

_HERE = re.compile(r"(?<!\{)((?:\{\{)*)\{here\}")


def in_turns(spec: WorkloadSpec, sessions: int, where: str) -> WorkloadSpec:
    """The first ``sessions`` of the file's sessions, begun anew as often as it takes (``NAME-2`` and so on).

    Raises ``UsageError`` for a file whose jobs have names of their own or wait for
    named jobs, since a copy of such a session would be another plan; and for derived jobs, of which each
    ran once.
    """
    if spec.derived is not None:
        raise UsageError(
            f"{where} has no rule for another number of sessions",
            why="its jobs were derived from logs, and each of them ran once in the night",
            cure="derive a larger night with mawl derive --growth, or search with mixed20, which has a rule",
        )
    for session in spec.sessions:
        for stage in session.stages:
            for job in stage:
                if isinstance(job, JobSpec) and (job.name is not None or job.after):
                    raise UsageError(
                        f"{where} has no rule for another number of sessions",
                        why=f"session {session.name} names its jobs, or jobs to wait for",
                        cure="leave name and after out, or search with mixed20, which has a rule",
                    )
    return msgspec.structs.replace(spec, sessions=[_session(spec, number) for number in range(sessions)])


def _session(spec: WorkloadSpec, number: int) -> SessionSpec:
    turn, place = divmod(number, len(spec.sessions))
    session = spec.sessions[place]
    return session if turn == 0 else msgspec.structs.replace(session, name=f"{session.name}-{turn + 1}")


def workload_toml(spec: WorkloadSpec, here: Path | None = None) -> str:
    """A workload as the text of a file, without what is not set.

    ``here`` is where the workload came from, if the text will lie elsewhere: it stands in for ``{here}``.
    """
    plain = _without_null(msgspec.to_builtins(spec))
    return tomli_w.dumps(plain if here is None else _at_home(plain, str(here.absolute())))


def _at_home(value: Any, here: str) -> Any:
    if isinstance(value, dict):
        return {name: _at_home(one, here) for name, one in value.items()}
    if isinstance(value, list):
        return [_at_home(one, here) for one in value]
    braced = here.replace("{", "{{").replace("}", "}}")
    return _HERE.sub(lambda match: match[1] + braced, value) if isinstance(value, str) else value


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_null(one) for name, one in value.items() if one is not None}
    return [_without_null(one) for one in value] if isinstance(value, list) else value
