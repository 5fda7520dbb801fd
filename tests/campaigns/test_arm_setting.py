"""Arms whose setting is a plain file: made, read back, undone, and what stops a campaign."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from mawl.advice.bounds import AnswerBounds
from mawl.base.errors import MawlError
from mawl.campaigns import arm_setting, setting_guard
from mawl.campaigns.arm_setting import LARGEST_OUTPUT_BYTES, NotUndoneError, run_command
from mawl.campaigns.series import back_and_forth, begin, conduct, held, resume
from mawl.commands.campaign_settings import settings_of, this_machine, undo_left_in
from mawl.commands.reporting import read_run, render_campaign, stored_campaign
from mawl.figures.comparison.comparability import differences
from mawl.figures.comparison.sides import Side
from mawl.measure.processes import marked_processes
from mawl.records.model.campaign import Arm, Campaign, SettingRecord
from mawl.records.spec.campaign import ArmSetting
from mawl.records.store.campaign import (
    CAMPAIGN,
    CAMPAIGN_LOCK,
    SETTINGS,
    read_campaign,
    read_settings,
    write_campaign,
    write_settings,
)
from tests.fakes.campaign_runs import FakeRuns, campaign


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mode"
    path.write_text("8\n")
    return path


def setting(file: Path, **changes: object) -> ArmSetting:
    """A mode in a file: 8 at first, 4 for arm B."""
    plain = ArmSetting(
        name="mode", before=f"echo 4 > {file}", after=f"echo 8 > {file}", check=f"cat {file}", expect="4"
    )
    return msgspec.structs.replace(plain, **changes)


def record(file: Path, of_b: ArmSetting | None = None, of_a: ArmSetting | None = None) -> Campaign:
    """A B B A, nothing made yet."""
    arms = [
        Arm(name="a", workload="tiny", title="as it is", setting=of_a),
        Arm(name="b", workload="tiny", title="four", setting=of_b or setting(file)),
    ]
    return campaign(
        arms=arms, slots=back_and_forth(arms, 2), machine=this_machine(), directory=str(file.parent)
    )


def carried_out(folder: Path, made: Campaign, runs: FakeRuns) -> Campaign:
    """Begin or go on."""
    folder.mkdir(exist_ok=True)
    with held(folder) as lock:
        there = (folder / CAMPAIGN).exists()
        made = read_campaign(folder) if there else made
        with settings_of(folder, made) as changing:
            series = (
                resume(folder, runs, lock, changing) if there else begin(folder, made, runs, lock, changing)
            )
            return conduct(series)


def settings_in(folder: Path) -> SettingRecord:
    found = read_settings(folder)
    assert found is not None
    return found


def left_changed(file: Path, tmp_path: Path) -> Path:
    """The folder of a campaign whose change is not undone; its file reads 9."""
    folder = tmp_path / "runs" / "c"
    folder.parent.mkdir()
    with pytest.raises(NotUndoneError):
        carried_out(folder, record(file, setting(file, after=f"echo 9 > {file}")), FakeRuns())
    return folder


def left_by_clean(folder: Path) -> str:
    """The one sentence of a clean that undoes nothing."""
    left: list[str] = []
    undo_left_in(folder.parent, yes=True, dry_run=False, done=pytest.fail, left=left.append)
    (sentence,) = left
    return sentence


class Doing(FakeRuns):
    """Does something in the run of a name, once."""

    def __init__(self, name: str, act: Callable[[], object]) -> None:
        super().__init__()
        self._name, self._act = name, act

    def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
        super().__call__(arm, folder, lock)
        if folder.name == self._name:
            self._act()


def test_the_setting_is_in_force_in_the_runs_of_its_arm_alone(file: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []

    class Looking(FakeRuns):
        def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
            seen.append((folder.name, file.read_text().strip()))
            super().__call__(arm, folder, lock)

    folder = tmp_path / "c"
    assert carried_out(folder, record(file), Looking()).outcome == "completed"
    assert seen == [("001-a", "8"), ("002-b", "4"), ("003-b", "4"), ("004-a", "8")]
    assert file.read_text() == "8\n"
    made = settings_in(folder)
    roles = [one.role for one in made.commands]
    assert (roles.count("before"), roles.count("after"), roles.count("kept")) == (1, 1, 4)
    for one in made.commands:
        assert one.exit_status == 0
        assert (folder / one.output).read_text().strip() == one.printed
    found = stored_campaign(folder, AnswerBounds()).figures
    (told,) = found.settings
    assert (told.original, told.read, told.reads, told.differing, told.state) == (
        *("'8'", ["'4'"]),
        *(4, 0, "undone"),
    )
    assert found.comparison is not None
    for form in ("text", "markdown", "html", "json"):
        assert "echo 4" in render_campaign(found, form), form
    assert "setting    mode: '8' -> '4'" in render_campaign(found, "text")


def test_two_runs_cite_the_setting_that_was_read_around_them(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    carried_out(folder, record(file), FakeRuns())
    one, other = (
        Side(label=name, runs=(read_run(folder / name, AnswerBounds()),)) for name in ("001-a", "002-b")
    )
    cited = [(fact.reference, fact.candidate) for fact in differences(one, other) if "mode" in fact.name]
    assert cited == [("'8'", "'4'")]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"before": "true"}, "arm b: mode did not take: it reads '8', expected '4'"),
        ({"before": "echo no; exit 3"}, "the command that changes mode failed: exit status 3: no"),
        ({"before": "sleep 30 & sleep 30", "seconds": 0.3}, "failed: it was stopped after 0.3 s"),
        ({"check": "no-such-command"}, "arm b: mode cannot be read back: exit status 127"),
        ({"check": "sleep 30", "seconds": 0.3}, "cannot be read back: it was stopped after 0.3 s"),
    ],
)
def test_a_change_that_did_not_take_stops_before_the_run_and_is_undone(
    changes: dict[str, object], sentence: str, file: Path, tmp_path: Path
) -> None:
    runs, folder = FakeRuns(), tmp_path / "c"
    only_checked = setting(file, before=None, after=None, expect="8")
    with pytest.raises(MawlError) as error:
        carried_out(folder, record(file, setting(file, **changes), only_checked), runs)
    said = str(error.value).replace(f": {setting(file, **changes).before}", "", 1)
    said = said.replace(f": {setting(file, **changes).check}", "", 1)
    assert sentence in said
    assert runs.made == ["001-a"]
    assert read_campaign(folder).outcome == "failed"
    assert settings_in(folder).changed is None
    assert file.read_text() == "8\n"
    mark = settings_in(folder).mark
    assert [one for one in marked_processes("MAWL_SETTING_COMMAND") if one.startswith(mark)] == []


def test_a_run_at_whose_end_the_setting_is_another_does_not_count(file: Path, tmp_path: Path) -> None:
    folder, runs = tmp_path / "c", Doing("002-b", lambda: file.write_text("2\n"))
    with pytest.raises(MawlError, match="was no longer as the arm asks for when run 002-b ended"):
        carried_out(folder, record(file), runs)
    assert file.read_text() == "8\n"
    made = carried_out(folder, record(file), runs)
    assert [slot.folder for slot in made.slots] == ["001-a", "002-b-2", "003-b", "004-a"]
    assert any("run 002-b is made again" in remark for remark in made.remarks)
    found = stored_campaign(folder, AnswerBounds()).figures
    assert [one.differing for one in found.settings] == [1]


def test_an_arm_as_it_is_stops_where_the_setting_is_not_as_it_was(file: Path, tmp_path: Path) -> None:
    folder, runs = tmp_path / "c", Doing("001-a", lambda: file.write_text("2\n"))
    with pytest.raises(MawlError, match="it reads '2', and read '8' when the campaign began"):
        carried_out(folder, record(file), runs)
    assert runs.made == ["001-a"]
    assert file.read_text() == "2\n", "what another changed is not mawl's to undo"


def test_what_after_does_not_undo_is_said_and_goes_once_it_was_undone_by_hand(
    file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "c"
    folder.parent.mkdir()
    wrong = setting(file, after=f"echo 9 > {file}")
    with pytest.raises(NotUndoneError) as error:
        carried_out(folder, record(file, wrong), FakeRuns())
    assert "it reads '9' and read '8' before" in str(error.value)
    file.write_text("8\n")
    done: list[str] = []
    left: list[str] = []
    undo_left_in(folder.parent, yes=True, dry_run=False, done=done.append, left=left.append)
    assert (len(done), left) == (1, [])
    assert file.read_text() == "8\n"


def test_an_interrupted_campaign_is_undone(file: Path, tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    folder, runs = tmp_path / "c", Doing("002-b", interrupt)
    with pytest.raises(KeyboardInterrupt):
        carried_out(folder, record(file), runs)
    assert file.read_text() == "8\n"
    assert carried_out(folder, record(file), runs).outcome == "completed"


def test_a_full_disk_does_not_keep_a_change(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(folder: Path, record: SettingRecord) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = tmp_path / "c"
    runs = Doing("002-b", lambda: monkeypatch.setattr(arm_setting, "write_settings", full))
    with pytest.raises(OSError, match="No space left"):
        carried_out(folder, record(file), runs)
    assert file.read_text() == "8\n"


def test_commands_of_another_machine_or_user_are_named_and_not_run(file: Path, tmp_path: Path) -> None:
    folder = left_changed(file, tmp_path)
    write_settings(folder, msgspec.structs.replace(settings_in(folder), machine="elsewhere"))
    file.write_text("7\n")
    assert left_by_clean(folder).endswith("; it was recorded on another machine or by another user")
    assert file.read_text() == "7\n"


def test_commands_are_bounded_in_what_is_kept_of_their_output(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    loud = setting(file, before=f"head -c 5000000 /dev/zero | tr '\\0' x; echo 4 > {file}")
    carried_out(folder, record(file, loud), FakeRuns())
    made = next(one for one in settings_in(folder).commands if one.role == "before")
    assert (folder / made.output).stat().st_size == 2**20
    assert len(made.printed) == 4000


def test_commands_that_the_campaign_does_not_name_are_not_run(file: Path, tmp_path: Path) -> None:
    folder = left_changed(file, tmp_path)
    made = settings_in(folder)
    assert made.changed is not None
    hostile = msgspec.structs.replace(made.changed, setting=setting(file, after=f"echo bad > {file}"))
    write_settings(folder, msgspec.structs.replace(made, changed=hostile))
    assert "name other commands for arm b, so mawl runs neither" in left_by_clean(folder)
    with (
        held(folder),
        pytest.raises(MawlError, match="so mawl runs neither"),
        settings_of(folder, read_campaign(folder)),
    ):
        pytest.fail("nothing of it may run")
    assert file.read_text() == "9\n"


class Answering:
    """A terminal at which something happens before the user says yes."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self._happens = happens

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        self._happens()
        return "y\n"


def test_what_another_process_undid_before_the_answer_is_not_undone_again(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = left_changed(file, tmp_path)
    undone = msgspec.structs.replace(settings_in(folder), changed=None, holder="of another process")

    def meanwhile() -> None:
        write_settings(folder, undone)
        file.write_text("7\n")

    monkeypatch.setattr(sys, "stdin", Answering(meanwhile))
    undo_left_in(folder.parent, yes=False, dry_run=False, done=pytest.fail, left=pytest.fail)
    assert file.read_text() == "7\n"
    assert settings_in(folder) == undone


def test_a_record_that_names_another_directory_runs_nothing(file: Path, tmp_path: Path) -> None:
    folder = left_changed(file, tmp_path)
    write_settings(folder, msgspec.structs.replace(settings_in(folder), directory="/"))
    file.write_text("7\n")
    assert "name other directories, so mawl runs no command in either" in left_by_clean(folder)
    assert file.read_text() == "7\n"


def test_a_directory_that_is_gone_is_said_in_one_sentence(file: Path, tmp_path: Path) -> None:
    folder = left_changed(file, tmp_path)
    gone = str(tmp_path / "gone")
    write_settings(folder, msgspec.structs.replace(settings_in(folder), directory=gone))
    made = read_campaign(folder)
    write_campaign(folder, msgspec.structs.replace(made, directory=gone))
    assert f"it could not start in {gone}: no such file or directory" in left_by_clean(folder)
    assert settings_in(folder).changed is not None


def test_a_command_that_a_nameless_signal_ended_is_said_so(file: Path, tmp_path: Path) -> None:
    killed = setting(file, before=f"echo 4 > {file}; kill -40 $$")
    with pytest.raises(MawlError, match="it was ended by signal 40"):
        carried_out(tmp_path / "c", record(file, killed), FakeRuns())
    assert file.read_text() == "8\n"


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        ([], "campaign.lock: no such file or directory; what an arm of the campaign changed may still be"),
        ([CAMPAIGN_LOCK, SETTINGS], "settings.json: is no record of changed settings"),
    ],
)
def test_damage_is_said_in_one_sentence(there: list[str], sentence: str, tmp_path: Path) -> None:
    for name in there:
        (tmp_path / name).write_text("{")
    words = [sys.executable, "-P", "-m", setting_guard.__name__, str(tmp_path), "holder"]
    ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert ended.stderr.count("\n") == 1 and sentence in ended.stderr


BLOCK_BYTES = 512
"""Of ``st_blocks``."""


def test_output_without_end_takes_little_room_while_it_is_printed(tmp_path: Path) -> None:
    output, size = tmp_path / "output", tmp_path / "size"
    loud = f"yes & loud=$!; sleep 0.5; kill $loud; sleep 0.5; stat -c %b {output} > {size}"
    ended = run_command(loud, output, 20.0, "mark", str(tmp_path), os.environ)
    assert ended.exit_status == 0
    assert int(size.read_text()) * BLOCK_BYTES <= 2 * LARGEST_OUTPUT_BYTES
    assert output.stat().st_size == LARGEST_OUTPUT_BYTES


def test_nobody_waits_for_a_command_that_cannot_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of one that runs as another user, or that waits for a file system which does not answer."""
    monkeypatch.setattr(arm_setting, "signal_all", lambda *_: 0)
    monkeypatch.setattr(arm_setting, "kill_marked", lambda *_: 0)
    monkeypatch.setattr(arm_setting, "GRACE_SECONDS", 0.1)
    began = time.monotonic()
    ended = run_command("exec sleep 10", tmp_path / "output", 0.1, "mark", str(tmp_path), os.environ)
    assert time.monotonic() - began < 5.0
    assert ended.exit_status is None and ended.reason is not None
    assert ended.reason.startswith("it was stopped after 0.1 s, and its process")


def test_a_command_that_cannot_start_says_why(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    ended = run_command("true", tmp_path / "output", 1.0, "mark", gone, os.environ)
    assert (ended.exit_status, ended.reason) == (
        None,
        f"it could not start in {gone}: no such file or directory",
    )
