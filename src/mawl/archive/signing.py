"""A signature of a pack's manifest by its maker's own key, made and checked by the maker's own tools.

``ssh-keygen -Y`` (OpenSSH 8.0 or later, ssh-keygen(1)) takes an SSH key, also one of an agent or a security
key; minisign (https://jedisct1.github.io/minisign/) takes a minisign key.  mawl has no keys and no list of
people: the reader must know whose key it is.
"""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from mawl.archive.layout import MANIFEST, MINISIGN_SIGNATURE, SSH_SIGNATURE
from mawl.errors import MawlError, UnsuitableMachineError, UsageError

NAMESPACE = "mawl-pack"
"""What an SSH signature is for (ssh-keygen -n): one of a commit or a file elsewhere does not fit."""
_SSH_FORM = re.compile(rb"-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)-----END SSH SIGNATURE-----\n")
_SSH_LINE = 70
_MINISIGN_FORM = re.compile(
    rb"untrusted comment: mawl-pack\n([A-Za-z0-9+/=]+)\ntrusted comment: mawl-pack\n([A-Za-z0-9+/=]+)\n",
)
_NO_FORM = "the signature is not in the form that mawl writes: it was altered"
_MINISIGN_KEY = b"untrusted comment: minisign"
_SECONDS = 120.0
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

    Raises :class:`~mawl.errors.UsageError` where the key cannot be read or signs nothing, and
    :class:`~mawl.errors.UnsuitableMachineError` where its tool is not installed.
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
    with tempfile.TemporaryDirectory(prefix="mawl-sign-") as place:
        file = Path(place) / MANIFEST
        file.write_bytes(manifest)
        if head.startswith(_MINISIGN_KEY):
            comments = ("-c", NAMESPACE, "-t", NAMESPACE)
            words = ["minisign", "-S", *comments, "-s", str(key.absolute()), "-m", str(file)]
            name = MINISIGN_SIGNATURE
        else:
            name = SSH_SIGNATURE
            words = ["ssh-keygen", "-Y", "sign", "-f", str(key.absolute()), "-n", NAMESPACE, str(file)]
        done = _run(words, None, terminal=True)
        signature = Path(place) / name
        if done.returncode or not signature.is_file():
            raise UsageError(
                f"{words[0]} did not sign",
                where=str(key),
                why=" ".join(done.stderr.split()) or None,
                cure="try the key by hand, and its passphrase",
            )
        return name, signature.read_bytes()


def check(manifest: bytes, name: str, signature: bytes, signers: Path | None) -> SignatureCheck:
    """Whether a signature is one of these bytes, and by whom.

    ``signers`` is a file of the reader: allowed signers of SSH (ssh-keygen(1), ALLOWED SIGNERS), or a public
    key of minisign.  Without it a signature shows only that the holder of some key made it.
    """
    with tempfile.TemporaryDirectory(prefix="mawl-check-") as place:
        file = Path(place) / name
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
        found = _SSH_FORM.fullmatch(signature)
        if found is None:
            return False
        text = found[1].replace(b"\n", b"")
        lines = [text[at : at + _SSH_LINE] for at in range(0, len(text), _SSH_LINE)]
        return _is_canonical(text) and found[1] == b"".join(line + b"\n" for line in lines)
    found = _MINISIGN_FORM.fullmatch(signature)
    return found is not None and all(map(_is_canonical, found.groups()))


def _is_canonical(text: bytes) -> bool:
    """Whether a text in base 64 is the only one of its bytes."""
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)) == text
    except ValueError:
        return False


def _check_ssh(manifest: bytes, file: Path, signers: Path | None) -> SignatureCheck:
    words = ["ssh-keygen", "-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(file)]
    done = _run(words, manifest)
    if done.returncode:
        return SignatureCheck(good=False, sentence="the signature is not one of this manifest")
    said = " ".join(done.stdout.split())
    if signers is None:
        return SignatureCheck(good=True, sentence=f"{said}; whose key that is was not checked")
    named = [*("ssh-keygen", "-Y", "find-principals", "-f", str(signers), "-s", str(file))]
    found = _run(named, None)
    person = found.stdout.split("\n")[0].strip()
    if found.returncode or not person:
        return SignatureCheck(good=False, sentence=f"{said}; {signers} does not name that key")
    words = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", person, "-n", NAMESPACE, "-s", str(file)]
    verified = _run(words, manifest)
    if verified.returncode:
        return SignatureCheck(good=False, sentence=f"{said}; it is not valid for {person}")
    return SignatureCheck(good=True, known=True, sentence=f"signed by {person}: {said}")


def _check_minisign(manifest: bytes, file: Path, signers: Path | None) -> SignatureCheck:
    if signers is None:
        return SignatureCheck(good=None, sentence="a minisign signature is checked with --signers PUBLIC_KEY")
    content = file.with_name(MANIFEST)
    content.write_bytes(manifest)
    done = _run(["minisign", "-V", "-p", str(signers), "-m", str(content), "-x", str(file)], None)
    if done.returncode:
        return SignatureCheck(good=False, sentence=f"the signature is not one of this manifest by {signers}")
    return SignatureCheck(good=True, known=True, sentence=f"signed by the minisign key {signers}")


def _run(
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
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnsuitableMachineError(
            f"{words[0]} took more than {_SECONDS:.0f} s", cure="use an agent for the key"
        ) from None
    return subprocess.CompletedProcess(
        words,
        done.returncode,
        done.stdout.decode(errors="replace"),
        (done.stderr or b"").decode(errors="replace"),
    )
