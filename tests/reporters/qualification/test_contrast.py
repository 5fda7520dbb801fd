"""Text of the answer's page is readable in light and dark: contrast of at least 4.5 (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

import re

import pytest

from mawl.reporters.html.templating import asset

PAIRS = [
    ("ink", "ground"),
    ("quiet", "ground"),
    ("ink", "card"),
    ("quiet", "card"),
    *((tone, f"{tone}-ground") for tone in ("good", "warn", "bad")),
    *(("ink", f"{tone}-ground") for tone in ("good", "warn", "bad")),
]


def luminance(colour: str) -> float:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize(("ink", "ground"), PAIRS)
def test_contrast(mode: int, ink: str, ground: str) -> None:
    palettes = [
        dict(re.findall(r"--([\w-]+): (#\w{6})", block))
        for block in re.findall(r":root \{([^}]*)\}", asset("answer.css"))
    ]
    one, other = sorted((luminance(palettes[mode][name]) for name in (ink, ground)), reverse=True)
    assert (one + 0.05) / (other + 0.05) >= 4.5
