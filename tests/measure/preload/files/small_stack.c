#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/mman.h>
static void handler(int number) { write(2, "handler\n", 8), _exit(42); }
int main(void) { /* what sigaltstack(2) says a handler has at least, above a page that ends the program */
    size_t size = (getauxval(AT_MINSIGSTKSZ) + 4096 + 4095) / 4096 * 4096;
    char *memory = mmap(0, size + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + 4096, size, PROT_READ | PROT_WRITE);
    stack_t stack = {.ss_sp = memory + 4096, .ss_size = size};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&stack, 0) || sigaction(SIGUSR1, &action, 0)) return 3;
    raise(SIGUSR1);
}
