/* Silence: a program that enters a seccomp filter may be killed for a system call that the library makes.
 *
 * So the library does before the filter what needs a call: it asks for the places of the open descriptors,
 * and writes down waits and run delay.  From then on it makes no call of its own: calls and bytes on those
 * descriptors still count, without times.  A program that is executed later counts as any other.
 */
#include "tap.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int tap_silent;

/* The number of each entry of a folder of /proc.  No opendir: it allocates, and a handler of a signal may
 * end a process that holds the allocator's lock. */
void tap_each_number(const char *folder, void (*take)(int number, void *to), void *to) {
    int listed = REAL(open)(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (listed < 0) return;
    char entries[512] __attribute__((aligned(8)));
    for (long bytes; (bytes = syscall(SYS_getdents64, listed, entries, sizeof entries)) > 0;)
        for (long at = 0; at < bytes;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            at += entry->d_reclen;
            if (entry->d_name[0] != '.') take(atoi(entry->d_name), to);
        }
    REAL(close)(listed);
}

static void know(int fd, void *to) {
    (void)to;
    tap_know(fd);
}

/* Whether a call asks for a filter, and not for what filters there are. */
int tap_is_filter(long number, unsigned long first) {
    enum { SET_MODE_STRICT, SET_MODE_FILTER }; /* linux/seccomp.h, which a compiler may lack */
    return (number == SYS_prctl && first == PR_SET_SECCOMP) ||
           (number == SYS_seccomp && (first == SET_MODE_STRICT || first == SET_MODE_FILTER));
}

u64 tap_before_filter(void) {
    if (!tap_file || tap_silent || tap_is_guest()) return 0;
    int kept = errno;
    tap_each_number("/proc/self/fd", know, NULL);
    tap_uncache_process_ends();
    u64 delay = tap_settled_run_delay();
    tap_silent = 1;
    errno = kept;
    return delay + 1;
}

void tap_after_filter(u64 before, long result) {
    if (!before) return;
    if (result < 0) tap_silent = 0;
    else {
        tap_uncached = 0;
        ADD(tap_file[HEADER_SILENCED], 1);
        ADD(tap_file[HEADER_RUN_DELAY_NANOSECONDS], before - 1);
    }
}

EXPORT int prctl(int option, ...) {
    va_list rest;
    va_start(rest, option);
    unsigned long a = va_arg(rest, unsigned long), b = va_arg(rest, unsigned long);
    unsigned long c = va_arg(rest, unsigned long), d = va_arg(rest, unsigned long);
    va_end(rest);
    if (!tap_is_filter(SYS_prctl, (unsigned long)option)) return REAL(prctl)(option, a, b, c, d);
    u64 before = tap_before_filter();
    int result = REAL(prctl)(option, a, b, c, d);
    tap_after_filter(before, result);
    return result;
}
