/* A disk in front of an image file, as an nbdkit plugin: each request is carried out at once and answered
   when the modelled disk would be done with it.  Times are absolute (CLOCK_MONOTONIC), so that a late wake-up
   of one request delays no other.

   spinning  One head.  A request that begins within `reach_bytes` of the end of the last one goes on
             from there; any other first takes `access_nanoseconds` (seek and half a turn).  The bytes pass
             under the head at `bytes_per_second`, reads and writes alike.  While nobody asks, the disk reads
             on, or takes writes, into its buffer: a request that goes on may so be done earlier, by at most
             the time of `buffer_bytes`.  The way of a request to this plugin and back takes time that a disk
             would have had it in its queue; a request with a seek counts as come by that much earlier, which
             `path_file` holds (int64, nanoseconds) and which may change while the disk is used.
   flash     `channels` requests at a time take `access_nanoseconds` each; all bytes pass one bus at
             `bytes_per_second`. */
#define _GNU_SOURCE
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL
#define MOST_CHANNELS 256
#define SECOND INT64_C(1000000000)

static char *file_name, *path_name;
static int64_t bytes_per_second, access_nanoseconds, reach_bytes, buffer_bytes, channels = 1;
static bool spinning = true;

static const volatile int64_t *path_nanoseconds;
static int image = -1;
static int64_t image_bytes;

static pthread_mutex_t model_lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t busy_until;                   /* the head, or the bus */
static int64_t channel_until[MOST_CHANNELS]; /* flash */
static int64_t head_at;                      /* end of the last request */

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static int64_t larger(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

static int64_t passing(int64_t bytes)
{
    return (int64_t)((double)bytes * (double)SECOND / (double)bytes_per_second);
}

static int64_t spin(int64_t asked, uint64_t offset, uint32_t count)
{
    int64_t gap = (int64_t)offset - head_at;
    if (gap >= -reach_bytes && gap <= reach_bytes)
        busy_until = larger(busy_until, asked - passing(buffer_bytes));
    else
        busy_until = larger(busy_until, asked - *path_nanoseconds) + access_nanoseconds;
    head_at = (int64_t)offset + count;
    return busy_until += passing(count);
}

static int64_t flash(int64_t asked, uint32_t count)
{
    int free_first = 0;
    for (int one = 1; one < channels; one++)
        if (channel_until[one] < channel_until[free_first])
            free_first = one;
    int64_t ready = larger(channel_until[free_first], asked) + access_nanoseconds;
    busy_until = larger(busy_until, asked) + passing(count);
    return channel_until[free_first] = larger(ready, busy_until);
}

/* When a request that comes now is done. */
static int64_t done_at(uint64_t offset, uint32_t count)
{
    pthread_mutex_lock(&model_lock);
    int64_t asked = now();
    int64_t done = spinning ? spin(asked, offset, count) : flash(asked, count);
    pthread_mutex_unlock(&model_lock);
    return done;
}

static void wait_until(int64_t when)
{
    struct timespec time = {.tv_sec = when / SECOND, .tv_nsec = when % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

static int failed_at(const char *name, const char *what)
{
    int error = errno;
    nbdkit_error("%s: %s: %s", name, what, strerror(error));
    nbdkit_set_error(error);
    return -1;
}

static int failed(const char *what)
{
    return failed_at(file_name, what);
}

static int set(const char *key, const char *value, int64_t least, int64_t most, int64_t *to)
{
    if (nbdkit_parse_int64_t(key, value, to) == -1)
        return -1;
    if (*to < least || *to > most) {
        nbdkit_error("%s: expected %" PRIi64 " to %" PRIi64, key, least, most);
        return -1;
    }
    return 0;
}

static int model_config(const char *key, const char *value)
{
    if (strcmp(key, "file") == 0)
        return (file_name = nbdkit_realpath(value)) ? 0 : -1;
    if (strcmp(key, "path_file") == 0)
        return (path_name = nbdkit_realpath(value)) ? 0 : -1;
    if (strcmp(key, "model") == 0) {
        spinning = strcmp(value, "spinning") == 0;
        if (spinning || strcmp(value, "flash") == 0)
            return 0;
        nbdkit_error("model: expected spinning or flash");
        return -1;
    }
    if (strcmp(key, "bytes_per_second") == 0)
        return set(key, value, 1, INT64_MAX, &bytes_per_second);
    if (strcmp(key, "access_nanoseconds") == 0)
        return set(key, value, 0, SECOND, &access_nanoseconds);
    if (strcmp(key, "reach_bytes") == 0)
        return set(key, value, 0, INT64_C(1) << 30, &reach_bytes);
    if (strcmp(key, "buffer_bytes") == 0)
        return set(key, value, 0, INT64_C(1) << 30, &buffer_bytes);
    if (strcmp(key, "channels") == 0)
        return set(key, value, 1, MOST_CHANNELS, &channels);
    nbdkit_error("unknown key %s", key);
    return -1;
}

static int model_config_complete(void)
{
    if (file_name && path_name && bytes_per_second)
        return 0;
    nbdkit_error("file, path_file and bytes_per_second are required");
    return -1;
}

static int model_get_ready(void)
{
    struct stat status;
    image = open(file_name, O_RDWR | O_CLOEXEC);
    if (image == -1 || fstat(image, &status) == -1)
        return failed("cannot be opened");
    image_bytes = status.st_size;
    int file = open(path_name, O_RDONLY | O_CLOEXEC);
    if (file == -1 || fstat(file, &status) == -1)
        return failed_at(path_name, "cannot be opened");
    if (status.st_size < (off_t)sizeof *path_nanoseconds) {
        nbdkit_error("%s: expected %zu bytes", path_name, sizeof *path_nanoseconds);
        return -1;
    }
    void *mapped = mmap(NULL, sizeof *path_nanoseconds, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return failed_at(path_name, "cannot be mapped");
    path_nanoseconds = mapped;
    close(file);
    return 0;
}

static void model_unload(void)
{
    if (image != -1)
        close(image);
    free(file_name);
    free(path_name);
}

static void *model_open(int readonly)
{
    (void)readonly;
    return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t model_get_size(void *handle)
{
    (void)handle;
    return image_bytes;
}

static int model_can_multi_conn(void *handle)
{
    (void)handle;
    return 1; /* all connections have one image and one model */
}

static int model_pread(void *handle, void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
    (void)handle, (void)flags;
    int64_t done = done_at(offset, count);
    for (uint32_t got = 0; got < count;) {
        ssize_t part = pread(image, (char *)buffer + got, count - got, (off_t)(offset + got));
        if (part == -1 && errno == EINTR)
            continue;
        if (part <= 0) {
            errno = part ? errno : EIO;
            return failed("cannot be read");
        }
        got += (uint32_t)part;
    }
    wait_until(done);
    return 0;
}

static int model_pwrite(void *handle, const void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
    (void)handle, (void)flags;
    int64_t done = done_at(offset, count);
    for (uint32_t put = 0; put < count;) {
        ssize_t part = pwrite(image, (const char *)buffer + put, count - put, (off_t)(offset + put));
        if (part == -1 && errno == EINTR)
            continue;
        if (part == -1)
            return failed("cannot be written");
        put += (uint32_t)part;
    }
    wait_until(done);
    return 0;
}

/* The image lives no longer than the bed: what the kernel holds is held. */
static int model_flush(void *handle, uint32_t flags)
{
    (void)handle, (void)flags;
    return 0;
}

static int model_trim(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
    (void)handle, (void)flags;
    if (fallocate(image, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, count) == -1)
        return failed("cannot be trimmed");
    return 0;
}

static struct nbdkit_plugin plugin = {
    .name = "mawl-disk",
    .longname = "a spinning disk or a flash device, by its times",
    .config = model_config,
    .config_complete = model_config_complete,
    .config_help = "file=IMAGE path_file=FILE model=spinning|flash bytes_per_second=N access_nanoseconds=N "
                   "reach_bytes=N buffer_bytes=N channels=N",
    .magic_config_key = "file",
    .get_ready = model_get_ready,
    .unload = model_unload,
    .open = model_open,
    .get_size = model_get_size,
    .can_multi_conn = model_can_multi_conn,
    .pread = model_pread,
    .pwrite = model_pwrite,
    .flush = model_flush,
    .trim = model_trim,
};

NBDKIT_REGISTER_PLUGIN(plugin)
