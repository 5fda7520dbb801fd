"""Makes a pack of a run or of a campaign's finished runs, with what mawl prints of each run.

With ``--redact`` it first takes private names (hosts, users, paths) out of every text of the run: facts,
plan, tables, logs.  The same name becomes the same word everywhere, so that the run reads as before.  mawl
prints figures and pages from the redacted run, and makes no pack if a name is left in a file that is not a
table.
"""

from __future__ import annotations

import getpass
import hashlib
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import pyarrow as pa

from mawl.advice.judge import judged
from mawl.archive.container import (
    CAMPAIGN,
    CONTENTS,
    DISCLOSURE,
    MANIFEST,
    PRINTED,
    REPORT,
    RUNS,
    SUMMARY,
    content_of,
    files_of,
    is_name,
    node_runs,
    summed,
    write_pack,
)
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
from mawl.base.errors import UnreadableRunError, UnsuitableMachineError, UsageError
from mawl.base.removal import temporary_directory
from mawl.figures.view import StoredView
from mawl.records.model.campaign import Campaign
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.toml import load
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import finished_runs, read_campaign
from mawl.records.store.facts import read_facts
from mawl.records.store.files import TABLES, replacing
from mawl.records.store.parquet import write_parquet
from mawl.records.store.reading import open_run as open_run_reading
from mawl.records.store.reading import runner_lives
from mawl.reports import disclosure, json, markdown
from mawl.version import __version__, source_sha256


class PrintedRun:
    """A run folder with its summary, judged by mawl's default bounds without any ``mawl.toml``."""

    def __init__(self, folder: Path, campaign: bytes | None = None) -> None:
        """``campaign`` is the record of the campaign that the run is packed with.

        Raises ``UnreadableRunError`` where the folder cannot be read.
        """
        self.folder, self._campaign = folder, campaign
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
        if self._campaign is not None:
            found.files[CAMPAIGN] = hashlib.sha256(self._campaign).hexdigest()
        return json.render(found) + "\n"

    @cached_property
    def pages(self) -> dict[str, str]:
        return {
            SUMMARY: json.render(self.summary) + "\n",
            REPORT: markdown.render(self.view, self.summary) + "\n",
            DISCLOSURE: disclosure.render(self.view, self.summary) + "\n",
        }

    def files(self) -> dict[str, bytes]:
        return {name: text.encode() for name, text in {CONTENTS: self.contents(), **self.pages}.items()}


KEPT_COLUMNS = frozenset({"event", "kind", "outcome", "program_class"})
"""Columns whose words are the format's."""
_MOUNT_IN_SERIES = re.compile(r"/.*(?=\.)")
"""The mount point in a name such as ``mount./srv/project.read_bytes``; all other words are the format's."""
_PUBLIC_PATHS = frozenset(
    {"/", "/tmp", "/var", "/home", "/mnt", "/root", "/dev/shm", "/usr", "/opt", "/srv", "/sys", "/sys/fs"}
    | {f"/sys/fs/cgroup{mount}" for mount in ("", "/blkio", "/unified")}
)
_CONTROL_GROUP = re.compile(
    r"(/sys/fs/cgroup/[^\s:]+?)(?:/io\.max|/blkio\.throttle\.\w+|/cgroup\.controllers)?(?=[\s:]|$)"
)
"""The directory of a control group, whose name is often that of a project or user."""


class PrivateNames:
    """Private names and the words that replace them."""

    def __init__(self, words: dict[str, str]) -> None:
        """``words``: private name to the word that replaces it."""
        self.words = words
        longest = sorted(words, key=lambda word: (-len(word), word))
        paths, others = (
            "|".join(re.escape(word) for word in longest if word.startswith("/") is wanted)
            for wanted in (True, False)
        )
        # A path may stand behind anything. Another name is a word by itself, also in one with hyphens, as in
        # the id of a node's run.
        parts = [f"(?:{paths})" * bool(paths), rf"(?<!\w)(?:{others})" * bool(others)]
        either = "|".join(part for part in parts if part)
        self._found = re.compile(rf"(?:{either})(?!\w)") if words else None

    def replaced(self, text: str) -> str:
        return self._found.sub(lambda found: self.words[found[0]], text) if self._found else text

    def left(self, text: str) -> str | None:
        """The first private name that a text still has."""
        found = self._found.search(text) if self._found else None
        return found[0] if found else None


def private_names(
    facts: Iterable[RunFacts],
    wanted: Sequence[Redaction],
    *,
    campaign: Campaign | None = None,
    user: str | None = None,
) -> PrivateNames:
    """The private names of runs and of their campaign; ``user`` defaults to the user who runs mawl."""
    every = list(facts)
    words: dict[str, str] = {}
    paths = _private_paths(every, campaign)
    if "paths" in wanted:
        for number, path in enumerate(sorted(paths), 1):
            words[path] = f"/redacted/place-{number}"
    if "host" in wanted:
        hosts = {node.name for one in every for node in one.nodes} | {socket.gethostname()}
        hosts |= {storage.node for one in every for storage in one.storage_runs}
        hosts |= {campaign.machine.name} if campaign is not None and campaign.machine.name else set()
        for number, host in enumerate(sorted(hosts), 1):
            words[host] = f"host-{number}"
    if "user" in wanted:
        homes = {part for path in paths for part in re.findall(r"^/home/([^/]+)", path)}
        for number, name in enumerate(sorted(homes | {user or getpass.getuser()}), 1):
            words[name] = f"user-{number}"
    return PrivateNames(words)


def _private_paths(facts: Iterable[RunFacts], campaign: Campaign | None) -> set[str]:
    """Absolute paths that the facts name: places of the roles and of runs, and the mounts that hold them."""
    found: set[str] = set()
    for one in facts:
        found |= {path for paths in one.roles.values() for path in paths}
        for volume in one.volumes:
            found |= {volume.directory, volume.mount_point or "", volume.source or ""}
            for text in (*(cap.file for cap in volume.caps or ()), volume.caps_reason or ""):
                found |= set(_CONTROL_GROUP.findall(text))
        found |= set(one.command)
        found |= _paths_of_spec(one.spec)
    if campaign is not None:
        found |= {campaign.directory, *_paths_of_spec(campaign.spec)}
        found |= {path for arm in campaign.arms for path in _paths_of_spec(arm.spec)}
    absolute = {path for path in found if path.startswith("/") and not path.startswith("/dev/")}
    # Of a directory its parents are private, too: a project's name is often one of them.
    parents = {str(parent) for path in absolute for parent in PurePosixPath(path).parents}
    return {path.rstrip("/") for path in absolute | parents if path.rstrip("/")} - _PUBLIC_PATHS


def _paths_of_spec(spec: RunSpec | None) -> set[str]:
    if spec is None:
        return set()
    return {spec.runs, spec.output or "", spec.probe or "", *spec.data, *spec.work, *spec.util}


def redacted_folder(source: Path, target: Path, names: PrivateNames) -> None:
    """A copy of a run folder without the private names.

    Raises ``UsageError`` where a name cannot be taken out.
    """
    for name in files_of(source):
        place = target / names.replaced(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        table = place.stem if place.suffix == ".parquet" else None
        if table in TABLES:
            folder = (source / name).parent
            found = _redacted_table(getattr(open_run_reading(folder, compacting=False), table), names)
            write_parquet(place, iter([found]), table)
        elif place.suffix == ".json":
            plain = msgspec.json.decode(content_of(source, name))
            place.write_bytes(_redacted_bytes(plain, names))
        else:
            text = content_of(source, name).decode(errors="surrogateescape")
            place.write_bytes(names.replaced(text).encode(errors="surrogateescape"))
    _check_redacted(target, names)


def redacted_json(content: bytes, names: PrivateNames) -> bytes:
    """A JSON file without the private names; UsageError where one cannot be taken out."""
    shown = _redacted_bytes(msgspec.json.decode(content), names)
    left = names.left(shown.decode())
    if left is not None:
        raise _not_redacted(f"{left!r} is still there", None)
    return shown


def _redacted_bytes(plain: Any, names: PrivateNames) -> bytes:
    shown = msgspec.json.encode(_redacted_value(plain, names.replaced))
    return msgspec.json.format(shown, indent=2) + b"\n"


def _redacted_value(value: Any, replaced: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return replaced(value)
    if isinstance(value, dict):
        return {replaced(key): _redacted_value(part, replaced) for key, part in value.items()}
    return [_redacted_value(part, replaced) for part in value] if isinstance(value, list) else value


def _redacted_table(table: pa.Table, names: PrivateNames) -> pa.Table:
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) and field.name not in KEPT_COLUMNS:
            encoded = table.column(place).combine_chunks().dictionary_encode()
            replaced = names.replaced if field.name != "series" else partial(_redacted_series, names)
            texts = [replaced(text) for text in encoded.dictionary.to_pylist()]
            column = pa.DictionaryArray.from_arrays(encoded.indices, pa.array(texts, pa.string()))
            table = table.set_column(place, field, column.cast(pa.string()))
    return table


def _redacted_series(names: PrivateNames, series: str) -> str:
    return _MOUNT_IN_SERIES.sub(lambda place: names.replaced(place[0]), series)


def _check_redacted(folder: Path, names: PrivateNames) -> None:
    """What was written is a run, and no text of it has a private name."""
    try:
        read_facts(folder)
    except UnreadableRunError as error:
        raise _not_redacted("the run is no run without them", str(error)) from None
    for name in files_of(folder):
        if not name.endswith(".parquet"):
            left = names.left(content_of(folder, name).decode(errors="replace"))
            if left is not None:
                raise _not_redacted(f"{left!r} is still in {name}", None)


def _not_redacted(what: str, why: str | None) -> UsageError:
    return UsageError(
        f"private names cannot be taken out: {what}",
        why=why,
        cure="a host or user may be called like a word of the format (data, work, mawl); rename it, or leave "
        "that part of --redact out",
    )


class PackRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to pack: a run folder, or a ``campaign`` with its runs; ``key`` signs it."""

    folder: Path
    campaign: bool
    division: Division = "closed"
    redact: Sequence[Redaction] = ()
    statement: SubmitterStatement = SubmitterStatement()
    key: Path | None = None


def read_statement(path: Path) -> SubmitterStatement:
    """A statement from TOML; ``InvalidFileError`` where it is none."""
    return load(path, SubmitterStatement)


def pack(request: PackRequest, output: Path) -> PackManifest:
    """Write a pack, whole or not at all; equal folders and requests give equal bytes.

    Raises ``UsageError`` for a run that cannot be packed, UnreadableRunError for one that
    cannot be read, and ``UnsuitableMachineError`` where the file cannot be written.
    """
    folders = _runs_of(request)
    facts = {name: _packable(folder) for name, folder in folders.items()}
    made_by = read_campaign(request.folder) if request.campaign else None
    names = private_names(facts.values(), request.redact, campaign=made_by)
    with temporary_directory("mawl-pack-") as place:
        members: dict[str, bytes | Path] = {}
        packed: list[str] = []
        record = _campaign_record(request.folder, names) if request.campaign else None
        for name, folder in folders.items():
            shown = names.replaced(name)
            source = folder if not names.words else place / RUNS / str(len(packed))
            if source != folder:
                redacted_folder(folder, source, names)
            members |= {f"{RUNS}/{shown}/{file}": source / file for file in files_of(source)}
            printed = PrintedRun(source, record).files()
            members |= {f"{PRINTED}/{shown}/{file}": content for file, content in printed.items()}
            packed.append(shown)
        if record is not None:
            members[CAMPAIGN] = record
        return _write_pack(request, output, packed, members)


def _runs_of(request: PackRequest) -> dict[str, Path]:
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
    facts = open_run_reading(folder).facts  # a journal that a kill left becomes tables
    if facts.kind != "measured":
        what = "a forecast" if facts.kind == "simulated" else "an import of another tool's measurements"
        raise UsageError(
            f"is {what}, and a pack holds runs that mawl measured",
            where=str(folder),
            cure="pack the run that it was made from, or publish the files that were imported",
        )
    return facts


def _campaign_record(folder: Path, names: PrivateNames) -> bytes:
    content = content_of(folder, CAMPAIGN)
    return redacted_json(content, names) if names.words else content


def _write_pack(
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
