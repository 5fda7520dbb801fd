"""What holds for every file of the project."""

from __future__ import annotations

import ast
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tools.budget import imported

ROOT = Path(__file__).resolve().parents[2]
PYTHON_FOLDERS = ("src", "tests", "tools", "bench")
NOT_OURS = {".git", ".venv", "runs", "mawl-data", "mawl-work", "mawl-util", "build", "dist", "node_modules"}
CACHES = (".egg-info", "_cache", "__pycache__", ".hypothesis")

# Written in pieces, so that this file does not hold what it looks for.
HOSTS = [
    "py" + "pi.org",
    "python" + "hosted",
    "registry." + "npmjs",
    "deb." + "debian.org",
    "crates" + ".io/",
    "proxy." + "golang",
]
MACHINE_PATH = re.compile(r"(^|[\s'\"(=`])/(work|farm|ro" + r"ot|home/\w+|Users/\w+)/")
SMALL_WORDS = re.compile(
    r"\b(a|an|and|are|as|at|be|by|for|from|in|into|is|its?|of|on|or|that|the|them|this|to|with)\b", re.I
)
MOST_LINES = 500
MOST_LINKS_OF_THE_INDEX = 25
MOST_LINES_OF_A_FUNCTION = 80


def files() -> Iterator[Path]:
    """Every text file of the project, less what .gitignore names and caches."""
    for parent, folders, names in os.walk(ROOT):
        folders[:] = [
            name
            for name in folders
            if name not in NOT_OURS
            and not name.endswith((".egg-info", "_cache", "__pycache__", ".hypothesis"))
        ]
        for name in set(names) - NOT_OURS:  # .git is a file in a linked worktree
            path = Path(parent, name)
            if path.suffix not in (".parquet", ".arrow", ".pyc") and not path.is_symlink():
                yield path


def modules(*folders: str) -> Iterator[Path]:
    for folder in folders or PYTHON_FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def test_each_class_name_stands_for_one_class_of_its_package() -> None:
    names = Counter(
        (path.relative_to(ROOT / "src" / "mawl").parts[0], node.name)
        for path in modules("src")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, classes in names.items() if classes > 1] == []


def test_no_file_names_a_package_registry_or_a_path_of_one_machine() -> None:
    found = []
    for path in files():
        text = path.read_text(errors="replace")
        found += [f"{path.relative_to(ROOT)}: {host}" for host in HOSTS if host in text]
        found += [
            f"{path.relative_to(ROOT)}: {line.strip()}"
            for line in text.splitlines()
            if MACHINE_PATH.search(line)
        ]
    assert found == []


def test_no_module_and_no_function_has_grown_too_large() -> None:
    large = []
    for path in modules():
        text = path.read_text()
        if text.count("\n") > MOST_LINES:
            large.append(f"{path.relative_to(ROOT)}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_LINES_OF_A_FUNCTION:
                    large.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has {lines} lines")
    assert large == []


def test_no_pattern_has_a_possessive_group() -> None:
    """Python 3.11.0 to 3.11.4 skip text where ``(?:...)?+`` matches only in part (CPython issue 106052).

    ``(?>(?:...)?)`` means the same, and works in all of them.
    """
    possessive = re.compile(r"\)(?:[?*+]|\{[0-9,]+\})\+")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in modules()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if possessive.search(line) and path != Path(__file__)
    ]
    assert found == []


def test_there_is_no_drawer_without_a_name() -> None:
    drawers = {"util", "utils", "helper", "helpers", "common", "misc"}
    found = [path for path in modules() if {path.stem, *path.relative_to(ROOT).parts} & drawers]
    assert found == []


def test_what_other_files_use_says_what_it_does() -> None:
    used = set().union(*(imported(path) for path in modules("src", "tools", "bench")))
    silent = []
    for path in modules("src", "tools", "bench"):
        tree = ast.parse(path.read_text())
        folder = ROOT / "src" if path.is_relative_to(ROOT / "src") else ROOT
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        if tree.body and ast.get_docstring(tree) is None:
            silent.append(str(path.relative_to(ROOT)))
        silent += [
            f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            and f"{module}.{node.name}" in used
            and ast.get_docstring(node) is None
        ]
    assert silent == []


def content(text: str) -> set[str]:
    """The words of a text that mean something, without their endings."""
    words = re.findall(r"[a-z]+", SMALL_WORDS.sub(" ", text.replace("_", " ")).lower())
    return {re.sub(r"(ies|es|s|ed|ing|y|e)$", "", word) for word in words}


def test_no_docstring_repeats_the_name() -> None:
    empty = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
        for path in modules("src")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and content(ast.get_docstring(node) or "-") <= content(f"{node.name} {path.stem}")
        and ast.get_docstring(node)
    ]
    assert empty == []


def test_the_name_of_a_file_names_one_thing() -> None:
    assert [path for path in modules() if "_and_" in path.stem and not path.stem.startswith("test_")] == []


def test_tests_mirror_the_source() -> None:
    packages = {path.name for path in (ROOT / "src" / "mawl").iterdir() if (path / "__init__.py").is_file()}
    others = {"contract", "cli", "deploy", "frozen", "golden", "fakes", "pages", "project", "bench", "fuzz"}
    folders = {
        path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert folders - packages - others == set()


def test_the_license_is_the_one_that_is_declared() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text and "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0"


def linked_from(index: Path) -> set[Path]:
    """The files that a page links."""
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", index.read_text())
    return {(index.parent / target).resolve() for target in targets if "://" not in target}


def test_the_index_of_the_documents_is_short_and_links_of_all_documents_lead_somewhere() -> None:
    docs = (ROOT / "docs").resolve()
    assert (docs / "README.md").read_text().count("](") <= MOST_LINKS_OF_THE_INDEX
    linked = set().union(*(linked_from(page) for page in docs.rglob("*.md")))
    assert [str(path) for path in sorted(linked) if not path.exists()] == []


def test_links_of_the_pages_at_the_root_lead_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in ROOT.glob("*.md")
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target and not (ROOT / target).exists()
    ]
    assert broken == []
