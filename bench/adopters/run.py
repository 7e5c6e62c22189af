#!/usr/bin/env python3
# run.py: what projects of others gain by hashloom, in their own benchmarks, and whether their own tests pass with it.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each project comes from its registry, in one version, whose checksum stands below. A copy of it is built twice in
build/adopters: as it is, and with functions of its own replaced by a file of this folder. Go's -overlay puts the file
in, and a change by name, made at run time, moves the replaced functions out of its way: nothing of a project is part of
this repository. Then its own tests run with hashloom, and its benchmarks in turns, before and after.

A project that cannot be fetched or built is SKIPPED by name. The status is 1 if a test fails that passes without
hashloom. GOPROXY and GONOSUMDB are Go's own.

    CPU=1               the CPU to measure on (default: the last one)
    RUN='chrt -f 50'    what precedes each measured command
    WITHOUT=avx512      as on a CPU without instruction sets whose names have these parts, with commas between them"""

import sys

from harness import HAS_AVX512, WITHOUT, Core, Crate, Go, main

# A further method of rs_merkle's Hasher.
LAYER = r"\1fn hash_layer(nodes: &[Self::Hash]) -> Vec<Self::Hash> {{ crate::lanes::{}(nodes) }}\n\1{}"
SOFT = 'sha2 = { version = "0.10", features = ["force-soft"] }'

PROJECTS = [
    Go("anacrolix-torrent", "github.com/anacrolix/torrent", "v1.62.0",
       "h1:oWY/q8XdpkJaRd4QkSOaYWUXCmwR3PoLZEo5sneEPuA=", "BEP 52: 1,024 and 511 hashes, a file of 256 KiB",
       {"merkle/hashloom.go": "torrent.go"}, {"merkle/merkle.go": ["rootInPlace"], "merkle/hash.go": ["Hash.Write"]},
       tests=["./merkle", "./metainfo"], benchmarks=[("./merkle", ".")]),
    Go("btcd", "github.com/btcsuite/btcd", "v0.26.2",
       "h1:hPXzICjUZOsW2JwBLg9nHwGabc/D7pJDlna2vTB/SWI=", "CalcMerkleRoot",
       {"blockchain/hashloom.go": "btcd.go"},
       {"blockchain/rolling_merkle.go": ["rollingMerkleTreeStore.calcMerkleRoot"]},
       tests=["./blockchain"], benchmarks=[("./blockchain", "RollingMerkle")]),
    Go("gohashtree", "github.com/prysmaticlabs/gohashtree", "v0.0.4-beta",
       "h1:H/EbCuXPeTV3lpKeXGPpEV9gsUpkqOOVnWapUyeWro4=", "1 to 200,000 nodes",
       {"hashloom.go": "gohashtree.go"}, swapped={"hash.go": [(r"\b_hash[(]&.*", "sumPairs(digests, chunks)")]},
       without={"avx512": {"hash_amd64.go": [("hasAVX512 = ", "hasAVX512 = false && ")]},
                "sha": {"hash_amd64.go": [("hasShani = ", "hasShani = false && ")]}},
       tests=["."], benchmarks=[(".", "Hash_[0-9]+$|HashList")]),
    Go("syncthing", "github.com/syncthing/syncthing", "v1.30.0",
       "h1:gFeuxkbM/iNR8hHpB7WB/vs3DTyxeaTXeZPn2lK2olk=", "scanner, 17 MB in blocks of 128 KiB",
       {"lib/scanner/hashloom.go": "syncthing.go"}, {"lib/scanner/blocks.go": ["Blocks"]},
       tests=["./lib/scanner"], benchmarks=[("./lib/scanner", "HashFile")], time="10x"),
    Go("desync", "github.com/folbricht/desync", "v1.0.4",
       "h1:NWs/fRRO678U7UK1+cs9b7biKiy9l+Ee3/fa33FTXqw=", "verify-index, 256 MiB, SHA-512/256",
       {"hashloom.go": "desync.go"}, {"fileseed.go": ["fileSeedSegment.Validate"]},
       jobs={"hashloom_test.go": "desync_test.go"},
       tests=[".", "./cmd/desync"], benchmarks=[(".", "VerifyIndex256MiB")], time="1x"),
    Go("dirhash", "golang.org/x/mod", "v0.43.0",
       "h1:MFuq5J6s35W9D3IjkwyWc9vHh0nENOrt5K8Iof4ofmg=", "go mod verify: HashDir, 1,000 files",
       {"sumdb/dirhash/hashloom.go": "dirhash.go"}, {"sumdb/dirhash/hash.go": ["Hash1"]},
       jobs={"sumdb/dirhash/hashloom_test.go": "dirhash_test.go"},
       tests=["./sumdb/dirhash", "./zip"], benchmarks=[("./sumdb/dirhash", "HashDir")]),
    Go("restic", "github.com/restic/restic", "v0.10.0",
       "h1:nEcoYKpXyLtrRyYl9Mb25SWoIir/qo9nKH1a9VmkzQQ=", "check --read-data",
       {"internal/checker/hashloom.go": "restic.go", "internal/repository/hashloom.go": "restic_server.go"},
       {"internal/checker/checker.go": ["checkPack"]},
       {"internal/repository/repository.go": [(r"(rd), sha256.New[(][)]", r"\1, newServed()"),
                                              ('^.*"github.com/minio/sha256-simd"\n', "")]},
       tests=["./internal/checker", "./internal/repository"],
       benchmarks=[("./internal/checker", "Checker$")], time="10x",
       without={"sha": None}),
    Go("md5-simd", "github.com/minio/md5-simd", "v1.1.2",
       "h1:Gdi1DZK69+ZVMoNHRXJyNcxrMA4dSxoYHZSQbirFg34=", "its benchmarks, 16 hashes",
       {"hashloom.go": "md5simd.go"}, {"md5-server_amd64.go": ["NewServer"]},
       without={"avx512": {"block_amd64.go": [("hasAVX512 = ", "hasAVX512 = false && ")]}},
       tests=["."], benchmarks=[(".", f"^BenchmarkAvx{512 if HAS_AVX512 else 2}$/^(32KB|256KB|4MB)$")]),
    Go("minio-go", "github.com/minio/minio-go/v7", "v7.4.1",
       "h1:PtU/zIOfQRWZ+QydXAZysc+xZYHdG+BBR4Z6TUvy73w=", "PutObject, 16 goroutines, 8 MiB each",
       {"hashloom.go": "minio.go"}, {"utils.go": ["newMd5Hasher", "newSHA256Hasher"]},
       jobs={"hashloom_test.go": "minio_test.go"},
       tests=["."], benchmarks=[(".", "PutObject16")], time="2x"),
    Go("go-git", "github.com/go-git/go-git/v5", "v5.19.3",
       "h1:qHttbZ+Am7wEjdTpR1XMQ4rl42FK9SIXzZ4o9x7s6M4=", "a pack is parsed, with the search for attacks",
       {}, swapped={"plumbing/hash/hash.go": [("github.com/pjbgf/sha1cd", "github.com/hashloom/hashloom/go/sha1cd")]},
       tests=["./plumbing/hash", "./plumbing/format/...", "./plumbing/object"],
       benchmarks=[("./plumbing/format/packfile", "ParseBasic|Parser")]),
    Crate("rs_merkle", "rs_merkle", "1.5.0",
          "bb09b49230ba22e8c676e7b75dfe2887dea8121f18b530ae0ba519ce442d2b21",
          "MerkleTree::from_leaves, SHA-256",
          {"src/lanes.rs": "rs_merkle.rs"}, {"src/partial_tree.rs": ["build_tree"]},
          {"src/lib.rs": [("^mod error;", "mod error;\nmod lanes;")],
           "src/hasher.rs": [("^( *)fn hash_size", LAYER.format("parents::<Self>", "fn hash_size"))],
           "src/algorithms/sha256.rs": [("^( *)fn hash[(]", LAYER.format("sha256_parents", "fn hash("))]},
          job="rs_merkle_job.rs", needs=[SOFT] if "sha" in WITHOUT else []),
    Crate("plonky3", "p3-keccak", "0.9.0-rc.2",
          "7b70bd62db2f6dd68e8dd949bab9a88e2c77b69fa5ccec7398f5239581374c06",
          "Keccak-256: hash_many, MerkleTree",
          {"src/lanes.rs": "plonky3.rs"}, {"src/batch.rs": ["^hash_many"]},
          {"src/lib.rs": [("^mod batch;", "mod batch;\nmod lanes;"), ("batch::hash_many", "lanes::hash_many")]},
          without={"avx512": {"src/batch.rs": [("^    crate::avx512::KERNEL,", "")]}}, tests=["--lib"],
          job="plonky3_job.rs",
          needs=[f'p3-{name} = "=0.9.0-rc.2"' for name in ("matrix", "merkle-tree", "symmetric")]),
    Core("bitcoin-core", "libbitcoinkernel-sys", "0.4.1",
         "345d18a1ce19a1becfcaaa066e3a60e9c7813ef5c23ea8c20704ca4ba1a46339",
         "SHA256D64, 1 to 1,024 nodes; ComputeMerkleRoot, 9,001",
         {"bitcoin/src/crypto/hashloom.cpp": "core.cpp"}, {"bitcoin/src/crypto/sha256.cpp": ["SHA256D64"]},
         job="core_job.cpp", sources={
             "crypto/sha256.cpp": "", "crypto/sha256_sse4.cpp": "", "crypto/sha256_sse41.cpp": "-msse4.1",
             "crypto/sha256_avx2.cpp": "-mavx2", "crypto/sha256_x86_shani.cpp": "-msse4 -msha",
             "consensus/merkle.cpp": ""}),
]

if __name__ == "__main__":
    sys.exit(main(PROJECTS, __doc__))
