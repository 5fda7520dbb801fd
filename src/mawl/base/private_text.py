"""What looks private in a text: secrets, absolute paths, hosts.  Looks alone decide."""

from __future__ import annotations

import math
import re
from collections import Counter

_KEY = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key"
    r"|credentials?)[\w-]*"
)
_WORD = r"(?P<word>[^\s\"',;&|<>()\[\]{}@]{3,})"
_SECRETS = (
    re.compile(rf"(?i)(?<![\w.-])-{{0,2}}{_KEY}[\"']?\s*[=:]\s*[\"']?{_WORD}"),
    re.compile(rf"(?i)(?<!\S)-{{1,2}}{_KEY}\s+(?!-){_WORD}"),
    re.compile(r"://[^/\s:@\"']*:(?P<word>[^/\s@\"']{2,})@"),
    re.compile(
        r"(?<![\w-])(?P<word>AKIA[0-9A-Z]{16}|gh[pousr]_\w{20,}|glpat-[\w-]{16,}|xox[abp]-[\w-]{10,}"
        r"|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
    ),
)
"""``--password=X`` and ``TOKEN = "X"``; ``--token X``; ``postgres://user:X@host``; forms of known issuers."""
_LONG_WORD = re.compile(r"(?<![\w+/=.-])[A-Za-z0-9+_-]{20,200}={0,2}(?![\w+/=.-])")
_LEAST_ENTROPY = 3.7
"""Bits a letter.  Random words of 20 to 60 letters of base64 have 3.9 to 5.2, names of files about 3.3."""
_NO_SECRET = re.compile(r"[\d.,:]+|true|false|none|null|yes|no|\*+|x+|\$\w+|secret-\d+", re.IGNORECASE)

_PATH = re.compile(
    r"(?:(?<![\w./~<})-])|(?<=[\s\"']-[A-Za-z]))(?:(?<!:)//[\w.-]+)?/(?!/)[^\s\"'`;|&<>()$\\{}=,:*?\[\]#%@!]*\w"
)
_PUBLIC_PATH = re.compile(
    r"/(?:s?bin|lib\w*|proc|boot|usr|sys|dev)(?:/.*)?|/(?:tmp|var|home|mnt|root|opt|srv|etc(?:/tuned/.*)?|run|redacted(?:/.*)?)?"
)
_PRIVATE_BELOW_PUBLIC = re.compile(r"/sys/fs/cgroup/.|/dev/(?:mapper|disk)/.|/dev/[a-z]\w+/.")
_NO_PRIVATE = re.compile(
    r"/sys/fs/cgroup/(?:blkio|unified)(?:/\w+\.[\w.]+)?|/dev/(?:shm|fd|pts|mapper/control)(?:/.*)?"
)
_CONTROL_FILE = re.compile(r"(?<=.)/(?:io\.max|blkio\.throttle\.\w+|cgroup\.controllers)$")
"""A file of a control group, whose directory often has the name of a project or user."""
_HOSTS = (
    re.compile(r"(?:^|(?<=[\s\"'=,]))(?P<word>[A-Za-z0-9][\w.-]*|\[[0-9a-fA-F:]+\]):/(?!/)"),
    re.compile(r"(?:^|(?<=[\s\"'=,]))//(?P<word>[A-Za-z0-9][\w.-]*)/"),
    re.compile(r"[a-z]://(?:[^@/\s\"']*@)?(?P<word>[A-Za-z0-9][\w.-]*)"),
    re.compile(r"(?<![\w.])(?P<word>(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2,3})(?![\w.])"),
)
_NO_HOST = re.compile(r"localhost|127\..*|0\.0\.0\.0|host-\d+|www\.w3\.org|\d+")


def secrets_in(text: str) -> list[str]:
    """Words that look like secrets, each once: behind a name such as password, in an address, or random."""
    found = [match["word"] for pattern in _SECRETS for match in pattern.finditer(text)]
    found += [word for word in _LONG_WORD.findall(text) if _is_random(word)]
    return [word for word in dict.fromkeys(found) if not _NO_SECRET.fullmatch(word)]


def _is_random(word: str) -> bool:
    kinds = (any(map(kind, word)) for kind in (str.isupper, str.islower, str.isdigit))
    counts = Counter(word).values()
    entropy = -sum(count / len(word) * math.log2(count / len(word)) for count in counts)
    return all(kinds) and entropy >= _LEAST_ENTROPY


def paths_in(text: str) -> list[str]:
    """Absolute paths, each once, but those that all systems have; a text that begins with one is one, too."""
    found = [text.rstrip("/")] if text.startswith("/") and "\n" not in text else []
    found = [_CONTROL_FILE.sub("", path) for path in (*found, *(match[0] for match in _PATH.finditer(text)))]
    return [path for path in dict.fromkeys(found) if path and is_private_path(path)]


def is_private_path(path: str) -> bool:
    """Whether a path may say something of its owner: not ``/usr/bin/sort``, but a name of a volume group."""
    if _NO_PRIVATE.fullmatch(path):
        return False
    return not _PUBLIC_PATH.fullmatch(path) or bool(_PRIVATE_BELOW_PUBLIC.match(path))


def hosts_in(text: str) -> list[str]:
    """Hosts of addresses and mounts (``server:/export``, ``//server/share``); addresses of private nets."""
    found = [match["word"] for pattern in _HOSTS for match in pattern.finditer(text)]
    return [host for host in dict.fromkeys(found) if not _NO_HOST.fullmatch(host)]


def replace_paths(text: str, word_of: dict[str, str]) -> str:
    """The text with each private path as its word; ``word_of`` gets a word for each that is new."""

    def word(match: re.Match[str]) -> str:
        path = _CONTROL_FILE.sub("", match[0])
        if not is_private_path(path):
            return match[0]
        place = word_of.setdefault(path, f"/redacted/place-{len(word_of) + 1}")
        return place + match[0][len(path) :]

    return _PATH.sub(word, text)
