#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
int main(void) {
    int fd = open("work/f", O_CREAT | O_WRONLY, 0600);
    write(fd, "12345", 5);
    pid_t child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!child) {
        close(fd), fd = open("util/f", O_CREAT | O_WRONLY, 0600);
        write(fd, "123", 3), write(fd, "123", 3);
        _exit(0);
    }
    waitpid(child, 0, 0);
    write(fd, "12345", 5);
    return fd != 3;
}
