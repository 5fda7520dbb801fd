"""What is wrong with the pages of the built site: links, pictures without alt text, the order of headings.

``mkdocs build --strict`` misses a link that leaves the documents, so each address of a page is followed here:
the file has to be there, and the place in it.  A picture needs an ``alt`` text.  A page has one heading of
level 1, and no heading skips a level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class ReadPage:
    """What a page says of itself: its places, the addresses it names, its pictures and headings, in order."""

    places: set[str] = field(default_factory=set)
    addresses: list[str] = field(default_factory=list)
    undescribed: list[str] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = ReadPage()
        self.in_article = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.page.places.update(given[name] for name in ("id", "name") if name in given)
        self.page.addresses.extend(given[name] for name in ("href", "src") if given.get(name))
        self.in_article = self.in_article or tag == "article"
        if tag == "img" and not given.get("alt", "").strip():
            self.page.undescribed.append(given.get("src", ""))
        if self.in_article and len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self.page.levels.append(int(tag[1]))

    def handle_endtag(self, tag: str) -> None:
        self.in_article = self.in_article and tag != "article"


@cache
def _read(file: Path) -> ReadPage:
    reader = _Reader()
    reader.feed(file.read_text())
    return reader.page


def faults(site: Path) -> list[str]:
    """A line for each fault of the pages under ``site``, a folder of HTML files; none is an empty list.

    The page of the server for an unknown address (``404.html``) is left out: its addresses begin at the top
    of a host.
    """
    _read.cache_clear()
    site, found = site.resolve(), []
    for file in sorted(site.rglob("*.html")):
        if file != site / "404.html":
            found += [f"{file.relative_to(site)}: {fault}" for fault in _of_page(file, site)]
    return found


def _of_page(file: Path, site: Path) -> Iterator[str]:
    page = _read(file)
    for address in dict.fromkeys(page.addresses):
        if (fault := _of_address(file, address, site)) is not None:
            yield fault
    for source in page.undescribed:
        yield f"picture {source} has no alt text"
    if page.levels.count(1) != 1:
        yield f"{page.levels.count(1)} headings of level 1, and a page has one"
    for before, level in zip([0, *page.levels], page.levels, strict=False):
        if level > before + 1:
            yield f"a heading of level {level} follows one of level {before}"


def _of_address(file: Path, address: str, site: Path) -> str | None:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    aim = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if aim.is_dir():
        aim /= "index.html"
    if not aim.is_file() or not aim.is_relative_to(site):
        return f"link {address} leads to no file of the site"
    if parts.fragment and aim.suffix == ".html" and unquote(parts.fragment) not in _read(aim).places:
        return f"link {address} leads to no place of that page"
    return None
