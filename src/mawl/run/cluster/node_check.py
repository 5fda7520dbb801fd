"""Can these nodes carry one run together?  All of them are asked at once, and all faults are said at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from mawl.base.errors import MawlError, UnsuitableMachineError
from mawl.base.units import counted_noun, format_bytes, format_memory
from mawl.measure.suitability import SuitabilityCheck
from mawl.records.model.node import ClockFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.run.cluster.link import Link
from mawl.run.cluster.messages import clock_of
from mawl.run.cluster.node_facts import NodeLook
from mawl.run.cluster.remote_node import MOST_OFFSET_SECONDS
from mawl.version import __version__, source_sha256

LOOK_SECONDS = 30.0
"""For a node's answer: its Python imports what reads the machine."""
CLOCK_EXCHANGES = 4
FAR_CLOCK_SECONDS = 60.0
"""A run corrects clocks; from here on it is worth a word that a node's is not set."""
SHOWN_DIGITS = 8

Places = Mapping[Role, Sequence[str]]


class NodesCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What each node said of itself, or why it said nothing, and what is wrong; ``name`` is the node's."""

    looks: dict[str, NodeLook]
    clocks: dict[str, ClockFacts]
    unreached: dict[str, str]
    checks: list[SuitabilityCheck]

    @property
    def unfit(self) -> dict[str, str]:
        """The nodes that a run cannot begin with, and why."""
        found: dict[str, list[str]] = {}
        for check in self.checks:
            if check.status == "problem":
                found.setdefault(check.name, []).append(check.text)
        return {name: "; ".join(texts) for name, texts in found.items()}

    def lines(self) -> list[str]:
        """The table of the nodes, and a line for each thing that is wrong."""
        names = [*self.looks, *self.unreached]
        head = ("node", "host", "mawl", "Python", "user", "clock", "cores", "memory", *ROLES)
        rows = [head, *(self._row(name) for name in names)]
        widths = [max(len(row[index]) for row in rows if len(row) > 2) for index in range(len(head))]
        widths[0] = max(len(row[0]) for row in rows)
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
            for row in rows
        ]
        for check in self.checks:
            cure = f"; {check.cure}" if check.cure else ""
            lines.append(f"{check.status}: {check.name}: {check.text}{cure}")
        return lines

    def _row(self, name: str) -> Sequence[str]:
        look = self.looks.get(name)
        if look is None:
            return (name, "not reached")
        return (
            name,
            look.host,
            f"{look.mawl_version} {look.source_sha256[:SHOWN_DIGITS]}",
            look.python,
            look.user,
            f"{self.clocks[name].offset_seconds:+.3f} s",
            str(look.cores),
            format_memory(look.memory_bytes),
            *(_place(look, role) for role in ROLES),
        )


def _place(look: NodeLook, role: Role) -> str:
    found = [
        f"{system.kind or 'unknown'} {'shared' if look.is_shared(system) else 'own'} "
        f"{format_bytes(system.free_bytes)} free"
        for system in look.systems
        if role in system.roles
    ]
    return ", ".join(found) or "-"


async def check_nodes(
    link: Link, places: Mapping[str, Places], shared: Sequence[Role], now: Callable[[], float] = time.time
) -> NodesCheck:
    """Ask all nodes at once; ``places`` are each node's directories, ``shared`` roles that must be one."""
    answers = await asyncio.gather(*(_look(link, name, own, now) for name, own in places.items()))
    found = dict(zip(places, answers, strict=True))
    looks = {name: one[0] for name, one in found.items() if not isinstance(one, MawlError)}
    clocks = {name: one[1] for name, one in found.items() if not isinstance(one, MawlError)}
    errors = {name: one for name, one in found.items() if isinstance(one, MawlError)}
    checks = [
        SuitabilityCheck(name, "problem", *_sentence_and_cure(error, name)) for name, error in errors.items()
    ]
    for name, look in looks.items():
        checks += _node_checks(name, look, clocks[name])
    checks += _differences(looks, shared)
    unreached = {name: str(error) for name, error in errors.items()}
    return NodesCheck(looks=looks, clocks=clocks, unreached=unreached, checks=checks)


async def _look(
    link: Link, name: str, places: Places, now: Callable[[], float]
) -> tuple[NodeLook, ClockFacts] | MawlError:
    asked = {str(role): list(own) for role, own in places.items()}
    try:
        look = msgspec.json.decode(await link.ask(name, "look", asked, seconds=LOOK_SECONDS), type=NodeLook)
        exchanges = []
        for _ in range(CLOCK_EXCHANGES):
            sent = now()
            theirs = float(await link.ask(name, "clock", seconds=LOOK_SECONDS))
            exchanges.append((sent, theirs, now()))
        return look, clock_of(exchanges)
    except MawlError as error:
        return error
    except (msgspec.MsgspecError, TypeError, ValueError):
        return UnsuitableMachineError(
            "what it said is no answer of this mawl", where=name, cure="install the same mawl on all"
        )


def _sentence_and_cure(error: MawlError, name: str) -> tuple[str, str | None]:
    """The sentence of an error without the node's name in front, and its cure."""
    text = error.what if error.where in (None, name) else f"{error.where}: {error.what}"
    return (f"{text}: {error.why}" if error.why else text).removeprefix(f"{name}: "), error.cure


def _node_checks(name: str, look: NodeLook, clock: ClockFacts) -> Iterator[SuitabilityCheck]:
    if look.mawl_version != __version__:
        text = f"has mawl {look.mawl_version} and this machine {__version__}"
        yield SuitabilityCheck(name, "problem", text, "install the same on all")
    elif look.source_sha256 != source_sha256():
        theirs, ours = look.source_sha256[:SHOWN_DIGITS], source_sha256()[:SHOWN_DIGITS]
        text = f"has another mawl {look.mawl_version}: its source is {theirs} and that of this machine {ours}"
        yield SuitabilityCheck(name, "problem", text, "install the same on all")
    for check in look.lacking:
        yield SuitabilityCheck(name, "problem", check.text, check.cure)
    if not abs(clock.offset_seconds) <= MOST_OFFSET_SECONDS:
        yield SuitabilityCheck(name, "problem", "its clock is more than a day off", "set it (chronyd, ntpd)")
    elif abs(clock.offset_seconds) > FAR_CLOCK_SECONDS:
        text = f"its clock is {clock.offset_seconds:+.0f} s off, which the run corrects"
        yield SuitabilityCheck(name, "notice", text, "set it (chronyd, ntpd)")
    for system in look.systems:
        for place in system.unwritable:
            text = f"{look.user} cannot make or write {place}"
            yield SuitabilityCheck(name, "problem", text, "name a directory that this user may write")
    for text in look.closed:
        cure = "run as their owner, mend the mount, or name another --data"
        yield SuitabilityCheck(name, "problem", text, cure)


def _differences(looks: Mapping[str, NodeLook], shared: Sequence[Role]) -> Iterator[SuitabilityCheck]:
    """What two nodes must not have, or should not have, differently; the first node is the measure."""
    if not looks:
        return
    first, usual = next(iter(looks.items()))
    for name, look in looks.items():
        if look.uid != usual.uid and shared:
            text = f"runs as {look.user} ({look.uid}), and {first} as {usual.user} ({usual.uid})"
            cure = "files on shared directories are their owner's: name one user for all (--ssh USER@HOST)"
            yield SuitabilityCheck(name, "problem", text, cure)
        if look.python != usual.python:
            text = f"has Python {look.python}, and {first} {usual.python}: CPU times may differ"
            yield SuitabilityCheck(
                name, "notice", text, "name one with --remote-python, or a file of --hosts"
            )
        other = sorted(set(look.libraries) - set(usual.libraries))
        if other and not look.lacking:
            text = f"has {', '.join(other)}, and {first} not: CPU times may differ"
            yield SuitabilityCheck(name, "notice", text, "install the same on all")


def without_the_unfit(check: NodesCheck, names: Sequence[str], *, goes_on: bool) -> list[str]:
    """The nodes that a run begins with: all, or where it goes on without others those that can.

    Raises UnsuitableMachineError with what is wrong with each, where it does not, or none is left.
    """
    unfit = check.unfit
    fit = [name for name in names if name not in unfit]
    if not unfit or (goes_on and fit):
        return fit
    if len(check.checks) == 1 and len(names) == 1:
        (fault,) = check.checks
        raise UnsuitableMachineError(fault.text, where=fault.name, cure=fault.cure)
    cure = "mend them, or leave them out with --start-with-those-that-come"
    raise UnsuitableMachineError(
        f"{counted_noun(len(unfit), 'node')} of {len(check.looks) + len(check.unreached)} cannot take part",
        why="; ".join(f"{name}: {text}" for name, text in unfit.items()),
        cure=cure if fit else "mend them",
    )
