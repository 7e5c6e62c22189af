/* sha512_x86.c: the x86 SHA-512 instructions on a CPU that lacks them, on x86-64 under Linux and with AVX2. A program
 * that is linked with this file finds the instruction set sha512. The CPU refuses each instruction (SIGILL), and its
 * model is run on the registers that the signal has saved: the kernels' own bytes are tested.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The models: Intel SDM volume 2C, VSHA512MSG1 to VSHA512RNDS2; Ch, Maj and sigma are those of FIPS 180-4 section
 * 4.1.3. Saved registers: Intel SDM volume 1, section 13.4, the standard format of the XSAVE area.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "../core/src/cpu.h"

struct hli_machine __real_hli_detect(void);
struct hli_machine __wrap_hli_detect(void);

enum { XMM_AT = 160, HEADER_AT = 512, YMM_AT = 576, AVX_STATE = 1 << 2, RNDS2 = 0xcb, MSG1 = 0xcc, MSG2 = 0xcd };

static uint64_t ror(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

/* r are the three operands; the first of them is also the result. */
static void run(unsigned instruction, uint64_t r[3][4])
{
    uint64_t *const w = r[0], *const feba = r[1], *const last = r[2];
    uint64_t a = feba[3], b = feba[2], c = w[3], d = w[2], e = feba[1], f = feba[0], g = w[1], h = w[0];

    for (unsigned i = 0; instruction == RNDS2 && i < 2; i++) {
        const uint64_t t1 = h + (ror(e, 14) ^ ror(e, 18) ^ ror(e, 41)) + ((e & f) ^ (~e & g)) + last[i];
        const uint64_t t2 = (ror(a, 28) ^ ror(a, 34) ^ ror(a, 39)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        w[0] = f, w[1] = e, w[2] = b, w[3] = a;
    }
    for (unsigned i = 0; instruction != RNDS2 && i < 4; i++) {
        const uint64_t next = i < 3 ? w[i + 1] : last[0], before = i < 2 ? last[2 + i] : w[i - 2];
        w[i] += instruction == MSG1 ? ror(next, 1) ^ ror(next, 8) ^ next >> 7
                                    : ror(before, 19) ^ ror(before, 61) ^ before >> 6;
    }
}

static void on_sigill(int signal, siginfo_t *info, void *context)
{
    mcontext_t *const cpu = &((ucontext_t *)context)->uc_mcontext;
    const uint8_t *const code = (const uint8_t *)(uintptr_t)cpu->gregs[REG_RIP];
    uint8_t *const saved = (uint8_t *)cpu->fpregs;
    uint64_t r[3][4];

    (void)signal, (void)info;
    /* VEX.256.F2.0F38.W0, and registers 0 to 7 of reg and rm; only rnds2 has an operand in vvvv. */
    if (code[0] != 0xc4 || code[1] != 0xe2 || (code[2] & 0x87) != 0x07 || code[3] < RNDS2 || code[3] > MSG2 ||
        code[4] < 0xc0 || (code[3] != RNDS2 && code[2] != 0x7f))
        abort();
    const unsigned at[3] = {code[4] >> 3 & 7, ~code[2] >> 3 & 15, code[4] & 7};
    if ((saved[HEADER_AT] & AVX_STATE) == 0) /* all upper halves are zero, and not saved */
        memset(saved + YMM_AT, 0, 256);
    saved[HEADER_AT] |= AVX_STATE;
    for (unsigned i = 0; i < 3; i++) {
        memcpy(r[i], saved + XMM_AT + 16 * at[i], 16);
        memcpy(r[i] + 2, saved + YMM_AT + 16 * at[i], 16);
    }
    run(code[3], r);
    memcpy(saved + XMM_AT + 16 * at[0], r[0], 16);
    memcpy(saved + YMM_AT + 16 * at[0], r[0] + 2, 16);
    cpu->gregs[REG_RIP] += 5;
}

struct hli_machine __wrap_hli_detect(void)
{
    struct hli_machine machine = __real_hli_detect();
    struct sigaction action = {.sa_sigaction = on_sigill, .sa_flags = SA_SIGINFO};

    if ((machine.features & HLI_F(AVX2)) != 0 && (machine.features & HLI_F(SHA512)) == 0) {
        machine.features |= HLI_F(SHA512);
        sigaction(SIGILL, &action, NULL);
    }
    return machine;
}
