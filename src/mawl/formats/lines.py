"""Text from elsewhere that goes into a line of ours."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text without anything that could end the line or steer a terminal."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
