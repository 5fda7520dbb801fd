"""Settings of the system that changed from one side to the other, with what a profile says of each."""

from __future__ import annotations

import msgspec


class CitedSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting with another value on each side; values are text, with their unit.

    ``default`` and what follows is null where no compared profile names the setting, or its source does not
    print it.  ``state`` says whether the candidate's value is the recommended one.
    """

    name: str
    subject: str
    node: str
    reference: str
    candidate: str
    default: str | None = None
    recommended: str | None = None
    state: str | None = None
    why: str | None = None
    profile: str | None = None
    source: str | None = None


class CitedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What changed, and how many settings did not change (``left``), or are unknown on a side.

    ``before`` and ``after`` are what was compared: the first run of each side, or two collections.
    """

    before: str
    after: str
    nodes: list[str]
    changed: list[CitedSetting]
    left: int
    not_checked: int
