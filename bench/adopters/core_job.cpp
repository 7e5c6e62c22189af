// SPDX-License-Identifier: MIT OR Apache-2.0
// Nodes and trees of Bitcoin Core, in the form of `go test -bench`, after a comparison of digests.

#include <consensus/merkle.h>
#include <crypto/sha256.h>
#include <hashloom.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

// As on a CPU without the instruction sets whose names have the parts in WITHOUT.
static void restrict_to_environment()
{
    const char* without = getenv("WITHOUT");
    std::string parts = without != nullptr ? without : "";
    hl_isas isas = hl_isas_available();
    for (char* part = strtok(parts.data(), ","); part != nullptr; part = strtok(nullptr, ",")) {
        for (size_t i = 0; i < hl_isa_count(); i++) {
            if (strstr(hl_isa_name(i), part) != nullptr) isas &= ~(hl_isas{1} << i);
        }
    }
    if (hl_restrict(isas) != HL_OK) abort();
}

template <typename F>
static void bench(const std::string& name, F function)
{
    using namespace std::chrono;
    auto start = steady_clock::now();
    long long ncalls = 0, elapsed = 0;
    for (; elapsed < 40'000'000; ncalls++, elapsed = duration_cast<nanoseconds>(steady_clock::now() - start).count()) {
        function();
    }
    printf("Benchmark%s %lld %.1f ns/op\n", name.c_str(), ncalls, double(elapsed) / ncalls);
}

int main()
{
    restrict_to_environment();
    const char* without = getenv("WITHOUT");
    bool has_sha = without == nullptr || strstr(without, "sha") == nullptr;
    SHA256AutoDetect(has_sha ? sha256_implementation::USE_ALL : sha256_implementation::USE_SSE4_AND_AVX2);
    std::vector<unsigned char> nodes(1024 * 64);
    for (size_t i = 0; i < nodes.size(); i++) nodes[i] = i * i >> 3;
    for (size_t n = 0; n <= 70; n++) { // in place, as ComputeMerkleRoot calls it
        std::vector<unsigned char> layer = nodes;
        SHA256D64(layer.data(), layer.data(), n);
        for (size_t i = 0; i < n; i++) {
            unsigned char sum[32];
            CSHA256().Write(&nodes[64 * i], 64).Finalize(sum);
            CSHA256().Write(sum, 32).Finalize(sum);
            if (memcmp(sum, &layer[32 * i], 32) != 0) return printf("FAIL: node %zu of %zu\n", i, n), 1;
        }
    }
    printf("equal\n");
    std::vector<unsigned char> out(1024 * 32);
    for (size_t n : {1, 4, 16, 64, 1024}) {
        bench("SHA256D64/" + std::to_string(n), [&] { SHA256D64(out.data(), nodes.data(), n); });
    }
    std::vector<uint256> leaves(9001);
    for (size_t i = 0; i < leaves.size(); i++) memcpy(leaves[i].begin(), &nodes[i], 32);
    bench("ComputeMerkleRoot/9001", [&] { ComputeMerkleRoot(leaves); });
}
