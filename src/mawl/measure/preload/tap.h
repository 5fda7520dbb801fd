/* What the parts of the library share.  layout.h is printed by counters.py: file, sums and histograms. */
#ifndef MAWL_TAP_H
#define MAWL_TAP_H
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include "layout.h"

typedef uint64_t u64;
#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ADD(word, value) __atomic_fetch_add(&(word), (value), __ATOMIC_RELAXED)
#define LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define STORE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)

/* A position that nobody knows; also "wherever the descriptor stands". */
#define NOWHERE ((u64)-1)
#define FAMILIES 2 /* 0 reads, 1 writes */

/* attach.c: the counter file of this job; NULL makes the library inert. */
extern HIDDEN u64 *tap_file;
HIDDEN int tap_place_of(const char *path);
HIDDEN void tap_first_image(int end);

/* A place is a class and, of a file in a role, the number of the volume that holds it. */
#define PLACE(class_, volume) ((class_) | (volume) << 8)
#define CLASS_OF(place) ((place) & 0xff)
#define VOLUME_OF(place) ((place) >> 8)
#define IS_FILE(place) (CLASS_OF(place) < CLASS_STREAM)

/* descriptors.c: the place of a descriptor, where it stands, and whether a request goes on from another. */
HIDDEN int tap_place(int fd);
HIDDEN int tap_place_if_known(int fd);
HIDDEN void tap_forget(int fd);
HIDDEN void tap_leave(int fd); /* calls.c: with what is still to be written, and nobody to tell of a failure */
HIDDEN void tap_know(int fd);
HIDDEN void tap_moved(int fd, u64 position);
HIDDEN int tap_continues(int fd, int family, u64 offset, u64 bytes);

/* waiting.c: time inside calls that was neither CPU nor waiting for a CPU. */
HIDDEN u64 tap_call_begins(void);
HIDDEN void tap_call_ended(int class_, int kind, u64 lasted, u64 now);
HIDDEN void tap_thread_begins(void);
HIDDEN void tap_thread_ends(void);
HIDDEN void tap_process_ends(void);
HIDDEN void tap_forked(void);
HIDDEN int tap_shard(void);
HIDDEN int tap_is_guest(void);
HIDDEN u64 tap_settled_run_delay(void);

/* beside.c: whether a child may run in this memory; where vfork cannot be noticed, one always may. */
extern HIDDEN int tap_guests;
#ifdef __x86_64__
#define GUESTS_AT_FIRST 0
#else
#define GUESTS_AT_FIRST 1
#endif

/* silence.c: set while a seccomp filter forbids system calls beside the program's own.  What is called before a
 * filter says what the call after it needs: 0 where nothing is to be done. */
extern HIDDEN int tap_silent;
HIDDEN int tap_is_filter(long number, unsigned long first);
HIDDEN u64 tap_before_filter(void);
HIDDEN void tap_after_filter(u64 before, long result);
HIDDEN void tap_each_number(const char *folder, void (*take)(int number, void *to), void *to);

/* account.c */
HIDDEN void tap_account(int place, int kind, int64_t result, u64 bytes, int continues, u64 began);

/* uncached.c: --cache none; a bit for each class whose files are not to stay in the page cache.  What is to be
 * reported is an errno, or 0. */
extern HIDDEN int tap_uncached;
HIDDEN int tap_uncache(int place, int kind, int fd, u64 offset, u64 bytes);
HIDDEN int tap_uncache_closing(int fd);
HIDDEN void tap_uncache_forget(int fd);
HIDDEN void tap_uncache_process_ends(void);
HIDDEN void tap_uncache_forked(void);
static inline int tap_is_uncached(int place) { return tap_uncached >> CLASS_OF(place) & 1; }

/* stdio.c */
HIDDEN void tap_patch_stdio(void);

static inline u64 tap_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000000000ull + (u64)now.tv_nsec;
}

static inline u64 *tap_sums(int shard, int kind, int class_) {
    return tap_file + HEADER_WORDS + (size_t)shard * SHARD_WORDS + ((size_t)kind * CLASSES + class_) * SUMS;
}

static inline u64 *tap_volume(int shard, int volume, int kind) {
    return tap_file + HEADER_WORDS + (size_t)shard * SHARD_WORDS + VOLUMES_AT + (size_t)volume * FAMILIES + kind;
}

/* Real functions; the C library's own are reached through these only. */
#define REAL_FUNCTIONS(X) \
    X(int, open, (const char *, int, ...)) \
    X(int, openat, (int, const char *, int, ...)) \
    X(int, close, (int)) \
    X(ssize_t, read, (int, void *, size_t)) \
    X(ssize_t, write, (int, const void *, size_t)) \
    X(ssize_t, pread, (int, void *, size_t, off_t)) \
    X(ssize_t, pwrite, (int, const void *, size_t, off_t)) \
    X(ssize_t, readv, (int, const struct iovec *, int)) \
    X(ssize_t, writev, (int, const struct iovec *, int)) \
    X(ssize_t, preadv, (int, const struct iovec *, int, off_t)) \
    X(ssize_t, pwritev, (int, const struct iovec *, int, off_t)) \
    X(ssize_t, preadv2, (int, const struct iovec *, int, off_t, int)) \
    X(ssize_t, pwritev2, (int, const struct iovec *, int, off_t, int)) \
    X(off_t, lseek, (int, off_t, int)) \
    X(int, fsync, (int)) \
    X(int, fdatasync, (int)) \
    X(int, syncfs, (int)) \
    X(int, sync_file_range, (int, off_t, off_t, unsigned)) \
    X(int, fallocate, (int, int, off_t, off_t)) \
    X(int, posix_fallocate, (int, off_t, off_t)) \
    X(int, ftruncate, (int, off_t)) \
    X(ssize_t, copy_file_range, (int, off_t *, int, off_t *, size_t, unsigned)) \
    X(ssize_t, sendfile, (int, int, off_t *, size_t)) \
    X(ssize_t, splice, (int, off_t *, int, off_t *, size_t, unsigned)) \
    X(int, dup2, (int, int)) \
    X(int, dup3, (int, int, int)) \
    X(int, close_range, (unsigned, unsigned, int)) \
    X(int, closedir, (DIR *)) \
    X(void, closefrom, (int)) \
    X(FILE *, fopen, (const char *, const char *)) \
    X(FILE *, fopen64, (const char *, const char *)) \
    X(FILE *, freopen, (const char *, const char *, FILE *)) \
    X(FILE *, freopen64, (const char *, const char *, FILE *)) \
    X(FILE *, tmpfile, (void)) \
    X(FILE *, tmpfile64, (void)) \
    X(int, prctl, (int, ...)) \
    X(int, execv, (const char *, char *const *)) \
    X(int, execve, (const char *, char *const *, char *const *)) \
    X(int, execvp, (const char *, char *const *)) \
    X(int, execvpe, (const char *, char *const *, char *const *)) \
    X(pid_t, vfork, (void)) \
    X(int, clone, (int (*)(void *), void *, int, void *, ...)) \
    X(int, fcntl, (int, int, ...)) \
    X(int, dup, (int)) \
    X(int, pipe, (int *)) \
    X(int, pipe2, (int *, int)) \
    X(int, socket, (int, int, int)) \
    X(int, socketpair, (int, int, int, int *)) \
    X(int, accept, (int, void *, void *)) \
    X(int, accept4, (int, void *, void *, int)) \
    X(int, eventfd, (unsigned, int)) \
    X(int, epoll_create, (int)) \
    X(int, epoll_create1, (int)) \
    X(int, memfd_create, (const char *, unsigned)) \
    X(int, pthread_create, (void *, const void *, void *(*)(void *), void *)) \
    X(void, _exit, (int)) \
    X(void, _Exit, (int))

#include <dirent.h>
#include <stdio.h>
#include <sys/uio.h>
#define DECLARE(type, name, arguments) extern HIDDEN type(*real_##name) arguments;
REAL_FUNCTIONS(DECLARE)
#undef DECLARE
HIDDEN void tap_resolve(void);
#define REAL(name) ((UNLIKELY(!real_##name) ? tap_resolve() : (void)0), real_##name)

#endif
