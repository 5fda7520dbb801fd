"""Undoes what a campaign changed when its process dies: ``python -m mawl.campaigns.setting_guard``.

The guard runs in a separate session and reads a pipe; only the campaign holds its other end.  At the end of
that pipe it waits until the campaign's last run has ended (both hold the campaign's lock), and undoes what
``settings.json`` says is changed.  If the campaign, or another process that continues it, has undone that
already, the guard has nothing to do.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from mawl.base.errors import MawlError
from mawl.campaigns.arm_setting import ArmSettings
from mawl.campaigns.process import without_settings
from mawl.records.store.campaign import CAMPAIGN_LOCK, read_settings
from mawl.records.store.files import try_lock

LOOK_SECONDS = 0.1


@contextlib.contextmanager
def guarded(folder: Path, holder: str) -> Iterator[None]:
    """A guard of the calling process in the block; raises OSError where none can be made."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, str(folder), holder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        process.kill()  # the block has undone what was changed, or has said what is left
        process.communicate()


def main(arguments: list[str]) -> None:
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    folder, holder = Path(arguments[0]), arguments[1]
    while os.read(sys.stdin.fileno(), 1):
        pass
    try:
        _undo_changes(folder, holder)
    except MawlError as error:
        say(str(error))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        say(f"{error.filename or folder}: {why}; what an arm of the campaign changed may still be changed")


def _undo_changes(folder: Path, holder: str) -> None:
    lock = os.open(folder / CAMPAIGN_LOCK, os.O_RDWR | os.O_CLOEXEC)
    while _is_left_changed(folder, holder):
        if not try_lock(lock):
            time.sleep(LOOK_SECONDS)
            continue
        record = read_settings(folder)
        if record is not None and _is_left_changed(folder, holder):
            ArmSettings(folder, record, say, without_settings(os.environ)).undo()
        return


def _is_left_changed(folder: Path, holder: str) -> bool:
    record = read_settings(folder)
    return record is not None and record.changed is not None and record.holder == holder


def say(line: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"mawl: {line}\n")
        sys.stderr.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
