/* build.h: included before every file of the core when it is compiled to assembly for Go.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The assembly is raw bytes, in which nothing can be relocated. Tables of addresses and writable words are therefore
 * symbols of their own in Go's assembly, which Go's linker places. The code itself still computes the addresses that
 * the tables had when text.py linked it; the macros below move these addresses.
 */
#ifndef HLI_GO_BUILD_H
#define HLI_GO_BUILD_H

#include <stdint.h>

/* The addresses of both when the code was linked (core.ld). */
extern const char hli_linked_tables[] __attribute__((visibility("hidden")));
extern char hli_linked_words[] __attribute__((visibility("hidden")));
/* The addresses of both now: the last two functions of the text, in Go's own assembly. */
const char *hli_tables(void) __attribute__((const, visibility("hidden")));
char *hli_words(void) __attribute__((const, visibility("hidden")));

#define HLI_TABLE(table) \
    ((__typeof__(&(table)[0]))((uintptr_t)hli_tables() + ((uintptr_t)(table) - (uintptr_t)hli_linked_tables)))
#define HLI_WORD(word) \
    (*(__typeof__(word) *)((uintptr_t)hli_words() + ((uintptr_t)&(word) - (uintptr_t)hli_linked_words)))

/* aarch64: Go has asked the operating system (entry.c). */
extern uint64_t hli_go_hwcap __attribute__((visibility("hidden")));
#define AT_HWCAP      16
#define getauxval(of) HLI_WORD(hli_go_hwcap)

#endif
