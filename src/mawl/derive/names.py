"""Names in a derived folder: hashed, so that no word of a log is in it, or kept."""

from __future__ import annotations

import hashlib
import re
import secrets

from mawl.derive.steps import OTHER, VOCABULARY

DIGITS = 8
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST = 60


class Names:
    """Plain names for words of logs; equal words have equal names, others have other names."""

    def __init__(self, *, keep: bool, key: bytes | None = None) -> None:
        """Hashed with ``key``, which is drawn anew and thrown away unless it is given."""
        self._keep = keep
        self._key = secrets.token_bytes(16) if key is None else key
        self._known: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def of(self, kind: str, word: str) -> str:
        """The name of a word of one kind (``p`` program, ``t`` table, ``s`` session); kinds share no name."""
        known = self._known.get((kind, word))
        if known is None:
            known = self._known[kind, word] = self.fresh(self._wanted(kind, word))
        return known

    def fresh(self, wanted: str) -> str:
        """``wanted``, with a number where it is taken."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}-{number}"
        self._taken.add(name)
        return name

    def procedure(self, word: str) -> str:
        """A procedure as SAS calls it; one that SAS does not have is the shop's own word."""
        known = word in VOCABULARY or (self._keep and _NOT_PLAIN.search(word) is None)
        return word[:LONGEST] if known else OTHER

    def _wanted(self, kind: str, word: str) -> str:
        if self._keep:
            plain = _NOT_PLAIN.sub("-", word).strip("-._")[:LONGEST]
            return plain or kind
        digest = hashlib.blake2b(f"{kind} {word}".encode("utf-8", "replace"), key=self._key, digest_size=16)
        return f"{kind}{digest.hexdigest()[:DIGITS]}"
