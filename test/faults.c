/* faults.c: runs a program whose system calls fail, as on a bad disk, an old kernel or a read-only medium.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   faults FAULT... -- PROGRAM ARGUMENT...
 *
 *   eio=FIRST-LAST  reading a file at an offset from FIRST to LAST gives EIO
 *   enosys          openat2 does not exist
 *   readonly        a call that writes, creates, removes, renames or touches a file kills the program (SIGSYS)
 *
 * A seccomp filter in the kernel injects the faults, so it does not matter whether a call goes through libc. The Rust
 * program makes most file system calls itself, where a library loaded by LD_PRELOAD would not see them. The exit status
 * is that of the program, or 125 if the filter cannot be installed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "which architecture is this for seccomp?"
#endif

static struct sock_filter filter[512];
static unsigned short count;

static void add(unsigned short code, unsigned char if_true, unsigned char if_false, unsigned k)
{
    if (count == sizeof filter / sizeof *filter) {
        fprintf(stderr, "faults: too many faults\n");
        exit(125);
    }
    filter[count++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, 0, 0, (unsigned)offset);
}

/* Both targets are little-endian: the low half of an argument comes first. */
static void load_argument(int number, int high)
{
    load(offsetof(struct seccomp_data, args) + 8 * (size_t)number + 4 * (size_t)high);
}

static void fail_always(long nr, unsigned action)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned)nr);
    add(BPF_RET | BPF_K, 0, 0, action);
}

/* Matches if the argument is from first to last. */
static void fail_within(long nr, int argument, unsigned first, unsigned last, unsigned action)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 7, (unsigned)nr);
    load_argument(argument, 1);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, 0);
    load_argument(argument, 0);
    add(BPF_JMP | BPF_JGE | BPF_K, 0, 2, first);
    add(BPF_JMP | BPF_JGT | BPF_K, 1, 0, last);
    add(BPF_RET | BPF_K, 0, 0, action);
    load(offsetof(struct seccomp_data, nr));
}

/* Matches if the argument has one of these bits. */
static void fail_flags(long nr, int argument, unsigned bits, unsigned action)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (unsigned)nr);
    load_argument(argument, 0);
    add(BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
    add(BPF_RET | BPF_K, 0, 0, action);
    load(offsetof(struct seccomp_data, nr));
}

static void readonly(void)
{
    static const long writing[] = {
        SYS_truncate, SYS_ftruncate, SYS_fallocate, SYS_mkdirat, SYS_mknodat, SYS_unlinkat, SYS_symlinkat, SYS_linkat,
        SYS_renameat2, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr,
        SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_pwrite64, SYS_pwritev, SYS_pwritev2,
        SYS_copy_file_range,
#ifdef SYS_renameat
        SYS_renameat,
#endif
#ifdef SYS_rename
        SYS_creat, SYS_mkdir, SYS_mknod, SYS_unlink, SYS_rmdir, SYS_symlink, SYS_link, SYS_rename, SYS_chmod, SYS_chown,
        SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    };
    const unsigned flags = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND, kill = SECCOMP_RET_KILL_PROCESS;
    for (size_t i = 0; i < sizeof writing / sizeof *writing; i++)
        fail_always(writing[i], kill);
    fail_flags(SYS_openat, 2, flags, kill);
#ifdef SYS_open
    fail_flags(SYS_open, 1, flags, kill);
#endif
    /* openat2's flags are in memory, where a filter cannot look. If openat2 fails, the program opens by openat. */
    fail_always(SYS_openat2, SECCOMP_RET_ERRNO | ENOSYS);
}

static void fault(const char *name)
{
    unsigned first, last;
    if (sscanf(name, "eio=%u-%u", &first, &last) == 2) {
        fail_within(SYS_pread64, 3, first, last, SECCOMP_RET_ERRNO | EIO);
        fail_within(SYS_preadv2, 3, first, last, SECCOMP_RET_ERRNO | EIO);
    } else if (!strcmp(name, "enosys")) {
        fail_always(SYS_openat2, SECCOMP_RET_ERRNO | ENOSYS);
    } else if (!strcmp(name, "readonly")) {
        readonly();
    } else {
        fprintf(stderr, "faults: unknown fault %s\n", name);
        exit(125);
    }
}

int main(int argc, char **argv)
{
    load(offsetof(struct seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
    load(offsetof(struct seccomp_data, nr));
    int at = 1;
    for (; at < argc && strcmp(argv[at], "--"); at++)
        fault(argv[at]);
    if (at + 1 >= argc) {
        fprintf(stderr, "usage: faults FAULT... -- PROGRAM ARGUMENT...\n");
        return 125;
    }
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {count, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("faults: seccomp");
        return 125;
    }
    execv(argv[at + 1], argv + at + 1);
    perror(argv[at + 1]);
    return 125;
}
