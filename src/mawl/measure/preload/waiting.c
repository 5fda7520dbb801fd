/* Which part of the time inside calls was waiting: neither CPU nor waiting for a CPU.
 *
 * A thread's clocks are too dear to be read around every call.  So time inside calls is put by, and
 * settled when there is enough of it or when the thread was long outside: over the whole time since the
 * clocks were read last, blocked = wall - CPU - run delay is exact, wherever it was spent.  It is
 * shared out over the calls put by, in proportion to the square of their time (a call that waited is
 * long), never more than they lasted.  What is wrong by then is the thread's other blocking in
 * between, for at most SETTLE of calls or GAP outside.
 */
#include "tap.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SETTLE 1024000ull /* nanoseconds inside calls: reading the run delay after a wait takes 18000 */
#define GAP 200000ull    /* nanoseconds outside */
#define TRIFLE 4000ull   /* less is the cost of reading clocks */
#define TORN 50000ull    /* reading them takes 3000 */
#define LONGEST_TURN 100000000ull /* of threads beside the first: mawl/measure/processes.py says why */

struct put_by {
    u64 nanoseconds;
    double squares;
};

/* What every call touches stands first, in one cache line. */
struct thread {
    u64 wall;    /* when the clocks were read last; 0: never */
    u64 outside; /* since when */
    u64 inside;  /* time put by */
    int shard;   /* + 1 */
    int registered;
    uint32_t used; /* a bit for each of the calls put by */
    struct put_by calls[TIMED_KINDS * CLASSES];
    u64 cpu, delay; /* at wall */
};

static __thread struct thread self __attribute__((tls_model("initial-exec"), aligned(64)));
static pthread_key_t key;
static pthread_once_t keyed = PTHREAD_ONCE_INIT;
static pid_t owner; /* the process that is accounted: not a vfork child that runs in its memory */
static int ended;

static u64 cpu_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (u64)now.tv_sec * 1000000000ull + (u64)now.tv_nsec;
}

/* The second number of a schedstat file, nanoseconds waited for a CPU; never more than most_per_turn (0: no
 * bound) for each turn that the thread had, the third. */
static u64 read_run_delay(const char *path, u64 most_per_turn) {
    char text[96];
    int fd = REAL(open)(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t length = REAL(read)(fd, text, sizeof text - 1);
    REAL(close)(fd);
    if (length <= 0) return 0;
    text[length] = 0;
    char *next = text;
    strtoull(next, &next, 10);
    u64 delay = strtoull(next, &next, 10), most = strtoull(next, NULL, 10) * most_per_turn;
    return most_per_turn && most < delay ? most : delay;
}

static u64 own_run_delay(void) { return read_run_delay("/proc/thread-self/schedstat", 0); }

#define EACH_USED(at, used) \
    for (uint32_t left = (used), at; left && (at = (uint32_t)__builtin_ctz(left), 1); left &= left - 1)

static void grant(u64 blocked) {
    double squares = 0;
    EACH_USED(at, self.used) squares += self.calls[at].squares;
    if (squares <= 0) return;
    int first = (u64)syscall(SYS_gettid) == LOAD(tap_file[HEADER_FIRST]); /* once a millisecond of calls */
    EACH_USED(at, self.used) {
        struct put_by *put = &self.calls[at];
        u64 share = (u64)((double)blocked * put->squares / squares);
        u64 waited = share < put->nanoseconds ? share : put->nanoseconds;
        ADD(tap_sums(tap_shard(), at / CLASSES, at % CLASSES)[SUM_WAITED_NANOSECONDS], waited);
        if (first && at % CLASSES < CLASS_STREAM) ADD(tap_file[HEADER_FIRST_WAITED_DATA_NANOSECONDS + at % CLASSES], waited);
    }
}

/* The three clocks of one moment: a thread that lost its CPU between two of them has the wait in one and
 * not in the other, which would pass for blocking; so they are read again. */
static void read_clocks(u64 *wall, u64 *cpu, u64 *delay) {
    for (int tries = 0; tries < 3; tries++) {
        u64 before = tap_now();
        *delay = own_run_delay();
        *cpu = cpu_now();
        *wall = tap_now();
        if (*wall - before < TORN) return;
    }
}

/* Share out what was blocked since the clocks were read last, and read them anew; the run delay only
 * where there was time off the CPU that may be one. */
static __attribute__((noinline)) void settle(void) {
    if (tap_silent) return;
    int kept = errno;
    u64 now = tap_now(), cpu = cpu_now(), delay = self.delay;
    int64_t idle = (int64_t)(now - self.wall) - (int64_t)(cpu - self.cpu);
    int64_t trifle = (int64_t)(TRIFLE + self.inside / 64);
    if (idle > trifle) {
        read_clocks(&now, &cpu, &delay);
        idle = (int64_t)(now - self.wall) - (int64_t)(cpu - self.cpu);
        int64_t blocked = idle - (int64_t)(delay - self.delay);
        if (blocked > 0) grant((u64)blocked < self.inside ? (u64)blocked : self.inside);
    }
    self.wall = now;
    self.cpu = cpu;
    self.delay = delay;
    errno = kept;
    if (!self.inside) return;
    self.inside = 0;
    EACH_USED(at, self.used) self.calls[at] = (struct put_by){0, 0};
    self.used = 0;
}

/* When a call begins, or 0 where time is not to be counted: later than asked for where clocks were read first, which is no time of the call. */
u64 tap_call_begins(void) {
    if (UNLIKELY(tap_silent)) return 0;
    u64 now = tap_now();
    if (UNLIKELY(!self.wall || now - self.outside > GAP)) {
        int kept = errno;
        if (self.wall) settle();
        else {
            tap_thread_begins();
            read_clocks(&self.wall, &self.cpu, &self.delay);
        }
        errno = kept;
        return tap_now();
    }
    return now;
}

void tap_call_ended(int class_, int kind, u64 lasted, u64 now) {
    if (kind >= TIMED_KINDS || !self.wall) return;
    int at = kind * CLASSES + class_;
    struct put_by *put = &self.calls[at];
    self.used |= 1u << at;
    put->nanoseconds += lasted;
    put->squares += (double)lasted * (double)lasted;
    self.inside += lasted;
    if (UNLIKELY(self.inside >= SETTLE)) settle();
    self.outside = now;
}

int tap_shard(void) {
    if (UNLIKELY(!self.shard)) {
        self.shard = tap_silent ? 1 : (int)(syscall(SYS_gettid) % SHARDS) + 1;
        __atomic_fetch_or(&tap_file[HEADER_SHARDS_USED], 1ull << (self.shard - 1), __ATOMIC_RELAXED);
    }
    return self.shard - 1;
}

/* -- ends of threads and processes: their run delay goes with them, unless it is written down -- */

static void at_thread_end(void *value) {
    (void)value;
    tap_thread_ends();
}

static void make_key(void) { pthread_key_create(&key, at_thread_end); }

/* Set, in a page that a fork clears: so a child without it has memory of its own, although no handler of
 * pthread_atfork was called (a raw clone). */
static int *shared;

static void share(void) {
    enum { WIPE_ON_FORK = 18 }; /* MADV_WIPEONFORK, which older headers lack */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *mapped = shared ? shared : mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || (!shared && madvise(mapped, page, WIPE_ON_FORK))) return;
    shared = mapped;
    *shared = 1;
}

void tap_thread_begins(void) {
    if (self.registered || !tap_file || tap_silent) return;
    pthread_once(&keyed, make_key);
    self.registered = 1;
    if (!owner) owner = getpid(), share();
    if (syscall(SYS_gettid) != getpid()) pthread_setspecific(key, &self);
}

void tap_thread_ends(void) {
    if (!tap_file || !self.registered || tap_silent) return;
    if (self.inside) settle();
    ADD(tap_file[HEADER_RUN_DELAY_NANOSECONDS], read_run_delay("/proc/thread-self/schedstat", LONGEST_TURN));
    self.registered = 0;
    self.wall = 0;
}

/* Whether this process runs in the memory of another one, whose tables these are: after vfork, or clone with
 * CLONE_VM.  A system call, so only what changes a table asks, and only where there was such a child. */
int tap_is_guest(void) {
    if (!UNLIKELY(LOAD(tap_guests)) || tap_silent || !owner || getpid() == owner) return 0;
    if (!shared || *shared) return 1;
    tap_forked();
    return 0;
}

static void add_run_delay(int thread, void *delay) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", thread);
    int leader_is_read = thread == owner && (u64)getppid() == LOAD(tap_file[HEADER_REAPER]);
    if (!leader_is_read) *(u64 *)delay += read_run_delay(path, thread == owner ? 0 : LONGEST_TURN);
}

/* The run delay of all threads that are left; the first one's stays in /proc until the process is reaped, and
 * a reaper that is mawl's own reads it there. */
u64 tap_settled_run_delay(void) {
    if (self.inside) settle();
    tap_shard();
    u64 delay = 0;
    tap_each_number("/proc/self/task", add_run_delay, &delay);
    return delay;
}

void tap_process_ends(void) {
    if (!tap_file || ended || tap_silent || getpid() != owner) return;
    ended = 1;
    tap_first_image(IMAGE_ENDED);
    tap_uncache_process_ends();
    ADD(tap_file[HEADER_RUN_DELAY_NANOSECONDS], tap_settled_run_delay());
}

void tap_forked(void) {
    __builtin_memset(&self, 0, sizeof self);
    if (tap_file) ADD(tap_file[HEADER_FORKS], 1);
    if (tap_silent) return;
    owner = getpid();
    share();
    ended = 0;
    tap_guests = GUESTS_AT_FIRST;
    tap_uncache_forked();
    if (tap_file) self.registered = 1;
}
