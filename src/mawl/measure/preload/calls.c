/* The calls that move bytes or wait for them, under the names by which programs reach them. */
#include "tap.h"
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* A call that moved its bytes and whose writeback failed has failed. */
static ssize_t uncached(int place, int kind, int fd, u64 offset, ssize_t result) {
    int kept = errno, error = result > 0 ? tap_uncache(place, kind, fd, offset, (u64)result) : 0;
    errno = error ? error : kept;
    return error ? -1 : result;
}

/* One call on one descriptor: CALL is the real one, OFFSET where it reads or writes (or NOWHERE).  What is
 * called beside it leaves errno as it was. */
#define MOVE(kind, fd, offset, call) \
    if (UNLIKELY(!tap_file)) return call; \
    int place = tap_place(fd); \
    u64 began = tap_call_begins(); \
    ssize_t result = call; \
    u64 moved = result > 0 ? (u64)result : 0; \
    if (UNLIKELY(tap_is_uncached(place))) result = uncached(place, kind, fd, offset, result); \
    tap_account(place, kind, result, moved, IS_FILE(place) && tap_continues(fd, kind, offset, moved), began); \
    return result;

EXPORT ssize_t read(int fd, void *b, size_t n) { MOVE(KIND_READ, fd, NOWHERE, REAL(read)(fd, b, n)) }
EXPORT ssize_t write(int fd, const void *b, size_t n) { MOVE(KIND_WRITE, fd, NOWHERE, REAL(write)(fd, b, n)) }
EXPORT ssize_t pread(int fd, void *b, size_t n, off_t o) { MOVE(KIND_READ, fd, (u64)o, REAL(pread)(fd, b, n, o)) }
EXPORT ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { MOVE(KIND_WRITE, fd, (u64)o, REAL(pwrite)(fd, b, n, o)) }
EXPORT ssize_t readv(int fd, const struct iovec *v, int n) { MOVE(KIND_READ, fd, NOWHERE, REAL(readv)(fd, v, n)) }
EXPORT ssize_t writev(int fd, const struct iovec *v, int n) { MOVE(KIND_WRITE, fd, NOWHERE, REAL(writev)(fd, v, n)) }
EXPORT ssize_t preadv(int fd, const struct iovec *v, int n, off_t o) { MOVE(KIND_READ, fd, (u64)o, REAL(preadv)(fd, v, n, o)) }
EXPORT ssize_t pwritev(int fd, const struct iovec *v, int n, off_t o) { MOVE(KIND_WRITE, fd, (u64)o, REAL(pwritev)(fd, v, n, o)) }
/* An offset of -1 is NOWHERE: the second version of these calls takes it as "where it stands". */
EXPORT ssize_t preadv2(int fd, const struct iovec *v, int n, off_t o, int f) { MOVE(KIND_READ, fd, (u64)o, REAL(preadv2)(fd, v, n, o, f)) }
EXPORT ssize_t pwritev2(int fd, const struct iovec *v, int n, off_t o, int f) { MOVE(KIND_WRITE, fd, (u64)o, REAL(pwritev2)(fd, v, n, o, f)) }

EXPORT ssize_t pread64(int fd, void *b, size_t n, off_t o) { return pread(fd, b, n, o); }
EXPORT ssize_t pwrite64(int fd, const void *b, size_t n, off_t o) { return pwrite(fd, b, n, o); }
EXPORT ssize_t preadv64(int fd, const struct iovec *v, int n, off_t o) { return preadv(fd, v, n, o); }
EXPORT ssize_t pwritev64(int fd, const struct iovec *v, int n, off_t o) { return pwritev(fd, v, n, o); }
EXPORT ssize_t preadv64v2(int fd, const struct iovec *v, int n, off_t o, int f) { return preadv2(fd, v, n, o, f); }
EXPORT ssize_t pwritev64v2(int fd, const struct iovec *v, int n, off_t o, int f) { return pwritev2(fd, v, n, o, f); }

/* What a fortified program calls; an overflow ends it, as it would without the library. */
EXPORT ssize_t __read_chk(int fd, void *b, size_t n, size_t size) { return n > size ? (abort(), -1) : read(fd, b, n); }
EXPORT ssize_t __pread_chk(int fd, void *b, size_t n, off_t o, size_t size) { return n > size ? (abort(), -1) : pread(fd, b, n, o); }
EXPORT ssize_t __pread64_chk(int fd, void *b, size_t n, off_t o, size_t size) { return n > size ? (abort(), -1) : pread(fd, b, n, o); }

EXPORT off_t lseek(int fd, off_t o, int whence) {
    off_t position = REAL(lseek)(fd, o, whence);
    if (tap_file && position >= 0) tap_moved(fd, (u64)position);
    return position;
}
EXPORT off_t lseek64(int fd, off_t o, int whence) { return lseek(fd, o, whence); }

/* A call that moves no bytes: a sync, which counts, or one whose time alone is wanted. */
#define WAIT(kind, fd, call) \
    if (UNLIKELY(!tap_file)) return call; \
    int place = tap_place(fd); \
    u64 began = tap_call_begins(); \
    int result = call, kept = errno; \
    if (kind == KIND_SYNC) tap_account(place, kind, result, 0, 0, began); \
    else tap_timed(place, began); \
    errno = kept; \
    return result;

/* Time of an open, a close or a change of length, which is no call of its own in the figures. */
static void tap_timed(int place, u64 began) {
    if (!began) return;
    u64 now = tap_now();
    ADD(tap_sums(tap_shard(), KIND_OPEN, CLASS_OF(place))[SUM_NANOSECONDS], now - began);
    tap_call_ended(CLASS_OF(place), KIND_OPEN, now - began, now);
}

EXPORT int fsync(int fd) { WAIT(KIND_SYNC, fd, REAL(fsync)(fd)) }
EXPORT int fdatasync(int fd) { WAIT(KIND_SYNC, fd, REAL(fdatasync)(fd)) }
EXPORT int syncfs(int fd) { WAIT(KIND_SYNC, fd, REAL(syncfs)(fd)) }
EXPORT int sync_file_range(int fd, off_t o, off_t n, unsigned f) { WAIT(KIND_SYNC, fd, REAL(sync_file_range)(fd, o, n, f)) }
EXPORT int fallocate(int fd, int m, off_t o, off_t n) { WAIT(KIND_OPEN, fd, REAL(fallocate)(fd, m, o, n)) }
EXPORT int fallocate64(int fd, int m, off_t o, off_t n) { return fallocate(fd, m, o, n); }
EXPORT int posix_fallocate(int fd, off_t o, off_t n) { WAIT(KIND_OPEN, fd, REAL(posix_fallocate)(fd, o, n)) }
EXPORT int posix_fallocate64(int fd, off_t o, off_t n) { return posix_fallocate(fd, o, n); }
EXPORT int ftruncate(int fd, off_t n) { WAIT(KIND_OPEN, fd, REAL(ftruncate)(fd, n)) }
EXPORT int ftruncate64(int fd, off_t n) { return ftruncate(fd, n); }

/* The kernel copies a pipe of 64 KiB at a time, so of one call no more than the first of them is scattered. */
static void account_copy(int place, int kind, int fd, u64 offset, ssize_t result, u64 moved, u64 began) {
    enum { PIPE_BYTES = 65536 };
    int continues = IS_FILE(place) && tap_continues(fd, kind, offset, moved);
    tap_account(place, kind, result, moved, continues, began);
    if (continues || moved <= PIPE_BYTES) return;
    __atomic_fetch_sub(&tap_sums(tap_shard(), kind, CLASS_OF(place))[SUM_SCATTERED_BYTES], moved - PIPE_BYTES, __ATOMIC_RELAXED);
}

/* Copies within the kernel: bytes are read from the one and written to the other, in the same time,
 * of which each gets half where waiting is shared out. */
static ssize_t copied(int in, u64 from, int out, u64 to, ssize_t result, u64 began) {
    int kept = errno, kept_write, read_place = tap_place(in), write_place = tap_place(out);
    u64 moved = result > 0 ? (u64)result : 0;
    if (UNLIKELY(tap_is_uncached(read_place))) tap_uncache(read_place, KIND_READ, in, from, moved);
    if (UNLIKELY(tap_is_uncached(write_place)) && (kept_write = tap_uncache(write_place, KIND_WRITE, out, to, moved))) kept = kept_write, result = -1;
    u64 halfway = began ? began + (tap_now() - began) / 2 : 0;
    account_copy(read_place, KIND_READ, in, from, result, moved, halfway);
    account_copy(write_place, KIND_WRITE, out, to, result, moved, halfway);
    errno = kept;
    return result;
}
#define COPY(in, from, out, to, call) \
    if (UNLIKELY(!tap_file)) return call; \
    u64 start = (from) ? (u64)*(from) : NOWHERE, target = (to) ? (u64)*(to) : NOWHERE; \
    u64 began = tap_call_begins(); \
    ssize_t result = call; \
    return copied(in, start, out, target, result, began);

EXPORT ssize_t copy_file_range(int i, off_t *io, int o, off_t *oo, size_t n, unsigned f) { COPY(i, io, o, oo, REAL(copy_file_range)(i, io, o, oo, n, f)) }
EXPORT ssize_t splice(int i, off_t *io, int o, off_t *oo, size_t n, unsigned f) { COPY(i, io, o, oo, REAL(splice)(i, io, o, oo, n, f)) }
EXPORT ssize_t sendfile(int o, int i, off_t *io, size_t n) { off_t *nowhere = NULL; COPY(i, io, o, nowhere, REAL(sendfile)(o, i, io, n)) }
EXPORT ssize_t sendfile64(int o, int i, off_t *io, size_t n) { return sendfile(o, i, io, n); }

/* -- descriptors come and go ------------------------------------------------------------------- */

static int opened(int fd, u64 began) {
    if (!tap_file) return fd;
    int kept = errno;
    if (fd >= 0) tap_forget(fd);
    if (fd >= 0) tap_account(tap_place(fd), KIND_OPEN, fd, 0, 0, began);
    errno = kept;
    return fd;
}
static u64 opening(void) { return tap_file ? tap_call_begins() : 0; }
#define MODE(flags) \
    mode_t mode = 0; \
    if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    } \
    u64 began = opening();
EXPORT int open(const char *p, int f, ...) { MODE(f) return opened(REAL(open)(p, f, mode), began); }
EXPORT int open64(const char *p, int f, ...) { MODE(f) return opened(REAL(open)(p, f | O_LARGEFILE, mode), began); }
EXPORT int openat(int d, const char *p, int f, ...) { MODE(f) return opened(REAL(openat)(d, p, f, mode), began); }
EXPORT int openat64(int d, const char *p, int f, ...) { MODE(f) return opened(REAL(openat)(d, p, f | O_LARGEFILE, mode), began); }
EXPORT int __open_2(const char *p, int f) { return open(p, f); }
EXPORT int __open64_2(const char *p, int f) { return open(p, f); }
EXPORT int __openat_2(int d, const char *p, int f) { return openat(d, p, f); }
EXPORT int __openat64_2(int d, const char *p, int f) { return openat(d, p, f); }
EXPORT int creat(const char *p, mode_t m) { return open(p, O_CREAT | O_WRONLY | O_TRUNC, m); }
EXPORT int creat64(const char *p, mode_t m) { return open(p, O_CREAT | O_WRONLY | O_TRUNC, m); }

#define STREAM(call) \
    u64 began = opening(); \
    FILE *stream = call; \
    if (stream) opened(fileno(stream), began); \
    return stream;
EXPORT FILE *fopen(const char *p, const char *m) { STREAM(REAL(fopen)(p, m)) }
EXPORT FILE *fopen64(const char *p, const char *m) { STREAM(REAL(fopen64)(p, m)) }
EXPORT FILE *freopen(const char *p, const char *m, FILE *s) { STREAM(REAL(freopen)(p, m, s)) }
EXPORT FILE *freopen64(const char *p, const char *m, FILE *s) { STREAM(REAL(freopen64)(p, m, s)) }
EXPORT FILE *tmpfile(void) { STREAM(REAL(tmpfile)()) }
EXPORT FILE *tmpfile64(void) { STREAM(REAL(tmpfile64)()) }

/* Makers of temporary files open them inside the C library. */
#define TEMPORARY(name, parameters, arguments) \
    EXPORT int name parameters { \
        int(*real) parameters; \
        *(void **)&real = dlsym(RTLD_NEXT, #name); \
        u64 began = opening(); \
        return opened(real arguments, began); \
    }
TEMPORARY(mkstemp, (char *t), (t))
TEMPORARY(mkstemp64, (char *t), (t))
TEMPORARY(mkostemp, (char *t, int f), (t, f))
TEMPORARY(mkostemp64, (char *t, int f), (t, f))
TEMPORARY(mkstemps, (char *t, int n), (t, n))
TEMPORARY(mkstemps64, (char *t, int n), (t, n))
TEMPORARY(mkostemps, (char *t, int n, int f), (t, n, f))
TEMPORARY(mkostemps64, (char *t, int n, int f), (t, n, f))

/* A close may write out what a network file system holds back, so its time counts. */
EXPORT int close(int fd) {
    if (UNLIKELY(!tap_file)) return REAL(close)(fd);
    int place = tap_place_if_known(fd);
    if (place == CLASS_STREAM) {
        tap_forget(fd);
        return REAL(close)(fd);
    }
    u64 began = opening();
    int error = tap_uncache_closing(fd);
    tap_forget(fd);
    int result = REAL(close)(fd), kept = errno;
    tap_timed(place, began);
    errno = error ? error : kept;
    return error ? -1 : result;
}
/* A number that is about to be given up, without anybody to tell of a failure. */
void tap_leave(int fd) {
    int kept = errno;
    tap_uncache_closing(fd);
    tap_forget(fd);
    errno = kept;
}
EXPORT int close_range(unsigned first, unsigned last, int flags) {
    enum { CLOSED_AT_EXEC = 4 }; /* CLOSE_RANGE_CLOEXEC */
    for (unsigned fd = first; tap_file && fd <= last && fd < 65536 && !(flags & CLOSED_AT_EXEC); fd++) tap_leave((int)fd);
    if (REAL(close_range)) return real_close_range(first, last, flags);
    errno = ENOSYS;
    return -1;
}
/* Closed inside the C library, after which a pipe may be given the number. */
EXPORT int closedir(DIR *directory) {
    if (tap_file && directory) tap_forget(dirfd(directory));
    return REAL(closedir)(directory);
}
EXPORT void closefrom(int first) {
    for (int fd = first < 0 ? 0 : first; tap_file && fd < 65536; fd++) tap_leave(fd);
    if (REAL(closefrom)) real_closefrom(first);
}
EXPORT int dup2(int from, int to) { if (from != to) tap_leave(to); return REAL(dup2)(from, to); }
EXPORT int dup3(int from, int to, int flags) { tap_leave(to); return REAL(dup3)(from, to, flags); }

/* A number that is given to something new was closed before, perhaps where nobody saw it. */
static int made(int fd) {
    if (fd >= 0) tap_forget(fd);
    return fd;
}
static int made_two(int result, const int *pair) {
    if (!result) made(pair[0]), made(pair[1]);
    return result;
}
EXPORT int dup(int fd) { return made(REAL(dup)(fd)); }
EXPORT int fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    int result = REAL(fcntl)(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? made(result) : result;
}
EXPORT int fcntl64(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return fcntl(fd, command, argument);
}
EXPORT int pipe(int pair[2]) { return made_two(REAL(pipe)(pair), pair); }
EXPORT int pipe2(int pair[2], int flags) { return made_two(REAL(pipe2)(pair, flags), pair); }
EXPORT int socket(int d, int t, int p) { return made(REAL(socket)(d, t, p)); }
EXPORT int socketpair(int d, int t, int p, int *pair) { return made_two(REAL(socketpair)(d, t, p, pair), pair); }
EXPORT int accept(int fd, void *address, void *size) { return made(REAL(accept)(fd, address, size)); }
EXPORT int accept4(int fd, void *address, void *size, int flags) { return made(REAL(accept4)(fd, address, size, flags)); }
EXPORT int eventfd(unsigned start, int flags) { return made(REAL(eventfd)(start, flags)); }
EXPORT int epoll_create(int size) { return made(REAL(epoll_create)(size)); }
EXPORT int epoll_create1(int flags) { return made(REAL(epoll_create1)(flags)); }
EXPORT int memfd_create(const char *name, unsigned flags) { return made(REAL(memfd_create)(name, flags)); }
