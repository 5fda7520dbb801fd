"""Texts as kernels and tools print them, shortened where lines repeat."""

STAT = """cpu  1000 20 300 5000 40 7 13 25 90 0
cpu0 500 10 150 2500 20 7 3 15 90 0
cpu1 500 10 150 2500 20 0 10 10 0 0
intr 10708043 0 0 2682 0 196
ctxt 21708031
btime 1795169036
processes 101480
procs_running 3
procs_blocked 2
softirq 5178278 0 569443 4
"""

MEMINFO = """MemTotal:       24684092 kB
MemFree:        23735936 kB
MemAvailable:   24164432 kB
Buffers:           29988 kB
Cached:           600688 kB
SwapCached:            7 kB
Dirty:              6292 kB
Writeback:            64 kB
WritebackTmp:          3 kB
HugePages_Total:       0
"""

VMSTAT = """nr_free_pages 5933984
nr_dirty 1573
pgpgin 28467497
pgpgout 72960400
pswpin 11
pswpout 12
pgfault 70000000
pgmajfault 4321
pgsteal_anon 7
pgsteal_file 21
workingset_refault_anon 8
workingset_refault_file 13
"""

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

MOUNTSTATS = """device rootfs mounted on / with fstype rootfs
device proc mounted on /proc with fstype proc
device filer:/export/sas mounted on /sas\\040data with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,acregmin=3,hard,proto=tcp,timeo=600,retrans=2
\tage:\t86400
\timpl_id:\tname='',domain='',date='0,0'
\tcaps:\tcaps=0x3ffbffff,wtmult=512,dtsize=1048576,bsize=0,namlen=255
\tnfsv4:\tbm0=0xfdffbfff,bm1=0xf9be3e,bm2=0x60800,acl=0x3,sessions,pnfs=not configured,lease_time=90
\tsec:\tflavor=1,pseudoflavor=1
\tevents:\t28 1134 3 72 27 17 1198 4096 0 1024 0 25 9 2 22 0 0 4096 0 0 0 0 0 0 0 0 0
\tbytes:\t4294967296 1073741824 1048576 2097152 3221225472 1075838976 786432 262656
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 812 1 1 0 12 9281 9279 2 123456 0 64 2233 4455
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 3072 3075 1 675840 3222011904 120 30720 36864 0
\t       WRITE: 1026 1026 0 1076044800 164160 20 8208 12312 0
\t      COMMIT: 9 9 0 1764 936 0 90 99 0
\t     GETATTR: 1198 1200 0 263560 287520 1 600 700 2

device tmpfs mounted on /run with fstype tmpfs
device filer:/home mounted on /home with fstype nfs statvers=1.1
\tbytes:\t10 20 0 0 30 40 1 1
\tper-op statistics
\t        READ: 1 1 0 152 4228 0 2 3
"""

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
