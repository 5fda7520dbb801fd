"""What each process of a test run would compile for itself is compiled once, before the processes start.

Each process loads every file of the tests, and rewriting the assertions of a file takes longer than all else
about it.  Where Python may not keep bytecode, pytest keeps nothing either; and in a fresh clone processes
that start together all come too early to find what one of them keeps.
"""

from __future__ import annotations

import compileall
import contextlib
import gc
import multiprocessing
import os
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

import mawl
from mawl.base.process import importing

TESTS = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    """Compile the package: where Python may not keep bytecode, each of hundreds of commands would do it.

    Where several processes run the tests, these are compiled too.
    """
    if hasattr(config, "workerinput"):
        return
    paths = sorted(Path(mawl.__file__).parent.rglob("*.py"))
    if (config.getoption("numprocesses", None) or 0) > 1:
        paths += sorted(TESTS.rglob("*.py"))
    compile_all(config, paths)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Load the tests without looking for garbage, and leave them out when it is looked for later."""
    with importing():
        return (yield)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let the interpreter end as it would: a library says what it takes for a leak.  Workers just stop."""
    if not hasattr(config, "workerinput"):
        gc.unfreeze()


def compile_all(config: pytest.Config, paths: Sequence[Path]) -> None:
    """Compile the files, by as many processes as there are processors."""
    helpers = len(os.sched_getaffinity(0))
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=_compile, args=(config, paths[n::helpers])) for n in range(helpers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def _compile(config: pytest.Config, paths: Sequence[Path]) -> None:
    for path in paths:
        if path.name.startswith("test_") or path.name == "conftest.py":
            _rewrite(config, path)
        else:
            compileall.compile_file(path, quiet=2)


def _rewrite(config: pytest.Config, path: Path) -> None:
    """Keep a file with its assertions rewritten, as pytest does when it loads the file."""
    folder = rewrite.get_cache_dir(path)
    kept = folder / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(path, kept) is None and rewrite.try_makedirs(folder):
        with contextlib.suppress(SyntaxError):  # pytest names it when it loads the file
            digest, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, digest, kept)
