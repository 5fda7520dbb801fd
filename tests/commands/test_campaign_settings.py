"""Commands of arms are shown first, and asked for at a terminal; a campaign goes on where it began."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import InterruptedRunError, UsageError
from mawl.commands.campaign_settings import agree, check_place, this_machine
from mawl.records.model.campaign import Arm
from mawl.records.spec.campaign import ArmSetting
from mawl.records.spec.run_spec import RunSpec
from tests.fakes.campaign_runs import campaign

SETTING = ArmSetting(name="mode", before="set\n mode 4", after="set mode 8", check="get mode", expect="4")
RECORD = campaign(arms=[Arm(name="a", workload="tiny"), Arm(name="b", workload="tiny", setting=SETTING)])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("answer", ["", "\n", "n\n", "Y es\n"])
def test_without_agreement_nothing_begins(
    answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    with pytest.raises(InterruptedRunError, match="nothing was changed"):
        agree(RECORD, yes=False)
    said = capsys.readouterr().err
    assert "arm b (tiny): mode, expected '4'\n  set: set\\n mode 4\n" in said
    assert "  read back: get mode\n  undo: set mode 8\n" in said


@pytest.mark.parametrize(
    ("stream", "answer", "yes", "asked"),
    [(Terminal, "yes\n", False, True), (Terminal, "", True, False), (io.StringIO, "", False, False)],
)
def test_agreement_is_an_answer_an_option_or_no_terminal(
    stream: type[io.StringIO],
    answer: str,
    yes: bool,
    asked: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", stream(answer))
    agree(RECORD, yes=yes)
    said = capsys.readouterr().err
    assert "  undo: set mode 8\n" in said, "the commands are shown in any case"
    assert ("Run these commands?" in said) is asked


def test_campaigns_without_settings_ask_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    agree(campaign(), yes=False)
    assert capsys.readouterr().err == ""


def test_a_campaign_goes_on_where_it_began(tmp_path: Path) -> None:
    record = msgspec.structs.replace(campaign(), machine=this_machine(), spec=RunSpec())
    check_place(record, tmp_path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"spec": None, "format_version": "1.0"}, "was begun by an older mawl.*go on with mawl 0.1.0"),
        ({"spec": RunSpec()}, "was begun on another machine"),
        ({"spec": RunSpec(), "machine": this_machine(), "directory": "/gone"}, "/gone: the directory"),
    ],
)
def test_elsewhere_it_is_refused(changes: dict[str, object], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=sentence):
        check_place(msgspec.structs.replace(campaign(), **changes), tmp_path)
