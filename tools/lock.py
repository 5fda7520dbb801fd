"""Print constraints.txt: every package that mawl, its extras and its build need, as installed here.

The closure is walked from the installed metadata, so a package that merely lies in the environment
is left out.  ``python tools/lock.py > constraints.txt`` in an environment that was made with newer
versions; ``--check`` compares only and names what differs.
"""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent


def closure(pyproject: Path) -> dict[str, str]:
    """Name to version of every distribution needed, directly or not; mawl itself is left out.

    Raises ``PackageNotFoundError`` for one that is not installed.
    """
    project = tomllib.loads(pyproject.read_text())
    waiting = [Requirement(text) for text in project["build-system"]["requires"]]
    waiting += [Requirement(text) for text in project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        waiting += [Requirement(text) for text in extra]
    found: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        installed = distribution(name)
        found[name] = installed.version
        for text in installed.requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": e}) for e in (extras or {""})):
                waiting.append(needed)
    return dict(sorted(found.items()))


def main(arguments: list[str]) -> int:
    """Print the constraints, or compare them with the file."""
    try:
        wanted = "".join(f"{name}=={version}\n" for name, version in closure(ROOT / "pyproject.toml").items())
    except PackageNotFoundError as error:
        print(f"lock: {error.name} is needed but not installed; run make setup", file=sys.stderr)
        return 1
    if arguments != ["--check"]:
        print(wanted, end="")
        return 0
    stored = (ROOT / "constraints.txt").read_text()
    for line in sorted(set(wanted.splitlines()) ^ set(stored.splitlines())):
        side = "missing from" if line in wanted.splitlines() else "not needed in"
        print(f"lock: {line} is {side} constraints.txt", file=sys.stderr)
    return 0 if wanted == stored else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
