"""mutants.py: changes that must be noticed: of the core, of the models, of the normal form and of the prover's rules.

SPDX-License-Identifier: MIT OR Apache-2.0

How each kind is tried is in prove.py.
"""

import re

# The file that is compiled, the file in core/src that is changed, text (its first place), replacement: two for each
# pair of files. Literals of instructions are changed without a list (LITERALS).
KERNEL_MUTANTS = [
    ("generic/scalar.c", "alg/sha1.lanes.h", "lv32_rol(b, 30)", "lv32_rol(b, 29)"),
    ("x86/sha.c", "x86/sha.inc.h", "g < 12", "g < 11"),
    ("x86/avx2.c", "x86/single_sha2.inc.h", "define SIGMA1_C 25", "define SIGMA1_C 26"),
    ("x86/avx512.c", "alg/kernels.inc.h", "msg, offset + (block_nbytes), part", "msg, offset, part"),
    ("arm/sha_armv8.c", "arm/sha_armv8.c", "q_u32(efgh[l], before, wk)", "q_u32(efgh[l], abcd[l], wk)"),
    ("arm/sha3.c", "words/sha3.lv.h", "64 - (n))", "63 - (n))"),
    ("generic/scalar.c", "alg/sha1.lanes.h", "e = lv32_add(e, wk);", "(void)(wk);"),
    ("generic/scalar.c", "alg/sha2.lanes.h", "lv32_shr(x, 3)", "lv32_shr(x, 4)"),
    ("generic/scalar.c", "alg/sha2.lanes.h", "lv64_ror(x, 61)", "lv64_ror(x, 60)"),
    ("x86/avx512.c", "alg/sha2.lanes.h", "LV(maj)(a, b, c)", "LV(ch)(a, b, c)"),
    ("x86/avx512.c", "alg/sha2.lanes.h", "((t) + 14) & 15", "((t) + 13) & 15"),
    ("generic/scalar.c", "alg/ripemd160.lanes.h", "F1, 15, 8, F5, 12, 6", "F1, 15, 8, F5, 12, 5"),
    ("generic/scalar.c", "alg/ripemd160.lanes.h", "lv32_rol(c##r, 10)", "lv32_rol(c##l, 10)"),
    ("x86/sse2.c", "alg/ripemd160.lanes.h", "(j) == 4 - (side) * 4", "(j) == (side) * 4"),
    ("x86/avx512.c", "alg/ripemd160.lanes.h", "(side) * 4 == (j)", "(side) * 3 == (j)"),
    ("generic/scalar.c", "alg/md5.lanes.h", "LV(andn)(z, y)", "LV(andn)(y, z)"),
    ("x86/avx512.c", "alg/md5.lanes.h", "LV(ch)(z, x, y)", "LV(ch)(z, y, x)"),
    ("generic/scalar.c", "alg/md5.lanes.h", "5 * (t) + 1", "5 * (t) + 3"),
    ("alg/constants.c", "alg/constants.c", "0x8f1bbcdc", "0x8f1bbcdd"),
    ("alg/constants.c", "alg/constants.c", "0x6c44198c4a475817", "0x6c44198c4a475816"),
    ("generic/scalar.c", "alg/blocks.inc.h", "nblocks > 0; nblocks--, offset += LV(block_nbytes)",
     "nblocks > 0; nblocks--, offset += 64"),
    ("generic/scalar.c", "words/operators.inc.h", "(x | ~y) ^ z", "(x | y) ^ z"),
    ("generic/scalar.c", "words/operators.inc.h", "(x) >> (32 - (n))", "(x) >> (31 - (n))"),
    ("x86/sse2.c", "words/sse2.lv.h", "0x1b), 0x1b", "0x1b), 0xb1"),
    ("x86/sse2.c", "words/x86.inc.h", "V_ALL(andnot)(x, y)", "V_ALL(andnot)(y, x)"),
    ("x86/avx2.c", "words/x86.inc.h", "BYTES(3, 0, 1, 2", "BYTES(3, 0, 2, 1"),
    ("x86/sse2.c", "words/x86.inc.h", "V(unpackhi_epi64)(t1, t3)", "V(unpackhi_epi64)(t1, t2)"),
    ("x86/avx2.c", "words/x86.inc.h", "V_ALL(or)(x, y))", "V_ALL(and)(x, y))"),
    ("x86/avx512vl.c", "words/x86.inc.h", "0xca", "0xac"),
    ("x86/avx512vl.c", "words/x86.inc.h", "msg[l + 4] + at", "msg[l + 3] + at"),
    ("x86/avx512.c", "words/x86.inc.h", "0x59", "0x95"),
    ("x86/avx512.c", "words/x86.inc.h", "V(rol_epi64)", "V(ror_epi64)"),
    ("arm/neon.c", "words/neon.inc.h", "vbslq_u32(veorq_u32(x, y), z, y)", "vbslq_u32(veorq_u32(x, y), y, z)"),
    ("arm/neon.c", "words/neon_load.inc.h", "vtrn2q_u64(even01, even23)", "vtrn2q_u64(even01, odd23)"),
    ("arm/ripemd160.c", "words/neon_x2.h", "msg + 4", "msg + 3"),
    ("arm/sha512.c", "arm/sha512.c", "vextq_u64(v[l][cd], v[l][ef], 1)", "vextq_u64(v[l][ef], v[l][cd], 1)"),
    ("arm/sha512.c", "arm/sha512.c", "g < 32", "g < 31"),
    ("arm/sha_armv8.c", "arm/sha_armv8.c", "e[l] += e0[l];", "e[l] ^= e0[l];"),
    ("x86/sha.c", "x86/sha.inc.h", "_mm_alignr_epi8(*w3, *w2, 4)", "_mm_alignr_epi8(*w3, *w2, 8)"),
    ("x86/sha_avx512vl.c", "x86/sha.inc.h", "vpshufd {$14", "vpshufd {$15"),
    ("x86/sha_avx512vl.c", "x86/sha.inc.h", "sha256msg2 {%%xmm2, %%xmm1|", "sha256msg2 {%%xmm1, %%xmm2|"),
    ("x86/sha512_x86.c", "x86/sha512_x86.c", "0x7f, 0xcb, 0xcc", "0x77, 0xcb, 0xc4"),
    ("x86/sha512_x86.c", "x86/sha512_x86.c", "w2, w3, 0x03", "w2, w3, 0x0f"),
    ("x86/single_sse2.c", "x86/single_sha1.inc.h", "sv_up(*x, 12)", "sv_up(*x, 8)"),
    ("x86/single_avx.c", "x86/single_sha1.inc.h", "OP(xor, d, x) OP(and, b, x)", "OP(xor, c, x) OP(and, b, x)"),
    ("x86/single_avx.c", "x86/single_sha2.inc.h", "lv32_shr(*y, 3)", "lv32_shr(*y, 4)"),
    ("x86/avx2.c", "x86/single_sha2.inc.h", "OP(add, h, d)", ""),
    ("x86/sha512_sse2.c", "x86/sha512_sse2.c", "_mm_srli_epi64(a, 39 - 32)", "_mm_srli_epi64(a, 38 - 32)"),
    ("x86/sha512_avx512vl.c", "x86/sha512_pairs.inc.h", "w[((i) + 7) & 7]", "w[((i) + 6) & 7]"),
    ("generic/scalar.c", "alg/keccak.lanes.h", "2, 43, 3, 21, 4, 14", "2, 43, 3, 20, 4, 14"),
    ("generic/scalar.c", "alg/keccak.lanes.h", "ROUND(A2, A3, rc[2])", "ROUND(A2, A3, rc[1])"),
    ("x86/avx2.c", "alg/keccak.lanes.h", "keccak_chi(b3, b4, b0,", "keccak_chi(b3, b0, b4,"),
    ("x86/avx2.c", "words/blake_rounds.inc.h", 'OPN("vpsrld", 7, x, 8)', 'OPN("vpsrld", 6, x, 8)'),
    ("x86/single_avx.c", "x86/single_blake3.inc.h", "m[2][v], 8), 0, 1, 3, 2)", "m[2][v], 8), 0, 1, 2, 3)"),
    ("x86/avx2.c", "x86/single_blake3.inc.h", "(m[1][0], m[3][1], 8, 7)", "(m[1][0], m[3][0], 8, 7)"),
    ("generic/scalar.c", "alg/blake.lanes.h", "ROUND(12, 13, 9, 11, 15", "ROUND(13, 12, 9, 11, 15"),
    ("generic/scalar.c", "alg/blake.lanes.h", "v15, LV(splat)(~UINT32_C(1))", "v15, LV(splat)(~UINT32_C(0))"),
    ("arm/sha3.c", "words/sha3.lv.h", "vbcaxq_u64(x, z, y)", "vbcaxq_u64(x, y, z)"),
    ("arm/neon.c", "words/neon.lv.h", "vbicq_u64(z, y)", "vbicq_u64(y, z)"),
    ("x86/avx512.c", "words/avx512.lv.h", "n < 8 ? (1u << n) - 1 : 0xff", "0xff"),
    ("wasm/simd128.c", "words/simd128.lv.h", "bitselect(z, y, wasm_v128_xor", "bitselect(y, z, wasm_v128_xor"),
    ("wasm/simd128.c", "words/simd128.lv.h", "shuffle(t1, t3, 1, 3)", "shuffle(t1, t3, 1, 2)"),
    ("wasm/simd128_mixed.c", "words/simd128_mixed.lv.h", "(msg[2] + offset", "(msg[1] + offset"),
    ("wasm/single.c", "wasm/single_sha2.inc.h", "lv32_shr(y, 3)", "lv32_shr(y, 4)"),
    ("wasm/single.c", "wasm/single_sha2.inc.h", "upper, none, 4, 4, 0, 2", "upper, none, 4, 4, 2, 0"),
    ("wasm/single.c", "wasm/single_sha1.inc.h", "x, 0, 0, 0, 4), 2)", "x, 0, 0, 0, 4), 1)"),
]
# The same for chains: the digest's place, the count, the last step, what each step begins with.
CHAIN_MUTANTS = [
    ("x86/sse2.c", "alg/sha2.lanes.h", "moved = lv32_shr(x, 16)", "moved = lv32_shr(x, 24)"),
    ("x86/sse2.c", "alg/sha2.lanes.h", "UINT32_C(0x1000000) >> 8 *", "UINT32_C(0x2000000) >> 8 *"),
    ("x86/sse2.c", "alg/sha2.lanes.h", "if (left == 1)", "if (left <= 2)"),
    ("x86/avx2.c", "alg/sha2.lanes.h", "if (left == 1)", "if (left == 1 || left == 1000)"),
    ("x86/sse2.c", "alg/sha2.lanes.h", "lv32_load(begin + (i) * LANES)", "lv32_load(fourth + (i) * LANES)"),
    ("x86/sse2.c", "alg/sha2.lanes.h", "ROUND(FIRST(3)", "ROUND(FIRST(2)"),
    ("arm/neon.c", "alg/sha2.lanes.h", "lv32_xor(before, LOWER_HALF(w[i + n]))", "before"),
    ("x86/sse2.c", "alg/keccak.lanes.h", "(i + j) * LV64_LANES, lv64_load(s + j",
     "(i + (j ^ 1)) * LV64_LANES, lv64_load(s + j"),
    ("x86/avx2.c", "alg/keccak.lanes.h", "8 * (links->count_at % 8)", "8 * (links->count_at % 4)"),
    ("wasm/simd128.c", "alg/keccak.lanes.h", "if (left == 1)", "if (left == 2)"),
    ("x86/sha.c", "x86/sha.inc.h", "= 16 + b - links->at;", "= 17 + b - links->at;"),
    ("x86/sha.c", "x86/sha.inc.h", "i < links->nbytes ? 0 : 0xff", "i <= links->nbytes ? 0 : 0xff"),
    ("x86/sha.c", "x86/sha.inc.h", "one[links->count_at % 16 ^ 3] = 1", "one[links->count_at % 16 ^ 3] = 2"),
    ("x86/sha.c", "x86/sha.inc.h", "rings[l][0] = words0[l];", ""),
]
# The same for what is around the kernels.
EDGE_MUTANTS = [
    ("edges.c", "edges.h", "nbytes >> 61", "nbytes >> 60"),
    ("many.c", "many.c", "nbytes[l] - nwhole", "nbytes[l] & 63"),
    ("edges.c", "edges.h", ">> 8 * (15 - nbytes) >> 8", ">> 8 * (15 - nbytes) >> 7"),
    ("edges.c", "edges.c", "= 0x80}", "= 0x40}"),
    ("lanes.c", "edges.h", "(uint64_t)s[0] << 32 | s[nlanes]", "(uint64_t)s[nlanes] << 32 | s[0]"),
    ("edges.c", "edges.h", "*word >> 8 * i", "*word >> 4 * i"),
    ("x86/avx512.c", "x86/avx512.c", "0x80, (long long)", "0x40, (long long)"),
    ("lanes.c", "lanes.c", "left[l] < nblocks ? left[l] : nblocks", "left[l] > nblocks ? left[l] : nblocks"),
    ("edges.c", "edges.h", "(uint64_t)suffix << 8 * (n % 8)", "(uint64_t)suffix << 8 * (n % 4)"),
    ("edges.c", "edges.h", "one_bit = UINT64_C(1) << 63", "one_bit = UINT64_C(1) << 62"),
]
# Changes that a proof is blind to if it does not look at everything: half of them are tried each time.
#  - a part of a sum taken for the sum
#  - a loop that goes wrong from its second turn on
#  - words behind the state, and the words of another row
#  - addresses that are not as aligned as an instruction needs
#  - a variable of the program
#  - a branch on data
#  - lengths cut to 32 bits
#  - words behind a message, and the size of a block
#  - a loop that goes wrong for some large numbers of blocks, or beyond some
#  - the value of an address
#  - an instruction that the chosen instruction sets lack
LOOP = "for (size_t offset = 0; nblocks > 0;"
BLIND_MUTANTS = [
    ("generic/scalar.c", "alg/blocks.inc.h", LOOP, "if (nblocks == 1000) nblocks = 999; " + LOOP),
    ("generic/scalar.c", "alg/blocks.inc.h", LOOP,
     "if (nblocks >= 64 && nblocks >> 32 == 0) nblocks--; " + LOOP),
    ("x86/sse2.c", "alg/blocks.inc.h", LOOP, "if (nblocks == 100) nblocks = 99; " + LOOP),
    ("generic/scalar.c", "alg/blocks.inc.h", "nblocks > 0; nblocks--",
     "nblocks > 0; nblocks -= 1 + (nblocks == 9999)"),
    ("x86/sha.c", "x86/sha.inc.h", "nblocks--, offset += 64", "nblocks--, offset = (offset + 64) & 0xffffff"),
    ("x86/avx2.c", "x86/single_sha2.inc.h", "nblocks -= n;", "nblocks -= n; if (nblocks == 1001) nblocks--;"),
    ("x86/sha512_x86.c", "x86/sha512_x86.c", LOOP, LOOP.replace("= 0", "= (uintptr_t)s >> 40 == 7")),
    ("generic/scalar.c", "alg/sha2.lanes.h", "d = LV(add)(d, h);", "d = LV(add)(d, h & 0xffff);"),
    ("x86/avx2.c", "x86/single_sha2.inc.h", "m += n * 16 * sizeof(WORD);",
     "m = msg[0] + n * 16 * sizeof(WORD);"),
    ("x86/avx2.c", "x86/single_sha1.inc.h", "m += n * 64;", "m = msg[0] + n * 64;"),
    ("generic/scalar.c", "alg/sha1.lanes.h", "lv32_store(s, lv32_add(lv32_load(s), a));",
     "lv32_store(s + 5 * LV32_LANES, a); lv32_store(s, lv32_add(lv32_load(s), a));"),
    ("x86/avx512.c", "alg/blocks.inc.h", "(words + i * LV(nlanes))", "(words + (i ^ 1) * LV(nlanes))"),
    ("x86/sha.c", "x86/sha.inc.h", "_mm_loadu_si128", "_mm_load_si128"),
    ("generic/scalar.c", "alg/blocks.inc.h", LOOP, "static size_t calls; " + LOOP.replace("0", "calls++ >> 9", 1)),
    ("generic/scalar.c", "alg/md5.lanes.h", "LV(store)(s, LV(add)(LV(load)(s), a));",
     "LV(store)(s, LV(add)(LV(load)(s), a)); if (s[0] == 0x12345678) LV(store)(s + 1, a);"),
    ("generic/scalar.c", "alg/blocks.inc.h", LOOP, LOOP.replace("size_t", "uint32_t")),
    ("generic/scalar.c", "alg/blocks.inc.h", "nblocks > 0; nblocks--", "(uint32_t)nblocks > 0; nblocks--"),
    ("x86/sha.c", "x86/sha.inc.h", "nblocks > 0; nblocks--", "(uint32_t)nblocks > 0; nblocks--"),
    ("x86/sha.c", "x86/sha.inc.h", "nblocks > 1 ?", "nblocks > 0 ?"),
    ("x86/sse2.c", "alg/keccak.lanes.h", "offset + 8 * i, nwords - i", "offset + 8 * i, nwords"),
    ("generic/scalar.c", "alg/keccak.lanes.h", "offset += block_nbytes", "offset += 136"),
    ("wasm/simd128.c", "alg/blocks.inc.h", LOOP, LOOP.replace("size_t", "uint16_t")),
    ("wasm/simd128_mixed.c", "alg/blocks.inc.h", LOOP, "if (nblocks == 1000) nblocks = 999; " + LOOP),
    ("wasm/simd128_mixed.c", "words/simd128_mixed.lv.h", "p[2] = x.s;", "p[3] = x.s;"),
]
BLIND_EDGE_MUTANTS = [
    ("api.c", "lanes.h", "const size_t nblocks = hli_whole_blocks(alg, nbytes);\n        hli_advance",
     "const size_t nblocks = hli_whole_blocks(alg, (uint32_t)nbytes);\n        hli_advance"),
    ("api.c", "lanes.h", "nbefore += nbytes;", "nbefore = (uint32_t)(nbefore + nbytes);"),
    ("lanes.c", "lanes.c", "e->nbytes - e->nrest, 1", "(uint32_t)(e->nbytes - e->nrest), 1"),
    ("lanes.c", "lanes.c", "msg[l] += nblocks *", "msg[l] += (uint32_t)nblocks *"),
    ("lanes.c", "lanes.c", "left[l] -= nblocks;", "left[l] = (uint32_t)(left[l] - nblocks);"),
    ("many.c", "algorithms.h", "nbytes >> 16 >> 16 == 0 ? (uint32_t)", "nbytes != 1 ? (uint32_t)"),
    ("many.c", "many.c", "columns.nbytes[i] = message.nbytes;\n        columns.to[i]",
     "columns.nbytes[i] = all->nbytes;\n        columns.to[i]"),
    ("blake3.c", "blake3.c", "last[l] = tree->mode | kind->last;", "last[l] = tree->mode;"),
    ("lanes.c", "lanes.c", "left[l] -= nblocks;",
     'left[l] -= nblocks; __asm__ volatile("vzeroupper" ::: "memory");'),
]
# Around the kernels of AVX-512: an emulated call must return something else.
EMULATED_MUTANTS = [
    ("x86/avx512.c", "words/avx512.lv.h",
     "lv32_add(lv32_lengths(nbytes),", "lv32_add(lv32_splat((uint32_t)nbytes[0]),"),
    ("search.c", "search.c", "table[l] >> 8 * at", "table[l] >> 4 * at"),
    ("pbkdf2.c", "pbkdf2.c", "iteration = 1;", "iteration = 2;"),
    ("streams.c", "streams.c", "hli_rest_of_block(info, ctx->nbytes)", "ctx->nbytes % 32"),
    ("hmac.c", "hmac.c", "0x5c", "0x5d"),
    ("lanes.c", "lanes.c", "if (ctx->nbytes != 0)", "if (ctx->nbytes == 1)"),
]
# words.py is changed, and its own check must notice.
FORM_MUTANTS = [
    (" and x.span == full:", ":"),
    ("sums[number][0] >= n and", ""),
    ("count == 1 and x.span & constant == 0", "count == 1"),
    ("and conj(x, y) == 0:", "and x.span & 1 == 0:"),
    ("constant -= count\n", "constant += count\n"),
    ("alone &= ~mask", "alone &= mask"),
    ("(y, count * c) for y", "(y, count) for y"),
    ("+ k) % widths[a >> 6]", "+ k) % 64"),
    ("not int and x.span & y.span == 0", "not int and x.span & y.span & 1 == 0"),
    ("if x.span & y.span == 0:", "if x.span & y.span & 1 == 0:"),
    ("constant & (1 << k) - 1 == 0", "constant & (1 << k - 1) - 1 == 0"),
    ("((low, 0), (high, 32))", "((low, 0), (high, 31))"),
    ("else xor(part, part.terms[0][1])", "else part"),
    ("made({(): items[0][1], **", "made({**"),
]
# File, text, replacement, the beginning of the kernels that must no longer be proved.
MODEL_MUTANTS = [
    ("x86.py", "rol(x[3], 30, 32)", "rol(x[3], 29, 32)", "sha1_blocks_sha"),
    ("x86.py", "6, 11, 25", "6, 11, 24", "sha256_blocks_sha"),
    ("x86.py", "14, 18, 41", "14, 18, 40", "sha512_blocks_sha512"),
    ("x86.py", "(1, 8, 7)", "(1, 8, 6)", "sha512_blocks_sha512"),
    ("x86.py", "19, 61, 6", "19, 60, 6", "sha512_blocks_sha512"),
    ("x86.py", "source(m, c, 64, 2))", "source(m, c, 64, 2)[::-1])", "sha512_blocks_sha512"),
    ("x86.py", "list(y) + list(x)", "list(x) + list(y)", "sha256_blocks_sha"),
    ("x86.py", "17, 19, 10", "17, 19, 11", "sha256_blocks_sha"),
    ("x86.py", "return [w19, w18, w17, w16]", "return [w19, w18, w16, w17]", "sha1_blocks_sha_x"),
    ("x86.py", "0x8F1BBCDC", "0x8F1BBCDD", "sha1_blocks_sha"),
    ("x86.py", "conj(xor(x, FULL[w]), y)", "conj(x, xor(y, FULL[w]))", "ripemd160_blocks_sse2"),
    ("x86.py", "-c.get(m) % a.width", "c.get(m) % a.width", "sha512_blocks_avx2_x1"),
    ("a64.py", "sigma(32, y[0], 6, 11, 25)", "sigma(32, y[0], 6, 11, 26)", "sha256_blocks_sha"),
    ("a64.py", "majority(64, x[0], y[1], y[0])", "majority(64, x[1], y[1], y[0])", "sha512_blocks_sha512"),
    ("a64.py", "rol(t[0], 2, 32)", "rol(t[0], 1, 32)", "sha1_blocks_sha_x"),
    ("a64.py", "rol(y, 1, w)", "rol(y, 2, w)", "keccak_blocks_sha3"),
    ("wasm.py", "table(0xCA, z, x, y)", "table(0xCA, z, y, x)", "sha256_blocks_simd128"),
    ("wasm.py", "conj(x, xor(y, FULL[64]))", "conj(y, xor(x, FULL[64]))", "keccak_blocks_simd128"),
    ("wasm.py", "rol(x, k, n) if k else x", "rol(x, n - k, n) if k else x", "md5_blocks_scalar"),
    ("a64.py", ">> i), shr(b, i))", ">> i), shr(b, i - 1))", "sha1_blocks_neon"),
]
# Changes of a kernel that a single guard of the prover notices: the kernel, the file that is compiled, the file in
# core/src that is changed, text, replacement; then the prover's file, the guard's text, and the text with which the
# change passes.
RIPEMD160 = "ripemd160_blocks_avx2_x1", "x86/single_ripemd160.c"
SHA512, SHA512_2 = ((f"sha512_blocks_sha512_x{n}", "x86/sha512_x86.c") for n in (1, 2))
COPIED, TURN = "hli_copy(w, msg[0] + offset, 64);", "nblocks > 0; nblocks--, offset += 128) {"
GUARDS = [
    (*RIPEMD160, "words/bmi.h", COPIED, COPIED + " ((uint8_t *)msg[0])[offset] = 0;",
     "machine.py", "may = any(low <= address and address + nbytes <= high for low, high in self.areas)", "may = True"),
    (*RIPEMD160, "words/bmi.h", COPIED, COPIED + " (void)*(const volatile uint8_t *)(msg[0] + offset + 64);",
     "induction.py", "if not 0 <= at <= at + nbytes <= self.block_nbytes * m.counting.interval(m.left)[0]:",
     "if False:"),
    (*RIPEMD160, "words/bmi.h", "lv32 x = *p;", "lv32 x = *p; (void)((const volatile uint32_t *)p)[5];",
     "machine.py", 'raise Fault(f"read of {4 * i:#x}, which nobody wrote")', "return 0"),
    (*RIPEMD160, "words/bmi.h", COPIED, COPIED + ' __asm__ volatile("movb $0, -200(%rsp)");',
     "x86.py", 'return m.r["rsp"] - (128 if m.image.word_nbytes == 8 else 0)', "return 0"),
    (*SHA512, "x86/sha512_x86.c", TURN, TURN + " ((uint64_t *)__builtin_frame_address(0))[2] = 0;",
     "machine.py", " and address + nbytes <= self.stack_end", ""),
    (*SHA512, "x86/sha512_x86.c", TURN, TURN + " volatile uint64_t *frame = "
     "__builtin_frame_address(0); frame[1] = frame[1];",
     "machine.py", "low < address + nbytes and address < high", "False"),
    (*RIPEMD160, "words/bmi.h", COPIED, COPIED + ' __asm__ volatile("movq -200(%%rsp), %%rax" ::: "rax");',
     "machine.py", "address < self.image.isa.stack_begin(self):", "False:"),
    (*RIPEMD160, "words/bmi.h", COPIED, COPIED + ' __asm__ volatile("lea 4096(%rsp), %rsp; lea -4096(%rsp), %rsp");',
     "machine.py", "if type(to) is not int or not self.stack_low <= to <= self.calls[-1][0]:", "if False:"),
    (SHA512[0], "arm/sha512.c", "arm/sha512.c", TURN, TURN + ' __asm__ volatile("sub sp, sp, 8; str x30, [sp], 8");',
     "a64.py", "if self.base.number == 31 and base % 16:", "if False:"),
    (SHA512[0], "arm/sha512.c", "arm/sha512.c", TURN, TURN +
     ' __asm__ volatile("mov x17, x30; bl 1f; b 2f; 1: ret x17; 2: mov x30, x17" ::: "x17");',
     "a64.py", "register.get(m) if register else m.r[30]", "m.r[30]"),
    (*SHA512, "x86/sha512_x86.c", TURN, TURN + ' __asm__ volatile("xorl %ebx, %ebx");',
     "x86.py", 'names = ["rbx", "rbp", *more]', "names = []"),
    (*SHA512_2, "x86/sha512_x86.c", "load_words(s, N, l, 0)", "load_words(s, N, l ^ (N == 2), 0)",
     "prove.py", 'variable(("state", lane, i)', 'variable(("state", 0, i)'),
    (*SHA512_2, "x86/sha512_x86.c", "(msg[l] + offset) + i)", "(msg[l ^ (N == 2)] + offset) + i)",
     "prove.py", 'variable(("message", lane, ', 'variable(("message", 0, '),
    (*RIPEMD160, "words/bmi.h", COPIED, COPIED + ' __asm__ volatile("vpxord %xmm16, %xmm16, %xmm16");',
     "x86.py", "not has.issuperset(features_of(text))", "False"),
    (*RIPEMD160, "alg/blocks.inc.h", "msg, offset, NULL, 0);\n    }\n",
     'msg, offset, NULL, 0);\n    } __asm__ volatile("vpxor %ymm0, %ymm0, %ymm0");\n',
     "x86.py", "if pc == m.stop and m.is_dirty:", "if False:"),
    (*RIPEMD160, "words/bmi.h", COPIED,
     COPIED + ' __asm__ volatile("vpxor %%ymm0, %%ymm0, %%ymm0; pxor %%xmm0, %%xmm0; vzeroupper" ::: "xmm0");',
     "x86.py", "if legacy and m.is_dirty:", "if False:"),
    (SHA512[0], "arm/sha512.c", "arm/sha512.c", TURN, TURN + ' __asm__ volatile("sha1h s31, s31");',
     "a64.py", "if need not in features and name not in BASE:", "if False:"),
    (SHA512[0], "arm/sha512.c", "arm/sha512.c", TURN, TURN + ' __asm__ volatile("mov x28, 0");',
     "a64.py", "*m.r[19:30], m.r[31]", "m.r[31]"),
    (*RIPEMD160, "alg/blocks.inc.h", LOOP,
     'size_t q = 5; __asm__("" : "+r"(q)); nblocks = nblocks >= q ? 5 : nblocks; ' + LOOP,
     "induction.py", "if least != most:", "if False:"),
    (*RIPEMD160, "alg/blocks.inc.h", "nblocks > 0; nblocks--, offset +=",
     "nblocks > 0; nblocks--, offset += (offset == 64 * 9) * -64 +",
     "induction.py", "lost.add(place)", "pass"),
    (*RIPEMD160, "alg/blocks.inc.h", LOOP, "if (nblocks == 1000) nblocks = 999; " + LOOP,
     "induction.py", "return ways", "return ways[1:]"),
    (*RIPEMD160, "words/bmi.h", COPIED, COPIED.replace("offset", "(offset > 192 ? 192 : offset)"),
     "induction.py", "m.counting.stand(None, (word, 1))", "pass"),
    (*RIPEMD160, "alg/blocks.inc.h", LOOP, "if (nblocks - 2 > (size_t)7 << 60) nblocks--; " + LOOP,
     "counting.py", "return low + constant >= 0 and high + constant >> self.nbits == 0", "return True"),
    (*RIPEMD160, "alg/blocks.inc.h", LOOP,
     'size_t q = nblocks; __asm__("shl $60, %0" : "+r"(q)); if (q == 0) nblocks = 7; ' + LOOP,
     "counting.py", "max(map(abs, found)) * abs(divisor) >> self.nbits - 1", "False"),
]
# What a kernel does before it returns, that its caller would notice, or a signal: the target, a kernel that is quickly
# proved, and instructions as objdump, or wasm.py, writes them.
CALLER_MUTANTS = [(target, kernel, *(text.replace(" ", "\t" if target == "aarch64" else " ", 1)
                                      for text in texts.split("; "))) for target, kernel, all_texts in (
    ("x86-64", "sha256_blocks_sha_x1", """
        add rsp,0x8; sub rsp,0x8; push rax; pop rax
        add rsp,0x8; sub rsp,0x8
        lea rsp,[rsp-0x8]
        mov rsp,rax
        mov esp,esp
        mov sp,ax
        xchg rsp,rax; xchg rsp,rax
        push ax; pop ax
        pop rcx; jmp rcx
        pop rcx; add rsp,0x8; jmp rcx
        pop rcx; push rcx
        mov rcx,QWORD PTR [rsp]; jmp rcx
        push rcx
        push QWORD PTR [rsp]
        mov QWORD PTR [rsp],rcx
        mov BYTE PTR [rsp+0x7],cl
        mov ecx,DWORD PTR [rsp]; mov QWORD PTR [rsp],rcx
        mov QWORD PTR [rsp+0x8],rcx
        mov QWORD PTR [rsp+0x100],rcx
        movups XMMWORD PTR [rsp-0x8],xmm0
        mov BYTE PTR [rsp-0x81],cl
        mov ecx,esp; mov BYTE PTR [rcx-0x1],cl
        mov BYTE PTR [esp-0x1],cl
        mov BYTE PTR fs:[rsp-0x1],cl
        inc rbx
        mov bl,0x1
        mov bh,0x1
        mov ebx,ebx
        inc rbp
        mov bp,0x1
        inc r12
        inc r13
        inc r14
        mov r15d,r15d
        std
        popf
        stmxcsr DWORD PTR [rsp-0x8]; ldmxcsr DWORD PTR [rsp-0x8]
        vldmxcsr DWORD PTR [rsp-0x8]
        fldcw WORD PTR [rsp-0x8]
        fld1
        fninit
        movd mm0,eax
        movdq2q mm0,xmm0
        emms
        vpxor ymm0,ymm0,ymm0
        data16 cs pop rbx
        data16 ret
        ret 0x8"""),
    ("i686", "sha512_blocks_sse2_x1", """
        add esp,0x4; sub esp,0x4
        add esp,0x4
        lea esp,[esp-0x4]
        pop ecx; jmp ecx
        pop ecx; add esp,0x4; jmp ecx
        mov DWORD PTR [esp],ecx
        mov DWORD PTR [esp+0x80],ecx
        mov BYTE PTR [esp-0x1],cl
        push ecx; pop ecx; mov ecx,DWORD PTR [esp-0x4]
        inc ebx
        inc ebp
        mov si,0x1
        inc edi
        std
        fldcw WORD PTR [esp]
        ret 0x4"""),
    ("aarch64", "sha256_blocks_sha_x1", """
        add sp, sp, #0x10
        add sp, sp, #0x10; sub sp, sp, #0x10
        sub sp, sp, #0x10
        mov wsp, wsp
        sub sp, sp, #0x8; str x0, [sp], #8
        str x0, [sp, #-16]
        str x0, [sp]
        str x0, [sp, #16]
        str x0, [sp, #-16]!; add sp, sp, #0x10; ldr x0, [sp, #-16]
        br x30
        mov w30, w30
        mov x30, x1
        ret x1
        mov x19, x0
        add x20, x20, #0x1
        add x21, x21, #0x1
        add x22, x22, #0x1
        add x23, x23, #0x1
        add x24, x24, #0x1
        add x25, x25, #0x1
        add x26, x26, #0x1
        mov w27, w27
        add x28, x28, #0x1
        mov x29, sp
        movi v8.4s, #0x0
        mov v9.b[7], w0
        mov v10.d[0], x0
        fmov d11, x0
        eor v12.16b, v12.16b, v0.16b
        ldr d13, [x0]
        mov v14.16b, v0.16b
        shl v15.2d, v15.2d, #1
        msr fpcr, x0
        msr tpidr_el0, x0"""),
    ("wasm32", "sha512_blocks_scalar", """
        global.get 0; i32.const 16; i32.add; global.set 0
        global.get 0; i32.const 16; i32.sub; global.set 0
        global.get 0; i32.const 0; i32.store 0
        global.get 0; i32.const 256; i32.sub; i32.const 0; i32.store 0"""),
) for texts in all_texts.strip().split("\n        ")]
# Instructions that fill the room before a loop: they change nothing.
FILLERS = {nbytes: re.split(r"; |\n +", texts) for nbytes, texts in {
    8: """nop; xchg ax,ax; data16 xchg ax,ax; nop DWORD PTR [rax]; nop DWORD PTR [rax+rax*1+0x0]
        nop WORD PTR [rax+rax*1+0x0]; nop WORD PTR cs:[rax+rax*1+0x0]; cs nop WORD PTR [rax+rax*1+0x0]
        data16 cs nop WORD PTR [rax+rax*1+0x0]; data16 data16 data16 nop WORD PTR cs:[rax+rax*1+0x0]; addr32 nop
        nopw 0x0(%rax,%rax,1); lea rsi,[rsi+riz*1+0x0]; lea rdi,cs:[rdi+0x0]; mov rsi,rsi""",
    4: """nop; xchg ax,ax; mov esi,esi; lea esi,[esi+0x0]; lea esi,[esi+eiz*1+0x0]; lea esi,cs:[esi+eiz*1+0x0]
        lea esi,ds:[esi+eiz*1+0x0]; cs lea esi,[esi+eiz*1+0x0]; lea edi,[edi]; lea edi,es:[edi+eiz*1]
        nop DWORD PTR [eax+0x0]; nop WORD PTR cs:[eax+eax*1+0x0]; data16 cs nop WORD PTR [eax+eax*1+0x0]""",
}.items()}
# Instructions with a literal that is changed by one.
LITERALS = re.compile(r"v?(rorx|ror|p(sll|srl)[dq]|pro[lr][dq]|palignr|pternlog[dq]|sha1rnds4)|shl|ushr|sri|xar|ext|"
                      r"i8x16.shuffle")


def stale(core, here):
    """Changes whose text is not in its file any more. core: the folder of the core's sources; here: of this file."""
    of_core = [*KERNEL_MUTANTS, *EDGE_MUTANTS, *BLIND_MUTANTS, *BLIND_EDGE_MUTANTS, *EMULATED_MUTANTS, *CHAIN_MUTANTS,
               *(guard[1:] for guard in GUARDS)]
    of_prover = [*(("words.py", old) for old, _ in FORM_MUTANTS), *((file, old) for file, old, *_ in MODEL_MUTANTS),
                 *((file, old) for *_, file, old, _ in GUARDS)]
    texts = [(core / file, old) for _, file, old, *_ in of_core] + [(here / file, old) for file, old in of_prover]
    return [f"{file.name} no longer has the text of a mutant: {old}" for file, old in texts
            if old not in file.read_text()]
