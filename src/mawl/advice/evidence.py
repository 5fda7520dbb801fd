"""What every rule works from: a stored run, its summary and its windows; and what a rule says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from mawl.analysis.missing import NO_FOLDER
from mawl.analysis.moments import Moment
from mawl.analysis.series import Samples
from mawl.analysis.timeline import Timeline
from mawl.analysis.windows import Windows
from mawl.model.options import ROLES, Role
from mawl.model.records import JobRecord
from mawl.model.run import RunFacts, VolumeFacts

Severity = Literal["invalid", "preliminary", "remark"]
"""What a finding makes of a run: not to be used, not to be published, or nothing (to be known)."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A stored run, read once; ``windows`` and ``samples`` are None where it has none.

    ``line`` says when its jobs ran.  ``stride`` is that of its :class:`~mawl.store.Run`: how many samples
    stand behind each.
    """

    facts: RunFacts
    jobs: list[JobRecord]
    summary: dict[str, Any]
    samples: Samples | None = None
    windows: Windows | None = None
    line: Timeline | None = None
    moments: list[Moment] = []
    stride: int = 1

    @property
    def active(self) -> list[Moment]:
        """The windows of the active phase."""
        return [moment for moment in self.moments if moment.active]

    @property
    def why_no_course(self) -> str | None:
        """Why nothing is known of the run's course in time; None where it has samples and a length."""
        if self.samples is None:
            return self.damage or "the run holds no samples"
        return None if self.windows is not None else "no job has a start and an end"

    @property
    def damage(self) -> str | None:
        """What is wrong with the file of the samples, where it is there and cannot be read."""
        why = self.summary["missing"].get("recorded.samples")
        return None if why is None or why == NO_FOLDER else f"the samples are damaged: {why}"

    def volumes(self, role: Role) -> list[VolumeFacts]:
        """What holds the directories of a role."""
        return [volume for volume in self.facts.volumes if volume.role == role]

    def network_roles(self) -> set[Role]:
        """Roles of which the storage is another machine's."""
        return {role for role in ROLES if any(volume.network for volume in self.volumes(role))}

    def mean(self, figure: Callable[[Moment], float | None]) -> float | None:
        """The mean of a figure over the active phase, windows by their length; None where none has it."""
        return weighted_mean([(figure(moment), moment.seconds) for moment in self.active])


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule found: a sentence with the figures it used, and what to do about it."""

    rule: str
    severity: Severity
    sentence: str
    cure: str


class Unmeasured(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that is neither met nor broken, since the run lacks its figure, and why it does.

    ``severity`` is what that makes of a run: no pass (preliminary), or a remark.
    """

    rule: str
    severity: Severity
    reason: str


def weighted_mean(values: Sequence[tuple[float | None, float]]) -> float | None:
    """The mean of what is known, by weight."""
    known = [(value, weight) for value, weight in values if value is not None and weight > 0]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None
