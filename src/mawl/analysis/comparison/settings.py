"""Settings of the system that changed from one side to the other, with what a profile says of each."""

from __future__ import annotations

import msgspec


class CitedSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting with another value on each side; values are text, with their unit.

    ``default`` and the fields after it are null if no compared profile names the setting, or if its source
    does not print them.  ``state`` says whether the candidate's value is the recommended one.
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
    """The settings that changed.

    ``left`` counts those that did not change, ``not_checked`` those that are unknown on one side or both.
    ``before`` and ``after`` name what was compared: the first run of each side, or two collections.
    """

    before: str
    after: str
    nodes: list[str]
    changed: list[CitedSetting]
    left: int
    not_checked: int
