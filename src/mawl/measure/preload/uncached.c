/* --cache none: files of the roles keep next to nothing in the page cache, without any permission.
 *
 * What a descriptor wrote is started on its way to the device each MiB, waited for and dropped one MiB later, so
 * about two MiB a descriptor are on their way at once; what it read is dropped behind it.  Scattered writes are
 * gathered to a MiB or RANGES ranges, so that they keep a queue depth.  At a close, and at the end of the process,
 * the rest follows.  A failure of a writeback is the failure of the call that waited for it.
 *
 * Locks are held for the book-keeping alone, never during a system call.
 */
#include "tap.h"
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD 4096       /* descriptors that are kept account of; of higher ones each request is seen to at once */
#define STREAMS_READ 4  /* columnar engines read several columns of one file in turns */
#define RANGES 64
#define CHUNK (1ull << 20)
#define FOLIO (2ull << 20)  /* the kernel keeps up to so much as one piece, and drops only whole pieces */
#define BEYOND FOLIO        /* what it may have read ahead */
#define SCATTERED 8     /* reads in a row that continue nothing make the pattern random */
#define PAGE 4095ull    /* pages may be larger: ranges of whole MiB stay whole, others keep a page at each end */
#define PATIENCE 1000

struct range {
    u64 from, to;
    u64 origin; /* where the stream began that the range is a part of */
};
struct batch {
    u64 bytes;
    int count;
    struct range ranges[RANGES];
};
struct held {
    int lock;
    int state; /* 0: not asked yet */
    int scattered, random;
    struct range reads[STREAMS_READ]; /* the one used last stands first */
    struct range read; /* all that was read lies within: what was read ahead for nobody is dropped at the close */
    struct batch filling, started;
};
enum { ASKED_NOT, MANAGED, LEFT_ALONE };

int tap_uncached;
static struct held table_of_held[HELD];
static int highest = -1;

static int locked(struct held *held) {
    for (int tries = 0; __atomic_exchange_n(&held->lock, 1, __ATOMIC_ACQUIRE); tries++) {
        if (tries > PATIENCE) return 0; /* a handler of a signal that interrupted the holder */
        if (tries > 10) sched_yield();
    }
    return 1;
}
static void unlocked(struct held *held) { __atomic_store_n(&held->lock, 0, __ATOMIC_RELEASE); }

static u64 down(u64 at) { return at & ~PAGE; }
static u64 up(u64 at) { return (at + PAGE) & ~PAGE; }

/* A piece that began in an earlier range of the stream is whole only together with it. */
static void drop(int fd, const struct range *range) {
    if (range->to <= range->from) return;
    u64 back = range->from > FOLIO ? range->from - FOLIO : 0, from = down(back > range->origin ? back : range->origin);
    posix_fadvise(fd, (off_t)from, (off_t)(up(range->to) - from), POSIX_FADV_DONTNEED);
}

/* Starts the writeback of a batch, or waits for it and drops it; an errno, or 0. */
static int start(int fd, const struct batch *batch) {
    int error = 0;
    for (int at = 0; at < batch->count; at++) {
        const struct range *range = &batch->ranges[at];
        if (range->from == range->to) continue; /* no bytes would mean all to the end of the file */
        if (REAL(sync_file_range)(fd, (off_t)range->from, (off_t)(range->to - range->from), SYNC_FILE_RANGE_WRITE)) error = errno;
    }
    return error;
}
static int finish(int fd, const struct batch *batch) {
    int error = 0;
    for (int at = 0; at < batch->count; at++) {
        const struct range *range = &batch->ranges[at];
        if (range->from == range->to) continue; /* no bytes would mean all to the end of the file */
        if (REAL(sync_file_range)(fd, (off_t)range->from, (off_t)(range->to - range->from),
                                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER))
            error = errno;
        drop(fd, range);
    }
    return error;
}
/* Some programs open a file for each append.  A page that an append fills only in part stays in the cache: otherwise
 * each following append would read that page again, and the device would get it once for each append. */
static void keep_last_page(int fd, struct batch *batch) {
    struct stat found;
    if (!batch->count) return;
    struct range *last = &batch->ranges[batch->count - 1];
    if ((last->origin & PAGE) && !fstat(fd, &found) && last->to == (u64)found.st_size)
        last->to = last->from > down(last->to) ? last->from : down(last->to);
}
/* What a file cannot do (a pipe, a file system without it) is no failure of the program's. */
static int failure(int error) { return error == EIO || error == ENOSPC || error == EDQUOT ? error : 0; }

/* A number above the table, or one of a child in this process's memory (vfork): each request is seen to at once. */
static int is_beyond(int fd) { return (unsigned)fd >= HELD || tap_is_guest(); }

/* The account of a descriptor, locked; NULL where there is none, or none is kept. */
static struct held *hold(int fd) {
    if (is_beyond(fd)) return NULL;
    struct held *held = &table_of_held[fd];
    if (!locked(held)) return NULL;
    if (held->state == ASKED_NOT) {
        int flags = fcntl(fd, F_GETFL);
        held->state = flags == -1 || (flags & O_DIRECT) ? LEFT_ALONE : MANAGED;
        for (int known = LOAD(highest); fd > known;)
            if (__atomic_compare_exchange_n(&highest, &known, fd, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
    }
    return held;
}

static void after_read(int fd, u64 from, u64 to) {
    struct held *held = hold(fd);
    struct range gone = {0}, stream = {from, to, from};
    if (!held) {
        if (is_beyond(fd)) drop(fd, &stream);
        return;
    }
    int advice = -1;
    if (held->state == MANAGED) {
        struct range *reads = held->reads;
        int at = 0;
        while (at < STREAMS_READ - 1 && !(reads[at].to == from && reads[at].to)) at++;
        int continues = reads[at].to == from && reads[at].to;
        if (continues) stream = (struct range){reads[at].from, to, reads[at].origin};
        else gone = reads[at];
        memmove(reads + 1, reads, (size_t)at * sizeof *reads);
        /* Where a stream was given up, that is dropped now, and this one with the request that continues it. */
        if (to - stream.from >= CHUNK && !gone.to) {
            gone = (struct range){stream.from, down(to), stream.origin};
            stream.from = down(to);
        }
        reads[0] = stream;
        if (from < held->read.from || !held->read.to) held->read.from = from;
        if (to > held->read.to) held->read.to = to;
        held->scattered = continues ? (held->scattered > 0 ? 0 : held->scattered - 1) : (held->scattered < 0 ? 1 : held->scattered + 1);
        if (!held->random && held->scattered >= SCATTERED) advice = POSIX_FADV_RANDOM;
        if (held->random && held->scattered <= -SCATTERED) advice = POSIX_FADV_NORMAL;
        if (advice != -1) held->random = advice == POSIX_FADV_RANDOM;
    }
    unlocked(held);
    if (advice != -1) posix_fadvise(fd, 0, 0, advice);
    drop(fd, &gone);
}

static int after_write(int fd, u64 from, u64 to) {
    struct held *held = hold(fd);
    if (!held) {
        struct batch one = {.bytes = to - from, .count = 1, .ranges = {{from, to, from}}};
        return is_beyond(fd) ? failure(finish(fd, &one)) : 0;
    }
    struct batch begun, waited;
    int turn = 0;
    if (held->state == MANAGED) {
        struct batch *filling = &held->filling;
        struct range *last = &filling->ranges[filling->count - 1];
        if (filling->count && last->to == from) last->to = to;
        else {
            last = &filling->ranges[filling->count++];
            *last = (struct range){from, to, from};
        }
        filling->bytes += to - from;
        turn = filling->bytes >= CHUNK || filling->count == RANGES;
        if (turn) {
            struct range rest = {down(last->to), last->to, last->origin};
            if (rest.from > last->from) last->to = rest.from;
            else rest.from = rest.to;
            waited = held->started;
            begun = held->started = *filling;
            filling->count = 0;
            filling->bytes = rest.to - rest.from;
            /* The page that is written in part goes with what follows it: else it would be written twice.  An
             * empty one keeps where the stream began. */
            filling->ranges[filling->count++] = rest;
        }
    }
    unlocked(held);
    if (!turn) return 0;
    int error = start(fd, &begun), later = finish(fd, &waited);
    return failure(error ? error : later);
}

int tap_uncache(int place, int kind, int fd, u64 offset, u64 bytes) {
    if (!bytes) return 0;
    if (offset == NOWHERE) {
        off_t stands = REAL(lseek)(fd, 0, SEEK_CUR);
        if (stands < 0) return 0;
        offset = (u64)stands - bytes;
    }
    u64 began = tap_now();
    int error = 0;
    if (kind == KIND_READ) after_read(fd, offset, offset + bytes);
    else error = after_write(fd, offset, offset + bytes);
    ADD(tap_sums(tap_shard(), kind, CLASS_OF(place))[SUM_UNCACHING_NANOSECONDS], tap_now() - began);
    return error;
}

int tap_uncache_closing(int fd) {
    if (!tap_uncached || (unsigned)fd >= HELD || table_of_held[fd].state != MANAGED || tap_is_guest()) return 0;
    struct held *held = &table_of_held[fd];
    if (!locked(held)) return 0;
    struct batch filling = held->filling, started = held->started;
    struct range read = held->read;
    int managed = held->state == MANAGED;
    held->state = ASKED_NOT;
    held->filling.count = held->started.count = 0;
    held->filling.bytes = held->started.bytes = 0;
    memset(held->reads, 0, sizeof held->reads);
    held->read = (struct range){0};
    held->scattered = held->random = 0;
    unlocked(held);
    if (!managed) return 0;
    u64 began = tap_now();
    keep_last_page(fd, &filling);
    int error = start(fd, &filling), one = finish(fd, &started), other = finish(fd, &filling);
    if (read.to) posix_fadvise(fd, (off_t)down(read.from), (off_t)(up(read.to) + BEYOND - down(read.from)), POSIX_FADV_DONTNEED);
    int place = tap_place_if_known(fd);
    ADD(tap_sums(tap_shard(), KIND_OPEN, CLASS_OF(place))[SUM_UNCACHING_NANOSECONDS], tap_now() - began);
    return failure(error ? error : one ? one : other);
}

/* A number that now names another file: what was known of it was of the old one. */
void tap_uncache_forget(int fd) {
    if (!tap_uncached || (unsigned)fd >= HELD) return;
    struct held *held = &table_of_held[fd];
    if (LOAD(held->state) == ASKED_NOT || !locked(held)) return;
    held->state = ASKED_NOT;
    held->filling = held->started = (struct batch){0};
    memset(held->reads, 0, sizeof held->reads);
    held->read = (struct range){0};
    held->scattered = held->random = 0;
    unlocked(held);
}

void tap_uncache_process_ends(void) {
    for (int fd = 0; tap_uncached && fd <= LOAD(highest); fd++) {
        if (table_of_held[fd].state != MANAGED) continue;
        int class_ = CLASS_OF(tap_place_if_known(fd));
        u64 began = tap_call_begins();
        tap_uncache_closing(fd);
        u64 now = tap_now();
        ADD(tap_sums(tap_shard(), KIND_OPEN, class_)[SUM_NANOSECONDS], now - began);
        tap_call_ended(class_, KIND_OPEN, now - began, now);
    }
}

/* A thread that held a lock when the process was copied is not in the copy. */
void tap_uncache_forked(void) {
    for (int fd = 0; tap_uncached && fd <= highest; fd++) table_of_held[fd].lock = 0;
}
