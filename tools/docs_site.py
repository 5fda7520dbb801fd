"""Build the documents as a site into build/site, strictly: a broken link, anchor or page out of sight fails.

``python -m tools.docs_site``.  The pages are first put together in build/pages: those of docs/ that
mkdocs.yml lists, some of the top (README.md and others) under project/, and examples/, whose page also shows
each file.  Only that copy is changed: links between them, and the words that ``tools/documents.py`` reads
behind the language of a fence.  Another file of the project that a page links is copied below repository/,
a Markdown file as text: design notes are for readers of the code.  The site loads nothing from another host;
what would is named and fails too, and so do the faults that ``tools/site_faults.py`` finds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from tools.site_faults import faults

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
TOP_PAGES = ("README.md", "CHANGELOG.md", "SECURITY.md")
LANGUAGES = {".py": "python", ".sh": "sh", ".toml": "toml", ".yml": "yaml"}
"""Files of examples/ whose text the page of examples shows."""

LONGEST_SECONDS = 120

LOADS = re.compile(
    r"<(?:script|img|iframe|source|embed|object)\b[^>]*\b(?:src|data)=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b[^>]*\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)"
)
"""What a browser fetches as it opens a page; a link that a reader follows is not of this kind."""

_FENCE = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
_LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def listed() -> set[str]:
    """The pages that the navigation of the site has."""
    return set(re.findall(r"^ *- ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))


def assemble(root: Path, pages: Path, shown_pages: Collection[str]) -> None:
    """Copy docs, examples and the pages of the top to ``pages``, with links and fences as a site has them.

    Of docs only ``shown_pages`` are pages, by their places below it.
    """
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(root / "docs", pages)
    for page in list(pages.rglob("*.md")):
        if str(page.relative_to(pages)) not in shown_pages:
            page.unlink()
    sources = {page: root / "docs" / page.relative_to(pages) for page in pages.rglob("*.md")}
    shutil.copytree(root / "examples", pages / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    for name in TOP_PAGES:
        page = pages / "project" / name.lower()
        page.parent.mkdir(exist_ok=True)
        shutil.copyfile(root / name, page)
        sources[page] = root / name
    sources[pages / "examples" / "README.md"] = root / "examples" / "README.md"
    shown = [path for path in sorted((root / "examples").rglob("*")) if path.suffix in LANGUAGES]
    places = {source.resolve(): str(page.relative_to(pages)) for page, source in sources.items()} | {
        path.resolve(): f"examples/README.md#{_anchor(path)}" for path in shown
    }
    for page, source in sources.items():
        page.write_text(_for_site(page.read_text(), source, page, root, pages, places))
    with (pages / "examples" / "README.md").open("a") as page_of_examples:
        page_of_examples.writelines(_shown(path, root / "examples") for path in shown)


def _anchor(example: Path) -> str:
    return example.name.replace(".", "-")


def _shown(example: Path, examples: Path) -> str:
    """The section of an example on its page: its text, and the file to save."""
    return (
        f"\n## {example.name} {{ #{_anchor(example)} }}\n[Save the file]({example.relative_to(examples)})\n\n"
        f"```{LANGUAGES[example.suffix]}\n{example.read_text()}```\n"
    )


def _brought(aim: Path, root: Path, pages: Path) -> str:
    """Where the site has a file that is no page; one that it lacks is copied for the link to it."""
    if aim.is_relative_to(root / "docs") and aim.suffix != ".md":
        return str(aim.relative_to(root / "docs"))
    if not aim.is_file() or not aim.is_relative_to(root):
        return str(aim)
    if (pages / aim.relative_to(root)).is_file():
        return str(aim.relative_to(root))
    place = pages / "repository" / aim.relative_to(root)
    place = place.with_name(f"{aim.name}.txt") if aim.suffix == ".md" else place
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(aim, place)
    return str(place.relative_to(pages))


def _for_site(text: str, source: Path, page: Path, root: Path, pages: Path, places: dict[Path, str]) -> str:
    def fence(match: re.Match[str]) -> str:
        language, word = match.groups()
        return f'```{language} title="{word}"' if "." in word else f"```{language}"

    def link(match: re.Match[str]) -> str:
        opening, target, closing = match.groups()
        if "://" in target:
            return match.group()
        aim = (source.parent / target).resolve()
        path, _, anchor = (places.get(aim) or _brought(aim, root, pages)).partition("#")
        place = f"#{anchor}" if anchor and closing == ")" else ""
        closing = ")" if path.endswith(".md.txt") else closing
        return f"{opening}{os.path.relpath(pages / path, page.parent)}{place}{closing}"

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
    assemble(ROOT, PAGES, listed())
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
