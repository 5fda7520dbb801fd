/* I/O that is not a call that moves bytes (mapped files, asynchronous requests, io_uring), and the
 * calls by which threads begin and processes end. */
#include "tap.h"
#include <aio.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- asynchronous: counted when asked for; how long they take is not seen ------------------------- */

static void submitted(int fd, int kind, u64 bytes) { tap_account(tap_place(fd), kind, 0, bytes, 0, 0); }

#define AIO(name, type, kind) \
    EXPORT int name(struct type *request) { \
        int (*real)(struct type *); \
        *(void **)&real = dlsym(RTLD_NEXT, #name); \
        int result = real(request), kept = errno; \
        if (tap_file && !result) submitted(request->aio_fildes, kind, request->aio_nbytes); \
        errno = kept; \
        return result; \
    }
AIO(aio_read, aiocb, KIND_SUBMIT_READ)
AIO(aio_read64, aiocb64, KIND_SUBMIT_READ)
AIO(aio_write, aiocb, KIND_SUBMIT_WRITE)
AIO(aio_write64, aiocb64, KIND_SUBMIT_WRITE)

/* As libaio and the kernel lay it out (linux/aio_abi.h), which a compiler may lack. */
struct control_block {
    u64 data;
    uint32_t key, flags;
    uint16_t operation;
    int16_t priority;
    uint32_t descriptor;
    u64 buffer, bytes;
    int64_t offset;
};
enum { OPERATION_READ = 0, OPERATION_WRITE = 1, OPERATION_READ_VECTOR = 7, OPERATION_WRITE_VECTOR = 8 };

static void submitted_block(const struct control_block *block) {
    u64 bytes = block->bytes;
    if (block->operation >= OPERATION_READ_VECTOR) {
        const struct iovec *parts = (const struct iovec *)(uintptr_t)block->buffer;
        bytes = 0;
        for (u64 part = 0; part < block->bytes; part++) bytes += parts[part].iov_len;
    }
    if (block->operation == OPERATION_READ || block->operation == OPERATION_READ_VECTOR)
        submitted((int)block->descriptor, KIND_SUBMIT_READ, bytes);
    if (block->operation == OPERATION_WRITE || block->operation == OPERATION_WRITE_VECTOR)
        submitted((int)block->descriptor, KIND_SUBMIT_WRITE, bytes);
}

#if defined(__x86_64__) || defined(__aarch64__)
/* Where the C library's own function cannot be reached yet, or has another convention. */
static long raw(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#endif
}
static long with_errno(long result) {
    if (result >= 0 || result < -4095) return result;
    errno = (int)-result;
    return -1;
}

/* libaio's: its errors are negative numbers. */
EXPORT int io_submit(void *context, long count, struct control_block **blocks) {
    int result = (int)raw(SYS_io_submit, (long)context, count, (long)blocks, 0, 0, 0);
    for (int index = 0; tap_file && index < result; index++) submitted_block(blocks[index]);
    return result;
}

EXPORT void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    long result = with_errno(raw(SYS_mmap, (long)address, (long)length, protection, flags, fd, offset));
    if (tap_file && fd >= 0 && !(flags & MAP_ANONYMOUS)) {
        int kept = errno;
        tap_account(tap_place(fd), KIND_MAP, result == -1 ? -1 : 0, result == -1 ? 0 : length, 0, 0);
        errno = kept;
    }
    return (void *)result;
}
EXPORT void *mmap64(void *a, size_t l, int p, int f, int fd, off_t o) { return mmap(a, l, p, f, fd, o); }

EXPORT long syscall(long number, ...) {
    enum { CLONE3 = 435 }; /* on every machine; older headers lack it */
    va_list rest;
    va_start(rest, number);
    long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long);
    long d = va_arg(rest, long), e = va_arg(rest, long), f = va_arg(rest, long);
    va_end(rest);
    if (UNLIKELY(!tap_file)) return with_errno(raw(number, a, b, c, d, e, f));
    if (number == SYS_close || number == SYS_dup3) tap_leave((int)(number == SYS_close ? a : b));
    if (number == SYS_clone || number == CLONE3) STORE(tap_guests, 1);
    u64 before = tap_is_filter(number, (unsigned long)a) ? tap_before_filter() : 0;
    long result = with_errno(raw(number, a, b, c, d, e, f));
    tap_after_filter(before, result);
    if (number == SYS_openat && result >= 0) tap_forget((int)result);
    if (number == SYS_io_uring_setup && result >= 0) ADD(tap_file[HEADER_IO_URING_SETUPS], 1);
    return result;
}
#endif

/* liburing sets its rings up without the C library's syscall(). */
EXPORT int io_uring_queue_init_params(unsigned entries, void *ring, void *parameters) {
    int (*real)(unsigned, void *, void *);
    *(void **)&real = dlsym(RTLD_NEXT, "io_uring_queue_init_params");
    if (tap_file) ADD(tap_file[HEADER_IO_URING_SETUPS], 1);
    return real ? real(entries, ring, parameters) : -ENOSYS;
}
EXPORT int io_uring_queue_init(unsigned entries, void *ring, unsigned flags) {
    int (*real)(unsigned, void *, unsigned);
    *(void **)&real = dlsym(RTLD_NEXT, "io_uring_queue_init");
    if (tap_file) ADD(tap_file[HEADER_IO_URING_SETUPS], 1);
    return real ? real(entries, ring, flags) : -ENOSYS;
}

/* -- children in this memory ---------------------------------------------------------------------- */

int tap_guests = GUESTS_AT_FIRST;

#ifdef __x86_64__
/* vfork returns twice, so no function of C can stand before it: this one leaves by a jump. */
__asm__(".text\n"
        ".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        "    endbr64\n"
        "    movl $1, tap_guests(%rip)\n"
        "    cmpq $0, real_vfork(%rip)\n"
        "    jne 1f\n"
        "    subq $8, %rsp\n"
        "    call tap_resolve\n"
        "    addq $8, %rsp\n"
        "1:  jmp *real_vfork(%rip)\n"
        ".size vfork, . - vfork\n");
#endif

EXPORT int clone(int (*routine)(void *), void *stack, int flags, void *argument, ...) {
    va_list rest;
    va_start(rest, argument);
    void *a = va_arg(rest, void *), *b = va_arg(rest, void *), *c = va_arg(rest, void *);
    va_end(rest);
    STORE(tap_guests, 1);
    return REAL(clone)(routine, stack, flags, argument, a, b, c);
}

/* -- threads and ends ---------------------------------------------------------------------------- */

struct beginning {
    void *(*routine)(void *);
    void *argument;
};

static void *begin_thread(void *given) {
    struct beginning beginning = *(struct beginning *)given;
    free(given);
    tap_thread_begins();
    return beginning.routine(beginning.argument);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument) {
    struct beginning *beginning = tap_file && !tap_silent ? malloc(sizeof *beginning) : NULL;
    if (!beginning) return REAL(pthread_create)(thread, attributes, routine, argument);
    beginning->routine = routine;
    beginning->argument = argument;
    int result = REAL(pthread_create)(thread, attributes, begin_thread, beginning);
    if (result) free(beginning);
    else ADD(tap_file[HEADER_THREADS], 1);
    return result;
}

EXPORT __attribute__((noreturn)) void _exit(int status) {
    tap_process_ends();
    REAL(_exit)(status);
    __builtin_unreachable();
}
EXPORT __attribute__((noreturn)) void _Exit(int status) { _exit(status); }
