"""Private names taken out of runs and campaigns: secrets, paths, hosts, users; and what looks private still.

The same name becomes the same word everywhere, so that the run reads as before (docs/design/secrets.md).
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import socket
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import pyarrow as pa
import tomli_w

from mawl.archive.container import content_of, files_of
from mawl.archive.manifest import Redaction
from mawl.base.errors import UnreadableRunError, UsageError
from mawl.base.foreign import json_tree, toml_tree
from mawl.base.private_text import hosts_in, is_private_path, paths_in, replace_paths, secrets_in
from mawl.plan.environment import values_of_file
from mawl.records.model.campaign import Campaign
from mawl.records.model.qualification import Qualification
from mawl.records.model.run import RunFacts
from mawl.records.store.facts import read_facts
from mawl.records.store.files import LOGS, PLAN, TABLES
from mawl.records.store.parquet import write_parquet
from mawl.records.store.reading import open_run as open_run_reading
from mawl.records.store.side_files import arrays_of

KEPT_COLUMNS = frozenset({"event", "kind", "outcome", "program_class"})
"""Columns whose words are the format's."""
_MOUNT_IN_SERIES = re.compile(r"/.*(?=\.)")
"""The mount point in a name such as ``mount./srv/project.read_bytes``; all other words are the format's."""
_USER_OF_OTHERS = re.compile(r", user (?!number )([^,)]+)")
"""In the remark that names other runs of mawl."""
_LEAST_VALUE = 6
"""Letters of the shortest value of a variable that is looked for in logs; shorter ones are in every text."""


class PrivateNames:
    """Private names and the words that replace them; with ``paths`` every path of its owner, too."""

    def __init__(self, words: dict[str, str], *, paths: bool = False) -> None:
        """``words``: private name to the word that replaces it."""
        self.words = words
        self._paths = {name: word for name, word in words.items() if name.startswith("/")} if paths else None
        longest = sorted(words, key=lambda word: (-len(word), word))
        absolute, others = (
            "|".join(re.escape(word) for word in longest if word.startswith("/") is wanted)
            for wanted in (True, False)
        )
        # A path may stand behind anything. Another name is a word by itself, also in one with hyphens, as in
        # the id of a node's run.
        parts = [f"(?:{absolute})" * bool(absolute), rf"(?<!\w)(?:{others})" * bool(others)]
        either = "|".join(part for part in parts if part)
        self._found = re.compile(rf"(?:{either})(?!\w)") if words else None

    @property
    def changes(self) -> bool:
        """Whether anything is to be replaced."""
        return bool(self.words) or self._paths is not None

    def replaced(self, text: str) -> str:
        shown = self._found.sub(lambda found: self.words[found[0]], text) if self._found else text
        return shown if self._paths is None else replace_paths(shown, self._paths)

    def left(self, text: str) -> str | None:
        """The first private name that a text still has."""
        match = self._found.search(text) if self._found else None
        return match[0] if match else None


def private_names(
    facts: Iterable[RunFacts],
    wanted: Sequence[Redaction],
    *,
    folders: Collection[Path] = (),
    record: Campaign | Qualification | None = None,
    secrets: Iterable[str] = (),
    user: str | None = None,
) -> PrivateNames:
    """The private names of runs and of their record; ``user`` defaults to the user who runs mawl."""
    every = list(facts)
    told = [msgspec.to_builtins(one) for one in (*every, *([] if record is None else [record]))]
    texts = [text for one in told for text in _texts(one)]
    texts += [text for folder in folders for text in _texts(_plain_plan(folder))]
    words = {secret: f"secret-{number}" for number, secret in enumerate(dict.fromkeys(secrets), 1)}
    paths = _with_parents({path for text in texts for path in paths_in(text)})
    if "paths" in wanted:
        for number, path in enumerate(sorted(paths), 1):
            words[path] = f"/redacted/place-{number}"
        for number, group in enumerate(sorted({group for path in paths for group in _groups_of(path)}), 1):
            words.setdefault(group, f"volume-group-{number}")
    logins = _logins(record)
    if "host" in wanted:
        hosts = {node.name for one in every for node in one.nodes} | {socket.gethostname()}
        hosts |= {storage.node for one in every for storage in one.storage_runs}
        hosts |= {record.machine.name} if record is not None and record.machine.name else set()
        hosts |= {host for _, host in logins}
        hosts |= {node.name for node in record.nodes} if isinstance(record, Qualification) else set()
        hosts |= {host for text in texts for host in hosts_in(text)}
        for number, host in enumerate(sorted(hosts), 1):
            words[host] = f"host-{number}"
        words |= _array_words(folders)
    if "user" in wanted:
        users = {part for path in paths for part in re.findall(r"^/home/([^/]+)", path)}
        users |= {user for user, _ in logins if user}
        users |= {name for one in every for text in one.remarks for name in _USER_OF_OTHERS.findall(text)}
        for number, name in enumerate(sorted(users | {user} if user else users | _own_names()), 1):
            words[name] = f"user-{number}"
    return PrivateNames(words, paths="paths" in wanted)


def _array_words(folders: Collection[Path]) -> dict[str, str]:
    """Names of arrays, of their volumes, and of the files that had their statistics."""
    held = [statistics for folder in folders if (statistics := arrays_of(folder)) is not None]
    arrays = sorted({volume.array for one in held for volume in one.volumes})
    volumes = sorted({volume.name for one in held for volume in one.volumes})
    files = sorted({file.name for one in held for file in one.files})
    kinds = (("statistics", files), ("array-volume", volumes), ("array", arrays))
    return {name: f"{kind}-{number}" for kind, found in kinds for number, name in enumerate(found, 1) if name}


def _logins(record: Campaign | Qualification | None) -> list[tuple[str, str]]:
    """User, perhaps empty, and host of the nodes and storage servers that a qualification was to reach."""
    asked = record.asked.nodes if isinstance(record, Qualification) else None
    words = () if asked is None else (*asked.ssh, *asked.storage_node)
    return [(user, host) for user, _, host in (word.rpartition("@") for word in words)]


def _own_names() -> set[str]:
    """Of the user who runs mawl, and of the one who became root for it; none where Linux knows no name."""
    names = {os.environ.get("SUDO_USER", "")}
    with contextlib.suppress(KeyError, OSError):  # a user id without an entry, as containers have them
        names.add(getpass.getuser())
    return names - {""}


def _with_parents(paths: set[str]) -> set[str]:
    """Of a directory its parents are private, too: a project's name is often one of them."""
    parents = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return {path for path in paths | parents if is_private_path(path) and path.strip("/")}


def _groups_of(path: str) -> Iterator[str]:
    """Names of volume groups and mapped devices, in ``/dev/mapper/vg-lv`` and ``/dev/vg/lv``."""
    if mapped := re.fullmatch(r"/dev/mapper/(.+)", path):
        yield mapped[1]
        yield mapped[1].replace("--", "\0").partition("-")[0].replace("\0", "-")
    elif group := re.fullmatch(r"/dev/(?!disk/)([^/]+)/[^/]+", path):
        yield group[1]


def _texts(plain: Any) -> Iterator[str]:
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, dict):
        yield from (text for key, part in plain.items() for text in (key, *_texts(part)))
    elif isinstance(plain, list | tuple):
        yield from (text for part in plain for text in _texts(part))


def _plain_plan(folder: Path) -> dict[str, Any]:
    """The stored plan, empty if the run has none; raises ``UsageError`` if it cannot be searched."""
    try:
        return toml_tree(content_of(folder, PLAN).decode())
    except OSError:
        return {}
    except ValueError as error:
        raise _unsearchable(error) from None


def _unsearchable(error: ValueError) -> UsageError:
    return UsageError(
        f"{PLAN} of the run cannot be searched for secrets and values of variables",
        why=str(error),
        cure="correct the file, or pack without this run",
    )


def secrets_of(
    folders: Iterable[Path], records: Iterable[tuple[str, msgspec.Struct]] = ()
) -> dict[str, list[str]]:
    """Words that look like secrets, by the name of their file in run folders, or that of a record of them.

    Each word is at its first file.
    """
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for name, part in _searched(folders, records):
        fresh = [word for word in dict.fromkeys(secrets_in(part)) if word not in seen]
        seen |= set(fresh)
        if fresh:
            found.setdefault(name, []).extend(fresh)
    return found


def _searched(
    folders: Iterable[Path], records: Iterable[tuple[str, msgspec.Struct]]
) -> Iterator[tuple[str, str]]:
    """Texts that may hold secrets, with the name of their file; of a plan each vector, too."""
    for folder in folders:
        arguments = [" ".join(vector) for vector in _vectors(_plain_plan(folder))]
        for name, text in _written_texts(folder):
            yield from ((name, part) for part in (text, *(arguments if name == PLAN else ())))
    for name, record in records:
        yield from ((name, text) for text in _texts(msgspec.to_builtins(record)))


def values_of(folders: Iterable[Path]) -> PrivateNames:
    """Values of variables that the workload files of runs still have; short ones are left out."""
    files = {plan["workload_file"] for folder in folders if "workload_file" in (plan := _plain_plan(folder))}
    values = [value for file in sorted(map(str, files)) for _, value in values_of_file(file)]
    long = [value for value in dict.fromkeys(values) if len(value) >= _LEAST_VALUE and not value.isdecimal()]
    return PrivateNames({value: f"value-{number}" for number, value in enumerate(long, 1)})


def private_text_left(folder: Path) -> dict[str, list[str]]:
    """Paths and hosts that the texts of a folder still have, by the name of their file."""
    found = {}
    for name, text in _written_texts(folder):
        if words := private_words(text):
            found[name] = words
    return found


def private_words(text: str) -> list[str]:
    """Paths and hosts that a text still has."""
    return [word for word in (*paths_in(text), *hosts_in(text)) if not word.startswith("/redacted/")]


def _vectors(plan: Any) -> Iterator[list[str]]:
    """The argument vectors of a plan, or of a part of it."""
    if isinstance(plan, dict):
        for key, part in plan.items():
            if key in ("command", "check") and isinstance(part, list):
                yield [str(word) for word in part]
            else:
                yield from _vectors(part)
    elif isinstance(plan, list):
        for part in plan:
            yield from _vectors(part)


def _written_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The text files of a run folder, and the words of its tables."""
    for name in files_of(folder):
        table = Path(name).stem
        if not name.endswith(".parquet"):
            yield name, content_of(folder, name).decode(errors="replace")
        elif table in TABLES and table != "samples":
            found = getattr(open_run_reading((folder / name).parent, compacting=False), table)
            yield name, "\n".join(_words_of(found))


def _words_of(table: pa.Table) -> Iterator[str]:
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) and field.name not in KEPT_COLUMNS:
            words = table.column(place).combine_chunks().dictionary_encode().dictionary.to_pylist()
            yield from (word for word in words if word is not None)


def holds_values(folder: Path) -> bool:
    """Whether a plan of a run folder has values of variables, or digests of them."""
    return any(
        name.endswith(PLAN) and re.search(rb"\benvironment(?:_digest)? ?=", content_of(folder, name))
        for name in files_of(folder)
    )


def without_values(plan: bytes) -> bytes:
    """A stored plan with the names of variables alone, and without digests of their values.

    Raises ``UsageError`` where it is no TOML, and so cannot be searched.
    """
    try:
        text = plan.decode()
        tree = toml_tree(text)
    except ValueError as error:
        raise _unsearchable(error) from None
    head = "".join(line for line in text.splitlines(keepends=True)[:1] if line.startswith("#"))

    def stripped(part: Any) -> Any:
        if isinstance(part, list):
            return [stripped(one) for one in part]
        if not isinstance(part, dict):
            return part
        kept = {
            key: stripped(one)
            for key, one in part.items()
            if key not in ("environment", "environment_digest")
        }
        if isinstance(values := part.get("environment"), dict):
            kept["environment_names"] = [*values, *kept.get("environment_names", ())]
        return kept

    return (head + tomli_w.dumps(stripped(tree))).encode()


def redacted_folder(source: Path, target: Path, names: PrivateNames, values: PrivateNames) -> None:
    """A copy of a run folder without the private names, without values of variables in its plan and logs.

    Only logs are searched for ``values``: one may be a word of the format, such as ``standard``.
    Raises ``UsageError`` where a name cannot be taken out.
    """
    for name in files_of(source):
        place = target / names.replaced(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        table = place.stem if place.suffix == ".parquet" else None
        content = b"" if table in TABLES else content_of(source, name)
        if table in TABLES:
            folder = (source / name).parent
            found = _redacted_table(getattr(open_run_reading(folder, compacting=False), table), names)
            write_parquet(place, iter([found]), table)
        elif place.suffix == ".json":
            place.write_bytes(_redacted_bytes(json_tree(content), names))
        else:
            if place.name == PLAN and holds_values(source):
                content = without_values(content)
            text = content.decode(errors="surrogateescape")
            text = values.replaced(text) if place.parent.name == LOGS else text
            place.write_bytes(names.replaced(text).encode(errors="surrogateescape"))
    _check_redacted(target, names)


def redacted_json(content: bytes, names: PrivateNames) -> bytes:
    """A JSON file without the private names; UsageError where one cannot be taken out."""
    shown = _redacted_bytes(json_tree(content), names)
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
