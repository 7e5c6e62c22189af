/* sha.inc.h: SHA-1 and SHA-256 over the x86 SHA instructions, 1 to 4 messages interleaved. Included by sha.c and
 * sha_avx512vl.c.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A single message leaves the SHA unit waiting for its own last result (sha256rnds2 takes 4 cycles, and one starts
 * every one or two). Interleaving the rounds of several messages fills the gaps. Instructions: Intel SDM volume 2B,
 * SHA1RNDS4 to SHA256RNDS2.
 *
 * The includer defines SHA_TARGET, the attributes of the functions, and SHA_32_REGISTERS: 1 if there are 32 XMM
 * registers, otherwise 0.
 */
#define SHA_FN     SHA_TARGET HLI_INLINE

/* Words w .. w + 3 of message l in the state, the first in the lowest lane. The state of a single message is loaded and
 * stored whole: a load of 16 bytes right after four stores of 4 would wait for the stores to leave the store buffer. */
SHA_FN __m128i load_words(const uint32_t *s, unsigned N, unsigned l, unsigned w)
{
    if (N == 1)
        return _mm_loadu_si128((const __m128i *)(s + w));
    return _mm_set_epi32((int)s[(w + 3) * N + l], (int)s[(w + 2) * N + l], (int)s[(w + 1) * N + l], (int)s[w * N + l]);
}

SHA_FN void store_words(uint32_t *s, unsigned N, unsigned l, unsigned w, __m128i x)
{
    if (N == 1) {
        _mm_storeu_si128((__m128i *)(s + w), x);
        return;
    }
    s[w * N + l] = (uint32_t)_mm_cvtsi128_si32(x);
    s[(w + 1) * N + l] = (uint32_t)_mm_extract_epi32(x, 1);
    s[(w + 2) * N + l] = (uint32_t)_mm_extract_epi32(x, 2);
    s[(w + 3) * N + l] = (uint32_t)_mm_extract_epi32(x, 3);
}

/* Makes the compiler treat the new copy as another value. It then moves the copy, or stores it, and works on the
 * original in place, and the chain from block to block waits for no move (2% with one message). */
#define KEPT_COPY(x)   __asm__("" : "+x"(x))
#define STORED_COPY(x) __asm__("" : "+m"(x))

/* Prefetches the message's next lines while this block is hashed. One stream advances too slowly for the hardware to
 * run ahead of it across pages (one message of 256 MiB on Granite Rapids: 1.11 -> 1.78 GB/s; 4096 bytes are no better).
 * A prefetch beyond the end of the message does no harm, as it does not fault. */
#define PREFETCH(p) _mm_prefetch((const char *)((uintptr_t)(p) + 512), _MM_HINT_T0)

#define REVERSED(x) _mm_shuffle_epi32(x, 0x1b)

/* The schedule of a message is a ring of quadruples of words. Quadruple q is at q & 3, with SHA-1 at q & 7.
 *
 * Three and four messages have too many for 16 registers. There the state and each ring's last quadruple stay in
 * registers, and all quadruples are in memory. The last one is needed at once: a load right after its store would
 * lengthen the chain from quadruple to quadruple (SHA-256, four messages, Zen 3: 60 cycles a block instead of 54).
 *
 * Left to themselves, compilers mix the steps of the messages, keep the state in memory too, and copy as many registers
 * as they hash (SHA-256, four messages, Zen 4: 65 cycles a block by gcc 12, 106 by clang 14, now 53 by both). */
#define IN_MEMORY(N) ((N) > 2 && !SHA_32_REGISTERS)

/* Marks at which a message's values are in registers. Volatile: no mark moves beyond another. */
#define IN_ORDER(a, b)             __asm__ volatile("" : "+x"(a), "+x"(b))
#define IN_ORDER3(a, b, c)         __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c))
/* These values are loaded from memory from here on. */
#define FROM_MEMORY(a, b, c, d, e) __asm__("" : "+m"(a), "+m"(b), "+m"(c), "+m"(d), "+m"(e))

/* Quadruple i of a block. *last is the last quadruple of the ring. */
SHA_FN void load_quadruple(__m128i ring[], __m128i *last, unsigned i, const uint8_t *block, __m128i swap)
{
    ring[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)block + i), swap);
    if (i == 3)
        *last = ring[3];
}

SHA_FN void load_block(__m128i ring[], __m128i *last, const uint8_t *block, __m128i swap)
{
    UNROLLED(4)
    for (unsigned i = 0; i < 4; i++)
        load_quadruple(ring, last, i, block, swap);
}

/* Loads block number `at` of four whole messages, with its padding: quadruple i of message l is words[l][i]. `swap`
 * puts the bytes of a quadruple in order; its last word is then in this lane, 0 or 3. */
typedef void load_padded_fn(const struct hli_whole *whole, const uint8_t *const data[], const size_t nbytes[],
                            unsigned at, __m128i swap, int last_lane, __m128i words[4][4]);

/* The length of a message in bits, where it stands in the last quadruple of its last block; otherwise 0. */
SHA_FN __m128i nbits_of(const struct hli_whole *whole, size_t nbytes, unsigned at, int last_lane)
{
    const int nbits = hli_ends_in(whole, at) ? (int)((whole->before + (uint32_t)nbytes) << 3) : 0;

    return last_lane == 0 ? _mm_cvtsi32_si128(nbits) : _mm_set_epi32(nbits, 0, 0, 0);
}

/* ---- SHA-256: the instructions keep the state as ABEF and CDGH, the first letter in the highest lane. ---- */

SHA_FN void sha256_load(unsigned N, const uint32_t *s, __m128i abef[4], __m128i cdgh[4])
{
    EACH_MESSAGE(l) {
        const __m128i dcba = REVERSED(load_words(s, N, l, 0)), hgfe = REVERSED(load_words(s, N, l, 4));
        abef[l] = _mm_unpackhi_epi64(hgfe, dcba);
        cdgh[l] = _mm_unpacklo_epi64(hgfe, dcba);
    }
}

SHA_FN void sha256_store(unsigned N, uint32_t *s, const __m128i abef[4], const __m128i cdgh[4])
{
    EACH_MESSAGE(l) {
        store_words(s, N, l, 0, REVERSED(_mm_unpackhi_epi64(cdgh[l], abef[l])));
        store_words(s, N, l, 4, REVERSED(_mm_unpacklo_epi64(cdgh[l], abef[l])));
    }
}

/* The sum with the state before the block. */
SHA_FN void sha256_add(unsigned N, __m128i abef[4], __m128i cdgh[4], const __m128i abef0[4], const __m128i cdgh0[4])
{
    EACH_MESSAGE(l) {
        abef[l] = _mm_add_epi32(abef[l], abef0[l]);
        cdgh[l] = _mm_add_epi32(cdgh[l], cdgh0[l]);
    }
}

/* Four rounds with quadruple g of the schedule.
 *
 * The SHA instructions can name only the lower 16 registers, and overwrite an operand. With 32 registers the schedule
 * stays in the upper ones, and copies of it, which cost a modern core next to nothing, are worked on in xmm0 to xmm2.
 * The text of assembly has both dialects, -masm=att and -masm=intel. */
#if SHA_32_REGISTERS
typedef uint32_t sha_words __attribute__((vector_size(16)));
#  define ROUNDS \
      "vpaddd {%[k], %[w0], %%xmm0|xmm0, %[w0], %[k]}\n\t" \
      "sha256rnds2 {%%xmm0, %[abef], %[cdgh]|%[cdgh], %[abef], xmm0}\n\t" \
      "vpshufd {$14, %%xmm0, %%xmm0|xmm0, xmm0, 14}\n\t" \
      "sha256rnds2 {%%xmm0, %[cdgh], %[abef]|%[abef], %[cdgh], xmm0}\n\t"

SHA_FN void sha256_last_rounds(unsigned N, __m128i *abef, __m128i *cdgh, const __m128i ring[4], unsigned g)
{
    (void)N;
    __asm__(ROUNDS
            : [abef] "+x"(*abef), [cdgh] "+x"(*cdgh)
            : [w0] "v"(ring[g & 3]), [k] "m"(*(const sha_words *)(hli_sha256_k + 4 * g))
            : "xmm0");
}
#else
SHA_FN void sha256_last_rounds(unsigned N, __m128i *abef, __m128i *cdgh, const __m128i ring[4], unsigned g)
{
    const __m128i wk = _mm_add_epi32(ring[g & 3], _mm_load_si128((const __m128i *)(hli_sha256_k + 4 * g)));

    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, wk);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(wk, 0x0e));
    if (IN_MEMORY(N))
        IN_ORDER(*abef, *cdgh);
    else
        __asm__("" : "+x"(*abef), "+x"(*cdgh));
}
#endif

/* The same. Then quadruple g becomes quadruple g + 4. The schedule comes after the rounds: with N = 4, gcc 12 and Zen 4
 * this order gives 4.69 GB/s, the other 4.28. */
SHA_FN void sha256_rounds(unsigned N, __m128i *abef, __m128i *cdgh, __m128i ring[4], __m128i *last, unsigned g)
{
    __m128i *const w0 = &ring[g & 3], *const w1 = &ring[(g + 1) & 3], *const w2 = &ring[(g + 2) & 3];
    __m128i *const w3 = IN_MEMORY(N) ? last : &ring[(g + 3) & 3];

#if SHA_32_REGISTERS
    __asm__(ROUNDS
            "vmovdqa32 {%[w0], %%xmm1|xmm1, %[w0]}\n\t"
            "vmovdqa32 {%[w1], %%xmm2|xmm2, %[w1]}\n\t"
            "sha256msg1 {%%xmm2, %%xmm1|xmm1, xmm2}\n\t"
            "vpalignr {$4, %[w2], %[w3], %%xmm2|xmm2, %[w3], %[w2], 4}\n\t"
            "vpaddd {%%xmm2, %%xmm1, %%xmm1|xmm1, xmm1, xmm2}\n\t"
            "vmovdqa32 {%[w3], %%xmm2|xmm2, %[w3]}\n\t"
            "sha256msg2 {%%xmm2, %%xmm1|xmm1, xmm2}\n\t"
            "vmovdqa32 {%%xmm1, %[w0]|%[w0], xmm1}\n\t"
            : [abef] "+x"(*abef), [cdgh] "+x"(*cdgh), [w0] "+v"(*w0)
            : [w1] "v"(*w1), [w2] "v"(*w2), [w3] "v"(*w3), [k] "m"(*(const sha_words *)(hli_sha256_k + 4 * g))
            : "xmm0", "xmm1", "xmm2");
#else
    sha256_last_rounds(N, abef, cdgh, ring, g);
    if (!IN_MEMORY(N)) {
        *w0 = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(*w0, *w1), _mm_alignr_epi8(*w3, *w2, 4)), *w3);
        return;
    }
    __m128i w4; /* of intrinsics gcc makes 11 more moves a block (four messages: 57 cycles) */
    __asm__("movdqa {%[w0], %%xmm0|xmm0, %[w0]}\n\t"
            "sha256msg1 {%[w1], %%xmm0|xmm0, %[w1]}\n\t"
            "movdqa {%[w3], %[w4]|%[w4], %[w3]}\n\t"
            "palignr {$4, %[w2], %[w4]|%[w4], %[w2], 4}\n\t"
            "paddd {%%xmm0, %[w4]|%[w4], xmm0}\n\t"
            "sha256msg2 {%[w3], %[w4]|%[w4], %[w3]}\n\t"
            "movdqa {%[w4], %[w0]|%[w0], %[w4]}\n\t"
            : [w0] "+m"(*w0), [w4] "=&x"(w4)
            : [w1] "m"(*w1), [w2] "m"(*w2), [w3] "x"(*w3)
            : "xmm0");
    *last = w4;
#endif
}

SHA_FN __m128i sha256_swap(void)
{
    return _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
}

/* Rounds 4 g to 4 g + 3 of a block, whose words are in the rings. The last rounds have no schedule beside them. There
 * the rings get the words of the next blocks, if any: four messages take 53 cycles a block instead of 55. */
SHA_FN void sha256_4_rounds(unsigned N, __m128i abef[4], __m128i cdgh[4], __m128i rings[4][4], __m128i last[4],
                            const uint8_t *const next[], unsigned g)
{
    EACH_MESSAGE(l) {
        if (IN_MEMORY(N))
            __asm__("" : "+m"(rings[l][g & 3]));
        if (g < 12)
            sha256_rounds(N, &abef[l], &cdgh[l], rings[l], &last[l], g);
        else
            sha256_last_rounds(N, &abef[l], &cdgh[l], rings[l], g);
        if (g >= 12 && next != NULL)
            load_quadruple(rings[l], &last[l], g & 3, next[l], sha256_swap());
    }
}

/* Two messages are written out: their short ones take 8 to 14% longer in a loop. So are all where there are 32
 * registers: in a loop gcc 12 would keep four words of each message on the stack. */
SHA_FN void sha256_64_rounds(unsigned N, __m128i abef[4], __m128i cdgh[4], __m128i rings[4][4], __m128i last[4],
                             const uint8_t *const next[])
{
    if (N == 2 || (SHA_32_REGISTERS && !HLI_SMALL)) {
        UNROLLED(16)
        for (unsigned g = 0; g < 16; g++)
            sha256_4_rounds(N, abef, cdgh, rings, last, next, g);
        return;
    }
    UNROLLED(1)
    for (unsigned part = 0; part < 12; part += 4)
        UNROLLED(4)
        for (unsigned j = 0; j < 4; j++)
            sha256_4_rounds(N, abef, cdgh, rings, last, NULL, part + j);
    UNROLLED(4)
    for (unsigned g = 12; g < 16; g++)
        sha256_4_rounds(N, abef, cdgh, rings, last, next, g);
}

/* The same for a block that is the same in all messages. The schedule has its W + K. */
SHA_FN void sha256_64_rounds_scheduled(unsigned N, __m128i abef[4], __m128i cdgh[4], const uint32_t *schedule)
{
    UNROLLED(16)
    for (unsigned g = 0; g < 16; g++) {
        __m128i wk = _mm_loadu_si128((const __m128i *)(schedule + 4 * g));
        EACH_MESSAGE(l)
            cdgh[l] = _mm_sha256rnds2_epu32(cdgh[l], abef[l], wk);
        KEPT_COPY(wk); /* in the same register: the instruction takes its words in xmm0 */
        wk = _mm_shuffle_epi32(wk, 0x0e);
        EACH_MESSAGE(l)
            abef[l] = _mm_sha256rnds2_epu32(abef[l], cdgh[l], wk);
    }
}

SHA_FN void sha256_blocks_sha(unsigned N, uint32_t *s, const uint8_t *const msg[], size_t nblocks)
{
    const __m128i swap = sha256_swap();
    __m128i abef[4], cdgh[4], rings[4][4], last[4];

    sha256_load(N, s, abef, cdgh);
    if (IN_MEMORY(N) && nblocks > 0)
        EACH_MESSAGE(l)
            load_block(rings[l], &last[l], msg[l], swap);
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        const size_t after = nblocks > 1 ? offset + 64 : offset; /* the last block is loaded again, and not used */
        __m128i abef0[4], cdgh0[4];
        const uint8_t *next[4];

        EACH_MESSAGE(l) {
            PREFETCH(msg[l] + offset);
            abef0[l] = abef[l];
            cdgh0[l] = cdgh[l];
            if (SHA_32_REGISTERS) {
                KEPT_COPY(abef0[l]);
                KEPT_COPY(cdgh0[l]);
            } else {
                STORED_COPY(abef0[l]);
                STORED_COPY(cdgh0[l]);
            }
            if (IN_MEMORY(N))
                next[l] = msg[l] + after;
            else
                load_block(rings[l], &last[l], msg[l] + offset, swap);
        }
        sha256_64_rounds(N, abef, cdgh, rings, last, IN_MEMORY(N) ? next : NULL);
        sha256_add(N, abef, cdgh, abef0, cdgh0);
    }
    sha256_store(N, s, abef, cdgh);
}

/* N whole messages. The state of a message is never in the layout of lanes. */
SHA_FN void sha256_whole_sha(unsigned N, load_padded_fn *load_padded, const struct hli_whole *whole,
                             const uint8_t *const data[], const size_t nbytes[], uint8_t *const digests[])
{
    const __m128i reverse = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
    __m128i abef0[4], cdgh0[4], abef[4], cdgh[4], rings[4][4], last[4];

    sha256_load(1, whole->begin, abef0, cdgh0);
    EACH_MESSAGE(l) {
        abef[l] = abef0[l] = abef0[0];
        cdgh[l] = cdgh0[l] = cdgh0[0];
    }
    for (unsigned b = 0; b < whole->nblocks; b++) {
        if (whole->schedule != NULL) { /* each message is one block */
            EACH_MESSAGE(l)
                load_block(rings[l], &last[l], data[l], sha256_swap());
        } else {
            load_padded(whole, data, nbytes, b, sha256_swap(), 3, rings);
            EACH_MESSAGE(l)
                last[l] = rings[l][3];
        }
        sha256_64_rounds(N, abef, cdgh, rings, last, NULL);
        EACH_MESSAGE(l) {
            abef0[l] = abef[l] = _mm_add_epi32(abef[l], abef0[l]);
            cdgh0[l] = cdgh[l] = _mm_add_epi32(cdgh[l], cdgh0[l]);
        }
    }
    if (whole->schedule != NULL) {
        sha256_64_rounds_scheduled(N, abef, cdgh, whole->schedule);
        sha256_add(N, abef, cdgh, abef0, cdgh0);
    }
    EACH_MESSAGE(l) {
        const __m128i first = _mm_shuffle_epi8(_mm_unpackhi_epi64(cdgh[l], abef[l]), reverse);
        const __m128i second = _mm_shuffle_epi8(_mm_unpacklo_epi64(cdgh[l], abef[l]), reverse);
        _mm_storeu_si128((__m128i *)digests[l], first);
        if (whole->digest_nbytes == 32) {
            _mm_storeu_si128((__m128i *)(digests[l] + 16), second);
        } else { /* SHA-224, and digests of 16, 20 or 24 bytes */
            const size_t nbytes_left = whole->digest_nbytes - 16;
            if (nbytes_left >= 8)
                _mm_storel_epi64((__m128i *)(digests[l] + 16), second);
            if (nbytes_left % 8 != 0)
                hli_store32(digests[l] + 12 + nbytes_left,
                            (uint32_t)(nbytes_left == 4 ? _mm_cvtsi128_si32(second) : _mm_extract_epi32(second, 2)), 0);
        }
    }
}

/* N chains (hli_chain_fn): the digest lies in quadruples 1 and 2 of the block, and, if it has more than 16 bytes, in
 * quadruple 3; the byte that counts in quadruple 1. Two shuffles each move a half of the digest to its place: byte b of
 * a quadruple, or of a half, is byte b ^ 3 of the register, which has words. */
SHA_FN int sha256_chain_sha(unsigned N, const struct hli_links *links, const uint32_t *begin,
                            uint32_t *state, const uint8_t *const msg[])
{
    const __m128i swap = sha256_swap();
    __m128i abef[4], cdgh[4], abef0[4], cdgh0[4], rings[4][4], last[4], kept[4][3], words0[4], moves[2][2];
    uint8_t first[32], second[32], keep[48], one[16] = {0};

    if (links->at < 16 || links->at >= 32 || (links->count_at < 64 && links->count_at / 16 != 1))
        return 0;
    /* Byte i of the digest is byte b. Two loops: of one to 48, gcc 14 warns that it writes behind first. */
    for (unsigned b = 0; b < 32; b++) {
        const unsigned i = 16 + b - links->at;
        first[b ^ 3] = i < 16 && i < links->nbytes ? (uint8_t)(i ^ 3) : 0x80;
        second[b ^ 3] = i < 16 && i + 16 < links->nbytes ? (uint8_t)(i ^ 3) : 0x80;
    }
    for (unsigned b = 0; b < 48; b++) {
        const unsigned i = 16 + b - links->at;
        keep[b ^ 3] = i < links->nbytes ? 0 : 0xff;
    }
    if (links->count_at < 64)
        one[links->count_at % 16 ^ 3] = 1;
    for (unsigned b = 0; b < 2; b++) {
        moves[0][b] = _mm_loadu_si128((const __m128i *)first + b);
        moves[1][b] = _mm_loadu_si128((const __m128i *)second + b);
    }
    sha256_load(N, begin, abef0, cdgh0);
    EACH_MESSAGE(l) {
        load_block(rings[l], &last[l], msg[l], swap);
        words0[l] = rings[l][0];
        UNROLLED(3)
        for (unsigned i = 0; i < 3; i++)
            kept[l][i] = _mm_and_si128(rings[l][1 + i], _mm_loadu_si128((const __m128i *)keep + i));
    }
    for (unsigned left = links->nsteps;; left--) {
        EACH_MESSAGE(l) {
            abef[l] = abef0[l];
            cdgh[l] = cdgh0[l];
        }
        sha256_64_rounds(N, abef, cdgh, rings, last, NULL);
        sha256_add(N, abef, cdgh, abef0, cdgh0);
        if (left == 1)
            break;
        EACH_MESSAGE(l) {
            const __m128i front = REVERSED(_mm_unpackhi_epi64(cdgh[l], abef[l]));
            const __m128i back = REVERSED(_mm_unpacklo_epi64(cdgh[l], abef[l]));
            kept[l][0] = _mm_add_epi32(kept[l][0], _mm_loadu_si128((const __m128i *)one));
            rings[l][0] = words0[l];
            rings[l][1] = _mm_or_si128(kept[l][0], _mm_shuffle_epi8(front, moves[0][0]));
            rings[l][2] = _mm_or_si128(kept[l][1], _mm_or_si128(_mm_shuffle_epi8(front, moves[0][1]),
                                                                _mm_shuffle_epi8(back, moves[1][0])));
            last[l] = rings[l][3] = _mm_or_si128(kept[l][2], _mm_shuffle_epi8(back, moves[1][1]));
        }
    }
    sha256_store(N, state, abef, cdgh);
    return 1;
}

#define INSTANCE_CHAIN(name, n) \
    SHA_TARGET int hli_##name(const struct hli_links *links, const void *begin, void *states, \
                              const uint8_t *const msg[]) \
    { \
        return sha256_chain_sha(n, links, begin, states, msg); \
    }

/* ---- SHA-1: ABCD, the first letter in the highest lane, and E in the highest lane of its own register. ---- */

/* Four rounds of f[phase]. The instruction needs a literal, even when nothing is optimised. */
SHA_FN __m128i sha1_four_rounds(__m128i abcd, __m128i e_and_w, unsigned phase)
{
    switch (phase) {
    case 0: return _mm_sha1rnds4_epu32(abcd, e_and_w, 0);
    case 1: return _mm_sha1rnds4_epu32(abcd, e_and_w, 1);
    case 2: return _mm_sha1rnds4_epu32(abcd, e_and_w, 2);
    default: return _mm_sha1rnds4_epu32(abcd, e_and_w, 3);
    }
}

/* Quadruple q >= 4 of W; w is a ring of eight, q1 the quadruple before. Computed by the SHA instructions. `plain` does
 * without them from W[32] on, where the recurrence of the standard, applied to itself (rotations add up, and equal
 * terms cancel), gives
 *   W[t] = (W[t - 6] ^ W[t - 16] ^ W[t - 28] ^ W[t - 32]) <<< 2,
 * which needs no word of its own quadruple. */
SHA_FN __m128i sha1_quadruple(const __m128i w[8], __m128i q1, unsigned q, int plain)
{
    const __m128i q2 = w[(q - 2) & 7], q4 = w[(q - 4) & 7];

    if (q < 8 || !plain)
        return _mm_sha1msg2_epu32(_mm_xor_si128(_mm_sha1msg1_epu32(q4, w[(q - 3) & 7]), q2), q1);
    const __m128i x = _mm_xor_si128(_mm_xor_si128(_mm_xor_si128(w[q & 7], w[(q - 7) & 7]), q4),
                                    _mm_alignr_epi8(q2, q1, 8));
    return _mm_or_si128(_mm_slli_epi32(x, 2), _mm_srli_epi32(x, 30));
}

SHA_FN __m128i sha1_swap(void)
{
    return _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
}

/* `plain`: the schedule by plain operations as far as possible. On Redwood Cove a sha1msg2 holds up all other
 * instructions for 4 cycles even if nothing depends on it (measured: its time adds to that of nops, as with microcode),
 * and its result takes 6 cycles: sixteen are 66 of the 108 cycles of a block. One message takes 96 cycles
 * a block; the chain of sha1nexte (5 cycles) and sha1rnds4 (4) alone takes 97 in a loop of its own. Zen runs the
 * instructions at full speed. There `plain` would cost 4 more operations a quadruple where several messages leave no
 * gaps. */
SHA_FN void sha1_80_rounds(unsigned N, int plain, __m128i abcd[4], __m128i e[4], __m128i w[4][8], __m128i last[4],
                           const uint8_t *const msg[], size_t after)
{
    const unsigned ahead = IN_MEMORY(N) ? 4 : 2; /* quadruple g + ahead of the schedule is computed beside rounds g */
    __m128i ew[4];

    /* E is a plain word here. Later it is A of four rounds ago, and sha1nexte rotates it. */
    EACH_MESSAGE(l)
        ew[l] = _mm_add_epi32(e[l], w[l][0]);
    UNROLLED(20)
    for (unsigned g = 0; g < 20; g++) { /* four rounds each */
        const unsigned q = g + ahead;
        EACH_MESSAGE(l) {
            e[l] = abcd[l];
            KEPT_COPY(e[l]);
            abcd[l] = sha1_four_rounds(abcd[l], ew[l], g / 5);
            if (q >= 4 && q < 20) {
                if (IN_MEMORY(N))
                    FROM_MEMORY(w[l][(q - 2) & 7], w[l][(q - 3) & 7], w[l][(q - 4) & 7], w[l][(q - 7) & 7],
                                w[l][q & 7]);
                last[l] = sha1_quadruple(w[l], IN_MEMORY(N) ? last[l] : w[l][(q - 1) & 7], q, plain);
                w[l][q & 7] = last[l];
                if (IN_MEMORY(N))
                    KEPT_COPY(last[l]);
            } else if (msg != NULL && q >= 20) { /* the next block's words, as with SHA-256 */
                load_quadruple(w[l], &last[l], g & 3, msg[l] + after, sha1_swap());
            }
            if (g < 19)
                ew[l] = _mm_sha1nexte_epu32(e[l], w[l][(g + 1) & 7]);
            if (IN_MEMORY(N))
                IN_ORDER3(abcd[l], ew[l], last[l]);
        }
    }
}

SHA_FN void sha1_blocks_sha(unsigned N, int plain, uint32_t *s, const uint8_t *const msg[], size_t nblocks)
{
    const __m128i swap = sha1_swap();
    __m128i abcd[4], e[4], w[4][8], last[4];

    EACH_MESSAGE(l) {
        abcd[l] = REVERSED(load_words(s, N, l, 0));
        e[l] = _mm_set_epi32((int)s[4 * N + l], 0, 0, 0);
    }
    if (IN_MEMORY(N) && nblocks > 0)
        EACH_MESSAGE(l)
            load_block(w[l], &last[l], msg[l], swap);
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        const size_t after = nblocks > 1 ? offset + 64 : offset; /* the last block is loaded again, and not used */
        __m128i abcd0[4], e0[4];

        EACH_MESSAGE(l) {
            PREFETCH(msg[l] + offset);
            if (!IN_MEMORY(N))
                load_block(w[l], &last[l], msg[l] + offset, swap);
            abcd0[l] = abcd[l];
            e0[l] = e[l];
            if (IN_MEMORY(N)) {
                STORED_COPY(abcd0[l]);
                STORED_COPY(e0[l]);
            } else {
                KEPT_COPY(abcd0[l]);
            }
        }
        sha1_80_rounds(N, plain, abcd, e, w, last, IN_MEMORY(N) ? msg : NULL, after);
        EACH_MESSAGE(l) {
            e[l] = _mm_sha1nexte_epu32(e[l], e0[l]);
            abcd[l] = _mm_add_epi32(abcd[l], abcd0[l]);
        }
    }
    EACH_MESSAGE(l) {
        store_words(s, N, l, 0, REVERSED(abcd[l]));
        s[4 * N + l] = (uint32_t)_mm_extract_epi32(e[l], 3);
    }
}

/* As sha256_whole_sha. */
SHA_FN void sha1_whole_sha(unsigned N, load_padded_fn *load_padded, const struct hli_whole *whole,
                           const uint8_t *const data[], const size_t nbytes[], uint8_t *const digests[])
{
    const uint32_t *const begin = whole->begin;
    __m128i abcd0[4], e0[4], abcd[4], e[4], w[4][8], words[4][4], last[4];

    EACH_MESSAGE(l) {
        abcd[l] = abcd0[l] = REVERSED(load_words(begin, 1, 0, 0));
        e[l] = e0[l] = _mm_set_epi32((int)begin[4], 0, 0, 0);
    }
    for (unsigned b = 0; b < whole->nblocks; b++) {
        load_padded(whole, data, nbytes, b, sha1_swap(), 0, words);
        EACH_MESSAGE(l) {
            UNROLLED(4)
            for (unsigned i = 0; i < 4; i++)
                w[l][i] = words[l][i];
            last[l] = words[l][3];
        }
        sha1_80_rounds(N, 0, abcd, e, w, last, NULL, 0);
        EACH_MESSAGE(l) {
            e0[l] = e[l] = _mm_sha1nexte_epu32(e[l], e0[l]);
            abcd0[l] = abcd[l] = _mm_add_epi32(abcd[l], abcd0[l]);
        }
    }
    EACH_MESSAGE(l) {
        _mm_storeu_si128((__m128i *)digests[l], _mm_shuffle_epi8(abcd[l], sha1_swap()));
        hli_store32(digests[l] + 16, (uint32_t)_mm_extract_epi32(e[l], 3), 1);
    }
}
