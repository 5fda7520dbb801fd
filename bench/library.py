"""The library of ``mawl serve``: the time to its first page, to the next, and how both grow with the runs."""

from __future__ import annotations

import asyncio
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import httpx2
import msgspec

from bench.harness import Result, at_most, sized
from mawl.base.errors import RunFailedError
from mawl.commands.server.application import create_app
from mawl.commands.server.reports import Renderers
from tests.fakes.served_runs import Made, finished

NAME = "library"

RUNS, JOBS = sized((200, 404), (5, 10))
GROWTH = sized(10, 2)
MOST_SECONDS = 1.0
TIMES = sized(5, 1)


def run() -> list[Result]:
    """Pages of 200 runs of 404 jobs, and of ten times as many."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        runs = Path(directory) / "runs"
        runs.mkdir()
        template = finished(runs, "first")
        _plan(template, JOBS)
        found = []
        for count in (RUNS, RUNS * GROWTH):
            _fill(runs, template, count)
            found.append([pages(runs) for _ in range(TIMES)])
    few, many = found
    first, again = ([seconds[place] for seconds in few] for place in (0, 1))
    first_many, again_many = ([seconds[place] for seconds in many] for place in (0, 1))
    return [
        at_most(
            f"first page of {RUNS} runs",
            statistics.median(first),
            "s",
            MOST_SECONDS,
            f"every run.json read, of {JOBS} jobs each; {_range(first)}",
        ),
        at_most(
            f"next page of {RUNS} runs",
            statistics.median(again),
            "s",
            MOST_SECONDS,
            f"nothing changed between; {_range(again)}",
        ),
        Result(
            f"first page of {RUNS * GROWTH} runs",
            statistics.median(first_many),
            "s",
            "",
            None,
            f"{statistics.median(first_many) / statistics.median(first):.1f} times that of {RUNS}; "
            f"the next {statistics.median(again_many):.3g} s",
        ),
    ]


def _plan(folder: Path, jobs: int) -> None:
    """As many planned jobs in ``run.json`` as a large run has."""
    path = folder / "run.json"
    plain = msgspec.json.decode(path.read_bytes())
    one = plain["planned_jobs"][0]
    plain["planned_jobs"] = [{**one, "job": f"s{number}-1"} for number in range(jobs)]
    path.write_bytes(msgspec.json.encode(plain))


def _fill(runs: Path, template: Path, count: int) -> None:
    for number in range(count - 1):
        folder = runs / f"run-{number:05d}"
        if not folder.exists():
            shutil.copytree(template, folder)


def pages(runs: Path) -> tuple[float, float]:
    """Seconds to the first page of a new server, and to the next."""
    return asyncio.run(_asked(runs, Made().renderers()))


async def _asked(runs: Path, renderers: Renderers) -> tuple[float, float]:
    app = create_app(runs, renderers, failed=_fail)
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as visitor:
        seconds = []
        for _ in range(2):
            began = time.perf_counter()
            page = await visitor.get("/")
            seconds.append(time.perf_counter() - began)
            if page.status_code != 200 or " runs" not in page.text:
                raise RunFailedError("a page under the bench failed", why=f"{page.status_code} {page.text}")
    return seconds[0], seconds[1]


def _fail(error: Exception) -> None:
    raise error


def _range(seconds: list[float]) -> str:
    return f"{min(seconds):.3g} to {max(seconds):.3g} s in {len(seconds)} servers"
