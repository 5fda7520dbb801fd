"""Measure what the base install and each extra take on disk, and write the table of the install guide.

``python -m tools.install_sizes`` installs the built wheel with the versions of constraints.txt into an empty
environment for each extra, sums up what its files occupy, bytecode included, and writes the table;
``--check`` writes nothing and fails where a figure is more than 10 % off.  It needs the package index.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tools.markdown import table
from tools.versions import EXTRAS, ROOT, build, run, uv

GUIDE = ROOT / "docs/guides/install.md"
BEGIN, END = (
    "<!-- Measured by tools/install_sizes.py; do not edit. -->",
    "<!-- End of the measured table. -->",
)
TOLERANCE = 0.1
BASE, ALL = "base", "all extras"
USES = {
    BASE: "read, report, compare, simulate, import, pack and validate",
    "programs": "`mawl run`, `qualify` and all else that runs the programs",
    "storage": "lz4 and zstd for `mawl compressibility`",
    "cluster": "several nodes over Dask",
    "search": "`mawl tune search`",
    "server": "`mawl serve`",
    ALL: "everything",
}


def occupied_mib(folder: Path) -> float:
    """What the files below a folder occupy on disk, each counted once, in MiB."""
    seen = {(one.st_dev, one.st_ino): one.st_blocks * 512 for one in map(Path.lstat, folder.rglob("*"))}
    return sum(seen.values()) / 2**20


def measure(scratch: Path) -> dict[str, float]:
    """MiB by extra, all of the libraries of its environment."""
    program, wheel = uv(scratch), build(scratch)
    found = {}
    for name in (BASE, *EXTRAS, ALL):
        place = scratch / f"environment-{name.split()[0]}"
        extras = {BASE: "", ALL: f"[{','.join(EXTRAS)}]"}.get(name, f"[{name}]")
        run(program, "venv", "--quiet", "--python", sys.executable, place)
        install = (program, "pip", "install", "--quiet", "--compile-bytecode", "--link-mode", "copy")
        wanted = ("--constraint", ROOT / "constraints.txt", f"mawl{extras} @ file://{wheel}")
        run(*install, "--python", place / "bin/python", *wanted)
        found[name] = occupied_mib(place)
    return found


def rows(found: Mapping[str, float]) -> Iterable[tuple[str, ...]]:
    """Each with what it is for, what its environment takes, and what of that the base has not."""
    for name, mib in found.items():
        command = {BASE: "mawl", ALL: f"mawl[{','.join(EXTRAS)}]"}.get(name, f"mawl[{name}]")
        added = "" if name == BASE else f"{mib - found[BASE]:.0f}"
        yield f"`{command}`", USES[name], f"{mib:.0f}", added


def stored(text: str) -> dict[str, float]:
    """The figures of the table in the guide, by the names of ``measure``."""
    cells = re.findall(r"^\| `(mawl[^`]*)` \|[^|]*\| (\d+) \|", text, re.MULTILINE)
    names = {"mawl": BASE, f"mawl[{','.join(EXTRAS)}]": ALL} | {f"mawl[{name}]": name for name in EXTRAS}
    return {names[command]: float(mib) for command, mib in cells}


def with_table(text: str, found: Mapping[str, float]) -> str:
    """The guide with the measured table in its place."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    lines = table(("install", "for", "MiB in all", "MiB added to the base"), rows(found))
    return "\n".join([before + BEGIN, "", *lines[:-1], "", END]) + after


def main(arguments: Sequence[str]) -> int:
    """Measure, and write or compare; 1 when a figure of the guide is off."""
    with tempfile.TemporaryDirectory(prefix="mawl-sizes-") as scratch:
        found = measure(Path(scratch))
    text = GUIDE.read_text()
    if "--check" not in arguments:
        GUIDE.write_text(with_table(text, found))
        return 0
    written = stored(text)
    wrong = [name for name, mib in found.items() if abs(written.get(name, 0) - mib) > TOLERANCE * mib]
    for name in wrong:
        print(f"install-sizes: {name} takes {found[name]:.0f} MiB, the guide says {written.get(name, 0):.0f}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
