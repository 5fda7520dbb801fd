"""Make or check the input tables of a plan, and show how far that is.  Shared by generate and run."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TextIO

from mawl.base.units import format_bytes
from mawl.plan.needs import Needs
from mawl.plan.workload import Plan
from mawl.programs.datagen.generate import GenerationProgress
from mawl.records.spec.program_options import VolumeOrder
from mawl.records.volumes import Volumes
from mawl.run.runner.facts import Inputs, make_inputs


def inputs_with_progress(
    plan: Plan,
    volumes: Volumes,
    needed: Needs,
    *,
    order: VolumeOrder,
    processes: int,
    verify: bool = False,
) -> Inputs:
    """``make_inputs``, and how far it is on standard error."""
    with contextlib.closing(_View(sys.stderr)) as view:
        return make_inputs(
            plan, volumes, needed, order=order, processes=processes, verify=verify, progress=view.show
        )


class _View:
    """Progress of a generation: a rewritten line on a terminal, a plain line every 5 s elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._next = time.monotonic() + (0.2 if self._terminal else 5.0)

    def show(self, progress: GenerationProgress) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.2 if self._terminal else 5.0)
        text = (
            f"{'checking' if progress.checking else 'generating'} {progress.table}: "
            f"{format_bytes(progress.done_bytes)} of {format_bytes(progress.total_bytes)}"
        )
        self._write(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")

    def close(self) -> None:
        if self._terminal:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a terminal that is gone ends no run
            self._stream.write(text)
            self._stream.flush()
