"""Hand-made SAS logs in every layout, and the truth of each note in them, written down by hand."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.importers.fullstimer import LINUX, LINUX_93, SPLIT, STUDIO, UNIX_92, WINDOWS, WINDOWS_82
from tests.importers.layout import BANNER, Layout, Note

STIMER = Layout(
    BANNER
    + """\
NOTE: SAS initialization used:
      real time           0.05 seconds
      cpu time            0.04 seconds
      \n\

1    data a; do x = 1 to 10; output; end; run;

NOTE: The data set WORK.A has 10 observations and 1 variables.
NOTE: DATA statement used (Total process time):
      real time           1:02.24
      cpu time            58.10 seconds
      \n\

2    proc sort data=a out=b; by x; run;

NOTE: There were 10 observations read from the data set WORK.A.
NOTE: SAS threaded sort was used.
NOTE: The data set WORK.B has 10 observations and 1 variables.
NOTE: PROCEDURE SORT used (Total process time):
      real time           9:28:12.90
      cpu time            10:00:00.00
      \n\

NOTE: SAS Institute Inc., SAS Campus Drive, Cary, NC USA 27513-2414
NOTE: The SAS System used:
      real time           60:48:34.65
      cpu time            11:01:00.00
      \n\
""",
    [
        Note("initialization", None, {"real_time_seconds": 0.05, "unsplit_cpu_seconds": 0.04}),
        Note(
            "data",
            None,
            {"real_time_seconds": 62.24, "unsplit_cpu_seconds": 58.1},
            {"rows_written": 10, "variables_written": 1},
        ),
        Note(
            "procedure",
            "SORT",
            {"real_time_seconds": 34092.9, "unsplit_cpu_seconds": 36000.0},
            {"rows_read": 10, "rows_written": 10, "variables_written": 1},
        ),
        Note("session", None, {"real_time_seconds": 218914.65, "unsplit_cpu_seconds": 39660.0}),
    ],
)

UNIX_612 = Layout(
    """\
NOTE: SAS (r) Proprietary Software Release 6.12  TS051
NOTE: DATA statement used:
      time:                           memory:
         real        3:12.08             page faults   0
         user cpu    41.20 seconds       page reclaims 31
         system cpu  2:01.77             usage         80 K
      block I/O operations:           context switches:
         input       0                   voluntary     977
         output      2048                involuntary   640


NOTE: PROCEDURE SORT used:
      time:                           memory:
         real        0.50 seconds        page faults   2
         user cpu    0.20 seconds        page reclaims 3
         system cpu  0.10 seconds        usage         25.02 M
      block I/O operations:           context switches:
         input       1                   voluntary     2
         output      3                   involuntary   4

""",
    [
        Note(
            "data",
            None,
            {
                "real_time_seconds": 192.08,
                "user_cpu_seconds": 41.2,
                "system_cpu_seconds": 121.77,
                "memory_bytes": 81920,
                "page_faults": 0,
                "page_reclaims": 31,
                "voluntary_context_switches": 977,
                "involuntary_context_switches": 640,
                "block_input_operations": 0,
                "block_output_operations": 2048,
            },
        ),
        Note(
            "procedure",
            "SORT",
            {
                "real_time_seconds": 0.5,
                "user_cpu_seconds": 0.2,
                "system_cpu_seconds": 0.1,
                "memory_bytes": round(25.02 * 2**20),
                "page_faults": 2,
                "page_reclaims": 3,
                "voluntary_context_switches": 2,
                "involuntary_context_switches": 4,
                "block_input_operations": 1,
                "block_output_operations": 3,
            },
        ),
    ],
)

ZOS = Layout(
    """\
NOTE: This session is executing on the z/OS V02R03M00 platform.
NOTE: The initialization phase used 0.05 CPU seconds and 3728K.
NOTE: The DATA statement used 0.11 CPU seconds and 4096K.
NOTE: The PROCEDURE SQL used 0.03 CPU seconds.
NOTE: The address space has used a maximum of 780K below the line and 8296K above the line.
NOTE: The PROCEDURE MEANS used the following resources:
      CPU     time -         00:00:01.04
      Elapsed time -         00:01:00.30
      EXCP count  - 38
      Task  memory -  5123K (128K data, 4995K program)
      Total memory -  9876K (4096K data, 5780K program)
      Timestamp    - 5/9/2013 2:56:13 PM

NOTE: The SAS session used 1.42 CPU seconds and 11532K.
""",
    [
        Note("initialization", None, {"unsplit_cpu_seconds": 0.05, "memory_bytes": 3728 * 1024}),
        Note("data", None, {"unsplit_cpu_seconds": 0.11, "memory_bytes": 4096 * 1024}),
        Note("procedure", "SQL", {"unsplit_cpu_seconds": 0.03}),
        Note(
            "procedure",
            "MEANS",
            {
                "real_time_seconds": 60.3,
                "unsplit_cpu_seconds": 1.04,
                "memory_bytes": 5123 * 1024,
                "os_memory_bytes": 9876 * 1024,
            },
            {"ended_at": datetime(2013, 5, 9, 14, 56, 13, tzinfo=UTC).timestamp()},
        ),
        Note("session", None, {"unsplit_cpu_seconds": 1.42, "memory_bytes": 11532 * 1024}),
    ],
)

_SHORT = "      real time           {} seconds\n      cpu time            {} seconds\n      \n\n"
VIEW = Layout(
    BANNER
    + "NOTE: There were 30 observations read from the data set WORK.BASE.\n"
    + "NOTE: View WORK.RECENT.VIEW used (Total process time):\n"
    + _SHORT.format("4.00", "3.00")
    + "NOTE: There were 12 observations read from the data set WORK.RECENT.\n"
    + "NOTE: PROCEDURE PRINT used (Total process time):\n"
    + _SHORT.format("5.00", "3.50"),
    [
        Note(
            "view",
            "WORK.RECENT.VIEW",
            {"real_time_seconds": 4.0, "unsplit_cpu_seconds": 3.0},
            {"rows_read": 30},
        ),
        Note("procedure", "PRINT", {"real_time_seconds": 5.0, "unsplit_cpu_seconds": 3.5}, {"rows_read": 12}),
    ],
)

_SESSION = (
    BANNER
    + "NOTE: DATA statement used (Total process time):\n"
    + _SHORT.format("1.00", "0.50")
    + "NOTE: The SAS System used:\n"
    + _SHORT.format("2.00", "0.75")
)
SESSIONS = Layout(
    _SESSION * 3,
    [
        Note("data", None, {"real_time_seconds": 1.0, "unsplit_cpu_seconds": 0.5}),
        Note("session", None, {"real_time_seconds": 2.0, "unsplit_cpu_seconds": 0.75}),
    ]
    * 3,
    jobs=3,
)

WRAPPED = Layout(
    "NOTE: There were 123456789 observations read from the data set\n"
    "      WAREHOUSE.A_VERY_LONG_NAME.\n"
    "NOTE: The data set WAREHOUSE.ANOTHER_LONG_NAME has 42 observations\n"
    "      and 7 variables.\n"
    "NOTE: View WAREHOUSE.A_VERY_LONG_NAME_OF_A_VIEW.VIEW used (Total\n"
    "      process time):\n" + _SHORT.format("0.25", "0.10"),
    [
        Note(
            "view",
            "WAREHOUSE.A_VERY_LONG_NAME_OF_A_VIEW.VIEW",
            {"real_time_seconds": 0.25, "unsplit_cpu_seconds": 0.1},
            {"rows_read": 123456789, "rows_written": 42, "variables_written": 7},
        )
    ],
)

LOOK_ALIKES = Layout(
    """\
NOTE: Action 'sessionProp.setSessOpt' used (Total process time):
      real time               0,001234 seconds
      cpu time                0,000321 seconds (26.01%)

NOTE: PROCEDURE SQL a utilisé (Durée totale du traitement) :
      temps réel          0.01 secondes
      temps UC            0.01 secondes

| NOTE: DATA statement used (Total process time): |
|       real time           9.99 seconds          |
NOTE: Host sort was used.
NOTE: Compressing data set WORK.A decreased size by 10.00 percent. Memory used = 511K.
      memory              677.15k
NOTE: DATA statement used (Total process time):
"""
    + _SHORT.format("0.01", "0.00")
    + "NOTE: PROCEDURE MEANS used (Total process time):\n\nplain text\n",
    [Note("data", None, {"real_time_seconds": 0.01, "unsplit_cpu_seconds": 0.0})],
    [1, 5, 9, 19],
)

CUT = Layout(
    BANNER
    + "NOTE: PROCEDURE SUMMARY used (Total process time):\n"
    + "      real time           12.50 seconds\n      user cpu time       10.00 seconds\n      system cpu ti",
    [Note("procedure", "SUMMARY", {"real_time_seconds": 12.5, "user_cpu_seconds": 10.0})],
    [8],
)

LAYOUTS: dict[str, Layout] = {
    "stimer": STIMER,
    "linux": LINUX,
    "split": SPLIT,
    "linux_93": LINUX_93,
    "unix_92": UNIX_92,
    "windows": WINDOWS,
    "windows_82": WINDOWS_82,
    "unix_612": UNIX_612,
    "zos": ZOS,
    "studio": STUDIO,
    "view": VIEW,
    "sessions": SESSIONS,
    "wrapped": WRAPPED,
    "look_alikes": LOOK_ALIKES,
    "cut": CUT,
}
