#!/bin/bash -eu
# build.sh: builds every fuzz target for OSS-Fuzz: the C library's with CC, CFLAGS and LIB_FUZZING_ENGINE as these are
# given, those of the Rust crate with cargo-fuzz. Targets, dictionaries and first inputs go into OUT.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
cd "$SRC/hashloom"

# Its oracle is test/reference.c. Assertions and sanitizers are as given; kernels are instrumented too.
# shellcheck disable=SC2086
$CC $CFLAGS -std=c11 -DLIBFUZZER -Icore/include -Itest -c fuzz/hash_many.c -o "$WORK/hash_many.o"
mkdir -p "$WORK/core"
for file in core/src/*.c core/src/*/*.c test/test.c test/reference.c; do
    # shellcheck disable=SC2086
    $CC $CFLAGS -std=c11 -Icore/include -Itest -c "$file" -o "$WORK/core/$(tr / - <<<"${file%.c}").o"
done
# shellcheck disable=SC2086
$CXX $CXXFLAGS "$WORK/hash_many.o" "$WORK"/core/*.o $LIB_FUZZING_ENGINE -o "$OUT/hash_many"

# The crate's build script takes CC and CFLAGS too; kernels are left uninstrumented there.
cargo fuzz build --release --fuzz-dir fuzz
built=${CARGO_TARGET_DIR:-fuzz/target}/x86_64-unknown-linux-gnu/release
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "$built/$target" "$OUT/"
    case $target in
    bencode | metainfo) seeds=(vectors/libtorrent/*.torrent vectors/webtorrent-fixtures/fixtures/*.torrent) ;;
    manifest) seeds=(fuzz/manifests/*) ;;
    *) seeds=(fuzz/seeds/"$target"/*) ;;
    esac
    [ ! -e "${seeds[0]}" ] || zip -qj "$OUT/${target}_seed_corpus.zip" "${seeds[@]}"
    dictionary=fuzz/$target.dict
    [ "$target" != metainfo ] || dictionary=fuzz/bencode.dict
    [ ! -e "$dictionary" ] || cp "$dictionary" "$OUT/$target.dict"
done
# Threads that a scope has waited for may still free what is theirs, which looks like a leak to libFuzzer.
for target in metainfo superblock; do
    printf '[libfuzzer]\ndetect_leaks = 0\n' >"$OUT/$target.options"
done
