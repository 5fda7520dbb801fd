"""The commands that prove a placement: the same run with the roles moved, and a comparison."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.model.probe import Probe, ProbeTarget
from mawl.model.run import RunFacts
from mawl.placement.forecast import Placement
from mawl.placement.metrics import Proof
from mawl.spec.program_options import ROLES, Role

ROLE_OPTIONS = tuple(f"--{role}" for role in ROLES)
OWN_OPTIONS = ("--output", "--probe")
"""Options of the measured run that must not be given again: the new run has its own folder and volumes."""


def proof(
    facts: RunFacts,
    targets: Sequence[ProbeTarget],
    best: Placement | None,
    now: Placement | None,
    files: Mapping[str, Probe],
    called: str,
) -> Proof | None:
    """``run`` and ``compare`` as command lines; None where there is no placement to prove.

    ``called`` is how a command finds the measured run.
    """
    if best is None or now is None or all(tuple(best[role]) == tuple(now[role]) for role in ROLES):
        return None
    words = ["mawl", "run", *_given(facts)]
    for role in ROLES:
        words += [f"--{role}", *_directories(role, facts, targets, best, now)]
    reached = [targets[place] for role in ROLES for place in best[role]]
    moved = [
        targets[place] for role in ROLES if tuple(best[role]) != tuple(now[role]) for place in best[role]
    ]
    # A run holds one probe: the file with all places, else the one with all that are new.
    for wanted in (reached, moved):
        found = [name for name, probe in files.items() if all(one in probe.targets for one in wanted)]
        if found:
            words += ["--probe", found[-1]]
            break
    return Proof(run=shlex.join(words), compare=shlex.join(["mawl", "compare", called, "latest"]))


def _directories(
    role: Role, facts: RunFacts, targets: Sequence[ProbeTarget], best: Placement, now: Placement
) -> list[str]:
    """Where it lies, for a role that stays; else a directory of the role's own on each target."""
    if tuple(best[role]) == tuple(now[role]):
        return facts.roles[role]
    return [str(Path(targets[place].directory) / f"mawl-{role}") for place in best[role]]


def _given(facts: RunFacts) -> list[str]:
    """The measured run's arguments without its roles and its folder; from its facts where none were kept."""
    words = facts.command[facts.command.index("run") + 1 :] if "run" in facts.command else []
    if not words:
        workload = facts.workload
        scale = [] if workload.scale is None else ["--scale", workload.scale_name or f"{workload.scale:g}"]
        return [workload.name, *scale]
    kept: list[str] = []
    leaving_out = 0
    for word in words:
        name, _, value = word.partition("=")
        if name in ROLE_OPTIONS or name in OWN_OPTIONS:
            # --data takes all words up to the next option, --output one.
            leaving_out = 0 if value else len(words) if name in ROLE_OPTIONS else 1
        elif leaving_out and not word.startswith("-"):
            leaving_out -= 1
        else:
            leaving_out = 0
            kept.append(word)
    return kept
