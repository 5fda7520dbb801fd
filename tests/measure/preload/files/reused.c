#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
static int number;
static void given_up(void) { /* in a way that the library does not see */
#ifdef __x86_64__
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_close), "D"((long)number) : "rcx", "r11", "memory");
#else
    syscall(SYS_close, number);
#endif
}
static void file(void) { number = open("work/f", O_CREAT | O_RDWR, 0600); write(number, "12345", 5); }
int main(void) {
    char block[100] = {0};
    int pair[2];
    file(), given_up();
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair), write(pair[0], block, 100), read(pair[1], block, 100);
    close(pair[0]), close(pair[1]), file(), given_up();
    pipe(pair), write(pair[1], block, 100), read(pair[0], block, 100);
    close(pair[0]), close(pair[1]), file(), given_up();
    dup(1), write(number, block, 100), close(number);
    file(), given_up();
    fcntl(1, F_DUPFD, 3), write(number, block, 100), close(number);
    file(), given_up();
    write(memfd_create("m", 0), block, 100), close(number);
    file(), syscall(SYS_close, number);
    return write(number, block, 100) != -1;
}
