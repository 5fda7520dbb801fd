"""What a verb may never do with a damaged file, and whether it did."""

from __future__ import annotations

import contextlib
import io
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

MOST_SECONDS = 10
MOST_ASLEEP_SECONDS = 30
LONGEST_SENTENCE = 3000
STATUSES = (0, 1, 2)
FORESEEN = "did not foresee"

Judgement = tuple[str, str]
"""What fell short, and the particulars."""


class HangError(BaseException):
    """A verb took longer than it may; nothing of mawl catches it."""


def judged(act: Callable[[], int], *, coloured: bool = False) -> Judgement | None:
    """Do it; None where all is well.  Only what is ``coloured`` may print escapes."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _limited():
            status = act()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else -1
    except HangError:
        return "hang", traceback.format_exc()[-1500:]
    except BaseException:
        return "traceback", traceback.format_exc()[-2500:]
    said, shown = err.getvalue(), out.getvalue()
    if status not in STATUSES:
        return "status", f"{status}: {said}"
    if FORESEEN in said:
        return "traceback", said[:2500]
    if "Traceback" in said or "Warning" in said or len(said) > LONGEST_SENTENCE or "\x1b" in said:
        return "message", said[:2500]
    if not coloured and "\x1b" in shown:
        return "escape", shown[max(0, shown.index("\x1b") - 200) :][:400]
    if status and not (said if status == 2 else said + shown).strip():
        return "silence", ""
    return None


def asleep_seconds() -> float:
    """How long no thread ran or waited for a CPU, since any moment: the first may wait for another one."""
    busy_nanoseconds = 0
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has just ended
            on_cpu, in_queue, _ = (thread / "schedstat").read_text().split()
            busy_nanoseconds += int(on_cpu) + int(in_queue)
    return time.monotonic() - busy_nanoseconds / 1e9


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """CPU seconds count, and seconds asleep; waiting for a CPU does not, since others work here too."""
    asleep = asleep_seconds()

    def hang(*_: object) -> None:
        raise HangError

    def look(*_: object) -> None:
        if asleep_seconds() - asleep > MOST_ASLEEP_SECONDS:
            raise HangError

    handlers = ((signal.SIGPROF, hang), (signal.SIGALRM, look))
    before = [signal.signal(number, handler) for number, handler in handlers]
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(number, handler)
