"""``manifest.json`` of a pack: what is in it, by which code it was made, and what its maker says of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.archive.layout import MANIFEST, PACK_VERSION, is_name
from mawl.errors import UnreadableRunError
from mawl.store.layout import major

Division = Literal["closed", "open"]
Redaction = Literal["host", "user", "paths"]
PackKind = Literal["run", "campaign"]


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


WANTED = ("submitter", "contact", "system", "storage", "tuning")
"""Parts of a statement that a published result has."""


class MemberSum(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Size and SHA-256 of a member."""

    bytes: int
    sha256: str


class PackManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``runs`` are the names of the runs, in order; ``members`` every file but this one and its signature.

    ``source_sha256`` is that of the code that printed the figures (:func:`mawl.version.source_sha256`).
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


def encoded(manifest: PackManifest) -> bytes:
    """The one form of a manifest's bytes."""
    return msgspec.json.format(msgspec.json.encode(manifest, order="deterministic"), indent=2) + b"\n"


def decoded(content: bytes, where: str) -> PackManifest:
    """A manifest from its bytes.

    Raises :class:`~mawl.errors.UnreadableRunError` for what is none, is of a newer format, or has another
    form than :func:`encoded` gives it (a key twice, or one that the format does not have).
    """
    try:
        manifest = msgspec.json.decode(content, type=PackManifest)
        newer = major(manifest.format_version) > major(PACK_VERSION)
        names = manifest.runs
        if not names or len(set(names)) < len(names) or not all(map(_is_run, names)):
            raise ValueError("the names of its runs are none, or one is there twice")
    except (ValueError, RecursionError) as error:
        raise _no_manifest(where, str(error)) from None
    if newer:
        raise UnreadableRunError(
            f"was packed in format {manifest.format_version[:40]}, and this mawl knows {PACK_VERSION}",
            where=where,
            cure="validate it with the mawl that wrote it, or upgrade this one",
        )
    if encoded(manifest) != content:
        raise _no_manifest(where, "it is not written as mawl writes one")
    return manifest


def _is_run(name: str) -> bool:
    return "/" not in name and is_name(name)


def _no_manifest(where: str, why: str) -> UnreadableRunError:
    return UnreadableRunError(
        f"has no readable {MANIFEST}", where=where, why=why, cure="copy it again from where it was made"
    )
