"""Scales, and how the memory options shrink with them."""

from __future__ import annotations

import msgspec

from mawl.errors import UsageError
from mawl.spec.program_options import MIB, Options
from mawl.units import format_plain

SCALES: dict[str, float] = {"smoke": 0.0005, "quick": 0.005, "standard": 0.05, "full": 1.0}

SMALLEST_SORTSIZE = 4 * MIB
SMALLEST_MEMSIZE = 64 * MIB


def parse_scale(text: str | float) -> float:
    """A scale factor from its name or a positive number."""
    if isinstance(text, str) and text in SCALES:
        return SCALES[text]
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 100.0:
        known = ", ".join(f"{name} ({value:g})" for name, value in SCALES.items())
        raise UsageError(f"expected a scale ({known}) or a number above 0 and at most 100, found {text!r}")
    return value


def scale_name(scale: float) -> str:
    """The scale's name, or the number where it has none."""
    return next((name for name, value in SCALES.items() if value == scale), f"{scale:g}")


def shown_scale(name: str | None, scale: float | None) -> str | None:
    """The scale's name, or the factor in plain decimals if it has none; None if neither is known."""
    if name is None or name[:1].isdigit() or name[:1] == ".":
        return None if scale is None else format_plain(scale)
    return name


def scaled_options(options: Options, scale: float) -> Options:
    """The options as jobs get them at a scale.

    Memory and sort memory shrink tenfold more slowly than the inputs, down to a floor:
    at 0.1 and above they are what was asked, at ``quick`` a twentieth of it.  The input of
    wide_sort is then 17 (smoke), 54 (quick, standard) and 540 (full) times sortsize, so that its
    sorts spill at every scale; see docs/design/scales.md.
    """
    share = min(1.0, scale * 10.0)
    return msgspec.structs.replace(
        options,
        sortsize_bytes=min(
            options.sortsize_bytes, max(SMALLEST_SORTSIZE, int(options.sortsize_bytes * share))
        ),
        memsize_bytes=min(options.memsize_bytes, max(SMALLEST_MEMSIZE, int(options.memsize_bytes * share))),
    )
