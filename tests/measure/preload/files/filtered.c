#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#define ALLOW(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
int main(int count, char **arguments) {
    int in = open("data/in", O_RDONLY), out = open("work/out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_close), ALLOW(SYS_exit_group),
        ALLOW(SYS_brk), ALLOW(SYS_mmap),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    int by_call = count > 1 && *arguments[1] == 'c';
    if ((by_call ? syscall(SYS_seccomp, 1, 0xffff, &filter) : prctl(PR_SET_SECCOMP, 7, &filter)) != -1)
        return 8;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (by_call ? syscall(SYS_seccomp, 1, 0, &filter) : prctl(PR_SET_SECCOMP, 2, &filter)) return 9;
    char block[4096];
    for (long bytes; (bytes = read(in, block, sizeof block)) > 0;) write(out, block, bytes);
    close(in), close(out);
    if (count > 1 && *arguments[1] == 'k') getppid();
    exit(0);
}
