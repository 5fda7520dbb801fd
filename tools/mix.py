"""Keep what a run of a mix showed for docs/reference/signature.md: ``python -m tools.mix RUN...``.

It adds to ``docs/reference/mix.json`` from the report of each run folder the lines that say what was
run and the signature beside the published ranges; ``make reference`` prints that file.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

import mawl

FILE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "mix.json"
HEAD = ("run ", "workload ", "system ", "started ", "jobs ", "at once ", "elapsed ", "reach ")


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One run: the arguments of its command, the head of its report and its signature, as printed."""

    command: list[str]
    head: list[str]
    signature: list[str]


def shown(folder: Path, report: str) -> Shown:
    """The lines of a report that are kept; ValueError where it has no signature."""
    lines = report.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith("signature  ")), None)
    if start is None:
        raise ValueError(f"{folder}: its report has no signature")
    end = next(n for n in range(start, len(lines) + 1) if n == len(lines) or not lines[n])
    seen: set[str] = set()
    head = []
    for line in lines[:start]:
        begins = next((begins for begins in HEAD if line.startswith(begins)), None)
        if begins is not None and begins not in seen:
            seen.add(begins)
            head.append(line)
    arguments = mawl.open_run(folder).facts.command[1:]
    return Shown(command=arguments, head=head, signature=lines[start:end])


def page() -> list[str]:
    """docs/reference/signature.md."""
    lines = [
        "# The signature, measured",
        "",
        "What the rows mean, and why a value may lie outside: [the signature](../design/signature.md).",
        "",
    ]
    for one in load():
        lines += ["```", f"$ mawl {' '.join(one.command)}", *one.head, "", *one.signature, "```", ""]
    return lines


def load() -> list[Shown]:
    """The runs that are kept."""
    return msgspec.json.decode(FILE.read_bytes(), type=list[Shown])


def main(arguments: Sequence[str]) -> int:
    """Add the runs named to those that are kept."""
    kept = load()
    for name in arguments:
        report = subprocess.run(
            [sys.executable, "-m", "mawl", "report", name, "--all"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        kept.append(shown(Path(name), report.stdout))
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
