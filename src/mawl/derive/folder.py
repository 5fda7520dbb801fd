"""The derived folder: a workload that ``mawl run`` takes, and its evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import tomli_w

from mawl.base.errors import UnsuitableMachineError, UsageError, cure_of
from mawl.derive.derive import Derived
from mawl.derive.document import document
from mawl.derive.nights import Thinning
from mawl.plan.derived_jobs import encoded
from mawl.records.model.derived import FILE
from mawl.records.store.files import replace_file
from mawl.reports.document import rendered

WORKLOAD = "workload.toml"
EVIDENCE = "evidence.json"
PAGE = "evidence.html"
NIGHTS = "nights.json"


def make_derived_folder(path: Path) -> None:
    """An empty directory, before any work.

    Raises ``UsageError`` where it holds something, and
    ``UnsuitableMachineError`` where it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UsageError(
                "already holds files", where=str(path), cure="name a new directory with --output"
            )
    except OSError as error:
        raise UnsuitableMachineError(
            "the derived folder cannot be made",
            where=str(path),
            why=(error.strerror or str(error)).lower(),
            cure=cure_of(error, path, "name a writable directory with --output"),
        ) from None


def write_derived(path: Path, derived: Derived) -> None:
    """Write the four files; the workload file comes last, so that a folder that has it is whole."""
    evidence = derived.evidence
    files: dict[str, Callable[[], bytes]] = {
        FILE: lambda: encoded(derived.workload),
        EVIDENCE: lambda: msgspec.json.format(msgspec.json.encode(evidence), indent=1),
        PAGE: lambda: rendered(document(evidence, str(path)), "html").encode(),
        WORKLOAD: lambda: _workload(derived).encode(),
    }
    for name, made in files.items():
        replace_file(path / name, made())


def write_nights(path: Path, thinning: Thinning, nights: Sequence[Derived]) -> None:
    """A derived folder for each night (``night-1``), and ``nights.json`` with what each stands for."""
    for one, derived in zip(thinning.chosen, nights, strict=True):
        folder = path / f"night-{one.number}"
        folder.mkdir()
        write_derived(folder, derived)
    replace_file(path / NIGHTS, msgspec.json.format(msgspec.json.encode(thinning), indent=1))


def _workload(derived: Derived) -> str:
    jobs = len(derived.workload.jobs)
    head = "# Derived from logs by mawl: evidence.html says how sure each number is.\n"
    return head + tomli_w.dumps({"name": "shop", "title": f"{jobs} jobs derived from logs", "derived": FILE})
