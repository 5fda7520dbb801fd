"""Files of a collection: by the collector's lines, by name, by content; and the check sum of cksum(1)."""

from __future__ import annotations

import subprocess

import pytest

from mawl.importers.formats.settings.collection import Section, UnreadOutput, sections
from mawl.importers.formats.settings.output import IGNORED, check_sum, check_sum_rows
from tests import needs
from tests.fakes.command_outputs import collected


def only(name: str, text: str) -> Section | UnreadOutput:
    (part,) = sections(name, text.encode())
    return part


def test_a_file_of_the_collector_says_command_node_and_whether_it_is_whole() -> None:
    part = only("x.txt", collected("lpar1", "aix", "/usr/sbin/vmo -a", "maxfree = 1"))
    assert isinstance(part, Section)
    assert (part.command, part.node, part.platform, part.whole) == (("vmo", "-a"), "lpar1", "aix", True)
    assert part.lines == ("maxfree = 1",)
    failed = only("x.txt", collected("lpar1", "aix", "vmo -a", "maxfree = 1", status=2))
    assert isinstance(failed, Section) and not failed.whole


def test_a_command_that_was_not_there_is_a_reason() -> None:
    part = only("x.txt", collected("h", "linux", "tuned-adm active", "sh: tuned-adm: not found", status=127))
    assert isinstance(part, UnreadOutput) and part.reason == "tuned-adm active: no such command there"


def test_several_outputs_in_one_file_are_told_apart() -> None:
    text = collected("h", "aix", "vmo -a", "maxfree = 1") + collected("h", "aix", "ioscli lsmap -all", "x")
    assert [part.command for part in sections("all.txt", text.encode())] == [("vmo", "-a"), ("lsmap", "-all")]


def test_a_last_line_without_its_end_counts_for_nothing() -> None:
    part = only("vmo_-a.txt", "maxfree = 1088\nminfree = 96")
    assert isinstance(part, Section) and part.lines == ("maxfree = 1088",) and not part.whole


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("lsattr_-El_hdisk4.txt", "queue_depth 40  Queue DEPTH True\n", ("lsattr", "-El", "hdisk4")),
        ("lsattr -El fcs0.out", "num_cmd_elems 40  x True\n", ("lsattr", "-El", "fcs0")),
        ("notes.txt", "  maxfree = 1088\n", ("vmo", "-a")),
        ("a.log", "Configuration data for cluster c:\npagepool 8G\n", ("mmlsconfig",)),
        ("b.log", "vm.swappiness = 60\n", ("sysctl", "-a")),
        ("c", "File system attributes for /dev/gpfs0:\n -B  1 Block size\n", ("mmlsfs", "all")),
    ],
)
def test_a_file_without_the_collectors_lines_is_known_by_name_or_content(
    name: str, text: str, command: tuple[str, ...]
) -> None:
    part = only(name, text)
    assert isinstance(part, Section) and part.command == command and not part.whole


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "mawl does not know the command"),
        ("Dear colleague,\n", "mawl does not know the command"),
        ("queue_depth     40    Queue DEPTH  True\n", "output of lsattr, but the device is not in it"),
        (" -B                 1048576                  Block size\n", "output of mmlsfs, but the device"),
        ("maxfree = 1\nvm.swappiness = 60\n", "the output of several commands: sysctl -a, vmo -a"),
    ],
)
def test_what_no_one_can_tell_is_not_guessed(text: str, reason: str) -> None:
    part = only("output.txt", text)
    assert isinstance(part, UnreadOutput) and reason in part.reason


def test_lines_with_control_characters_are_not_believed() -> None:
    part = only("x.txt", collected("h", "aix", "vmo -a", "maxfree = 10\x0088\nminfree = 960"))
    assert isinstance(part, Section) and part.lines == (IGNORED, "minfree = 960") and not part.whole


@pytest.mark.parametrize("content", [b"", b"a", b"vmo\n" * 3000, bytes(range(256)) * 7])
def test_the_check_sum_is_that_of_the_program(content: bytes) -> None:
    needs.program("cksum").require()
    printed = subprocess.run(["cksum"], input=content, capture_output=True, check=True).stdout
    assert printed.split() == [str(check_sum(content)).encode(), str(len(content)).encode()]
    assert list(check_sum_rows(printed.replace(b"\n", b" x.txt\n"))) == [
        ("x.txt", check_sum(content), len(content))
    ]


def test_a_line_without_end_is_not_believed_and_costs_no_time() -> None:
    lines = ["maxfree = 1088", " " * 10**6 + "maxfree = 1", "a" * 10**6]
    part = only("x.txt", collected("h", "aix", "vmo -a", "\n".join(lines)))
    assert isinstance(part, Section) and part.lines == ("maxfree = 1088", IGNORED, IGNORED) and not part.whole
