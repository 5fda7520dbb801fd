/* Moves MB of a file in one way, then computes for SECONDS: reader WAY FILE MB SECONDS. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PIECE (1 << 20)
static char *piece;

/* A call that no library sees. */
static long call(long number, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}

static void ring(int file, int count)
{
    struct io_uring_params set = {0};
    int fd = syscall(SYS_io_uring_setup, 4, &set);
    if (fd < 0) exit(3);
    char *sq = mmap(0, set.sq_off.array + set.sq_entries * 4, 3, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
    char *cq = mmap(0, set.cq_off.cqes + set.cq_entries * sizeof(struct io_uring_cqe), 3, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_CQ_RING);
    struct io_uring_sqe *entries = mmap(0, set.sq_entries * sizeof *entries, 3, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQES);
    for (int at = 0; at < count; at++) {
        uint32_t *tail = (uint32_t *)(sq + set.sq_off.tail), slot = *tail & *(uint32_t *)(sq + set.sq_off.ring_mask);
        memset(&entries[slot], 0, sizeof *entries);
        entries[slot].opcode = IORING_OP_READ;
        entries[slot].fd = file;
        entries[slot].addr = (uint64_t)piece;
        entries[slot].len = PIECE;
        entries[slot].off = (uint64_t)at * PIECE;
        ((uint32_t *)(sq + set.sq_off.array))[slot] = slot;
        __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, 0, 0);
        uint32_t *head = (uint32_t *)(cq + set.cq_off.head);
        __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    }
}

static void mapped(int file, int count, int writes)
{
    volatile char *all = mmap(0, (size_t)count * PIECE, writes ? 3 : 1, MAP_SHARED, file, 0);
    volatile char sum = 0;
    for (size_t at = 0; at < (size_t)count * PIECE; at += 4096) {
        if (writes) all[at] = (char)at;
        else sum += all[at];
    }
    if (writes) msync((void *)all, (size_t)count * PIECE, MS_SYNC);
}

int main(int argc, char **argv)
{
    const char *way = argv[1];
    int count = atoi(argv[3]), direct = strncmp(way, "mmap", 4) ? O_DIRECT : 0;
    double end, seconds = atof(argv[4]);
    struct timespec now;
    if (argc > 5) return 2;
    if (!strcmp(way, "again")) {
        argv[1] = "call";
        execv("/proc/self/exe", argv);
    }
    posix_memalign((void **)&piece, 4096, PIECE);
    if (!strcmp(way, "raw")) {
        int file = (int)call(SYS_open, (long)argv[2], O_RDONLY | O_DIRECT, 0, 0);
        for (int at = 0; at < count; at++) call(SYS_pread64, file, (long)piece, PIECE, (long)at * PIECE);
    } else {
        int file = open(argv[2], (strcmp(way, "mmap-write") ? O_RDONLY : O_RDWR) | direct);
        if (file < 0) return 4;
        if (!strcmp(way, "ring")) ring(file, count);
        else if (!direct) mapped(file, count, !strcmp(way, "mmap-write"));
        else for (int at = 0; at < count; at++)
            if (pread(file, piece, PIECE, (off_t)at * PIECE) != PIECE) return 5;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    end = now.tv_sec + now.tv_nsec / 1e9 + seconds;
    do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_sec + now.tv_nsec / 1e9 < end);
    return 0;
}
