"""Hosts in ranges, and a file of hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.records.spec.nodes import AS_ON_ALL, Hosts, HostSettings, read_host_file


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a,me@b", ["a", "me@b"]),
        ("node[08-10]", ["node08", "node09", "node10"]),
        ("me@n[1,3-4].rack[1-2],head", [*(f"me@n{n}.rack{r}" for n in (1, 3, 4) for r in (1, 2)), "head"]),
        ("n[7]", ["n7"]),
    ],
)
def test_a_range_stands_for_its_hosts(text: str, hosts: list[str]) -> None:
    assert list(Hosts().read(text, "--ssh")) == hosts
    assert Hosts().read(",".join(Hosts().words(tuple(hosts))), "--ssh") == tuple(hosts)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a[1-2", "'a[1-2' is no host; give hosts as ssh knows them"),
        ("a[3-1]", "[3-1] is no range"),
        ("a[x]", "[x] is no range"),
        ("a[]", "[] is no range"),
        ("a[1-9999999999]", "is no range"),
        ("a[1-4000]b[1-4000]", "stands for more than 4,096 hosts"),
        ("a[1-2],a2", "names a2 twice"),
        (",", "names no host"),
    ],
)
def test_what_is_no_range_is_said(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        Hosts().read(text, "--ssh")
    assert sentence in str(caught.value)


def test_a_file_names_hosts_and_what_differs_there(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("# rack 1\nnode[1-2] work=/ssd1,/ssd2 python='/opt/my python'\n\nhead  # plain\n")
    found = read_host_file(str(file))
    own = HostSettings(work=("/ssd1", "/ssd2"), python="/opt/my python")
    assert found == {"node1": own, "node2": own, "head": AS_ON_ALL}
    of_all = {"data": ("/d",), "work": ("/w",), "util": ("/u",)}
    assert own.places(of_all) == {"data": ("/d",), "work": ("/ssd1", "/ssd2"), "util": ("/u",)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a\na b=c\n", "line 2: 'b=c' is no setting; give python=..., data=..., work=..., util=..."),
        (b"a work=\n", "line 1: 'work=' is no setting"),
        (b"a\nb[1-\n", "line 2: 'b[1-' is no host"),
        (b"a 'x\n", "line 1: no closing quotation"),
        (b"a\na\n", "line 2 names a twice"),
        (b"# none\n", "names no host"),
        (b"\xff\xfe\x00a", "the file of hosts cannot be read: it is no text"),
    ],
)
def test_what_a_file_cannot_hold_is_said_with_its_line(content: bytes, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_host_file(str(file))
    assert sentence in str(caught.value)
