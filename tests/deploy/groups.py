"""Control groups of version 1 with a limit, below those of the tests themselves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests import needs

GROUPS = Path("/sys/fs/cgroup")


@contextlib.contextmanager
def limited(name: str, limits: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, ...]]:
    """Words that start a command in new groups: of each controller the one whose files have these values."""
    paths = {
        controller: path
        for line in Path("/proc/self/cgroup").read_text().splitlines()
        for _, controllers, path in [line.split(":", 2)]
        for controller in controllers.split(",")
    }
    made: list[Path] = []
    try:
        for controller, values in limits.items():
            group = GROUPS / controller / paths.get(controller, "").lstrip("/") / name
            try:
                group.mkdir()
            except OSError as error:
                needs.skip(f"no control group of version 1 can be made: {error}")
            made.append(group)
            for file, value in values.items():
                (group / f"{controller}.{file}").write_text(str(value))
        script = "".join(f"echo $$ >{group}/cgroup.procs; " for group in made)
        yield ("sh", "-ec", f'{script}exec "$@"', "sh")
    finally:
        for group in made:
            group.rmdir()
