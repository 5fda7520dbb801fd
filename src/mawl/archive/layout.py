"""Names inside a pack, its version, and the bounds on a pack of unknown origin (docs/design/archive.md).

History of the format
  1.0  first: manifest, statement, runs, and what was printed of them
"""

from __future__ import annotations

import re

from mawl.store.campaign import RECORD
from mawl.store.layout import LARGEST_FACTS_BYTES

PACK_VERSION = "1.0"
SUFFIX = ".mawl.zip"

MANIFEST = "manifest.json"
SSH_SIGNATURE, MINISIGN_SIGNATURE = "manifest.json.sig", "manifest.json.minisig"
SIGNATURES = (SSH_SIGNATURE, MINISIGN_SIGNATURE)
CAMPAIGN = RECORD
RUNS, PRINTED = "runs", "printed"
"""Folders of the runs, and of what was printed of each."""

SUMMARY, REPORT, DISCLOSURE, CONTENTS = "summary.json", "report.md", "disclosure.md", "contents.json"
PRINTED_FILES = (CONTENTS, DISCLOSURE, REPORT, SUMMARY)
"""What every run of a pack has under ``printed/NAME``."""

LARGEST_PACK_BYTES = 2**32 - 2**20
"""Offsets of a plain zip have 32 bits; beyond, every reader would need the 64-bit form."""
LARGEST_MEMBER_BYTES = 2 * 2**30
LARGEST_TEXT_BYTES = LARGEST_FACTS_BYTES
"""Of a member that is read whole: the manifest, a signature, a printed page."""
MOST_MEMBERS = 50_000
LONGEST_NAME = 240
MOST_FOLDERS = 6

_PART = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9._+-]*")


def is_name(name: str) -> bool:
    """Whether a member may have this name: plain letters, relative, without ``..`` and hidden files."""
    parts = name.split("/")
    return len(name) <= LONGEST_NAME and len(parts) <= MOST_FOLDERS and all(map(_PART.fullmatch, parts))
