/* Streams of the C library call read and write inside it, past the linker: their table is patched.
 *
 * Only where slots of glibc's file jump tables hold the functions that the library exports by name; if
 * one does not, streams are left alone and the header says so.
 */
#include "tap.h"
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOT_READ = 14, SLOT_WRITE, SLOT_SEEK, SLOT_CLOSE };

static ssize_t (*jump_read)(FILE *, void *, ssize_t);
static ssize_t (*jump_write)(FILE *, const void *, ssize_t);
static off_t (*jump_seek)(FILE *, off_t, int);
static int (*jump_close)(FILE *);

static ssize_t stream_read(FILE *stream, void *buffer, ssize_t bytes) {
    int fd = fileno(stream), place = tap_place(fd);
    u64 began = tap_call_begins();
    ssize_t result = jump_read(stream, buffer, bytes);
    int kept = errno;
    u64 moved = result > 0 ? (u64)result : 0;
    if (UNLIKELY(tap_is_uncached(place))) tap_uncache(place, KIND_READ, fd, NOWHERE, moved);
    tap_account(place, KIND_READ, result, moved, IS_FILE(place) && tap_continues(fd, 0, NOWHERE, moved), began);
    errno = kept;
    return result;
}

/* glibc's _IO_file_write writes all of a block with as many calls as that takes: mostly one. */
static ssize_t stream_write(FILE *stream, const void *buffer, ssize_t bytes) {
    int fd = fileno(stream), place = tap_place(fd);
    u64 began = tap_call_begins();
    ssize_t result = jump_write(stream, buffer, bytes);
    int kept = errno;
    u64 moved = result > 0 ? (u64)result : 0;
    if (UNLIKELY(tap_is_uncached(place))) {
        int error = tap_uncache(place, KIND_WRITE, fd, NOWHERE, moved);
        if (error) kept = error, result = -1;
    }
    tap_account(place, KIND_WRITE, result, moved, IS_FILE(place) && tap_continues(fd, 1, NOWHERE, moved), began);
    errno = kept;
    return result;
}

static off_t stream_seek(FILE *stream, off_t offset, int whence) {
    off_t result = jump_seek(stream, offset, whence);
    if (result >= 0) tap_moved(fileno(stream), (u64)result);
    return result;
}

static int stream_close(FILE *stream) {
    int fd = fileno(stream), place = tap_place_if_known(fd);
    u64 began = tap_call_begins();
    int error = tap_uncache_closing(fd);
    tap_forget(fd);
    int result = jump_close(stream), kept = errno;
    if (error) kept = error, result = -1;
    if (began) tap_call_ended(CLASS_OF(place), KIND_OPEN, tap_now() - began, tap_now());
    errno = kept;
    return result;
}

static int patch(const char *name) {
    void **table = dlsym(RTLD_DEFAULT, name);
    if (!table || table[SLOT_READ] != (void *)jump_read || table[SLOT_WRITE] != (void *)jump_write ||
        table[SLOT_SEEK] != (void *)jump_seek || table[SLOT_CLOSE] != (void *)jump_close)
        return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)(table + SLOT_READ) & ~(page - 1);
    uintptr_t last = ((uintptr_t)(table + SLOT_CLOSE + 1) + page - 1) & ~(page - 1);
    if (mprotect((void *)first, last - first, PROT_READ | PROT_WRITE)) return 0;
    table[SLOT_READ] = (void *)stream_read;
    table[SLOT_WRITE] = (void *)stream_write;
    table[SLOT_SEEK] = (void *)stream_seek;
    table[SLOT_CLOSE] = (void *)stream_close;
    mprotect((void *)first, last - first, PROT_READ);
    return 1;
}

void tap_patch_stdio(void) {
    *(void **)&jump_read = dlsym(RTLD_DEFAULT, "_IO_file_read");
    *(void **)&jump_write = dlsym(RTLD_DEFAULT, "_IO_file_write");
    *(void **)&jump_seek = dlsym(RTLD_DEFAULT, "_IO_file_seek");
    *(void **)&jump_close = dlsym(RTLD_DEFAULT, "_IO_file_close");
    int patched = jump_read && jump_write && jump_seek && jump_close && patch("_IO_file_jumps");
    if (patched) patch("_IO_wfile_jumps");
    else ADD(tap_file[HEADER_STDIO_UNSEEN], 1);
}
