"""Making a pack of a run or of a campaign's finished runs."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.archive.container import summed, write_pack
from mawl.archive.folder import content_of, files_of
from mawl.archive.layout import CAMPAIGN, MANIFEST, PRINTED, RUNS, is_name
from mawl.archive.manifest import (
    Division,
    MemberSum,
    PackManifest,
    Redaction,
    SubmitterStatement,
    encoded,
)
from mawl.archive.printed import PrintedRun
from mawl.archive.redaction import PrivateNames, names_of, redacted_folder, redacted_json
from mawl.archive.signing import sign
from mawl.errors import UnsuitableMachineError, UsageError
from mawl.model.run import RunFacts
from mawl.spec.toml import load
from mawl.store.campaign import finished_runs, read_campaign
from mawl.store.facts import read_facts
from mawl.store.files import replacing
from mawl.store.reading import open_run, runner_lives
from mawl.version import __version__, source_sha256


class PackRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to pack: a run folder, or a ``campaign`` with its runs; ``key`` signs it."""

    folder: Path
    campaign: bool
    division: Division = "closed"
    redact: Sequence[Redaction] = ()
    statement: SubmitterStatement = SubmitterStatement()
    key: Path | None = None


def read_statement(path: Path) -> SubmitterStatement:
    """A statement from TOML; :class:`~mawl.errors.InvalidFileError` where it is none."""
    return load(path, SubmitterStatement)


def pack(request: PackRequest, output: Path) -> PackManifest:
    """Write a pack, whole or not at all; equal folders and requests give equal bytes.

    Raises :class:`~mawl.errors.UsageError` for a run that cannot be packed, UnreadableRunError for one that
    cannot be read, and :class:`~mawl.errors.UnsuitableMachineError` where the file cannot be written.
    """
    folders = _runs_of(request)
    facts = {name: _packable(folder) for name, folder in folders.items()}
    made_by = read_campaign(request.folder) if request.campaign else None
    names = names_of(facts.values(), request.redact, campaign=made_by)
    with tempfile.TemporaryDirectory(prefix="mawl-pack-") as place:
        members: dict[str, bytes | Path] = {}
        packed: list[str] = []
        record = _campaign(request.folder, names) if request.campaign else None
        for name, folder in folders.items():
            shown = names.replaced(name)
            source = folder if not names.words else Path(place) / RUNS / str(len(packed))
            if source != folder:
                redacted_folder(folder, source, names)
            members |= {f"{RUNS}/{shown}/{file}": source / file for file in files_of(source)}
            printed = PrintedRun(source, record).files()
            members |= {f"{PRINTED}/{shown}/{file}": content for file, content in printed.items()}
            packed.append(shown)
        if record is not None:
            members[CAMPAIGN] = record
        return _write(request, output, packed, members)


def _runs_of(request: PackRequest) -> dict[str, Path]:
    """Name in the pack to folder, in order."""
    if not request.campaign:
        folder = request.folder
        name = folder.name if is_name(folder.name) else read_facts(folder)[0].run_id
        return {name: folder}
    record = read_campaign(request.folder)
    if record.outcome == "running":
        raise UsageError("is not finished", where=str(request.folder), cure="pack it when it is")
    finished = finished_runs(record)
    if not finished:
        raise UsageError(
            "has no finished run", where=str(request.folder), cure="mawl report says how far it came"
        )
    return {name: request.folder / name for name in finished}


def _packable(folder: Path) -> RunFacts:
    if runner_lives(folder):
        raise UsageError("is in progress", where=str(folder), cure="pack it when it has ended")
    facts = open_run(folder).facts  # a journal that a kill left becomes tables
    if facts.kind != "measured":
        what = "a forecast" if facts.kind == "simulated" else "an import of another tool's measurements"
        raise UsageError(
            f"is {what}, and a pack holds runs that mawl measured",
            where=str(folder),
            cure="pack the run that it was made from, or publish the files that were imported",
        )
    return facts


def _campaign(folder: Path, names: PrivateNames) -> bytes:
    content = content_of(folder, CAMPAIGN)
    return redacted_json(content, names) if names.words else content


def _write(
    request: PackRequest, output: Path, runs: list[str], members: dict[str, bytes | Path]
) -> PackManifest:
    try:
        sums = {}
        for name, content in members.items():
            size, _, sha256 = summed(content)
            sums[name] = MemberSum(bytes=size, sha256=sha256)
        manifest = PackManifest(
            kind="campaign" if request.campaign else "run",
            division=request.division,
            mawl_version=__version__,
            source_sha256=source_sha256(),
            runs=runs,
            redacted=sorted(set(request.redact)),
            statement=request.statement,
            members=sums,
        )
        listed = encoded(manifest)
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
