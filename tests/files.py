"""Texts of tests that lie in files: programs in C, workloads, what the kernel prints."""

from __future__ import annotations

from pathlib import Path


def text_of(module: str, name: str) -> str:
    """The text of a file in the folder ``files`` next to a module, which is given by its ``__file__``."""
    return (Path(module).parent / "files" / name).read_text()
