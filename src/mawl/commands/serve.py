"""Browse and compare runs in a browser, and follow one that is under way; nothing is written.

The pages are served on this machine alone unless --host names another address.  Ctrl-C (or SIGTERM)
ends it, with status 0.
"""

from __future__ import annotations

import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mawl.base.errors import UsageError
from mawl.commands.arguments import RUNS, bounds_of, settings
from mawl.commands.terminal import missing_package
from mawl.commands.verbs import Arguments, Verb, option
from mawl.records.store.files import FACTS

if TYPE_CHECKING:
    from mawl.advice.bounds import AnswerBounds
    from mawl.commands.server.reports import Renderers
    from mawl.records.store import Run


class ServeArguments(Arguments):
    runs: str | None = RUNS
    host: str = option("ADDRESS", "address to serve on (default: 127.0.0.1)", default="127.0.0.1")
    port: int = option("N", "default: 6295; 0 takes any that is free", default=6295)


def run(arguments: ServeArguments) -> int:
    """Serve until a signal; returns 0, since to be stopped is how a server ends."""
    try:
        from mawl.commands.server.application import create_app
        from mawl.commands.server.connections import address_of, is_loopback, listening, names_of, server_of
        from mawl.commands.server.run_folders import give_freed_memory_back
    except ModuleNotFoundError as error:
        raise missing_package(error, "server") from None
    give_freed_memory_back()
    chosen = settings()
    runs = chosen.runs(arguments.runs)
    if (runs / FACTS).exists():
        cure = f"name the directory that holds it: --runs {runs.parent}"
        raise UsageError("is one run, not a directory of runs", where=str(runs), cure=cure)
    if not runs.exists():
        print(f"mawl serve: {runs} does not exist yet, and the list is empty until it does", file=sys.stderr)
    elif not runs.is_dir():
        raise UsageError(
            "is not a directory", where=str(runs), cure="name the one that holds runs: --runs DIR"
        )
    listener = listening(arguments.host, arguments.port)
    app = create_app(
        runs,
        _renderers(bounds_of(chosen)),
        names=names_of(arguments.host, listener),
        failed=lambda error: _say_failure(error, debug=arguments.debug),
    )
    if not is_loopback(listener):
        print(
            "mawl serve: others can reach this address, and so read every run here: there is no password "
            "and no encryption",
            file=sys.stderr,
        )
    address = f"{address_of(listener)} shows the runs in {runs}; Ctrl-C ends it"
    _serve(server_of(app).run, listener, address)
    return 0


def _renderers(bounds: AnswerBounds) -> Renderers:
    import msgspec

    from mawl.commands.reporting import render_campaign, stored_campaign
    from mawl.commands.server.reports import standard_renderers
    from mawl.records.store.campaign import CAMPAIGN, read_qualification
    from mawl.reports import qualification
    from mawl.reports.document import rendered

    def campaign(folder: Path, opening: Callable[[Path], Run]) -> str:
        if not (folder / CAMPAIGN).exists():
            return rendered(qualification.document(read_qualification(folder)), "html")
        return render_campaign(stored_campaign(folder, bounds, opening).figures, "html")

    return msgspec.structs.replace(standard_renderers(bounds), campaign=campaign)


def _serve(serve: Callable[[list[socket.socket]], None], listener: socket.socket, address: str) -> None:
    with suppress(KeyboardInterrupt):
        print(address, flush=True)
        serve([listener])


def _say_failure(error: Exception, *, debug: bool) -> None:
    print(f"mawl serve: a page failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    if debug:
        traceback.print_exception(error)


VERBS = {"serve": Verb(ServeArguments, run)}
