"""Recordings of nmon with figures that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
BEGAN = 1_767_254_400  # 2026-01-01T08:00:00Z
PER_LINE = 150


def zzzz(number: int, at: float) -> str:
    """The line of a snapshot's time."""
    moment = datetime.fromtimestamp(at, UTC)
    return f"ZZZZ,T{number:04d},{moment:%H:%M:%S},{moment.day:02d}-{MONTHS[moment.month - 1]}-{moment.year}\n"


def aix_recording(
    devices: int, snapshots: int, interval: int = 60, host: str = "aix1", began: float = BEGAN
) -> Iterator[str]:
    """Lines of an AIX recording: device number N reads N KB/s, writes 2 N KB/s in 3 N transfers per second,
    N of them reads of 2 ms and the others writes of 4 ms, and is busy N/10 %."""
    moment = datetime.fromtimestamp(began, UTC)
    yield "AAA,progname,topas_nmon\nAAA,version,TOPAS-NMON\nAAA,build,AIX\n"
    yield f"AAA,host,{host}\nAAA,AIX,7.2.5.101\nAAA,time,{moment:%H:%M:%S}\n"
    yield f"AAA,date,{moment.day:02d}-{MONTHS[moment.month - 1]}-{moment.year}\n"
    yield f"AAA,interval,{interval}\nAAA,snapshots,{snapshots}\nAAA,cpus,32,32\n"
    yield f"CPU_ALL,CPU Total {host},User%,Sys%,Wait%,Idle%,Busy,CPUs\n"
    yield f"PCPU_ALL,PCPU Total {host},User,Sys,Wait,Idle,Entitled Capacity\n"
    yield (
        f"LPAR,Logical Partition {host},PhysicalCPU,virtualCPUs,logicalCPUs,poolCPUs,entitled,weight,"
        "PoolIdle,usedAllCPU%,usedPoolCPU%,SharedCPU,Capped,EC_User%,EC_Sys%,EC_Wait%,EC_Idle%,VP_User%,VP_Sys%,"
        "VP_Wait%,VP_Idle%,Folded,Pool_id\n"
    )
    yield (
        f"MEM,Memory {host},Real Free %,Virtual free %,Real free(MB),Virtual free(MB),Real total(MB),"
        "Virtual total(MB)\n"
    )
    yield f"MEMNEW,Memory New {host},Process%,FScache%,System%,Free%,Pinned%,User%\n"
    yield f"PAGE,Paging {host},faults,pgin,pgout,pgsin,pgsout,reclaims,scans,cycles\n"
    yield f"PROC,Processes {host},Runnable,Swap-in,pswitch,syscall,read,write,fork,exec,sem,msg\n"
    yield f"NET,Network I/O {host},en0-read-KB/s,lo0-read-KB/s,en0-write-KB/s,lo0-write-KB/s\n"
    yield f"IOADAPT,Disk Adapter {host},fcs0_read-KB/s,fcs0_write-KB/s,fcs0_xfer-tps\n"
    parts = [range(start, min(start + PER_LINE, devices)) for start in range(0, devices, PER_LINE)]
    sections = (
        ("DISKBUSY", "Disk %Busy", lambda n: n / 10),
        ("DISKREAD", "Disk Read KB/s", lambda n: float(n)),
        ("DISKWRITE", "Disk Write KB/s", lambda n: 2.0 * n),
        ("DISKXFER", "Disk transfers per second", lambda n: 3.0 * n),
        ("DISKRXFER", "Transfers from disk (reads) per second", lambda n: float(n)),
        ("DISKBSIZE", "Disk Block Size", lambda n: 1.0),
        ("DISKSERV", "Disk Service Time msec/xfer", lambda n: 10 / 3),
        ("DISKREADSERV", "Disk Read Service Time msec/xfer", lambda n: 2.0),
        ("DISKWRITESERV", "Disk Write Service Time msec/xfer", lambda n: 4.0),
    )
    rows = []
    for section, title, figure in sections:
        for number, part in enumerate(parts):
            name = f"{section}{number or ''}"
            yield f"{name},{title} {host}," + ",".join(f"hdisk{n}" for n in part) + "\n"
            rows.append((name, ",".join(f"{figure(n):.1f}" for n in part)))
    for number in range(1, snapshots + 1):
        tag = f"T{number:04d}"
        yield zzzz(number, began + (number - 1) * interval)
        yield f"CPU01,{tag},50.0,10.0,5.0,35.0\n"
        yield f"CPU_ALL,{tag},50.0,10.0,5.0,35.0,,32\n"
        yield f"PCPU_ALL,{tag},4.00,1.00,0.50,0.50,4.00\n"
        yield f"LPAR,{tag},6.000,8,32,16,4.00,128,8.00,10.0,10.0,1,0,"
        yield "100.0,25.0,12.5,12.5,50.0,12.5,6.25,6.25,0\n"
        yield f"MEM,{tag},25.0,99.0,16384.0,4000.0,65536.0,4096.0\n"
        yield f"MEMNEW,{tag},40.0,25.0,10.0,25.0,12.0,60.0\n"
        yield f"PAGE,{tag},1000.0,500.0,200.0,10.0,20.0,0.0,0.0,0.0\n"
        yield f"PROC,{tag},12.50,0.50,24000,113015,9105,6041,5,6,41235,0\n"
        yield f"NET,{tag},100.0,1.0,200.0,1.0\n"
        yield f"IOADAPT,{tag},300.0,400.0,50.0\n"
        for name, values in rows:
            yield f"{name},{tag},{values}\n"
