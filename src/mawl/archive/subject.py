"""What the rules of ``mawl validate`` judge (a pack, or the folder of runs), and what a rule is.

A pack is opened safely; a run, campaign or qualification is read in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from mawl.archive.container import (
    LARGEST_TEXT_BYTES,
    MANIFEST,
    PRINTED,
    RECORDS,
    RUNS,
    SIGNATURES,
    Member,
    PackKind,
    extract,
    read_member,
    read_members,
)
from mawl.archive.manifest import PackManifest, decode_manifest
from mawl.archive.packing import PrintedRun, read_record, run_folders
from mawl.base.errors import MawlError
from mawl.records.model.campaign import Campaign
from mawl.records.model.qualification import Qualification


class Pack:
    """The outside of a pack: its members, its manifest and its signature."""

    def __init__(self, path: Path) -> None:
        """Raises ``UnreadableRunError`` where the file is no pack."""
        self.path = path
        self.members: dict[str, Member] = {member.name: member for member in read_members(path)}
        self.manifest_bytes = self.read(MANIFEST)
        self.manifest: PackManifest = decode_manifest(self.manifest_bytes, str(path))

    def read(self, name: str) -> bytes:
        """A member as a whole; UnreadableRunError where it is too large."""
        return read_member(self.path, self.members[name], LARGEST_TEXT_BYTES)

    @property
    def signature(self) -> tuple[str, bytes] | None:
        found = next((name for name in SIGNATURES if name in self.members), None)
        return None if found is None else (found, self.read(found))


class ValidationSubject:
    """``runs`` are the folders of the runs by name; ``pack`` is None for a folder.

    ``place`` is the folder of the campaign or qualification, None for a single run.

    ``printed`` says of a pack's run what was printed of it: member's last name to its bytes.  ``signers`` is
    the reader's file of keys.
    """

    def __init__(
        self,
        name: str,
        runs: Mapping[str, Path],
        *,
        pack: Pack | None = None,
        kind: PackKind = "run",
        place: Path | None = None,
        signers: Path | None = None,
    ) -> None:
        self.name, self.folders, self.pack, self.signers = name, dict(runs), pack, signers
        self.kind, self.place = kind, place

    @property
    def runs(self) -> dict[str, PrintedRun]:
        return {name: run for name, run in self._all.items() if isinstance(run, PrintedRun)}

    @property
    def unreadable(self) -> dict[str, MawlError]:
        return {name: why for name, why in self._all.items() if isinstance(why, MawlError)}

    @cached_property
    def _all(self) -> dict[str, PrintedRun | MawlError]:
        found: dict[str, PrintedRun | MawlError] = {}
        member = RECORDS[self.kind]
        there = self.pack is not None and member in self.pack.members
        record = (member, self.pack.read(member)) if self.pack is not None and there else None
        for name, folder in self.folders.items():
            try:
                found[name] = PrintedRun(folder, record)
            except MawlError as error:
                found[name] = error
        return found

    @cached_property
    def record(self) -> Campaign | Qualification | None:
        """What the runs are of; None for a single run.  Raises UnreadableRunError."""
        return None if self.place is None else read_record(self.place, self.kind)

    @property
    def answering(self) -> dict[str, PrintedRun]:
        """The runs that a result rests on: of a qualification neither calibrations nor disturbed runs."""
        if not isinstance(self.record, Qualification):
            return self.runs
        rests = {
            run.name
            for run in self.record.runs
            if run.state == "finished" and run.purpose in ("measured", "search", "one-node")
        }
        return {name: run for name, run in self.runs.items() if name in rests}

    def printed(self, run: str) -> dict[str, bytes]:
        """What the pack printed of a run; nothing for a folder."""
        if self.pack is None:
            return {}
        place = f"{PRINTED}/{run}/"
        return {
            name.removeprefix(place): self.pack.read(name)
            for name in self.pack.members
            if name.startswith(place)
        }


def pack_subject(path: Path, folder: Path, signers: Path | None = None) -> ValidationSubject:
    """A pack whose runs are extracted into a folder.  Raises ``UnreadableRunError`` if it is not a pack."""
    pack = Pack(path)
    extract(path, list(pack.members.values()), folder, _place)
    return ValidationSubject(
        path.name,
        {name: folder / RUNS / name for name in pack.manifest.runs},
        pack=pack,
        kind=pack.manifest.kind,
        place=folder if RECORDS[pack.manifest.kind] else None,
        signers=signers,
    )


def run_subject(folder: Path) -> ValidationSubject:
    """A run folder in its place."""
    return ValidationSubject(folder.name, {folder.name: folder})


def record_subject(folder: Path, kind: PackKind) -> ValidationSubject:
    """A campaign or qualification in its place, with its ended runs.  Raises UnreadableRunError."""
    record = read_record(folder, kind)
    return ValidationSubject(folder.name, run_folders(folder, record), kind=kind, place=folder)


def _place(name: str) -> str | None:
    """Where a member goes below the folder: runs and the record of them only."""
    return name if name.startswith(f"{RUNS}/") or name in RECORDS.values() else None


State = Literal["passed", "failed", "not known", "not asked"]
"""``not asked``: the rule is about packs, or about something that this one does not have."""


WITHOUT_RUNS = frozenset({1, 2, 3, 27})
"""Rules about the files of a subject, which say the same where a run cannot be read."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a rule found; ``known`` is False where it could not look."""

    where: str
    sentence: str
    cure: str
    known: bool = True


class ValidationRule(msgspec.Struct, frozen=True, kw_only=True):
    """``number`` never changes and is never used again; ``shows`` is what a pass shows, ``limits`` what not.

    ``check`` yields faults; None says that the rule is not asked of such a subject.  A rule ``of_packs`` is
    asked of packs alone.
    """

    number: int
    name: str
    title: str
    shows: str
    limits: str
    check: Callable[[ValidationSubject], Iterable[Fault] | None]
    of_packs: bool = False

    @property
    def label(self) -> str:
        """``V04``, as reports and pages call the rule."""
        return f"V{self.number:02}"


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a rule."""

    rule: str
    name: str
    title: str
    state: State
    faults: list[Fault] = []


def ruling(rule: ValidationRule, subject: ValidationSubject) -> Ruling:
    """Ask a rule."""
    try:
        found = None if rule.of_packs and subject.pack is None else rule.check(subject)
        faults = [] if found is None else list(found)
    except MawlError as error:  # a table that cannot be read, which V01 need not have read
        cure = "copy it again from where it was made"
        found = faults = [Fault(where=subject.name, sentence=str(error), cure=cure)]
    if found is not None and not faults and rule.number not in WITHOUT_RUNS:
        faults = [_not_read(name) for name in subject.unreadable]
    state: State = "passed"
    if found is None:
        state = "not asked"
    elif faults:
        state = "failed" if any(fault.known for fault in faults) else "not known"
    return Ruling(rule=rule.label, name=rule.name, title=rule.title, state=state, faults=faults)


def _not_read(run: str) -> Fault:
    return Fault(
        where=run,
        sentence="the run cannot be read, so the rule is not known",
        cure="mend what V01 found, then validate again",
        known=False,
    )
