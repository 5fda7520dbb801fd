"""Makes a pack of a run, or of the runs of a campaign or qualification, with what mawl prints of each.

With ``--redact`` it first takes private names out of every text of the run (``archive.redaction``).  mawl
prints figures and pages from the redacted run, and makes no pack if a name is left in a file that is not a
table.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.advice.qualification.gather import answer_of
from mawl.archive.container import (
    CONTENTS,
    DISCLOSURE,
    MANIFEST,
    PRINTED,
    RECORDS,
    REPORT,
    RUNS,
    SUMMARY,
    PackKind,
    content_of,
    files_of,
    is_name,
    node_runs,
    summed,
    write_pack,
)
from mawl.archive.difference import differing_claims
from mawl.archive.manifest import (
    Division,
    MemberSum,
    PackManifest,
    Redaction,
    SubmitterStatement,
    contents_of,
    encode_manifest,
    sign,
)
from mawl.archive.redaction import (
    holds_values,
    private_names,
    private_text_left,
    private_words,
    redacted_folder,
    redacted_json,
    secrets_of,
    values_of,
)
from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.base.removal import temporary_directory
from mawl.base.units import counted_noun
from mawl.figures.view import StoredView
from mawl.figures.waits import outside_of
from mawl.records.model.campaign import Campaign
from mawl.records.model.qualification import Qualification
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.toml import load
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import (
    decode_qualification,
    encode_qualification,
    ended_runs,
    read_campaign,
    read_qualification,
)
from mawl.records.store.facts import read_facts
from mawl.records.store.files import QUALIFICATION, replacing
from mawl.records.store.reading import open_run as open_run_reading
from mawl.records.store.reading import runner_lives
from mawl.reports import json, markdown
from mawl.reports.document import rendered
from mawl.version import __version__, source_sha256


class PrintedRun:
    """A run folder with its summary, judged by mawl's default bounds without any ``mawl.toml``."""

    def __init__(self, folder: Path, record: tuple[str, bytes] | None = None) -> None:
        """``record`` is that of the campaign or qualification that the run is packed with: name and bytes.

        Raises ``UnreadableRunError`` where the folder cannot be read.
        """
        self.folder, self._record = folder, record
        self.run = open_run(folder, compacting=False)
        _ = self.run.jobs  # kept for the digests, so that the view does not read the table again
        self.view = StoredView(self.run)

    @cached_property
    def summary(self) -> Judged:
        return judged(self.view)

    @cached_property
    def nodes(self) -> dict[str, Run]:
        """The runs of the nodes of a cluster's run, by their place below its folder; none of another run.

        Raises ``UnreadableRunError`` where one cannot be read.
        """
        return node_runs(self.folder)

    def contents(self) -> str:
        found = contents_of(self.run)
        if self._record is not None:
            found.files[self._record[0]] = hashlib.sha256(self._record[1]).hexdigest()
        return json.render(found) + "\n"

    @cached_property
    def pages(self) -> dict[str, str]:
        return {
            SUMMARY: json.render(self.summary) + "\n",
            REPORT: markdown.render(self.view, self.summary) + "\n",
            DISCLOSURE: rendered(markdown.disclosure(self.view, self.summary), "markdown") + "\n",
        }

    def files(self) -> dict[str, bytes]:
        return {name: text.encode() for name, text in {CONTENTS: self.contents(), **self.pages}.items()}


MOST_NAMED = 5


class Packed(NamedTuple):
    """A pack: its manifest, and what looks private in it still, by member (``private_text_left``).

    ``renewed`` is where the answer that the folder has does not follow from its runs: the pack has theirs.
    """

    manifest: PackManifest
    left: dict[str, list[str]]
    renewed: list[str]


class PackRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to pack: a run folder, or the folder of another ``kind`` with its runs; ``key`` signs it."""

    folder: Path
    kind: PackKind = "run"
    division: Division = "closed"
    redact: Sequence[Redaction] = ()
    replace_secrets: bool = False
    statement: SubmitterStatement = SubmitterStatement()
    key: Path | None = None


def read_statement(path: Path) -> SubmitterStatement:
    """A statement from TOML; ``InvalidFileError`` where it is none."""
    return load(path, SubmitterStatement)


def pack(request: PackRequest, output: Path) -> Packed:
    """Write a pack, whole or not at all; equal folders and requests give equal bytes.

    Raises ``UsageError`` for a run that cannot be packed, UnreadableRunError for one that
    cannot be read, and ``UnsuitableMachineError`` where the file cannot be written.
    """
    folders = _runs_of(request)
    facts = {name: _packable(folder, request.division) for name, folder in folders.items()}
    made_by = None if request.kind == "run" else read_record(request.folder, request.kind)
    member = RECORDS[request.kind]
    found = secrets_of(folders.values(), [] if made_by is None else [(member, made_by)])
    if found and not request.replace_secrets:
        raise _holds_secrets(found)
    secrets = [word for words in found.values() for word in words]
    values = values_of(folders.values())
    names = private_names(
        facts.values(), request.redact, folders=folders.values(), record=made_by, secrets=secrets
    )
    with temporary_directory("mawl-pack-") as place:
        members: dict[str, bytes | Path] = {}
        sources: dict[str, Path] = {}
        left: dict[str, list[str]] = {}
        renewed: list[str] = []
        for name, folder in folders.items():
            shown = names.replaced(name)
            source = folder
            if names.changes or values.changes or holds_values(folder):
                source = place / RUNS / str(len(sources))
                redacted_folder(folder, source, names, values)
            members |= {f"{RUNS}/{shown}/{file}": source / file for file in files_of(source)}
            sources[shown] = source
            left |= {f"{RUNS}/{shown}/{file}": words for file, words in private_text_left(source).items()}
        record: tuple[str, bytes] | None = None
        if made_by is not None:
            content = content_of(request.folder, member)
            content = redacted_json(content, names) if names.changes else content
            if isinstance(made_by, Qualification):
                content, renewed = _with_own_answer(content, request.folder, sources)
            record = (member, content)
            members[member] = content
            if words := private_words(content.decode()):
                left[member] = words
        for shown, source in sources.items():
            printed = PrintedRun(source, record).files()
            members |= {f"{PRINTED}/{shown}/{file}": content for file, content in printed.items()}
        return Packed(_write_pack(request, output, list(sources), members), left, renewed)


def _with_own_answer(content: bytes, folder: Path, sources: Mapping[str, Path]) -> tuple[bytes, list[str]]:
    """The record of a qualification with the answer of the runs as they are packed, and what that changes."""
    record = decode_qualification(folder / QUALIFICATION, content)
    answer = answer_of(in_folders(record, sources), folder, AnswerBounds())
    changed = [] if record.answer is None else list(differing_claims(record.answer, answer, exact=False))
    return encode_qualification(msgspec.structs.replace(record, answer=answer)), changed


def in_folders(record: Qualification, sources: Mapping[str, Path]) -> Qualification:
    """The record with the absolute places of its runs, which are given by name."""
    runs = [
        msgspec.structs.replace(run, folder=str(source.absolute()))
        if (source := sources.get(run.name)) is not None
        else run
        for run in record.runs
    ]
    return msgspec.structs.replace(record, runs=runs)


def _holds_secrets(found: Mapping[str, Sequence[str]]) -> UsageError:
    words = [f"{word[:3]}... in {name}" for name, some in found.items() for word in some]
    more = f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return UsageError(
        f"{counted_noun(len(words), 'word')} of the run may be secret: {', '.join(words[:MOST_NAMED])}{more}",
        why="a pack is made for others",
        cure="--yes replaces each of them in the pack",
    )


def _runs_of(request: PackRequest) -> dict[str, Path]:
    if request.kind == "run":
        folder = request.folder
        name = folder.name if is_name(folder.name) else read_facts(folder).run_id
        return {name: folder}
    record = read_record(request.folder, request.kind)
    if record.outcome == "running":
        raise UsageError("is not finished", where=str(request.folder), cure="pack it when it is")
    if isinstance(record, Qualification) and record.answer is None:
        cure = f"mawl qualify --continue {shlex.quote(str(request.folder))}, then pack it"
        raise UsageError("has no answer yet", where=str(request.folder), cure=cure)
    folders = run_folders(request.folder, record)
    if not folders:
        raise UsageError(
            "has no finished run", where=str(request.folder), cure="mawl report says how far it came"
        )
    return folders


def read_record(folder: Path, kind: PackKind) -> Campaign | Qualification:
    """The record of a campaign or qualification.  Raises ``UnreadableRunError``."""
    return read_campaign(folder) if kind == "campaign" else read_qualification(folder)


def run_folders(folder: Path, record: Campaign | Qualification) -> dict[str, Path]:
    """The folders of the runs that ended, by name."""
    place = folder / RUNS if isinstance(record, Qualification) else folder
    return {name: place / name for name in ended_runs(record)}


def outside_in(division: Division, facts: RunFacts) -> list[str]:
    """What keeps a run out of a division: the open one takes any seed and options."""
    return outside_of(facts) if division == "closed" or facts.reference_file else []


def _packable(folder: Path, division: Division) -> RunFacts:
    if runner_lives(folder):
        raise UsageError("is in progress", where=str(folder), cure="pack it when it has ended")
    facts = open_run_reading(folder).facts  # a journal that a kill left becomes tables
    if facts.kind != "measured":
        what = "a forecast" if facts.kind == "simulated" else "an import of another tool's measurements"
        raise UsageError(
            f"is {what}, and a pack holds runs that mawl measured",
            where=str(folder),
            cure="pack the run that it was made from, or publish the files that were imported",
        )
    if outside := outside_in(division, facts):
        free = "" if facts.reference_file else ", or pack it with --division open"
        raise UsageError(
            f"was measured with {', '.join(outside)}",
            where=str(folder),
            why=f"a pack of the {division} division holds runs without that",
            cure=f"run it again without that{free}",
        )
    return facts


def _write_pack(
    request: PackRequest, output: Path, runs: list[str], members: dict[str, bytes | Path]
) -> PackManifest:
    try:
        sums = {}
        for name, content in members.items():
            size, _, sha256 = summed(content)
            sums[name] = MemberSum(bytes=size, sha256=sha256)
        manifest = PackManifest(
            kind=request.kind,
            division=request.division,
            mawl_version=__version__,
            source_sha256=source_sha256(),
            runs=runs,
            redacted=sorted(set(request.redact)),
            statement=request.statement,
            members=sums,
        )
        listed = encode_manifest(manifest)
        signature = () if request.key is None else (sign(listed, request.key),)
        with replacing(output, 0o666) as file:
            write_pack(file, {MANIFEST: listed, **members, **dict(signature)})
    except OSError as error:
        raise UnsuitableMachineError(
            "the pack cannot be written",
            where=str(output),
            why=(error.strerror or str(error)).lower(),
            cure="name another place with --output",
        ) from None
    return manifest
