"""Stands in for the executable ``sas``: takes its usual options and writes a log as SAS 9.4 on Linux does.

``-sysin FILE`` holds one word a line: ``data`` or a procedure, a step each; ``warn`` makes it end with 1,
``error`` with 2.  Each step writes a table into ``-work`` and a file into ``-utilloc``, and reads them.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

ROWS = 10_000
_NAMES = ("-sysin", "-log", "-print", "-work", "-utilloc", "-memsize", "-sortsize", "-bufsize")


def main(arguments: list[str]) -> int:
    options = {name: arguments[arguments.index(name) + 1] for name in _NAMES if name in arguments}
    missing = [name for name in ("-work", "-utilloc", "-memsize", "-sortsize") if name not in options]
    if missing or "-fullstimer" not in arguments:
        sys.exit(f"ERROR: expected {missing} and -fullstimer")
    status = 0
    with Path(options["-log"]).open("w", encoding="utf-8") as log:
        log.write(
            "1                                   The SAS System       10:00 Friday, November 21, 2026\n\n"
        )
        log.write("NOTE: Copyright (c) 2002-2012 by SAS Institute Inc., Cary, NC, USA. \n")
        log.write("NOTE: SAS (r) Proprietary Software 9.4 (TS1M7) \n\n")
        log.write("NOTE: SAS initialization used:\n      real time           0.01 seconds\n\n")
        for number, step in enumerate(Path(options["-sysin"]).read_text().split(), 1):
            if step in ("warn", "error"):
                status = max(status, 1 if step == "warn" else 2)
                log.write(f"{'WARNING' if step == 'warn' else 'ERROR'}: asked for.\n")
                continue
            began, cpu = time.monotonic(), time.process_time()
            for place in ("-work", "-utilloc"):
                table = Path(options[place]) / f"step{number}.sas7bdat"
                table.write_bytes(os.urandom(1000) * 300)
                assert len(table.read_bytes()) == 300_000
            log.write(note(step, number, time.monotonic() - began, time.process_time() - cpu))
        log.write("NOTE: SAS Institute Inc., SAS Campus Drive, Cary, NC USA 27513-2414\n")
        log.write("NOTE: The SAS System used:\n      real time           0.05 seconds\n")
    if "-print" in options:
        Path(options["-print"]).write_text("The SAS System\n")
    return status


def note(step: str, number: int, real: float, cpu: float) -> str:
    """The lines of one step under FULLSTIMER."""
    subject = "DATA statement" if step == "data" else f"PROCEDURE {step.upper()}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (
        f"\nNOTE: There were {ROWS} observations read from the data set WORK.STEP{number}.\n"
        f"NOTE: {subject} used (Total process time):\n"
        f"      real time           {real:.2f} seconds\n"
        f"      user cpu time       {cpu:.2f} seconds\n"
        "      system cpu time     0.00 seconds\n"
        "      memory              677.15k\n"
        f"      OS Memory           {peak:.2f}k\n"
        "      Timestamp           11/21/2026 10:00:00 AM\n"
        f"      Step Count                        {number}  Switch Count  2\n"
        "      Page Faults                       0\n"
        "      Page Reclaims                     140\n"
        "      Page Swaps                        0\n"
        "      Voluntary Context Switches        12\n"
        "      Involuntary Context Switches      3\n"
        "      Block Input Operations            0\n"
        "      Block Output Operations           600\n      \n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
