"""Files that somebody else made: only regular files are opened, and TOML and JSON have bounds."""

from __future__ import annotations

import os
import socket
import tomllib
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.base.foreign import (
    A_LINK,
    DEEPEST,
    LARGEST_JSON_BYTES,
    LARGEST_TOML_BYTES,
    LONGEST_KEY,
    MOST_DIGITS,
    MOST_JSON_PARTS,
    MOST_KEY_PARTS,
    MOST_TOML_PARTS,
    NOT_REGULAR,
    OUTSIDE,
    BeyondBoundError,
    check_json,
    check_toml,
    descriptor_of,
    json_record,
    json_tree,
    open_regular,
    read_regular,
    toml_tree,
)


def why(path: Path, inside: Path | None = None) -> str | None:
    with pytest.raises(OSError) as raised:
        read_regular(path, 10, inside=inside)
    assert raised.value.filename == str(path)
    return raised.value.strerror


def test_a_file_is_read_up_to_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert read_regular(path, 10) == read_regular(path, 10, inside=tmp_path) == b"0123456789"
    with open_regular(path, inside=tmp_path) as file:
        assert file.readline() == b"0123456789"
    path.write_bytes(b"0123456789a")
    assert why(path) == "larger than the 10 bytes that mawl reads"


def test_a_small_file_takes_no_memory_for_the_bound(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    tracemalloc.start()
    try:
        assert read_regular(tmp_path / "file", 2**30) == b"0123456789"
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("folder", [False, True])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, folder: bool) -> None:
    inside = tmp_path if folder else None
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for name in ("pipe", "directory", "socket"):
            assert why(tmp_path / name, inside) == NOT_REGULAR, name
    assert why(Path("/dev/null")) == NOT_REGULAR
    assert why(tmp_path / "absent", inside) == "No such file or directory"
    assert why(tmp_path / "zero\0", inside) == "not a name of a file"


def test_a_link_is_followed_only_where_the_user_named_it(tmp_path: Path) -> None:
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    (run / "logs").mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "file").write_bytes(b"secret")
    (run / "link").symlink_to(elsewhere / "file")
    (run / "journal").symlink_to(elsewhere)
    (tmp_path / "named").symlink_to(run)
    (run / "logs" / "own").write_bytes(b"own")
    assert read_regular(run / "link", 10) == b"secret"
    assert read_regular(tmp_path / "named" / "logs" / "own", 10, inside=tmp_path / "named") == b"own"
    assert why(run / "link", run) == A_LINK
    assert why(run / "journal" / "file", run) == A_LINK
    assert why(run / "logs" / "own" / "below", run) == "Not a directory"


def test_no_path_leads_out_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    for path in (tmp_path / "run" / ".." / "secret", tmp_path / "secret"):
        assert why(path, tmp_path / "run") == OUTSIDE


def test_a_refused_file_leaves_no_descriptor_open(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to("directory")
    before = len(os.listdir("/proc/self/fd"))
    for name in ("directory", "link", "absent", "link/file"):
        with pytest.raises(OSError):
            descriptor_of(tmp_path / name, inside=tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before


DEEP = "[" * DEEPEST + "]" * DEEPEST
ODD_TEXTS = (
    '"""x"y""z\\"""q"""',
    "'''x'y''z'''",
    '"x\\"y"',
    '""',
    "''",
    '"""x"""""',
    '""""""',
    "''''''",
    '"""x\\\\"""',
    '"b"#c"',
    '"#"',
    '"""\n[[[\n"""',
    '"""""""',
    "'''x'''''",
)
ALMOST = {
    "depth": f"a = {DEEP}",
    "parts": ".".join("a" * MOST_KEY_PARTS) + " = 1",
    "quoted parts": " . ".join(['"a"'] * MOST_KEY_PARTS) + " = 1",
    "header": f"[{'.'.join('a' * MOST_KEY_PARTS)}]",
    "key": "a" * LONGEST_KEY + " = 1",
    "digits": f"a = {'1' * MOST_DIGITS}",
    "values": f"a = [{'1,' * (MOST_TOML_PARTS - 1)}]",
    "bytes": "#" * LARGEST_TOML_BYTES,
}
BEYOND = {
    "depth": f"a = [{DEEP}]",
    "parts": ".".join("a" * (MOST_KEY_PARTS + 1)) + " = 1",
    "quoted parts": " . ".join(['"a"'] * (MOST_KEY_PARTS + 1)) + " = 1",
    "header": f"[{'.'.join('a' * (MOST_KEY_PARTS + 1))}]",
    "key": "a" * (LONGEST_KEY + 1) + " = 1",
    "digits": f"a = {'1' * (MOST_DIGITS + 1)}",
    "values": f"a = [{'1,' * MOST_TOML_PARTS}]",
    "bytes": "#" * (LARGEST_TOML_BYTES + 1),
}


@pytest.mark.parametrize("bound", ALMOST)
def test_toml_at_a_bound_is_read_and_beyond_it_refused(bound: str) -> None:
    assert toml_tree(ALMOST[bound]) == tomllib.loads(ALMOST[bound])
    with pytest.raises(BeyondBoundError, match=r"^line 1: expected .*, found more$|^larger than the 2 MiB"):
        toml_tree(BEYOND[bound])


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_no_text_of_toml_hides_what_comes_behind_it(text: str) -> None:
    assert tomllib.loads(f"a = {text}\nb = {DEEP}")["b"] is not None
    check_toml(f"a = {text}\nb = {DEEP}")
    with pytest.raises(BeyondBoundError, match="64 deep"):
        check_toml(f"a = {text}\nb = [{DEEP}]")


def test_a_long_text_is_no_key() -> None:
    assert toml_tree(f'a = [["{"b" * 5000}"]]') == {"a": [["b" * 5000]]}
    assert toml_tree(f'"{"a" * LONGEST_KEY}" = 1') == {"a" * LONGEST_KEY: 1}


@given(st.sampled_from(['"', "'", '"""', "'''"]), st.text(alphabet="\"'\\\n#a=[] ", max_size=12))
def test_what_the_parser_accepts_was_looked_at_to_its_end(quotes: str, text: str) -> None:
    whole = f"first = {quotes}{text}{quotes}\nlast = [{DEEP}]"
    try:
        tomllib.loads(whole)
    except ValueError:
        return
    with pytest.raises(BeyondBoundError, match="64 deep"):
        check_toml(whole)


@pytest.mark.parametrize(
    ("within", "beyond"),
    [
        (DEEP, f"[{DEEP}]"),
        (f'{{"{"a" * LONGEST_KEY}": 1}}', f'{{"{"a" * (LONGEST_KEY + 1)}" : 1}}'),
        (f'{{"a": "{"b" * 5000}"}}', f'{{"a": "{"b" * 5000}", "{"c" * 5000}": 1}}'),
        (f"[{' ' * 5000}0.{'1' * (MOST_DIGITS - 1)}]", f"[{' ' * 5000}0.{'1' * (MOST_DIGITS + 1)}]"),
        (f"[{'1,' * (MOST_JSON_PARTS - 2)}1]", f"[{'1,' * MOST_JSON_PARTS}1]"),
        (" " * (LARGEST_JSON_BYTES - 1) + "1", " " * LARGEST_JSON_BYTES + "1"),
    ],
    ids=["depth", "key", "no key", "digits", "parts", "bytes"],
)
def test_json_at_a_bound_is_read_and_beyond_it_refused(within: str, beyond: str) -> None:
    assert json_tree(within) == msgspec.json.decode(within)
    with pytest.raises(BeyondBoundError):
        json_tree(beyond)


@pytest.mark.parametrize("text", ['"\\""', '"\\\\"', '"[[["', '"{\\"{"', '"1111"'])
def test_no_text_of_json_hides_what_comes_behind_it(text: str) -> None:
    check_json(f"[{text}, {DEEP[1:-1]}]".encode())
    with pytest.raises(BeyondBoundError, match="64 deep"):
        check_json(f"[{text}, {DEEP}]".encode())


def test_many_texts_are_looked_at_part_by_part() -> None:
    many = '"a",' * 120_000
    check_json(f"[{many}{DEEP[1:-1]}]".encode())
    with pytest.raises(BeyondBoundError, match="64 deep"):
        check_json(f"[{many}{DEEP}]".encode())


def test_the_depth_of_json_is_counted_over_all_parts() -> None:
    text = f'"{"a" * 2**20}"'
    lists, ends = "[" * (DEEPEST // 2), "]" * (DEEPEST // 2)
    check_json(f"{lists}{text},{lists}{ends}{ends}".encode())
    with pytest.raises(BeyondBoundError, match="64 deep"):
        check_json(f"{lists}{text},[{lists}{ends}]{ends}".encode())


def test_a_record_says_what_it_holds_instead() -> None:
    assert json_record(b'{"a": 1}', dict[str, int]) == {"a": 1}
    with pytest.raises(msgspec.ValidationError, match="Expected `int`, got `str`"):
        json_record(b'{"a": "x"}', dict[str, int])
    with pytest.raises(ValueError):
        json_tree("\udcff")
