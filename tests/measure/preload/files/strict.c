#include <unistd.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
int main(void) {
    char block[1000] = {0};
    int fd = open("work/f", O_CREAT | O_WRONLY, 0600);
    prctl(PR_SET_SECCOMP, 1); /* read, write and exit, or SIGKILL */
    for (int i = 0; i < 50000; i++) write(fd, block, 1000);
    write(1, "hello\n", 6);
    syscall(SYS_exit, 0);
}
