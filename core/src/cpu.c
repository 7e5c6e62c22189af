/* cpu.c: the features of this CPU. No other file asks the CPU or the operating system.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "cpu.h"

#if HLI_X86
#  include <cpuid.h>

/* Register state that the operating system must have enabled in XCR0 (Intel SDM volume 1, section 13.3): SSE and AVX;
 * for AVX-512 also opmasks, the upper halves of zmm0-15, and zmm16-31. */
enum { STATE_NONE = 0, STATE_YMM = 0x06, STATE_ZMM = 0xe6 };

static uint32_t saved_state(uint32_t ecx)
{
    uint32_t eax, edx;

    if (!(ecx & bit_OSXSAVE))
        return 0;
    /* Assembly, as the intrinsic _xgetbv() needs -mxsave. */
    __asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    return eax;
}

/* The column of AMD's and Hygon's CPUs. Zen 5 has vector units of 512 bits in servers (models 0x00 to 0x1f) and
 * desktops (0x40 to 0x4f), and of 256 in laptops, as Zen 2 to 4 have; Zen 1 (and Hygon's family 0x18), and all before
 * it, of 128. AMD APM volume 3, CPUID Fn0000_0001_EAX: the family is the sum of two fields. */
static unsigned tune_of_amd(uint32_t eax)
{
    const uint32_t family = (eax >> 8 & 0xf) + (eax >> 20 & 0xff), model = (eax >> 12 & 0xf0) | (eax >> 4 & 0xf);

    if (family == 0x1a && (model < 0x20 || (model >= 0x40 && model < 0x50)))
        return HLI_TUNE_ZEN5;
    return family < 0x17 || family == 0x18 || (family == 0x17 && model < 0x30) ? HLI_TUNE_ZEN1 : HLI_TUNE_AMD;
}

/* A hypervisor answers each cpuid, in 1 to 20 us: a leaf is asked once, for all rows that follow each other. */
struct hli_machine hli_detect(void)
{
    struct hli_machine machine = {0, HLI_TUNE_INTEL_PLAIN};
    uint32_t EAX, EBX, ECX, EDX, vendor, model, saved, asked_leaf = 1, asked_subleaf = 0;
    /* 0 where there is no cpuid at all. */
    const uint32_t highest = __get_cpuid_max(0, &vendor);

    if (highest == 0)
        return machine;
    __cpuid(1, EAX, EBX, ECX, EDX);
    model = EAX;
    saved = saved_state(ECX);
#  define FEATURE(name, linux_name, leaf, subleaf, reg, bit, state) \
      if (asked_leaf != (leaf) || asked_subleaf != (subleaf)) { \
          asked_leaf = (leaf); \
          asked_subleaf = (subleaf); \
          EAX = EBX = ECX = EDX = 0; \
          if (asked_leaf <= highest) \
              __cpuid_count(asked_leaf, asked_subleaf, EAX, EBX, ECX, EDX); \
      } \
      if ((reg >> (bit) & 1) != 0 && (saved & STATE_##state) == STATE_##state) \
          machine.features |= HLI_F(name);
#  include "features.def"
#  undef FEATURE

    /* "AuthenticAMD", and "HygonGenuine", whose cores are Zen's. The first four letters are enough. */
    if (vendor == signature_AMD_ebx || vendor == 0x6f677948)
        machine.tune = tune_of_amd(model);
    else if ((machine.features & HLI_F(SHA)) != 0)
        machine.tune = HLI_TUNE_INTEL;
    return machine;
}
#elif HLI_ARM64
/* A program cannot read the CPU's own registers, so the operating system is asked. Linux answers through the C library.
 * A weak reference would spare the core that dependency, but it draws nothing out of an archive: a static program could
 * lose its kernels without a sign. The reference is therefore plain, and absent with -ffreestanding. Elsewhere the core
 * uses what the compiler may use everywhere. On Apple's systems that is everything here: SHA-3 and SHA-512 are part of
 * every CPU since the M1. */
#  if defined(__linux__) && __STDC_HOSTED__
#    include <sys/auxv.h>
#  elif !defined(getauxval) /* defined by a build that asks in its own way */
#    define AT_HWCAP      16
#    define getauxval(of) 0UL
#  endif

/* A defined feature macro is 1; an undefined one stays its own name. */
#  define TEXT(x)           #x
#  define IS_PROMISED(text) (text[0] == '1')

struct hli_machine hli_detect(void)
{
    struct hli_machine machine = {0, HLI_TUNE_TWO_PIPES};
    const unsigned long hwcap = getauxval(AT_HWCAP);

#  define FEATURE(name, linux_name, bit, macro) \
      if ((hwcap >> (bit) & 1) != 0 || IS_PROMISED(TEXT(macro))) \
          machine.features |= HLI_F(name);
#  include "features.def"
#  undef FEATURE
    /* Most cores with four vector pipes have SHA-512 instructions (not the Cortex-X1). Cores with two pipes that have
     * them, such as the Neoverse N2, come to the same choices. */
    if ((machine.features & HLI_F(SHA512)) != 0)
        machine.tune = HLI_TUNE_FOUR_PIPES;
    return machine;
}
#else
struct hli_machine hli_detect(void)
{
    return (struct hli_machine){0, HLI_TUNE_ONLY};
}
#endif
