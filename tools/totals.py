"""Add up the JUnit files of several pytest runs: the last line of ``.ci/run``.

``python3 tools/totals.py FILE...`` prints ``N passed, N failed, N skipped`` and ends with 1 when a
test failed, a file is missing or unreadable, or nothing passed.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def totals(files: list[Path]) -> tuple[int, int, int]:
    """Passed, failed (errors included) and skipped tests; :class:`OSError` or
    :class:`xml.etree.ElementTree.ParseError` for a file that is none."""
    outcomes: dict[tuple[Path, str | None, str | None], set[str]] = {}
    for file in files:
        for case in ElementTree.parse(file).iter("testcase"):
            # A test that was tried again stands there once for each attempt, with the outcome at the last.
            outcomes.setdefault((file, case.get("classname"), case.get("name")), set()).update(
                child.tag for child in case
            )
    failed = sum(bool(found & {"failure", "error"}) for found in outcomes.values())
    skipped = sum("skipped" in found and not found & {"failure", "error"} for found in outcomes.values())
    return len(outcomes) - failed - skipped, failed, skipped


def main(arguments: list[str]) -> int:
    """Print the sums of the files named."""
    present, complete = [], True
    for name in arguments:
        try:
            totals([Path(name)])
            present.append(Path(name))
        except (OSError, ElementTree.ParseError) as error:
            complete = False
            print(f"totals: {name}: no result of this run of the tests: {error}", file=sys.stderr)
    passed, failed, skipped = totals(present)
    sys.stderr.flush()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if complete and passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
