/* LD_PRELOAD: the wall clock of a process and of all it starts is off by CLOCK_SHIFT_MILLISECONDS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long long shift(void) {
    const char *text = getenv("CLOCK_SHIFT_MILLISECONDS");
    return text ? atoll(text) * 1000000LL : 0;
}

int clock_gettime(clockid_t clock, struct timespec *found) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next)
        next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = next(clock, found);
    if (result == 0 && clock == CLOCK_REALTIME) {
        long long at = found->tv_sec * 1000000000LL + found->tv_nsec + shift();
        found->tv_sec = at / 1000000000LL;
        found->tv_nsec = at % 1000000000LL;
    }
    return result;
}

int gettimeofday(struct timeval *found, void *zone) {
    struct timespec at;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &at))
        return -1;
    found->tv_sec = at.tv_sec;
    found->tv_usec = at.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *found) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    if (found)
        *found = at.tv_sec;
    return at.tv_sec;
}
