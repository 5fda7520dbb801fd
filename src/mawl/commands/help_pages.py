"""``--help`` on one screen, in groups; ``--help-all`` shows every option."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from mawl.spec.option import Option

Groups = Mapping[str, Mapping[str, str | None]]
"""By title of a group the arguments that ``--help`` shows; each with a shorter text, or None for its own."""


def groups_of(options: Iterable[Option], further: Groups) -> Groups:
    """The groups that options declare, each with those that a verb has ``further``."""
    found: dict[str, dict[str, str | None]] = {title: dict(flags) for title, flags in further.items()}
    for option in options:
        if option.group is not None:
            found.setdefault(option.group, {})[option.flag] = option.brief or None
    return found


OWN = frozenset(("--help", "--help-all", "--debug"))


class VerbParser(argparse.ArgumentParser):
    """The parser of a verb.  With ``groups``, ``--help`` shows their arguments and no others, unless
    ``everything`` is to be shown: then the others make a group of their own."""

    def __init__(
        self, *arguments: Any, groups: Groups | None = None, everything: bool = True, **named: Any
    ) -> None:
        self._texts = {flag: text for flags in (groups or {}).values() for flag, text in flags.items()}
        self._everything = everything
        super().__init__(*arguments, **named)
        self._sections: dict[str, argparse._ArgumentGroup] = {}
        for title, flags in (groups or {}).items():
            self._sections |= dict.fromkeys(flags, self.add_argument_group(title))
        if groups:
            self._others = self.add_argument_group("other options")
            self.usage = (
                f"{self.prog} [options]{''.join(f' [{flag}]' for flag in self._texts if flag.isupper())}"
            )
            self.add_argument("--help-all", action="help", help="show this and all other options")

    def add_argument(self, *flags: Any, **named: Any) -> argparse.Action:
        """As :meth:`argparse.ArgumentParser.add_argument`; the argument goes to its group."""
        name = flags[0] if flags[0].startswith("-") else named.get("metavar", flags[0])
        name = next((flag for flag in flags if flag.startswith("--")), name)
        if not self._texts or name in OWN:
            return super().add_argument(*flags, **named)
        if not self._everything:
            named["help"] = (self._texts[name] or named["help"]) if name in self._texts else argparse.SUPPRESS
        return self._sections.get(name, self._others).add_argument(*flags, **named)
