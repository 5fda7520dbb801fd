"""The colours of pages and charts: one for each meaning, in light and in dark.

Style sheets name a colour ``var(--NAME)``.  Charts are drawn in the light ones, and the script of the
charts replaces them with those of the page's scheme (``meanings``).  A test computes contrast (WCAG
2.2, 1.4.3 and 1.4.11) and the distances that a colour-blind reader sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Colour(NamedTuple):
    """``#rrggbb`` on a light and on a dark page."""

    light: str
    dark: str


PAGE: Mapping[str, Colour] = {
    "ground": Colour("#ffffff", "#12161b"),
    "card": Colour("#f4f6f8", "#1a2027"),
    "ink": Colour("#1b2026", "#e5e9ee"),
    "quiet": Colour("#545d69", "#a3adb9"),
    "accent": Colour("#1257a8", "#7cb7ff"),
    "line": Colour("#d5dae1", "#323b46"),
    "grid": Colour("#e3e7ec", "#29313b"),
    "neutral-ground": Colour("#e9edf2", "#28303a"),
    "good": Colour("#17683a", "#7fd6a0"),
    "good-ground": Colour("#e4f4ea", "#14331f"),
    "warn": Colour("#7a4900", "#f2c063"),
    "warn-ground": Colour("#fdf1dc", "#33260b"),
    "bad": Colour("#a6211a", "#ff9d94"),
    "bad-ground": Colour("#fce8e6", "#431a17"),
}
"""Grounds, text, and better (``good``), undecided (``warn``) and worse (``bad``)."""

MARKS: Mapping[str, Colour] = {
    "read": Colour("#3c56ce", "#7870c7"),
    "written": Colour("#9c5703", "#ef7f2e"),
    "data": Colour("#127f80", "#5ad2d0"),
    "work": Colour("#cd45be", "#dd84fc"),
    "util": Colour("#4225ad", "#9168f5"),
    "other": Colour("#5a4460", "#9797a4"),
    "on-cpu": Colour("#1d6b10", "#74c545"),
    "cpu-wait": Colour("#b37d17", "#f7dc49"),
    "storage": Colour("#ac0e59", "#fc4b82"),
    "memory": Colour("#710392", "#aa82fb"),
    "network": Colour("#0d7fb0", "#49a7ba"),
    "stolen": Colour("#915c67", "#ebaea9"),
    "cached": Colour("#4487da", "#8ec1f3"),
    "compute-class": Colour("#8d5cca", "#bfa5e7"),
    "memory-class": Colour("#990f0f", "#cc3314"),
    "io-class": Colour("#3f934a", "#3ef0b4"),
    "reference": Colour("#325ca1", "#619ce9"),
    "candidate": Colour("#d16022", "#ff9c3c"),
}
"""What charts draw.  ``cpu-wait`` is time that jobs waited for a processor and time that processors limited;
``storage``, ``memory`` and ``network`` are what limited, ``data``, ``work``, ``util`` and ``other`` where."""

COLOURS: Mapping[str, Colour] = {**PAGE, **MARKS}
CLEAR = "#00000000"


def light(name: str) -> str:
    """The colour of a meaning as charts are given it; KeyError for a name that is no meaning."""
    return COLOURS[name].light


def meanings() -> dict[str, str]:
    """Colour on a light page to the name of its meaning: what the script of the charts looks up."""
    return {colour.light: name for name, colour in COLOURS.items()}


def style() -> str:
    """The colours as a style sheet: light unless the reader asked for dark, and always light on paper."""
    by_scheme = (
        " ".join(f"--{name}: {colour[scheme]};" for name, colour in COLOURS.items()) for scheme in (0, 1)
    )
    bright, dim = by_scheme
    return (
        f":root {{ color-scheme: light dark; {bright} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ html:not(.printing) {{ {dim} }} }}\n"
    )
