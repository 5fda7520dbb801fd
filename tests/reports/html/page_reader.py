"""What a page says, read back: its elements, figures, anchors and addresses."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class Reading(HTMLParser):
    """Reads a page; scripts are counted by their type and their text left alone."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.figures: list[tuple[list[str | int], Any, str]] = []
        self.scripts: list[str | None] = []
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.reasons: list[str] = []
        self.words: list[str] = []
        self._inside: tuple[list[str | int], Any] | None = None
        self._skip = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "script":
            self.scripts.append(values.get("type"))
        self._skip = tag in ("script", "style")
        if values.get("id"):
            self.anchors.add(str(values["id"]))
        self.handlers += [name for name in values if name.startswith("on")]
        for name in ("href", "src", "action", "data", "srcset"):
            target = values.get(name)
            if target and target.startswith("#"):
                self.links.append(target[1:])
            elif target is not None:
                self.addresses.append(target)
        if "data-path" in values:
            self._inside = (json.loads(str(values["data-path"])), json.loads(str(values["data-value"])))
        if "absent" in str(values.get("class", "")).split():
            self.reasons.append(str(values.get("title", "")))

    def handle_endtag(self, tag: str) -> None:
        self._skip = False

    def handle_data(self, data: str) -> None:
        if self._skip:
            return
        self.words.append(data)
        if self._inside is not None:
            self.figures.append((*self._inside, data))
            self._inside = None


def value_at(summary: Any, path: list[str | int]) -> Any:
    """The value of a summary at a path; None below a null."""
    for part in path:
        if summary is None:
            return None
        summary = summary[part]
    return summary
