"""``[setting]`` of a file of ``--ab``: what an arm changes outside mawl (docs/design/arm-settings.md)."""

from __future__ import annotations

import msgspec

from mawl.printable import printable

DEFAULT_SECONDS = 60.0
MOST_SECONDS = 3600.0
LONGEST_NAME, LONGEST_COMMAND, LONGEST_EXPECTED = 80, 4096, 200


class ArmSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Each command is text for sh.

    ``check`` ends with 0, and prints ``expect`` where there is one, as long as the setting is what the arm
    asks for.  ``before`` makes it so, ``after`` undoes that; an arm without both only checks.  ``seconds`` is
    how long each command may take.
    """

    name: str
    check: str
    before: str | None = None
    after: str | None = None
    expect: str | None = None
    seconds: float = DEFAULT_SECONDS

    def problem(self) -> tuple[str, str] | None:
        """The key that is wrong and what is wrong with it; None where all is well."""
        for key in ("name", "check", "before", "after", "expect"):
            text = getattr(self, key)
            most = {"name": LONGEST_NAME, "expect": LONGEST_EXPECTED}.get(key, LONGEST_COMMAND)
            if text is None:
                continue
            if not text.strip():
                return key, "is empty"
            if len(text) > most:
                return key, f"has {len(text)} characters, and mawl takes {most}"
            if printable(text, "\n\t" if most == LONGEST_COMMAND else "") != text:
                return key, "holds a control character"
        if (self.before is None) != (self.after is None):
            there, lacks = ("before", "after") if self.after is None else ("after", "before")
            return lacks, f"required, because {there} is there: one makes the change, the other undoes it"
        if not 0 < self.seconds <= MOST_SECONDS:
            return "seconds", f"expected more than 0 and at most {MOST_SECONDS:g}, found {self.seconds:g}"
        return None


class SettingKeys(ArmSetting, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As a file spells it."""
