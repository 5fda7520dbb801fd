"""Files of the tests are compiled once for all processes of a run, with their assertions rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from tests.compiled import compile_all


@pytest.fixture(autouse=True)
def beside_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """PYTHONPYCACHEPREFIX may keep the bytecode of these tests elsewhere."""
    monkeypatch.setattr("sys.pycache_prefix", None)
    monkeypatch.setattr("sys.dont_write_bytecode", True)


def kept(path: Path) -> Path:
    return rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"


def test_pytest_finds_a_file_rewritten_and_python_finds_a_helper(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    test, helper = tmp_path / "test_one.py", tmp_path / "helper.py"
    test.write_text("def test_one() -> None:\n    assert 1 + 1 == 2\n")
    helper.write_text("ONE = 1\n")
    compile_all(request.config, [test, helper])
    code = rewrite._read_pyc(test, kept(test))
    assert code is not None and "@pytest_ar" in code.co_names
    assert [path.suffix for path in (tmp_path / "__pycache__").glob("helper.*")] == [".pyc"]


def test_a_file_that_changed_is_compiled_again(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = tmp_path / "test_one.py"
    for name in ("first", "other"):
        path.write_text(f"{name} = 1\n")
        compile_all(request.config, [path])
        code = rewrite._read_pyc(path, kept(path))
        assert code is not None and name in code.co_names


def test_a_place_that_keeps_nothing_is_no_failure(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = tmp_path / "test_one.py"
    path.write_text("def test_one() -> None:\n    assert True\n")
    (tmp_path / "__pycache__").write_text("no folder")
    compile_all(request.config, [path])
    assert not kept(path).exists()


def test_a_file_that_cannot_be_parsed_is_left_to_pytest(
    tmp_path: Path, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong, right = tmp_path / "test_one.py", tmp_path / "test_two.py"
    wrong.write_text("def (:\n")
    right.write_text("one = 1\n")
    compile_all(request.config, [wrong] * 8 + [right] * 8)
    assert (kept(wrong).exists(), kept(right).exists()) == (False, True)
    assert capfd.readouterr().err == ""
