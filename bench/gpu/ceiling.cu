/* ceiling.cu: runs a search's kernel, as `gpubench text` wrote it to kernel.cu and inputs.h, without anything around.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * By nvcc it measures: ceiling INVOCATIONS CALLS prints a line of JSON for each call. By a C++ compiler, with
 * cuda_host.h before it, it tests: ceiling INVOCATIONS TOP tries nonces on the CPU, and prints the offsets of those
 * whose digest's most significant 32 bits are at most TOP.
 */
#include "kernel.cu"

#include "inputs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Params params_of(unsigned count, unsigned top)
{
    Params params;
    memset(&params, 0, sizeof params);
    params.first = input_first[0];
    params.count = count;
    params.top = top;
    params.probe = 0xffffffffu;
    memcpy(params.words, input_params, sizeof input_params);
    return params;
}

#ifdef __CUDACC__
static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "ceiling: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const unsigned ninvocations = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1u << 21;
    const int ncalls = argc > 2 ? atoi(argv[2]) : 10;
    const Params params = params_of(ninvocations, 0);
    uint4 *table;
    uint32_t *tail;
    Results *results;
    cudaEvent_t begun, ended;
    cudaDeviceProp device;
    float milliseconds;

    check(cudaGetDeviceProperties(&device, 0));
    check(cudaMalloc(&table, sizeof input_table));
    check(cudaMalloc(&tail, sizeof input_tail));
    check(cudaMalloc(&results, sizeof *results));
    check(cudaMemcpy(table, input_table, sizeof input_table, cudaMemcpyHostToDevice));
    check(cudaMemcpy(tail, input_tail, sizeof input_tail, cudaMemcpyHostToDevice));
    check(cudaMemset(results, 0, sizeof *results));
    check(cudaEventCreate(&begun));
    check(cudaEventCreate(&ended));
    for (int i = -2; i < ncalls; i++) { /* two calls warm up */
        check(cudaEventRecord(begun));
        search<<<(ninvocations + 255) / 256, 256>>>(params, table, results, tail);
        check(cudaEventRecord(ended));
        check(cudaEventSynchronize(ended));
        check(cudaEventElapsedTime(&milliseconds, begun, ended));
        if (i >= 0)
            printf("{\"ceiling\": \"%s\", \"invocations\": %u, \"nonces\": %.0f, \"seconds\": %g, "
                   "\"nonces_per_second\": %g}\n",
                   device.name, ninvocations, (double)ninvocations * NROUNDS, milliseconds / 1e3,
                   (double)ninvocations * NROUNDS / milliseconds * 1e3);
    }
    return 0;
}
#else
int main(int argc, char **argv)
{
    static Results results;
    const unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    const Params params = params_of(count, argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0);

    for (unsigned i = 0; i < count; i++) {
        blockIdx.x = i / 256;
        threadIdx.x = i % 256;
        search(params, (const uint4 *)input_table, &results, input_tail);
    }
    for (unsigned i = 0; i < results.count && i < sizeof results.nonces / sizeof results.nonces[0]; i++)
        printf("%u\n", results.nonces[i]);
    return 0;
}
#endif
