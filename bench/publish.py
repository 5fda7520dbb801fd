"""What a site of 500 packs costs: the first build, a renewal, and the time until its first table is drawn."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from bench.harness import Result, at_most, cpu_seconds, sized
from mawl.archive.container import MANIFEST, write_pack
from mawl.archive.manifest import SubmitterStatement, decode_manifest, encode_manifest
from mawl.archive.packing import PackRequest, pack
from tests.fakes.altered_packs import members_of
from tests.fakes.published_run import write_published
from tests.pages.opened import chromium, until

NAME = "publish"

PACKS = sized(500, 10)
SYSTEMS = 120
MOST_SECONDS, MOST_DRAWN_SECONDS = 30.0, 1.0
LOADS = sized(5, 1)


def run() -> list[Result]:
    """Packs of one run of 12 jobs and 22 minutes, each with another statement."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        place = Path(directory)
        packs = write_packs(place)
        found = [_built(packs, place, again=again) for again in (False, True)]
        drawn = _drawn(place / "site" / "index.html")
    processors = len(os.sched_getaffinity(0))
    (first, first_cpu), (again, again_cpu) = found
    detail = f"{first_cpu:.1f} s of CPU time, {processors} processors"
    middle = sorted(drawn)[len(drawn) // 2]
    spread = f"{min(drawn):.2f} to {max(drawn):.2f} s in {len(drawn)} loads"
    return [
        at_most(f"first build of {PACKS} packs", first, "s", MOST_SECONDS, detail),
        Result("build with the same packs again", again, "s", "", None, f"{again_cpu:.1f} s of CPU time"),
        at_most("first table drawn", middle, "s", MOST_DRAWN_SECONDS, spread),
    ]


def write_packs(place: Path) -> list[Path]:
    """Packs of equal runs with different statements, in a directory."""
    write_published(place / "one")
    pack(PackRequest(folder=place / "one"), place / "one.mawl.zip")
    members = members_of(place / "one.mawl.zip")
    manifest = decode_manifest(members[MANIFEST], "")
    found = []
    for number in range(PACKS):
        statement = SubmitterStatement(submitter="Example", system=f"System {number % SYSTEMS}")
        own = {**members, MANIFEST: encode_manifest(msgspec.structs.replace(manifest, statement=statement))}
        found.append(place / f"pack-{number:03}.mawl.zip")
        with found[-1].open("wb") as file:
            write_pack(file, own)
    return found


def _built(packs: list[Path], place: Path, *, again: bool) -> tuple[float, float]:
    """Elapsed and CPU seconds of ``mawl publish``, of all its processes."""
    assert (place / "site").exists() == again
    command = [sys.executable, "-m", "mawl", "publish", *map(str, packs), "--output", str(place / "site")]
    environment = {**os.environ, "XDG_CACHE_HOME": str(place / "cache")}
    began = time.monotonic()
    used = cpu_seconds(command, environment)
    return time.monotonic() - began, used


def _drawn(page: Path) -> list[float]:
    """Seconds until the first table was drawn, of some loads in chromium."""
    found: list[float] = []
    with chromium() as browser:
        for _ in range(LOADS):
            opened = browser.new_page(viewport={"width": 1440, "height": 900})
            opened.goto(page.as_uri())
            opened.locator("tr[data-row]").first.wait_for()
            paint = "performance.getEntriesByName('first-contentful-paint')[0]"
            until(opened, f"{paint} !== undefined")  # the browser says so a moment after the paint
            found.append(float(opened.evaluate(f"{paint}.startTime")) / 1000.0)
            opened.close()
    return found
