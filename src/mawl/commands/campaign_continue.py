"""Checks that a campaign continues on its machine and in its directory, and says how to continue it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mawl.base.errors import InterruptedRunError, UsageError
from mawl.base.units import counted_noun
from mawl.commands.reporting import short_path
from mawl.measure.machine import read_machine
from mawl.records.model.campaign import Campaign, CampaignMachine
from mawl.records.model.qualification import Qualification
from mawl.version import __version__

if TYPE_CHECKING:
    from mawl.campaigns.series import Series


def this_machine() -> CampaignMachine:
    """What tells this machine from another."""
    machine = read_machine()
    return CampaignMachine(name=machine.name, cpu_model=machine.cpu_model, cores=machine.cores)


def check_place(record: Campaign | Qualification, folder: Path) -> None:
    """UsageError where a campaign was begun by an older mawl, on another machine, or in a directory that
    is gone."""
    if isinstance(record, Campaign) and record.spec is None:
        raise UsageError(
            "was begun by an older mawl, and this one cannot go on with it",
            where=str(folder),
            why=f"its record (format {record.format_version}) does not hold all options of its runs",
            cure=f"go on with mawl {record.mawl_version}, or begin a new one; mawl report reads this one",
        )
    here = this_machine()
    if isinstance(record, Campaign) and any(arm.setting is not None for arm in record.arms):
        # A setting that is still changed may have switched cores off.
        here = msgspec.structs.replace(here, cores=record.machine.cores)
    if here != record.machine:
        raise UsageError(
            "was begun on another machine",
            where=str(folder),
            why=f"it was {_words(record.machine)}, this is {_words(here)}",
            cure="continue it there, or begin a new one here",
        )
    if not Path(record.directory).is_dir():
        raise UsageError("the directory it was begun in is gone", where=record.directory)


def note_version(series: Series) -> None:
    """A remark in the record of a campaign that another version of mawl began."""
    record = series.record
    if record.mawl_version != __version__:
        remark = f"begun with mawl {record.mawl_version}, continued with {__version__}"
        series.note(remarks=[*record.remarks, remark], mawl_version=__version__)


@contextmanager
def saying_how_to_go_on(series: Series, command: str) -> Iterator[str]:
    """What goes on with the campaign, by ``command`` (``mawl run``); an interrupt in the block ends with it.

    Raises ``InterruptedRunError`` instead of KeyboardInterrupt.
    """
    again = f"{command} --continue {shlex.quote(short_path(series.folder))}"
    try:
        yield again
    except (KeyboardInterrupt, InterruptedRunError) as error:
        why = str(error) if isinstance(error, InterruptedRunError) else None
        done = sum(slot.state == "finished" for slot in series.record.slots)
        kept = f"interrupted; {counted_noun(done, 'finished run')} kept"
        raise InterruptedRunError(kept, why=why, cure=f"{again} goes on") from None


def _words(machine: CampaignMachine) -> str:
    return f"{machine.name or 'unnamed'} ({machine.cpu_model or 'unknown processor'}, {machine.cores} cores)"
