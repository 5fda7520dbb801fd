"""What a rule says of a run: a finding, or that the run lacks its figure."""

from __future__ import annotations

from typing import Literal

import msgspec

Severity = Literal["invalid", "preliminary", "remark"]
"""What a finding makes of a run: not to be used, not to be published, or nothing (to be known)."""


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
