"""Texts as kernels and tools print them, shortened where lines repeat."""

from tests.files import text_of

STAT = text_of(__file__, "stat")

MEMINFO = text_of(__file__, "meminfo")

VMSTAT = text_of(__file__, "vmstat")

# 14 fields (before 4.18), 18 (discards) and 20 (flushes), a partition, one that was never used.
DISKSTATS = """   8       0 sda 1648 27 56934 333 4565 3269 145920 6111 3 1888 6444
   8       1 sda1 1600 27 56000 330 4500 3269 145000 6100 0 1880 6400
 259       0 nvme0n1 200 0 1600 40 100 0 800 50 0 80 90 11 0 88 4
 254       0 vda 10 1 80 5 20 2 160 7 1 12 12 35 18 1400 68 51 29
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
   3       1 hda1 35486 38030 38030 38030
"""

NETWORK = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
  eth0: 2689042562   61492    1    2    0     0          0         0  3275549   39367    3    4    0     0       0          0
  ib0:77   1    0    0    0     0          0         0  88   2    0    0    0     0       0          0
"""  # noqa: E501

PRESSURE_IO = """some avg10=0.12 avg60=0.04 avg300=0.07 total=99039884
full avg10=0.12 avg60=0.04 avg300=0.06 total=58700817
"""

MOUNTSTATS = text_of(__file__, "mountstats")

LLITE = """snapshot_time             1519820513.461421 secs.nsecs
read_bytes                6000 samples [bytes] 1 1048576 6291456000
write_bytes               100 samples [bytes] 4096 1048576 104857600 10995116277760
read                      6000 samples [usecs] 3 9000 1500000 77777777
write                     100 samples [usec] 3 900 25000 9999
open                      5 samples [usecs] 10 90 200 5000
getattr                   12 samples [regs]
"""

MMPMON = """_fs_io_s_ _n_ 192.0.2.8 _nn_ node1 _rc_ 0 _t_ 1066660148 _tu_ 407431 _cl_ cl1.example.com _fs_ gpfs2 _d_ 2 _br_ 6291456 _bw_ 314572800 _oc_ 10 _cc_ 16 _rdc_ 101 _wc_ 300 _dir_ 7 _iu_ 2
_fs_io_s_ _n_ 192.0.2.8 _nn_ node1 _rc_ 0 _t_ 1066660148 _tu_ 407455 _cl_ cl1.example.com _fs_ gpfs1 _d_ 3 _br_ 5431636 _bw_ 173342800 _oc_ 13 _cc_ 13 _rdc_ 6 _wc_ 4000 _dir_ 2 _iu_ 4
_fs_io_s_ _n_ 192.0.2.8 _nn_ node1 _rc_ 1 _t_ 1066660149 _tu_ 17 _cl_ - _fs_ -
"""  # noqa: E501
MMPMON_SUM = (
    "_io_s_ _n_ 192.0.2.8 _nn_ node1 _rc_ 0 _t_ 1066660148 _tu_ 407431 "
    "_br_ 6291456 _bw_ 314572800 _oc_ 10 _cc_ 16 _rdc_ 101 _wc_ 300 _dir_ 7 _iu_ 2\n"
)

CPU_STAT_2 = (
    "usage_usec 9000000\nuser_usec 5\nsystem_usec 4\nnr_periods 90\nnr_throttled 12\nthrottled_usec 3500000\n"
)
CPU_STAT_1 = "nr_periods 90\nnr_throttled 12\nthrottled_time 3500000000\n"
MEMORY_EVENTS = "low 0\nhigh 0\nmax 77\noom 1\noom_kill 1\n"
