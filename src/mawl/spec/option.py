"""What is declared of an option: how its value is written, where it may stand, and its help."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from mawl.spec.forms import Form

Place = Literal["environment", "settings", "plan", "profile", "side"]
"""Besides the command line: ``MAWL_NAME``, ``mawl.toml``, a plan (``[run]`` of ``plan.toml``), a profile
(``--profile``), a side of ``--ab``."""

EVERYWHERE: tuple[Place, ...] = ("environment", "settings", "plan", "profile", "side")
PREFERRED: tuple[Place, ...] = ("environment", "settings", "plan", "side")

Group = Literal["workload", "places", "limits", "start", "campaign", "nodes"]
"""Of ``mawl run --help``, in its order."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """The declaration of a field of :class:`~mawl.spec.record.RunSpec`, of its nodes, or of a campaign.

    ``name`` is how people write it (``memory_limit``; the field carries the unit, ``memory_limit_bytes``),
    with ``-`` for ``_`` on the command line and ``MAWL_`` before it in the environment.
    """

    form: Form
    help: str = ""
    """Empty: it does not stand on the command line of ``mawl run``."""
    name: str = ""
    metavar: str | tuple[str, ...] | None = None
    places: tuple[Place, ...] = ()
    group: Group | None = None
    """Where ``mawl run --help`` shows it; None: only ``--help-all`` does."""
    brief: str = ""
    """What ``--help`` says instead of ``help``."""

    @property
    def flag(self) -> str:
        """``--memory-limit``."""
        return f"--{self.name.replace('_', '-')}"


def options_of(kind: type[msgspec.Struct]) -> dict[str, Option]:
    """Field to the option that it declares, in the order of the fields; the others are no options."""
    found: dict[str, Option] = {}
    for field, hint in get_type_hints(kind, include_extras=True).items():
        for meta in _metadata(hint):
            if isinstance(meta, Option):
                found[field] = meta if meta.name else msgspec.structs.replace(meta, name=field)
    return found


def _metadata(hint: Any) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()
