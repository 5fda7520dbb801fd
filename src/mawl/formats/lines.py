"""Text from elsewhere that goes into a line of ours."""

from __future__ import annotations


def encodable(text: str) -> str:
    """The text with what UTF-8 cannot hold, such as bytes of a file name, as ``\\xff``."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def one_line(text: str) -> str:
    """The text without anything that could end the line or steer a terminal."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
