/* What bench/preload.py runs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
/* calls FILE SIZE BLOCK ROUNDS r|w: calls of SIZE bytes as a program makes them (counted), and by the C
 * library's own functions, in turns of BLOCK calls.  Prints the mean CPU nanoseconds of a call of either kind. */
#define SLOTS 1021 /* at 256 KiB this is more than a processor's cache holds, as tables are */
static long now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000l + now.tv_nsec;
}
int main(int count, char **arguments) {
    size_t size = strtoul(arguments[2], 0, 10);
    long block = strtol(arguments[3], 0, 10), rounds = strtol(arguments[4], 0, 10);
    long calls = 0, spent[2] = {0, 0};
    int write = arguments[5][0] == 'w', fd = open(arguments[1], O_RDWR | O_CREAT, 0600);
    char *buffer = calloc(1, size);
    void *library = dlopen("libc.so.6", RTLD_NOW);
    ssize_t (*reads[2])(int, void *, size_t, off_t) = {pread, (void *)dlsym(library, "pread")};
    ssize_t (*writes[2])(int, const void *, size_t, off_t) = {pwrite, (void *)dlsym(library, "pwrite")};
    (void)count;
    for (int slot = 0; slot < SLOTS; slot++)
        if (pwrite(fd, buffer, size, slot * size) < 0) return 1;
    for (long turn = 0; turn < 4 * rounds; turn++) {
        int side = __builtin_parityl(turn); /* ABBA BAAB BAAB ABBA: no side has the same places of the file */
        long from = now();
        for (long call = 0; call < block; call++, calls++) {
            off_t at = (calls % SLOTS) * size;
            if ((write ? writes[side](fd, buffer, size, at) : reads[side](fd, buffer, size, at)) < 0) return 1;
        }
        spent[side] += now() - from;
    }
    printf("%.3f %.3f\n", spent[0] / (2.0 * rounds * block), spent[1] / (2.0 * rounds * block));
    return 0;
}
