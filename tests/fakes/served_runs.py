"""A directory of runs behind the server: in the test's own process, or on a real socket in a thread."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import escape

from mawl.advice import judge as judging
from mawl.commands.server.application import create_app
from mawl.commands.server.connections import PageServer, listening, server_of
from mawl.commands.server.reports import Renderers
from mawl.figures.view import StoredView
from mawl.records.model.summary.summary import Judged
from mawl.reports.html.page import page
from tests.fakes.stored_run import facts, write_run


class Made:
    """Renderers that need no Bokeh, and what they were asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failures: list[Exception] = []

    def report(self, view: StoredView, summary: Judged) -> str:
        self.asked.append(f"report {view.run.path.name}")
        return page("Report", str(escape(f"report of {summary.run_id}: {summary.outcome}")))

    def following(self, view: StoredView, summary: Judged) -> str:
        self.asked.append(f"following {view.run.path.name}")
        return page("Live", str(escape(f"{summary.run_id}")), ["follow()"], connect="'self'")

    def sources(self, view: StoredView, summary: Judged) -> Mapping[str, Mapping[str, Any]]:
        samples = view.run.samples
        return {
            "samples": {"value": samples["value"].to_numpy() * float("nan")},
            "constant": {"one": [1.0, None], "name": ["<a>", "b"]},
        }

    def metrics(self, summaries: Sequence[Judged]) -> str:
        return "".join(f"mawl_jobs {one.run_id}\n" for one in summaries) + "# EOF\n"

    def comparison(self, sides: Sequence[Sequence[StoredView]]) -> str:
        self.asked.append("comparison")
        names = (" and ".join(view.facts.run_id for view in side) for side in sides)
        return page("Comparison", str(escape(" against ".join(names))))

    def judged(self, view: StoredView) -> Judged:
        """A summary of what the stand-ins read."""
        self.asked.append(f"judged {view.run.path.name}")
        found = judging.judged(view)
        found.validity.status = "preliminary"
        return found

    def renderers(self) -> Renderers:
        return Renderers(
            report=self.report,
            following=self.following,
            sources=self.sources,
            metrics=self.metrics,
            comparison=self.comparison,
            judged=self.judged,
        )


def finished(runs: Path, name: str, **changes: Any) -> Path:
    """A finished run in the folder ``name``."""
    folder = runs / name
    write_run(folder, runs=runs).finish(facts(run_id=name, **changes))
    return folder


def copies(template: Path, count: int) -> None:
    """As many runs as ``count`` beside the finished run ``template``, each with facts of its own."""
    plain = msgspec.json.decode((template / "run.json").read_bytes())
    for number in range(count):
        folder = template.with_name(f"copy-{number:05d}")
        shutil.copytree(template, folder)
        plain["run_id"] = folder.name
        plain["workload"]["name"] = f"workload{number % 7}"
        (folder / "run.json").write_bytes(msgspec.json.encode(plain))


@contextmanager
def serving(runs: Path, renderers: Renderers) -> Iterator[tuple[PageServer, int]]:
    """The server on a free port of the loopback address, ended with the block."""
    listener = listening("127.0.0.1", 0)
    failures: list[Exception] = []
    server = server_of(create_app(runs, renderers, failed=failures.append))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    port = listener.getsockname()[1]
    thread.start()
    try:
        yield server, port
    finally:
        server.should_exit = True
        thread.join(10)
    assert not thread.is_alive()
    assert failures == []


def raw(port: int, request: bytes, *, most: int = 1_000_000) -> bytes:
    """All that the server answers to these bytes until it closes."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as visitor:
        try:
            visitor.sendall(request)
            while len(answer) < most and (piece := visitor.recv(65536)):
                answer += piece
        except (ConnectionResetError, BrokenPipeError):
            pass
    return answer
