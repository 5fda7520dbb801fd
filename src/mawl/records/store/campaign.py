"""The files of a campaign and of a qualification: ``campaign.json``, ``settings.json``, ``qualify.json``.

Each is written whole or not at all, and checked when read.  A lock shows whether a process works on it.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec

from mawl.base.errors import UnreadableRunError, UsageError
from mawl.base.units import format_instant
from mawl.records.model.campaign import (
    CAMPAIGN_FORMAT_VERSION,
    SETTING_FORMAT_VERSION,
    Campaign,
    SettingRecord,
)
from mawl.records.model.qualification import (
    ENDED_STATES,
    PHASES,
    QUALIFICATION_FORMAT_VERSION,
    Qualification,
)
from mawl.records.store.facts import Plain, decoded, from_plain, instant_of, to_plain
from mawl.records.store.files import (
    FACTS,
    LATEST,
    QUALIFICATION,
    folder_with,
    is_held,
    major,
    read_bounded,
    replace_file,
)

CAMPAIGN = "campaign.json"
CAMPAIGN_LOCK = "campaign.lock"
"""Held (flock) by who conducts the campaign, for as long as it lives."""


def write_campaign(folder: Path, record: Campaign) -> None:
    """Replace the record, in the current format; raises OSError."""
    plain = to_plain(msgspec.structs.replace(record, format_version=CAMPAIGN_FORMAT_VERSION))
    replace_file(folder / CAMPAIGN, msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")


def read_campaign(folder: Path) -> Campaign:
    """The record as it is; one whose process is gone reads as ``interrupted``.

    Raises ``UnreadableRunError`` naming the file and what is wrong with it.
    """
    path = folder / CAMPAIGN
    record = _decode_campaign(path, read_bounded(path, "name the folder of a campaign", inside=folder))
    if record.outcome == "running" and not is_conducted(folder):
        return msgspec.structs.replace(
            record, outcome="interrupted", reason="the campaign process was killed"
        )
    return record


def _decode_campaign(path: Path, content: bytes) -> Campaign:
    try:
        plain = decoded(content)
        version = plain.get("format_version") if isinstance(plain, dict) else None
        newer = major(version) > major(CAMPAIGN_FORMAT_VERSION) if isinstance(version, str) else False
        if newer:
            raise UnreadableRunError(
                f"was written in format {str(version)[:40]}, and this mawl knows {CAMPAIGN_FORMAT_VERSION}",
                where=str(path),
                cure="read it with the mawl that wrote it, or upgrade this one",
            )
        record = from_plain(plain, Campaign)
        _check_campaign(record)
    except ValueError as error:
        raise UnreadableRunError(
            "is no record of a campaign",
            where=str(path),
            why=str(error),
            cure="its runs are whole: mawl report and mawl compare read each run folder next to it",
        ) from None
    return record


def _check_campaign(record: Campaign) -> None:
    """What a schema cannot say: slots name arms, in order, and folders inside the campaign's."""
    names = [arm.name for arm in record.arms]
    if len(set(names)) < len(names):
        raise ValueError("two arms have one name - at `$.arms`")
    for arm in record.arms:
        problem = arm.setting.problem() if arm.setting is not None else None
        if problem is not None:
            raise ValueError(f"the setting of arm {arm.name[:40]!r}: {problem[0]} {problem[1]}")
    places = [(f"at `$.slots[{place}]`", place + 1, slot) for place, slot in enumerate(record.slots)]
    if record.warm_up is not None:
        places.append(("at `$.warm_up`", 0, record.warm_up))
    for at, position, slot in places:
        if slot.arm not in names:
            raise ValueError(f"no arm is called {slot.arm[:40]!r} - {at}")
        if slot.position != position:
            raise ValueError(f"expected position {position}, found {slot.position} - {at}")
        for folder in (*slot.interrupted, *([slot.folder] if slot.folder is not None else [])):
            if folder in ("", ".", "..") or "/" in folder or "\0" in folder:
                raise ValueError(f"{folder[:40]!r} is no folder inside the campaign's - {at}")
        if slot.state == "finished" and slot.folder is None:
            raise ValueError(f"a finished run without a folder - {at}")


def is_conducted(folder: Path) -> bool:
    """Whether a living process holds the campaign's lock."""
    return is_held(folder, CAMPAIGN_LOCK)


def campaign_folder(name: str, runs: Path) -> Path | None:
    """The folder of a campaign that a path, or a name in ``runs``, means; None for anything else."""
    return folder_with(CAMPAIGN, name, runs)


def locate_campaign(name: str, runs: Path) -> Path:
    """As ``campaign_folder``; ``UsageError`` where it is none."""
    folder = campaign_folder(name, runs)
    if folder is None:
        raise UsageError(
            "is no campaign",
            where=name or "an empty name",
            why=f"it has no {CAMPAIGN}",
            cure="name the folder that mawl run --repeat, --ab, --smt, --scaling or --find-sessions, or mawl "
            "tune search, made",
        )
    return folder.resolve()


def ended_runs(record: Campaign | Qualification) -> list[str]:
    """Names of the folders of runs that came to their end, in order; those of a qualification lie in runs.

    The disturbed runs of a qualification, which count in nothing, came to their end, too.
    """
    if isinstance(record, Qualification):
        return [run.name for run in record.runs if run.state in ENDED_STATES]
    return [slot.folder for slot in record.slots if slot.state == "finished" and slot.folder is not None]


def places_of(word: str, runs: Path) -> list[str]:
    """The runs that a word means: a run itself, the runs of a campaign, or those directly in a directory.

    Raises ``UsageError`` for a directory without runs, and what ``runs_of_one_arm``
    raises; whether a single run exists is not checked.
    """
    named = _named(word, runs)
    found = _single_runs(Path(word)) if named is None else named
    if not found:
        raise _no_runs(word)
    return found


class FoundRuns(msgspec.Struct, frozen=True, kw_only=True):
    """``named`` are runs that the user named, ``searched`` those that a search of a directory found.

    ``damaged`` has the error of each campaign in such a directory whose record cannot be read.
    """

    named: list[str] = []
    searched: list[str] = []
    damaged: list[UnreadableRunError] = []


def runs_and_campaigns(word: str, runs: Path) -> FoundRuns:
    """As ``places_of``; the finished runs of campaigns in a directory count, too.

    The measured runs of qualifications count in a directory that holds nothing else: their load is another.
    """
    named = _named(word, runs)
    if named is not None:
        return FoundRuns(named=named)
    found, damaged = _single_runs(Path(word)), []
    for folder in (path.parent for path in sorted(Path(word).glob(f"*/{CAMPAIGN}"))):
        if folder.name == LATEST:
            continue
        try:
            finished = ended_runs(read_campaign(folder))
        except UnreadableRunError as error:
            damaged.append(error)
            continue
        if finished:
            found += [str(run) for run in runs_of_one_arm(folder)]
    qualified = [] if found else sorted(Path(word).glob(f"*/{QUALIFICATION}"))
    for record in qualified:
        try:
            found += measured_runs(record.parent)
        except UnreadableRunError as error:
            damaged.append(error)
    if not found and not damaged:
        raise _no_runs(word)
    return FoundRuns(searched=found, damaged=damaged)


def _named(word: str, runs: Path) -> list[str] | None:
    """The runs of a campaign or qualification, or a run itself; None for a directory to be searched."""
    campaign = campaign_folder(word, runs)
    if campaign is not None:
        return [str(place) for place in runs_of_one_arm(campaign)]
    qualified = qualification_folder(word, runs)
    if qualified is not None:
        return measured_runs(qualified) or [word]
    folder = Path(word)
    searched = word != LATEST and folder.is_dir() and not (folder / FACTS).is_file()
    return None if searched else [word]


def _single_runs(folder: Path) -> list[str]:
    found = sorted(facts.parent for facts in folder.glob(f"*/{FACTS}") if facts.parent.name != LATEST)
    return [str(place) for place in found]


def _no_runs(word: str) -> UsageError:
    return UsageError(
        "is neither a run nor a folder of runs", where=word, cure="name a run folder, or one that holds some"
    )


def measured_runs(folder: Path) -> list[str]:
    """The measured runs of a qualification that count.  Raises ``UnreadableRunError``."""
    return [str(folder / run.folder) for run in read_qualification(folder).runs_for("measured")]


def runs_of_one_arm(folder: Path) -> list[Path]:
    """The finished runs of a campaign that varies nothing; attempts that were interrupted are left out.

    Raises ``UsageError`` where arms differ or no run is finished, and what
    ``read_campaign`` raises.
    """
    record = read_campaign(folder)
    if len(record.arms) > 1:
        raise UsageError(
            f"holds runs of {len(record.arms)} arms, which are not one side",
            where=str(folder),
            why=f"it was made by {'mawl tune search' if record.kind == 'search' else f'--{record.kind}'}",
            cure=f"mawl report {shlex.quote(str(folder))} compares its arms, or name run folders of one arm",
        )
    runs = [folder / name for name in ended_runs(record)]
    if not runs:
        raise UsageError(
            "has no finished run yet",
            where=str(folder),
            cure=f"mawl report {shlex.quote(str(folder))} says how far it came",
        )
    return runs


SETTINGS = "settings.json"
OUTPUTS = "settings"
"""The folder with what each command printed."""


def write_settings(folder: Path, record: SettingRecord) -> None:
    """Replace the record; raises OSError."""
    replace_file(folder / SETTINGS, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def read_settings(folder: Path) -> SettingRecord | None:
    """The record; None where no arm of the campaign had a setting.

    Raises ``UnreadableRunError`` naming the file and what is wrong with it.
    """
    path = folder / SETTINGS
    if not path.exists():
        return None
    try:
        plain = decoded(read_bounded(path, "name the folder of a campaign", inside=folder))
        record = msgspec.convert(plain, SettingRecord)
        if major(record.format_version) > major(SETTING_FORMAT_VERSION):
            raise ValueError(f"it is of format {record.format_version[:40]}, newer than this mawl's")
        problem = record.changed.setting.problem() if record.changed is not None else None
        if problem is not None:
            raise ValueError(f"{problem[0]} {problem[1]} - at `$.changed.setting`")
    except ValueError as error:
        raise UnreadableRunError(
            "is no record of changed settings",
            where=str(path),
            why=str(error),
            cure="campaign.json has the commands of each arm: undo by hand what may still be changed",
        ) from None
    return record


QUALIFICATION_LOCK = "qualify.lock"
"""Held (flock) by the process that makes the qualification, for as long as it lives."""


def plain_qualification(record: Qualification) -> Plain:
    """The record as plain data, with every point in time as text."""
    plain = to_plain(msgspec.structs.replace(record, format_version=QUALIFICATION_FORMAT_VERSION))
    for phase in plain["phases"]:
        if phase["began_at"] is not None:
            phase["began_at"] = format_instant(phase["began_at"])
    return plain


def encode_qualification(record: Qualification) -> bytes:
    """The record as the bytes of its file, in the current format."""
    return msgspec.json.format(msgspec.json.encode(plain_qualification(record)), indent=2) + b"\n"


def write_qualification(folder: Path, record: Qualification) -> None:
    """Replace the record; raises OSError."""
    replace_file(folder / QUALIFICATION, encode_qualification(record))


def read_qualification(folder: Path) -> Qualification:
    """The record as it is; one whose process has ended before its work reads as ``interrupted``.

    Raises ``UnreadableRunError`` naming the file and what is wrong with it.
    """
    path = folder / QUALIFICATION
    record = decode_qualification(
        path, read_bounded(path, "name the folder of a qualification", inside=folder)
    )
    if record.outcome == "running" and not is_worked_on(folder):
        return msgspec.structs.replace(record, outcome="interrupted", reason="its process was killed")
    return record


def decode_qualification(path: Path, content: bytes) -> Qualification:
    """The record from the bytes of its file; raises as ``read_qualification``."""
    try:
        plain = decoded(content)
        version = plain.get("format_version") if isinstance(plain, dict) else None
        newer = major(version) > major(QUALIFICATION_FORMAT_VERSION) if isinstance(version, str) else False
        if newer:
            raise UnreadableRunError(
                f"was written in format {str(version)[:40]}, and this mawl knows "
                f"{QUALIFICATION_FORMAT_VERSION}",
                where=str(path),
                cure="read it with the mawl that wrote it, or upgrade this one",
            )
        if isinstance(version, str) and major(version) < major(QUALIFICATION_FORMAT_VERSION):
            raise UnreadableRunError(
                f"was written in format {version[:40]}: its answer is of an older definition",
                where=str(path),
                cure="read its answer.html or answer.md, and qualify the system again with this mawl",
            )
        record = from_plain(_phases_in_seconds(plain), Qualification)
        _check_qualification(record)
    except ValueError as error:
        raise UnreadableRunError(
            "is no record of a qualification",
            where=str(path),
            why=str(error),
            cure="its runs are whole: mawl report reads each run folder below runs",
        ) from None
    return record


def _phases_in_seconds(plain: object) -> object:
    phases = plain.get("phases") if isinstance(plain, dict) else None
    if not isinstance(plain, dict) or not isinstance(phases, list):
        return plain
    made = [
        {**phase, "began_at": instant_of("began_at", phase["began_at"])}
        if isinstance(phase, dict) and phase.get("began_at") is not None
        else phase
        for phase in phases
    ]
    return {**plain, "phases": made}


def _check_qualification(record: Qualification) -> None:
    """What a schema cannot say: every phase once and in order, folders inside the qualification's."""
    if tuple(phase.name for phase in record.phases) != PHASES:
        raise ValueError(f"expected the phases {', '.join(PHASES)} - at `$.phases`")
    folders = [run.folder for run in record.runs]
    for place, run in enumerate(record.runs):
        parts = run.folder.split("/")
        if run.folder in folders[:place]:
            raise ValueError(f"{run.folder[:40]!r} is the folder of two runs - at `$.runs[{place}]`")
        if parts[0] != "runs" or len(parts) != 2 or parts[1] in ("", ".", "..") or "\0" in run.folder:
            raise ValueError(f"{run.folder[:40]!r} is no folder below runs - at `$.runs[{place}]`")


def is_worked_on(folder: Path) -> bool:
    """Whether a living process holds the qualification's lock."""
    return is_held(folder, QUALIFICATION_LOCK)


def qualification_folder(name: str, runs: Path) -> Path | None:
    """The folder of a qualification that a path, or a name in ``runs``, means; None for anything else."""
    return folder_with(QUALIFICATION, name, runs)


def locate_qualification(name: str, runs: Path) -> Path:
    """As ``qualification_folder``; raises ``UsageError`` for anything else."""
    folder = qualification_folder(name, runs)
    if folder is None:
        raise UsageError(
            "is no qualification",
            where=name or "an empty name",
            why=f"it has no {QUALIFICATION}",
            cure="name the folder that mawl qualify made",
        )
    return folder.resolve()
