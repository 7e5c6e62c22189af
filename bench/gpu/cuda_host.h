/* cuda_host.h: what a generated kernel needs of CUDA C, for a C++ compiler of the host, or for clang without CUDA.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
struct uint4 {
    unsigned x, y, z, w;
};
#ifdef __CUDA__
#  define __global__ __attribute__((global))
#  define __device__ __attribute__((device))
#  define __launch_bounds__(n) __attribute__((launch_bounds(n)))
struct cuda_index {
    unsigned x, y;
};
#  define threadIdx cuda_index{(unsigned)__nvvm_read_ptx_sreg_tid_x(), 0}
#  define blockIdx  cuda_index{(unsigned)__nvvm_read_ptx_sreg_ctaid_x(), 0}
#  define gridDim   cuda_index{0, (unsigned)__nvvm_read_ptx_sreg_nctaid_y()}
static __device__ inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n)
{
    unsigned result;
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(n));
    return result;
}
static __device__ inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    unsigned result;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(selector));
    return result;
}
static __device__ inline unsigned atomicAdd(unsigned *at, unsigned n)
{
    return (unsigned)__nvvm_atom_add_gen_i((int *)at, (int)n);
}
#else
#  define __global__
#  define __device__
#  define __launch_bounds__(n)
static struct { unsigned x; } threadIdx, blockIdx;
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n)
{
    return n % 32 == 0 ? high : high << n % 32 | low >> (32 - n % 32);
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    const unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; i++)
        result |= (unsigned)(both >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return result;
}
static inline unsigned atomicAdd(unsigned *at, unsigned n)
{
    const unsigned before = *at;
    *at += n;
    return before;
}
#endif
