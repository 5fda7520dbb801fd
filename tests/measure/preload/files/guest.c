#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
static int guest(void *none) {
    close(3);
    open("util/f", O_CREAT | O_WRONLY, 0600), open("util/f", O_WRONLY);
    _exit(0);
}
int main(int count, char **arguments) {
    char block[1000] = {0}, *stack = malloc(1 << 16);
    int fd = open("work/f", O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 100; i++) {
        pid_t child;
        write(fd, block, 1000);
        if (*arguments[1] == 'v') { if (!(child = vfork())) guest(0); }
        else child = clone(guest, stack + (1 << 16), CLONE_VM | SIGCHLD, 0);
        waitpid(child, 0, 0);
        int both[2];
        pipe(both);
        write(both[1], block, 1000), read(both[0], block, 1000);
        close(both[0]), close(both[1]);
    }
    return fd != 3;
}
