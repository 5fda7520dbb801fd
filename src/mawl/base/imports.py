"""Imports without garbage collection, which would only slow them down."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Import modules without collections meanwhile, and leave what they made out of later ones.

    A module's objects stay until the process ends. Each collection of the oldest generation walks all of
    them, and while imports go on that happens again and again.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
