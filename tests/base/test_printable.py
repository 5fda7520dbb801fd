"""Foreign text is made safe for a terminal, and what looks private in it is found."""

from __future__ import annotations

import pytest

from mawl.base.errors import UsageError
from mawl.base.printable import printable
from mawl.base.private_text import hosts_in, paths_in, replace_paths, secrets_in


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zürich 東京 1 µs", "Zürich 東京 1 µs"),
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\r\nb", "a\\r\\nb"),
        ("gpj.\u202eexe", "gpj.\\u202eexe"),
        ("/x\udcff", "/x\\udcff"),
    ],
)
def test_controls_become_visible(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_no_error_holds_an_escape() -> None:
    error = UsageError("is wrong", where="/x\x1b[2J", why="\x1b]0;t\x07", cure="name \x9b another")
    assert str(error) == "/x\\x1b[2J: is wrong: \\x1b]0;t\\x07; name \\x9b another"


def test_no_value_of_a_damaged_file_makes_an_error_endless() -> None:
    assert len(str(UsageError("x" * 5000, where="file", why="y" * 10**6))) < 2100


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("sh --password=HUNTER2", "HUNTER2"),
        ("load --db-password HUNTER2 --rows 7", "HUNTER2"),
        ('environment = { TOKEN = "S3CRET" }', "S3CRET"),
        ("API_KEY: abcdef", "abcdef"),
        ("postgres://jane:PGPASS@db.corp/x", "PGPASS"),
        ("aws AKIAABCDEFGHIJKLMNOP ok", "AKIAABCDEFGHIJKLMNOP"),
        ("git ghp_abcdefghijklmnopqrstuvwx1234", "ghp_abcdefghijklmnopqrstuvwx1234"),
        ("key wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"),
    ],
)
def test_secrets_are_found(text: str, secret: str) -> None:
    assert secrets_in(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=100, tokens: 1234",
        "the password is asked at the terminal",
        "--password=$PGPASSWORD TOKEN = secret-1",
        "20260311-120000-mixed20-ab12 4b3612369c89690cb3c449af6adaf23c52cb4f911a49d00e38f92b5809daed84d",
        "session_number_twenty_one_of_mixed20 INFORMATIONAL_MESSAGES_2026",
    ],
)
def test_what_is_no_secret_is_left(text: str) -> None:
    assert secrets_in(text) == []


def test_paths_of_owners_are_private_and_those_of_all_systems_are_not() -> None:
    text = (
        "cat /srv/project/x -I/opt/shop/inc if=/data/in nfs1:/export/a //fs9/share/dir /dev/vgdata/lv "
        "/dev/mapper/vg-work /dev/sda1 /usr/bin/sort /tmp {work}/y $HOME/z 24/7 MB/s /sys/class/block http://x/y"
    )
    found = ["/srv/project/x", "/opt/shop/inc", "/data/in", "/export/a", "//fs9/share/dir", "/dev/vgdata/lv"]
    assert paths_in(text) == [*found, "/dev/mapper/vg-work"]
    assert paths_in("/srv/My Project/x y/") == ["/srv/My Project/x y", "/srv/My"]


def test_paths_are_replaced_by_the_same_words() -> None:
    words = {"/srv/a": "/redacted/place-1"}
    assert replace_paths("/srv/a to /srv/b, /srv/a, /usr/bin", words) == (
        "/redacted/place-1 to /redacted/place-2, /redacted/place-1, /usr/bin"
    )
    assert words["/srv/b"] == "/redacted/place-2"


def test_hosts_are_those_of_addresses_and_mounts() -> None:
    text = (
        "nfs1.corp:/export/a //fs9/share/dir https://u:p@db.corp:5432/x 10.0.0.7 version 1.2.3.4 localhost:/a"
    )
    assert hosts_in(text) == ["nfs1.corp", "fs9", "db.corp", "10.0.0.7"]
