"""Add up the JUnit files of several pytest runs: the last lines of ``.ci/run``.

``python3 tools/totals.py FILE...`` prints how many tests were skipped for each reason, which tests were
tried again and how often, and ``N passed, N failed, N skipped``.  It ends with 1 when a test failed, a
file is missing or unreadable, or nothing passed.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FAILURES = {"failure", "error"}


@dataclass
class Outcome:
    """What became of one test: the elements of its last attempt's result, and how often it was tried."""

    found: set[str] = field(default_factory=set)
    reason: str = ""
    attempts: int = 0


def outcomes(files: list[Path]) -> dict[tuple[Path, str, str], Outcome]:
    """Of each test by file, class and name; ``OSError`` or
    ``ParseError`` for a file that is none."""
    tests: dict[tuple[Path, str, str], Outcome] = {}
    for file in files:
        for case in ElementTree.parse(file).iter("testcase"):
            # A test that was tried again stands there once for each attempt, with the outcome at the last.
            key = (file, case.get("classname") or "", case.get("name") or "")
            outcome = tests.setdefault(key, Outcome())
            outcome.attempts += 1
            for child in case:
                outcome.found.add(child.tag)
                if child.tag == "skipped":
                    outcome.reason = child.get("message") or "no reason given"
    return tests


def totals(files: list[Path]) -> tuple[int, int, int]:
    """Passed, failed (errors included) and skipped tests; errors as ``outcomes``."""
    found = [one.found for one in outcomes(files).values()]
    failed = sum(bool(one & FAILURES) for one in found)
    skipped = sum("skipped" in one and not one & FAILURES for one in found)
    return len(found) - failed - skipped, failed, skipped


def remarks(files: list[Path]) -> list[str]:
    """Lines on what was skipped, by reason, and on what was tried again."""
    tests = outcomes(files)
    reasons = Counter(
        one.reason for one in tests.values() if "skipped" in one.found and not one.found & FAILURES
    )
    lines = [f"skipped {number}: {reason}" for reason, number in reasons.most_common()]
    again = {key: one for key, one in tests.items() if one.attempts > 1}
    if again:
        lines.append(
            f"tried again: {len(again)} tests, {sum(one.attempts - 1 for one in again.values())} attempts"
        )
    for (_, place, name), one in again.items():
        end = "failed" if one.found & FAILURES else "passed"
        lines.append(f"  {place}::{name}: {end} at attempt {one.attempts}")
    return lines


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
    for line in remarks(present):
        print(line)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if complete and passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
