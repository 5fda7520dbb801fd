"""Hand-made logs with FULLSTIMER of SAS 9, whole and split by page headers, with their truth."""

from __future__ import annotations

from mawl.base.units import parse_instant
from tests.importers.layout import BANNER, Figures, Layout, Note

_FULL = """\
      real time           12.50 seconds
      user cpu time       10.00 seconds
      system cpu time     1.25 seconds
      memory              677.15k
      OS Memory           25560.00k
      Timestamp           11/20/2026 12:00:05 AM
      Step Count                        3  Switch Count  41
      Page Faults                       0
      Page Reclaims                     5000000000
      Page Swaps                        0
      Voluntary Context Switches        977
      Involuntary Context Switches      640
      Block Input Operations            0
      Block Output Operations           2048
      \n"""
_FULL_USAGE: Figures = {
    "real_time_seconds": 12.5,
    "user_cpu_seconds": 10.0,
    "system_cpu_seconds": 1.25,
    "memory_bytes": 693402,
    "os_memory_bytes": 26173440,
    "page_faults": 0,
    "page_reclaims": 5_000_000_000,
    "page_swaps": 0,
    "voluntary_context_switches": 977,
    "involuntary_context_switches": 640,
    "block_input_operations": 0,
    "block_output_operations": 2048,
}
_FULL_MORE: Figures = {
    "ended_at": parse_instant("2026-11-20T00:00:05Z"),
    "step_count": 3,
    "switch_count": 41,
}
_SUMMARY = "NOTE: PROCEDURE SUMMARY used (Total process time):\n"

LINUX = Layout(BANNER + _SUMMARY + _FULL + "\n", [Note("procedure", "SUMMARY", _FULL_USAGE, _FULL_MORE)])

SPLIT = Layout(
    BANNER
    + _SUMMARY
    + "\f2                                    The SAS System              10:00 Friday, November 20, 2026\n\n"
    + _FULL.replace(
        "      OS Memory",
        "3              A title              10:00 Friday, November 20, 2026\n\n      OS Memory",
    ).replace("      Page Swaps", "MPRINT(LOAD):   run;\n12         +  proc print; run;\n      Page Swaps")
    + "\n"
    + _SUMMARY
    + _FULL.replace(
        "      Timestamp",
        "\f4      The SAS System      Friday, November 20, 2026 10:00:00 AM\n\n      Timestamp",
    ).replace("Step Count                        3", "Step Count                        4")
    + "\n",
    [
        Note("procedure", "SUMMARY", _FULL_USAGE, _FULL_MORE),
        Note("procedure", "SUMMARY", _FULL_USAGE, {**_FULL_MORE, "step_count": 4}),
    ],
)

LINUX_93 = Layout(
    BANNER.replace("9.4 (TS1M6)", "9.3 (TS1M2)")
    + "NOTE: SAS initialization used:\n      real time           0.10 seconds\n"
    + "      cpu time            0.02 seconds\n"
    + "      Timestamp           11/20/2026 01:15:00 PM\n"
    + "      Page Faults                       7\n      Page Reclaims                     2100\n      \n\n"
    + _SUMMARY
    + "".join(line + "\n" for line in _FULL.splitlines() if "Step Count" not in line),
    [
        Note(
            "initialization",
            None,
            {
                "real_time_seconds": 0.1,
                "unsplit_cpu_seconds": 0.02,
                "page_faults": 7,
                "page_reclaims": 2100,
            },
            {"ended_at": parse_instant("2026-11-20T13:15:00Z")},
        ),
        Note("procedure", "SUMMARY", _FULL_USAGE, {"ended_at": _FULL_MORE["ended_at"]}),
    ],
)

UNIX_92 = Layout(
    BANNER.replace("9.4 (TS1M6)", "9.2 (TS2M3)").replace("Linux 3.10.0-957.el7.x86_64 (LIN X64)", "AIX 64")
    + _SUMMARY
    + """\
            real time           0.84 seconds
            user cpu time       0.03 seconds
            system cpu time     0.02 seconds
            Memory                            236k
            OS Memory                         5672k
            Timestamp            3/6/2011  9:13:39 AM
            Page Faults                       37
            Page Reclaims                     0
            Page Swaps                        0
            Voluntary Context Switches        1336
            Involuntary Context Switches      1
            Block Input Operations            39
            Block Output Operations           0
      \n
""",
    [
        Note(
            "procedure",
            "SUMMARY",
            {
                "real_time_seconds": 0.84,
                "user_cpu_seconds": 0.03,
                "system_cpu_seconds": 0.02,
                "memory_bytes": 236 * 1024,
                "os_memory_bytes": 5672 * 1024,
                "page_faults": 37,
                "page_reclaims": 0,
                "page_swaps": 0,
                "voluntary_context_switches": 1336,
                "involuntary_context_switches": 1,
                "block_input_operations": 39,
                "block_output_operations": 0,
            },
            {"ended_at": parse_instant("2011-03-06T09:13:39Z")},
        )
    ],
)
"""Below the heading as the SAS 9.2 Companion for UNIX, FULLSTIMER, shows it: no leading zeros, capital M."""

_WINDOWS_USAGE = {name: _FULL_USAGE[name] for name in list(_FULL_USAGE)[:5]}
WINDOWS = Layout(
    BANNER.replace("Linux 3.10.0-957.el7.x86_64 (LIN X64)", "X64_SRV16")
    + "NOTE: DATA statement used (Total process time):\n"
    + "".join(line + "\n" for line in _FULL.splitlines()[:7])
    + "      \n\n",
    [Note("data", None, _WINDOWS_USAGE, _FULL_MORE)],
)

WINDOWS_82 = Layout(
    "NOTE: SAS (r) Proprietary Software Release 8.2 (TS2M0)\n\n"
    "NOTE: DATA statement used:\n"
    "      real time           0.03 seconds\n"
    "      user cpu time       0.01 seconds\n"
    "      system cpu time     0.02 seconds\n"
    "      Memory                            13k\n\n\n"
    "NOTE: PROCEDURE PRINT used:\n"
    "      real time           0.20 seconds\n"
    "      cpu time            0.10 seconds\n",
    [
        Note(
            "data",
            None,
            {
                "real_time_seconds": 0.03,
                "user_cpu_seconds": 0.01,
                "system_cpu_seconds": 0.02,
                "memory_bytes": 13312,
            },
        ),
        Note("procedure", "PRINT", {"real_time_seconds": 0.2, "unsplit_cpu_seconds": 0.1}),
    ],
)

STUDIO = Layout(
    "".join(f" {line}\n" for line in (_SUMMARY + _FULL).splitlines()),
    [Note("procedure", "SUMMARY", _FULL_USAGE, _FULL_MORE)],
)
