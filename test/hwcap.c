/* hwcap.c: aarch64 under Linux: for each word of CPU features that the kernel may report, the library finds the right
 * instruction sets, and hashes right with them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The library looks only once in a process, so each word has a process of its own. The word comes from this program's
 * getauxval, which takes precedence over the C library's.
 */
#define _DEFAULT_SOURCE
#include "test.h"

#include <elf.h>
#include <sys/wait.h>
#include <unistd.h>

/* Linux, arch/arm64/include/uapi/asm/hwcap.h */
enum { ASIMD = 1 << 1, SHA1 = 1 << 5, SHA2 = 1 << 6, SHA3 = 1 << 17, SHA512 = 1 << 21, CRC32 = 1 << 7 };

static unsigned long hwcap;

unsigned long getauxval(unsigned long type);
unsigned long getauxval(unsigned long type)
{
    return type == AT_HWCAP ? hwcap : 0;
}

/* The word of this machine. */
static unsigned long real_hwcap(void)
{
    FILE *file = fopen("/proc/self/auxv", "rb");
    Elf64_auxv_t entry;
    unsigned long found = 0;

    while (file != NULL && fread(&entry, sizeof entry, 1, file) == 1)
        if (entry.a_type == AT_HWCAP)
            found = entry.a_un.a_val;
    if (file != NULL)
        fclose(file);
    return found;
}

/* The instruction sets that follow from the word, and from what the compiler may use on every CPU. */
static hl_isas expected_isas(void)
{
    hl_isas isas = hl_isa_named("scalar") | hl_isa_named("neon");
    unsigned long has = hwcap;

#ifdef __ARM_FEATURE_SHA2
    has |= SHA1 | SHA2;
#endif
#ifdef __ARM_FEATURE_SHA3
    has |= SHA3;
#endif
#ifdef __ARM_FEATURE_SHA512
    has |= SHA512;
#endif
    if ((has & SHA1) != 0 && (has & SHA2) != 0)
        isas |= hl_isa_named("sha");
    if ((has & SHA3) != 0)
        isas |= hl_isa_named("sha3");
    if ((has & SHA512) != 0)
        isas |= hl_isa_named("sha512");
    return isas;
}

/* Runs in a process of its own: returns 0 if all is right. */
static int check_word(int runnable)
{
    enum { COUNT = 20, NBYTES = 300 };
    static uint8_t digests[COUNT * HL_DIGEST_MAX_NBYTES];
    const uint8_t *pool = random_pool(COUNT + NBYTES);
    hl_slice messages[COUNT];

    if (hl_isas_available() != expected_isas())
        return 1;
    for (size_t i = 0; i < COUNT; i++)
        messages[i] = (hl_slice){pool + i, NBYTES - 9 * i};
    for (size_t a = 0; runnable && a < hl_alg_count(); a++)
        for (size_t count = 1; count <= COUNT; count++)
            if (hl_hash_many(hl_alg_at(a)->alg, messages, count, digests) != HL_OK ||
                !check_digests(hl_alg_at(a), messages, count, digests, "hl_hash_many"))
                return 2;
    return 0;
}

int main(int argc, char **argv)
{
    static const unsigned long bits[] = {SHA1, SHA2, SHA3, SHA512};
    const unsigned long real = real_hwcap();

    /* A look for instruction sets before the first fork would settle them for every process. */
    unsetenv("HASHLOOM_EXPECT");
    test_start(argc, argv);
    test_case("AT_HWCAP can be read");
    CHECK((real & ASIMD) != 0, "/proc/self/auxv says %#lx", real);
    for (unsigned set = 0; set < 16; set++) {
        hwcap = ASIMD | CRC32;
        for (unsigned i = 0; i < 4; i++)
            hwcap |= (set >> i & 1) != 0 ? bits[i] : 0;
        test_case("AT_HWCAP %#lx", hwcap);
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0)
            _exit(check_word((hwcap & ~real & (SHA1 | SHA2 | SHA3 | SHA512)) == 0));
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) != 1,
              "other instruction sets than these are found (wait status %#x)", (unsigned)status);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 2, "digests are wrong");
    }
    return test_end();
}
