"""Undoing what a campaign changed when its process died: ``python -m mawl.campaigns.arm_setting.guard``.

The guard runs in a separate session and reads a pipe; only the campaign holds its other end.  At the end of
that pipe it waits until the campaign's last run has ended (both hold the campaign's lock), and undoes what
``settings.json`` says is changed.  A campaign that ended by itself has undone it before, and another process
that continues the campaign does so first: the guard then has nothing to do.
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
from mawl.campaigns.arm_setting.change import ArmSettings
from mawl.campaigns.process import without_settings
from mawl.records.store.campaign import LOCK, read_settings
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
    """Wait for the end of standard input; undo."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    folder, holder = Path(arguments[0]), arguments[1]
    while os.read(sys.stdin.fileno(), 1):
        pass
    try:
        _undone(folder, holder)
    except MawlError as error:
        say(str(error))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        say(f"{error.filename or folder}: {why}; what an arm of the campaign changed may still be changed")


def _undone(folder: Path, holder: str) -> None:
    """Undo what is changed once the campaign's last run has ended, unless somebody else does."""
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
    while _wanted(folder, holder):
        if not try_lock(lock):
            time.sleep(LOOK_SECONDS)
            continue
        record = read_settings(folder)
        if record is not None and _wanted(folder, holder):
            ArmSettings(folder, record, say, without_settings(os.environ)).undo()
        return


def _wanted(folder: Path, holder: str) -> bool:
    """Whether something is changed, and nobody else has taken the campaign over."""
    record = read_settings(folder)
    return record is not None and record.changed is not None and record.holder == holder


def say(line: str) -> None:
    """On standard error, whose reader may be gone."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"mawl: {line}\n")
        sys.stderr.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
