"""How mawl's own processes end: as the interpreter ends one, without the destructors of C++ libraries."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import NoReturn


def end_with(main: Callable[[], int]) -> NoReturn:
    """Run ``main`` and end the process with its status, or with 1 and a traceback where it raised.

    Threads that are no daemons and what ``atexit`` holds have their turn, as at any end.  Destructors of
    C++ libraries have none: Arrow's pool of threads sometimes aborts a process in them whose work is done
    (https://github.com/apache/arrow/issues/34314; of some 240 runs one ended with 134 instead of 0).
    """
    status = 1
    try:
        status = main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(KeyboardInterrupt):
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
