"""A campaign in a process of its own whose arm B changes a plain file, and that is killed in any phase.

``python -m tests.fakes.setting_arms FOLDER FILE PHASE [unguarded]`` conducts it over fake runs.  Commands
kill the campaign by their parent's number, fake runs by their own; ``unguarded`` kills its guard first.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

from mawl.campaigns.series import back_and_forth, begin, conduct, held, resume
from mawl.commands.campaign_settings import settings_of, this_machine
from mawl.measure.processes import descendants
from mawl.records.model.campaign import Arm, Campaign, Slot
from mawl.records.spec.campaign import ArmSetting
from mawl.records.store.campaign import CAMPAIGN, read_campaign
from tests.fakes.campaign_runs import FakeRuns, campaign

PHASES = ("original", "before", "took", "warm-up", "run", "kept", "between", "after", "undone")
"""Where a campaign of B A A B with a warm-up run of B is killed, once."""

PATIENCE_SECONDS = 20.0
ORIGINAL, CHANGED = "8", "4"


def setting(file: Path, phase: str = "") -> ArmSetting:
    """The setting of arm B, in a file; the command of a phase kills its parent the first time."""
    once = f'test -e "{file}.killed" || {{ touch "{file}.killed"; kill -9 $PPID; sleep 20; }}'
    change = f'echo {CHANGED} > "{file}"'
    # check runs as original (1), took (2), kept (3), ... of the warm-up run; undone is found by after's mark.
    number = {"original": 1, "took": 2, "kept": 3}.get(phase, 0)
    check = f'echo x >> "{file}.reads"; test $(wc -l < "{file}.reads") != {number} || {{ {once}; }}; '
    if phase == "undone":
        check = f'test ! -e "{file}.undoing" || {{ {once}; }}; '
    return ArmSetting(
        name="mode",
        before=f"{change}; {once}" if phase == "before" else change,
        after=(f"{once}; " if phase == "after" else "")
        + f'echo {ORIGINAL} > "{file}"; touch "{file}.undoing"',
        check=f'{check}cat "{file}"',
        expect=CHANGED,
    )


def record(file: Path, phase: str = "") -> Campaign:
    """B A A B with a warm-up run, on this machine."""
    arms = [
        Arm(name="b", workload="tiny", title="after", setting=setting(file, phase)),
        Arm(name="a", workload="tiny", title="before"),
    ]
    return campaign(
        arms=arms,
        slots=back_and_forth(arms, 2),
        warm_up=Slot(position=0, arm="b"),
        machine=this_machine(),
        directory=str(file.parent),
    )


class DyingRuns(FakeRuns):
    """Fake runs; a process that makes the one of a name is killed in it, or before it, once."""

    def __init__(self, file: Path, phase: str) -> None:
        super().__init__()
        self._mark = file.with_name(f"{file.name}.killed")
        self._name = {"warm-up": "000-warm-up", "run": "001-b", "between": "002-a"}.get(phase)

    def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
        if folder.name == self._name and not self._mark.exists():
            self._mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        super().__call__(arm, folder, lock)


def conducted(folder: Path, file: Path, phase: str = "", *, unguarded: bool = False) -> Campaign:
    """Begin or continue the campaign in this process."""
    runs = DyingRuns(file, phase)
    folder.mkdir(exist_ok=True)
    there = (folder / CAMPAIGN).exists()
    with held(folder) as lock:
        made = read_campaign(folder) if there else record(file, phase)
        with settings_of(folder, made) as changing:
            if unguarded:
                os.kill(guard_of(os.getpid()), signal.SIGKILL)
            series = (
                resume(folder, runs, lock, changing) if there else begin(folder, made, runs, lock, changing)
            )
            return conduct(series)


def guard_of(pid: int) -> int:
    """The guard of a campaign's process; the kernel's list of children may lack it for a moment."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < ends:
        for below in descendants(pid):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{below}/cmdline").read_bytes().split(b"\0")
                if b"mawl.campaigns.setting_guard" in words:
                    return below
        time.sleep(0.01)
    raise AssertionError("no guard was started")


if __name__ == "__main__":
    conducted(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], unguarded=sys.argv[4:] == ["unguarded"])
