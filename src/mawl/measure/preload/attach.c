/* Becoming part of a job: the real functions, and the counter file that the whole process tree shares. */
#include "tap.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

u64 *tap_file;

#define DEFINE(type, name, arguments) type(*real_##name) arguments;
REAL_FUNCTIONS(DEFINE)
#undef DEFINE

void tap_resolve(void) {
#define RESOLVE(type, name, arguments) \
    if (!real_##name) *(void **)&real_##name = dlsym(RTLD_NEXT, #name);
    REAL_FUNCTIONS(RESOLVE)
#undef RESOLVE
}

/* The place of a path: role and volume whose directory is the longest beginning of it. */
int tap_place_of(const char *path) {
    int best = CLASS_OTHER, volume = 0;
    size_t longest = 0;
    const char *entry = (const char *)tap_file + ROLES_AT, *end = (const char *)(tap_file + HEADER_WORDS);
    while (entry < end && *entry) {
        const char *root = entry + 1;
        volume++;
        size_t length = strnlen(root, (size_t)(end - root)); /* a job may have damaged the file */
        if (length > longest && !strncmp(path, root, length) &&
            (path[length] == '/' || path[length] == 0 || path[length] == ' ')) {
            int class_ = entry[0] - '0';
            best = PLACE(class_, class_ < CLASS_OTHER && volume < VOLUMES ? volume : 0);
            longest = length;
        }
        entry = root + length + 1;
    }
    return best;
}

static pthread_once_t joined = PTHREAD_ONCE_INIT;

static void join(void) {
    pthread_atfork(NULL, NULL, tap_forked);
    tap_patch_stdio();
}

/* Count into a file that mawl made; also called (through ctypes) by a copy of the zygote. */
EXPORT int mawl_counters_attach(const char *path) {
    tap_resolve();
    int fd = REAL(open)(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    if (fd < 0) return -1;
    u64 *mapped = MAP_FAILED;
    if (!fstat(fd, &status) && (u64)status.st_size == FILE_BYTES)
        mapped = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    REAL(close)(fd);
    if (mapped == MAP_FAILED) return -1;
    if (mapped[HEADER_MAGIC] != MAGIC || mapped[HEADER_VERSION] != VERSION) {
        munmap(mapped, FILE_BYTES);
        return -1;
    }
    u64 nobody = 0;
    __atomic_compare_exchange_n(&mapped[HEADER_FIRST], &nobody, (u64)getpid(), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    ADD(mapped[HEADER_IMAGES], 1);
    tap_uncached = (int)mapped[HEADER_UNCACHED_CLASSES];
    tap_file = mapped;
    pthread_once(&joined, join);
    tap_thread_begins();
    return 0;
}

__attribute__((constructor(101))) static void begin(void) {
    int kept = errno;
    tap_resolve();
    const char *path = getenv("MAWL_COUNTERS");
    if (path && *path) mawl_counters_attach(path);
    errno = kept;
}

__attribute__((destructor)) static void end(void) { tap_process_ends(); }
