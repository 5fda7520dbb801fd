/* Descriptors: whose role and volume they are (asked of /proc once), where they stand, and their last streams.
 *
 * What is remembered is forgotten at every close and when a descriptor is made by a call that is seen,
 * so links, relative paths, inherited and duplicated descriptors need no special case.  The table belongs to
 * its process: a child in its memory (vfork) asks for what is not known, and changes nothing.  Threads may
 * race here; at worst a request counts as sequential or not when it is not or is.
 */
#include "tap.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTORS 16384
#define STREAMS 16

struct descriptor {
    uint32_t known; /* place + 1; 0: not asked yet */
    u64 position;   /* where it stands + 1; 0: not known */
    u64 last[FAMILIES]; /* end of the stream that was used last: most requests need no other cache line */
    u64 ends[FAMILIES][STREAMS - 1];
} __attribute__((aligned(64)));

static struct descriptor table[DESCRIPTORS];

static int ask_with(int asked, char *path, size_t room, int *is_cut) {
    int fd = asked;
    char link[40] = "/proc/self/fd/";
    char *end = link + 14, digits[12];
    int count = 0;
    do digits[count++] = (char)('0' + fd % 10);
    while (fd /= 10);
    while (count) *end++ = digits[--count];
    *end = 0;
    ssize_t length = readlink(link, path, room - 1);
    if (is_cut && (*is_cut = length == (ssize_t)room - 1)) return 0;
    if (length <= 0 || path[0] != '/') return CLASS_STREAM; /* pipe:[...], socket:[...], anon_inode:... */
    path[length] = 0;
    if (!strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5)) return CLASS_STREAM;
    if (!strncmp(path, "/dev/", 5)) {
        struct stat status;
        if (fstat(asked, &status) || !S_ISREG(status.st_mode)) {
            int place = tap_place_of(path);
            return place == CLASS_OTHER ? CLASS_STREAM : place;
        }
    }
    return tap_place_of(path);
}

static __attribute__((noinline)) int ask_for_long(int fd) {
    char path[4097];
    return ask_with(fd, path, sizeof path, NULL);
}

/* The stack of a signal's handler may have 8 KiB, of which the kernel takes half. */
static __attribute__((noinline)) int ask(int fd) {
    char path[512];
    int is_cut, place = ask_with(fd, path, sizeof path, &is_cut);
    return is_cut ? ask_for_long(fd) : place;
}

int tap_place(int fd) {
    if (UNLIKELY((unsigned)fd >= DESCRIPTORS)) return fd < 0 ? CLASS_STREAM : ask(fd);
    uint32_t known = LOAD(table[fd].known);
    if (UNLIKELY(!known)) {
        if (tap_silent) return CLASS_STREAM;
        int kept = errno;
        known = (uint32_t)ask(fd) + 1;
        if (tap_is_guest()) {
            errno = kept;
            return (int)known - 1;
        }
        memset(table[fd].last, 0xff, sizeof table[fd].last);
        memset(table[fd].ends, 0xff, sizeof table[fd].ends);
        STORE(table[fd].position, 0);
        STORE(table[fd].known, known);
        errno = kept;
    }
    return (int)known - 1;
}

/* The place without asking for it: a stream's for a descriptor that nothing was done with. */
int tap_place_if_known(int fd) {
    uint32_t known = (unsigned)fd < DESCRIPTORS ? LOAD(table[fd].known) : 0;
    return known ? (int)known - 1 : CLASS_STREAM;
}

void tap_forget(int fd) {
    int known = (unsigned)fd < DESCRIPTORS && LOAD(table[fd].known);
    if ((!known && !tap_uncached) || tap_is_guest()) return;
    tap_uncache_forget(fd);
    if (known) STORE(table[fd].known, 0);
}

/* All that is ever asked of a descriptor, asked now. */
void tap_know(int fd) {
    if ((unsigned)fd >= DESCRIPTORS || !IS_FILE(tap_place(fd)) || LOAD(table[fd].position)) return;
    off_t position = REAL(lseek)(fd, 0, SEEK_CUR);
    if (position >= 0) tap_moved(fd, (u64)position);
}

/* A seek: a descriptor stands elsewhere now. */
void tap_moved(int fd, u64 position) {
    if ((unsigned)fd < DESCRIPTORS && LOAD(table[fd].known)) STORE(table[fd].position, position + 1);
}

/* Whether a request continues one of the last streams of its file; a request without an offset moves
 * the descriptor.  To be called when it has moved its bytes. */
int tap_continues(int fd, int family, u64 offset, u64 bytes) {
    if (UNLIKELY((unsigned)fd >= DESCRIPTORS) || !bytes) return 0;
    struct descriptor *d = &table[fd];
    if (offset == NOWHERE) {
        u64 position = LOAD(d->position);
        if (position) offset = position - 1;
        else if (tap_silent) return 0;
        else {
            int kept = errno;
            offset = (u64)REAL(lseek)(fd, 0, SEEK_CUR) - bytes;
            errno = kept;
        }
        STORE(d->position, offset + bytes + 1);
    }
    u64 last = LOAD(d->last[family]), *ends = d->ends[family];
    STORE(d->last[family], offset + bytes);
    if (last == offset) return 1;
    int found = 0;
    while (found < STREAMS - 1 && LOAD(ends[found]) != offset) found++;
    /* The others stand in the order of their use; a new one takes the place of the one not used for longest. */
    for (int i = found < STREAMS - 1 ? found : STREAMS - 2; i > 0; i--) STORE(ends[i], LOAD(ends[i - 1]));
    STORE(ends[0], last);
    return found < STREAMS - 1;
}
