"""docs/reference/papers.md: every table and figure of the papers is in it, with commands that exist."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest

from mawl.commands.verbs import build_parser
from mawl.records.model.published import papers
from tools.papers_page import STATES, checked_by, exhibits, papers_page, settings_of

ROOT = Path(__file__).parents[2]
CAPTIONS = {
    "power-s822-2015": {"Figure": 10, "Table": 0},
    "power-e880-2016": {"Figure": 6, "Table": 1},
    "power-e880-2017": {"Figure": 5, "Table": 0},
    "dl980-ioscale-2014": {"Figure": 0, "Table": 3},
    "power-e980-fs9150": {"Figure": 4, "Table": 0},
}
"""How many captions of each kind a paper has, counted in its text."""
EVERY = [(key, one) for key, held in exhibits().items() for one in held]
HOST_PROFILES = ("aix-fibre-channel", "aix-power8", "spectrum-scale")


def test_every_caption_of_the_papers_is_in_the_list_once() -> None:
    assert set(exhibits()) == set(CAPTIONS) == {paper.source.key for paper in papers()}
    for key, counts in CAPTIONS.items():
        for kind, count in counts.items():
            named = [one["name"] for one in exhibits()[key] if one["name"].startswith(kind)]
            numbers = sorted(int(number) for name in named for number in re.findall(r"\d+", name))
            assert numbers == list(range(1, count + 1)), (key, kind)


@pytest.mark.parametrize(("key", "one"), EVERY, ids=[f"{key} {one['name']}" for key, one in EVERY])
def test_what_is_not_whole_has_a_reason_and_what_is_there_a_command(key: str, one: dict[str, str]) -> None:
    assert one["state"] in STATES
    assert ("reason" in one) is (one["state"] != "made")
    assert ("command" in one) is ("page" in one) is (one["state"] != "not made")
    assert "page" not in one or (ROOT / "docs/reference" / one["page"]).is_file()


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """Every option of a verb and of the verbs below it."""
    found: set[str] = set()
    for action in parser._actions:
        found |= set(action.option_strings)
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                found |= options_of(below)
    return found


def test_every_command_is_a_verb_with_options_that_it_has() -> None:
    (verbs,) = (
        action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    commands = {one["command"] for _, one in EVERY if "command" in one}
    commands |= {command for key in CAPTIONS for one in settings_of(key) if (command := checked_by(one)[0])}
    for command in commands:
        mawl, verb, *words = shlex.split(command)
        assert mawl == "mawl" and verb in verbs.choices, command
        assert {word for word in words if word.startswith("-")} <= options_of(verbs.choices[verb]), command


def test_every_setting_of_a_host_is_checked_and_each_other_one_says_why_not() -> None:
    settings = [one for key in CAPTIONS for one in settings_of(key)]
    of_hosts = [one for one in settings if one.profile in HOST_PROFILES]
    assert len(of_hosts) == 146 and len(settings) == 185
    assert [one.name for one in of_hosts if not checked_by(one)[0]] == []
    for one in settings:
        command, where = checked_by(one)
        assert where, one.name
        assert command or one.rule == "advice" or one.family is None


def test_the_page_counts_every_setting() -> None:
    page = "\n".join(papers_page())
    counted = [int(count) for count in re.findall(r"^(\d+) settings:$", page, re.MULTILINE)]
    assert sum(counted) == 185
