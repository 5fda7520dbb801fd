"""Colours by meaning: enough contrast, told apart by colour-blind readers, and named nowhere else.

Contrast is that of WCAG 2.2 (1.4.3 text, 1.4.11 marks).  Colour blindness is simulated with the matrices
of Machado, Oliveira and Fernandes (2009) at full severity, on linear RGB; distance is that of Oklab.
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import mawl.reports
from mawl.reports.html.charts.frame import CLASS_COLOURS
from mawl.reports.html.charts.lead import LIMITS
from mawl.reports.html.charts.over_time import CPU, JOBS, LATENCY, MEANINGS, MEMORIES, NETWORK
from mawl.reports.html.colours import COLOURS, MARKS, Colour, light, meanings, style

LEAST_TEXT, LEAST_MARK = 4.5, 3.0
LEAST_DISTANCE = {"normal": 0.09, "protan": 0.09, "deutan": 0.09, "tritan": 0.06}
SCHEMES = ("light", "dark")
TEXT_PAIRS = [
    *((ink, ground) for ink in ("ink", "quiet", "accent") for ground in ("ground", "card")),
    ("ink", "neutral-ground"),
    ("ground", "ink"),
    *((tone, ground) for tone in ("good", "warn", "bad") for ground in ("ground", "card", f"{tone}-ground")),
    *(("ink", f"{tone}-ground") for tone in ("good", "warn", "bad")),
]
TOGETHER = [
    {"read", "written", *(colour for name, (_, colour) in LIMITS.items() if name != "none")},
    {"read", "written", "ink"},
    {*MEANINGS.values()} - {"quiet"},
    *({key.colour for key in keys.values()} for keys in (CPU, JOBS, LATENCY, MEMORIES, NETWORK)),
    {*CLASS_COLOURS.values()},
    {"reference", "candidate"},
]
"""Colours that a chart shows at once; of a text that says the same they may be closer."""

BLINDNESS = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)

Vector = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def linear(colour: str) -> Vector:
    channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def seen(colour: str, blindness: str) -> Vector:
    found: Vector = TO_OKLAB @ np.cbrt(TO_CONES @ np.clip(BLINDNESS[blindness] @ linear(colour), 0, 1))
    return found


def of(name: str, scheme: str) -> str:
    return str(getattr(COLOURS[name], scheme))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("ink", "ground"), TEXT_PAIRS)
def test_text_has_contrast(scheme: str, ink: str, ground: str) -> None:
    assert contrast(of(ink, scheme), of(ground, scheme)) >= LEAST_TEXT


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", [*MARKS, "ink", "quiet", "good", "warn", "bad"])
def test_marks_have_contrast(scheme: str, name: str) -> None:
    for ground in ("ground", "card"):
        assert contrast(of(name, scheme), of(ground, scheme)) >= LEAST_MARK


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_colours_of_a_chart_are_told_apart(scheme: str, blindness: str) -> None:
    close = [
        (one, other)
        for together in TOGETHER
        for one, other in combinations(sorted(together), 2)
        if np.linalg.norm(seen(of(one, scheme), blindness) - seen(of(other, scheme), blindness))
        < LEAST_DISTANCE[blindness]
    ]
    assert close == []


def test_the_measure_of_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_a_red_and_a_green_that_a_colour_blind_reader_confuses_are_found() -> None:
    distance = np.linalg.norm(seen("#a05000", "deutan") - seen("#707000", "deutan"))
    assert distance < LEAST_DISTANCE["deutan"]


def test_each_meaning_has_a_colour_of_its_own() -> None:
    assert len(meanings()) == len(COLOURS)
    assert meanings()[light("read")] == "read"
    with pytest.raises(KeyError):
        light("blue")


def test_the_style_sheet_has_every_colour_in_both_schemes() -> None:
    bright, dim = style().split("@media screen and (prefers-color-scheme: dark)")
    for name, colour in COLOURS.items():
        assert isinstance(colour, Colour)
        assert f"--{name}: {colour.light};" in bright and f"--{name}: {colour.dark};" in dim


def test_no_other_module_style_sheet_or_script_names_a_colour() -> None:
    root = Path(mawl.reports.__file__).parents[1]
    files = [
        file
        for folder in ("reports", "commands/server")
        for kind in ("py", "css", "js", "html")
        for file in (root / folder).rglob(f"*.{kind}")
        if file.name != "colours.py"
    ]
    assert len(files) > 100
    found = [
        (file.name, text)
        for file in files
        for text in re.findall(r"#[0-9a-fA-F]{6}\b|\brgba?\(|\bhsl\(", file.read_text())
    ]
    assert found == []


def test_style_sheets_name_only_colours_that_exist() -> None:
    root = Path(mawl.reports.__file__).parents[1]
    named = {
        name
        for folder in ("reports", "commands/server")
        for kind in ("css", "html")
        for file in (root / folder).rglob(f"*.{kind}")
        for name in re.findall(r"var\(--([\w-]+)\)", file.read_text())
    }
    # A rule that many elements share takes its colour from each: both names stand for one of COLOURS.
    assert named - set(COLOURS) <= {"colour", "mark", "height"}, "a height is no colour"
