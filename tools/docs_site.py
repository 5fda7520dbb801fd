"""Build the documents as a site into build/site, strictly: a broken link, anchor or page out of sight fails.

``python -m tools.docs_site``.  The pages are first put together in build/pages: docs/ as it is, and the pages
of the top (README.md and others) under project/.  Only that copy is changed: links between the two, and
the words that ``tools/documents.py`` reads behind the language of a fence.  The site loads nothing from
another host; what would is named and fails too, and so do the faults that ``tools/site_faults.py`` finds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.site_faults import faults

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
TOP_PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "CITATION.cff",
)
LONGEST_SECONDS = 120

LOADS = re.compile(
    r"<(?:script|img|iframe|source|embed|object)\b[^>]*\b(?:src|data)=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b[^>]*\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)"
)
"""What a browser fetches as it opens a page; a link that a reader follows is not of this kind."""

_FENCE = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
_LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def assemble(root: Path, pages: Path) -> None:
    """Copy docs and the pages of the top to ``pages``, with links and fences as a site has them."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(root / "docs", pages)
    for name in TOP_PAGES:
        target = pages / _project_page(name)
        target.parent.mkdir(exist_ok=True)
        target.write_text((root / name).read_text())
    places = {(root / name).resolve(): pages / _project_page(name) for name in TOP_PAGES}
    for page in pages.rglob("*.md"):
        source = root / "docs" / page.relative_to(pages)
        if page.parent.name == "project":
            source = root / f"{page.stem.upper()}.md"
        page.write_text(_for_site(page.read_text(), source, page, root, pages, places))


def _project_page(name: str) -> Path:
    return Path("project", name.lower())


def _for_site(text: str, source: Path, page: Path, root: Path, pages: Path, places: dict[Path, Path]) -> str:
    def fence(match: re.Match[str]) -> str:
        language, word = match.groups()
        return f'```{language} title="{word}"' if "." in word else f"```{language}"

    def link(match: re.Match[str]) -> str:
        opening, target, closing = match.groups()
        if "://" in target:
            return match.group()
        aim = (source.parent / target).resolve()
        docs = root / "docs"
        moved = places.get(aim) or (pages / aim.relative_to(docs) if aim.is_relative_to(docs) else aim)
        return f"{opening}{os.path.relpath(moved, page.parent)}{closing}"

    return _LINK.sub(link, _FENCE.sub(fence, text))


def foreign_loads(site: Path) -> list[str]:
    """Addresses of other hosts that pages and style sheets of a site would fetch by themselves."""
    found = []
    for file in sorted(site.rglob("*")):
        if file.suffix in (".html", ".css", ".svg"):
            for match in LOADS.finditer(file.read_text()):
                address = next(filter(None, match.groups()))
                found.append(f"{file.relative_to(site)} loads {address}")
    return found


def main() -> int:
    """Assemble, build and look through the site; 0 when nothing is wrong with it."""
    assemble(ROOT, PAGES)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean"]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ended = subprocess.run(command, cwd=ROOT, env=quiet, timeout=LONGEST_SECONDS)
    if ended.returncode != 0:
        return 1
    found = [*foreign_loads(SITE), *faults(SITE)]
    for line in found:
        print(f"site: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
