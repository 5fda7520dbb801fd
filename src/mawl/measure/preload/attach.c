/* Becoming part of a job: the real functions, and the counter file that the whole process tree shares. */
#include "tap.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

/* VmHWM of this process's program, in bytes; 0 where it is not known.  (ru_maxrss has what was before exec, too.) */
static u64 own_peak(void) {
    char text[1024];
    u64 peak = 0;
    int fd = REAL(open)("/proc/self/status", O_RDONLY | O_CLOEXEC);
    for (off_t at = 0; fd >= 0 && !peak; at += sizeof text / 2) {
        ssize_t length = REAL(pread)(fd, text, sizeof text - 1, at);
        if (length <= 0) break;
        text[length] = 0;
        char *line = strstr(text, "\nVmHWM:");
        if (line && strstr(line, " kB")) peak = strtoull(line + 7, NULL, 10) * 1024;
    }
    if (fd >= 0) REAL(close)(fd);
    return peak;
}

/* The images of the job's first process, one behind the other: each begins (end 0), and is left by an exec or an
 * end.  An exec that nobody saw leaves the peak unknown. */
void tap_first_image(int end) {
    if (!tap_file || tap_silent || (u64)getpid() != LOAD(tap_file[HEADER_FIRST]) ||
        (u64)getppid() != LOAD(tap_file[HEADER_REAPER]))
        return;
    u64 *state = &tap_file[HEADER_FIRST_IMAGE], *peak = &tap_file[HEADER_FIRST_PEAK_BYTES];
    if (LOAD(*state) == IMAGE_UNKNOWN) return;
    if (!end) {
        STORE(*state, LOAD(*state) == IMAGE_RUNS ? IMAGE_UNKNOWN : IMAGE_RUNS);
        return;
    }
    struct rusage children;
    u64 own = own_peak(), most = 0;
    if (own && !getrusage(RUSAGE_CHILDREN, &children)) most = (u64)children.ru_maxrss * 1024;
    if (own > most) most = own;
    if (most > LOAD(*peak)) STORE(*peak, most);
    STORE(*state, own ? (u64)end : IMAGE_UNKNOWN);
}

#define EXEC(name, parameters, arguments) \
    EXPORT int name parameters { \
        tap_first_image(IMAGE_EXECS); \
        return REAL(name) arguments; \
    }
EXEC(execv, (const char *p, char *const *a), (p, a))
EXEC(execve, (const char *p, char *const *a, char *const *e), (p, a, e))
EXEC(execvp, (const char *p, char *const *a), (p, a))
EXEC(execvpe, (const char *p, char *const *a, char *const *e), (p, a, e))

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
    tap_first_image(0);
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
