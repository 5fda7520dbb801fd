"""``manifest.json`` of a pack, the digests of what its tables hold, and its signature.

The manifest has checksums of files.  The digests are of the values that mawl read when it printed the
figures: a table that was altered under a new manifest no longer agrees with them.

``ssh-keygen -Y`` (OpenSSH 8.0 or later, ssh-keygen(1)) signs with an SSH key, also one of an agent or a
security key; minisign (https://jedisct1.github.io/minisign/) with a minisign key.  mawl has no keys and no
list of people: the reader must know whose key it is.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import compute

from mawl.archive.container import (
    MANIFEST,
    MINISIGN_SIGNATURE,
    PACK_VERSION,
    SSH_SIGNATURE,
    PackKind,
    content_of,
    files_of,
    is_name,
)
from mawl.base.errors import MawlError, UnreadableRunError, UnsuitableMachineError, UsageError
from mawl.base.foreign import json_record
from mawl.base.removal import temporary_directory
from mawl.records.store import Run
from mawl.records.store.files import TABLES, major

Division = Literal["closed", "open"]
Redaction = Literal["host", "user", "paths"]


class SubmitterStatement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What only the person who publishes can say.  ``mawl pack --statement FILE.toml`` reads it.

    ``submitter`` and ``contact`` are who answers questions, ``system`` and ``storage`` what a buyer would
    order to get the same, ``tuning`` what was changed from how it is delivered, ``notes`` anything else.
    """

    submitter: str = ""
    contact: str = ""
    system: str = ""
    storage: str = ""
    tuning: str = ""
    notes: str = ""


REQUIRED_FIELDS = ("submitter", "contact", "system", "storage", "tuning")
"""Parts of a statement that a published result has."""


class MemberSum(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Size and SHA-256 of a member."""

    bytes: int
    sha256: str


class PackManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``runs`` are the names of the runs, in order; ``members`` every file but this one and its signature.

    ``source_sha256`` is that of the code that printed the figures (``source_sha256``).
    """

    format_version: str = PACK_VERSION
    kind: PackKind
    division: Division
    mawl_version: str
    source_sha256: str
    runs: list[str]
    redacted: list[Redaction] = []
    statement: SubmitterStatement = SubmitterStatement()
    members: dict[str, MemberSum]


def encode_manifest(manifest: PackManifest) -> bytes:
    """The one form of a manifest's bytes."""
    return msgspec.json.format(msgspec.json.encode(manifest, order="deterministic"), indent=2) + b"\n"


def decode_manifest(content: bytes, where: str) -> PackManifest:
    """A manifest from its bytes.

    Raises ``UnreadableRunError`` for what is none, is of a newer format, or has another
    form than ``encode_manifest`` gives it (a key twice, or one that the format does not have).
    """
    try:
        manifest = json_record(content, PackManifest)
        newer = major(manifest.format_version) > major(PACK_VERSION)
        names = manifest.runs
        if not names or len(set(names)) < len(names) or not all(map(_is_run_name, names)):
            raise ValueError("the names of its runs are none, or one is there twice")
    except ValueError as error:
        raise _no_manifest(where, str(error)) from None
    if newer:
        raise UnreadableRunError(
            f"was packed in format {manifest.format_version[:40]}, and this mawl knows {PACK_VERSION}",
            where=where,
            cure="validate it with the mawl that wrote it, or upgrade this one",
        )
    if encode_manifest(manifest) != content:
        raise _no_manifest(where, "it is not written as mawl writes one")
    return manifest


def _is_run_name(name: str) -> bool:
    return "/" not in name and is_name(name)


def _no_manifest(where: str, why: str) -> UnreadableRunError:
    return UnreadableRunError(
        f"has no readable {MANIFEST}", where=where, why=why, cure="copy it again from where it was made"
    )


_DIGEST_ROWS = 2**20


class TableContents(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of a table, and the digest of each of its columns."""

    rows: int
    columns: dict[str, str]


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """``tables`` by name; ``files`` is the SHA-256 of every other file of the run, by its name there."""

    tables: dict[str, TableContents]
    files: dict[str, str]


def contents_of(run: Run) -> Contents:
    """What the files of a run hold; raises what reading them raises."""
    tables = {}
    for name in TABLES:
        table = getattr(run, name)
        columns = {column: digest(table[column]) for column in table.column_names}
        tables[name] = TableContents(rows=table.num_rows, columns=columns)
    own = {f"{name}.parquet" for name in TABLES}
    others = [name for name in files_of(run.path) if name not in own]
    files = {name: hashlib.sha256(content_of(run.path, name)).hexdigest() for name in others}
    return Contents(tables=tables, files=files)


def digest(column: pa.ChunkedArray) -> str:
    """SHA-256 of a column's values, lengths of texts and maps, and places of nulls, however it is chunked.

    Numbers are taken as little-endian 64-bit words, points in time as microseconds, texts as UTF-8.
    """
    sums = (hashlib.sha256(), hashlib.sha256(), hashlib.sha256())
    for chunk in column.chunks:
        for begin in range(0, len(chunk), _DIGEST_ROWS):
            _add_digest(chunk.slice(begin, _DIGEST_ROWS), *sums)
    return hashlib.sha256(b"".join(part.digest() for part in sums)).hexdigest()


def _add_digest(array: pa.Array, nulls: Any, lengths: Any, values: Any) -> None:
    absent = array.is_null().to_numpy(zero_copy_only=False).tobytes() if array.null_count else None
    nulls.update(bytes(len(array)) if absent is None else absent)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_map(array.type):
        for one in array.to_pylist():
            lengths.update(b"%d;" % len(one or ()))
            values.update(b"".join(b"%d:%d;" % pair for pair in one or ()))
    elif pa.types.is_string(array.type):
        texts = _without_nulls(array, "")
        lengths.update(_plain_bytes(compute.binary_length(texts)))
        values.update("".join(texts.to_pylist()).encode())
    elif pa.types.is_timestamp(array.type):
        values.update(_plain_bytes(_without_nulls(array.cast(pa.int64()), 0)))
    else:
        values.update(_plain_bytes(_without_nulls(array, False if pa.types.is_boolean(array.type) else 0)))


def _without_nulls(array: pa.Array, value: str | int) -> pa.Array:
    """Without nulls.  Most columns have none, and the call takes longer than the digest of a small one."""
    return compute.fill_null(array, value) if array.null_count else array


def _plain_bytes(array: pa.Array) -> bytes:
    numbers = array.to_numpy(zero_copy_only=False)
    content: bytes = numbers.astype("<f8" if np.issubdtype(numbers.dtype, np.floating) else "<i8").tobytes()
    return content


NAMESPACE = "mawl-pack"
"""What an SSH signature is for (ssh-keygen -n): one of a commit or a file elsewhere does not fit."""
_SSH_FORM = re.compile(rb"-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)-----END SSH SIGNATURE-----\n")
_SSH_LINE = 70
_MINISIGN_FORM = re.compile(
    rb"untrusted comment: mawl-pack\n([A-Za-z0-9+/=]+)\ntrusted comment: mawl-pack\n([A-Za-z0-9+/=]+)\n",
)
_NO_FORM = "the signature is not in the form that mawl writes: it was altered"
_MINISIGN_KEY = b"untrusted comment: minisign"
_TOOL_SECONDS = 120.0
"""For a passphrase to be typed, or a security key to be touched."""


class SignatureCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the signature is one of the manifest, and by which key, in the tool's words.

    ``known`` says that the key is one that the reader named.
    """

    good: bool | None
    sentence: str
    known: bool = False


def sign(manifest: bytes, key: Path) -> tuple[str, bytes]:
    """Name and content of the member that signs a manifest.

    Raises ``UsageError`` where the key cannot be read or signs nothing, and
    ``UnsuitableMachineError`` where its tool is not installed.
    """
    try:
        head = key.read_bytes()[:4096]
    except OSError as error:
        raise UsageError(
            "the key cannot be read",
            where=str(key),
            why=(error.strerror or str(error)).lower(),
            cure="name the file of an SSH key, private or public with an agent, or of a minisign key",
        ) from None
    with temporary_directory("mawl-sign-") as place:
        file = place / MANIFEST
        file.write_bytes(manifest)
        if head.startswith(_MINISIGN_KEY):
            comments = ("-c", NAMESPACE, "-t", NAMESPACE)
            words = ["minisign", "-S", *comments, "-s", str(key.absolute()), "-m", str(file)]
            name = MINISIGN_SIGNATURE
        else:
            name = SSH_SIGNATURE
            words = ["ssh-keygen", "-Y", "sign", "-f", str(key.absolute()), "-n", NAMESPACE, str(file)]
        done = _run_tool(words, None, terminal=True)
        signature = place / name
        if done.returncode or not signature.is_file():
            raise UsageError(
                f"{words[0]} did not sign",
                where=str(key),
                why=" ".join(done.stderr.split()) or None,
                cure="try the key by hand, and its passphrase",
            )
        return name, signature.read_bytes()


def check_signature(manifest: bytes, name: str, signature: bytes, signers: Path | None) -> SignatureCheck:
    """Whether a signature is one of these bytes, and by whom.

    ``signers`` is a file of the reader: allowed signers of SSH (ssh-keygen(1), ALLOWED SIGNERS), or a public
    key of minisign.  Without it a signature shows only that the holder of some key made it.
    """
    with temporary_directory("mawl-check-") as place:
        file = place / name
        file.write_bytes(signature)
        if not _as_written(name, signature):
            return SignatureCheck(good=False, sentence=_NO_FORM)
        try:
            if name == SSH_SIGNATURE:
                return _check_ssh(manifest, file, signers)
            return _check_minisign(manifest, file, signers)
        except MawlError as error:
            return SignatureCheck(good=None, sentence=str(error))


def _as_written(name: str, signature: bytes) -> bool:
    """Whether these are the bytes that the tool writes: both tools pass over comments, blanks and rests."""
    if name == SSH_SIGNATURE:
        match = _SSH_FORM.fullmatch(signature)
        if match is None:
            return False
        text = match[1].replace(b"\n", b"")
        lines = [text[at : at + _SSH_LINE] for at in range(0, len(text), _SSH_LINE)]
        return _is_canonical(text) and match[1] == b"".join(line + b"\n" for line in lines)
    match = _MINISIGN_FORM.fullmatch(signature)
    return match is not None and all(map(_is_canonical, match.groups()))


def _is_canonical(text: bytes) -> bool:
    """Whether a text in base 64 is the only one of its bytes."""
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)) == text
    except ValueError:
        return False


def _check_ssh(manifest: bytes, file: Path, signers: Path | None) -> SignatureCheck:
    words = ["ssh-keygen", "-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(file)]
    done = _run_tool(words, manifest)
    if done.returncode:
        return SignatureCheck(good=False, sentence="the signature is not one of this manifest")
    said = " ".join(done.stdout.split())
    if signers is None:
        return SignatureCheck(good=True, sentence=f"{said}; whose key that is was not checked")
    named = [*("ssh-keygen", "-Y", "find-principals", "-f", str(signers), "-s", str(file))]
    found = _run_tool(named, None)
    person = found.stdout.split("\n")[0].strip()
    if found.returncode or not person:
        return SignatureCheck(good=False, sentence=f"{said}; {signers} does not name that key")
    words = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", person, "-n", NAMESPACE, "-s", str(file)]
    verified = _run_tool(words, manifest)
    if verified.returncode:
        return SignatureCheck(good=False, sentence=f"{said}; it is not valid for {person}")
    return SignatureCheck(good=True, known=True, sentence=f"signed by {person}: {said}")


def _check_minisign(manifest: bytes, file: Path, signers: Path | None) -> SignatureCheck:
    if signers is None:
        return SignatureCheck(good=None, sentence="a minisign signature is checked with --signers PUBLIC_KEY")
    content = file.with_name(MANIFEST)
    content.write_bytes(manifest)
    done = _run_tool(["minisign", "-V", "-p", str(signers), "-m", str(content), "-x", str(file)], None)
    if done.returncode:
        return SignatureCheck(good=False, sentence=f"the signature is not one of this manifest by {signers}")
    return SignatureCheck(good=True, known=True, sentence=f"signed by the minisign key {signers}")


def _run_tool(
    words: list[str], given: bytes | None, *, terminal: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a tool; a passphrase is asked for only with a ``terminal``.

    ssh-keygen asks at the terminal itself, minisign on its standard error, which is then not read.
    """
    asks = terminal and words[0] == "minisign" and sys.stdin is not None and sys.stdin.isatty()
    if shutil.which(words[0]) is None:
        raise UnsuitableMachineError(
            f"{words[0]} is not installed",
            cure="install OpenSSH or minisign, whichever the key is for",
        )
    try:
        done = subprocess.run(
            words,
            input=given,
            stdin=None if given is not None or terminal else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if asks else subprocess.PIPE,
            timeout=_TOOL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnsuitableMachineError(
            f"{words[0]} took more than {_TOOL_SECONDS:.0f} s", cure="use an agent for the key"
        ) from None
    return subprocess.CompletedProcess(
        words,
        done.returncode,
        done.stdout.decode(errors="replace"),
        (done.stderr or b"").decode(errors="replace"),
    )
