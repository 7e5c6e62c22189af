# Makefile: the front door. The C library itself is built by CMake or a bare cc (README.md), the rest by Cargo.
#
# SPDX-License-Identifier: MIT OR Apache-2.0

PREFIX ?= /usr/local
# Everything here looks for the program in one place, wherever the user's Cargo builds otherwise.
export CARGO_TARGET_DIR := $(CURDIR)/target
HASHLOOM := target/release/hashloom

.PHONY: help build demo test test-all cross bench bench-kernels bench-tiers bench-peers bench-compilers bench-torrents
.PHONY: bench-trees
.PHONY: kernels fuzz install clean

help:
	@echo 'make demo           build, verify real torrents, then race on a 485 MiB image'
	@echo 'make build          the program: $(HASHLOOM)'
	@echo 'make test           every test that takes minutes; what is missing is installed or named'
	@echo 'make test-all       the slow ones too: over 4 GiB, valgrind, every compiler found'
	@echo 'make cross          the C tests on other architectures under qemu (part of test-all; two of them of test)'
	@echo 'make bench          ratios to OpenSSL, openssl, sha1sum; make bench-kernels: each kernel'
	@echo '                    make bench-tiers: one message, OpenSSL held to the same instruction sets'
	@echo 'make kernels        each kernel: what is chosen, code size, stack; BENCH=1: with speeds'
	@echo 'make bench-peers    ratios to other libraries, crates and Go; make bench-compilers: gcc beside clang'
	@echo "make bench-torrents verify and create beside other programs, 20 minutes; ARGS='--size 512M' for a quick look"
	@echo "make bench-trees    fs-verity, dm-verity and others beside the usual programs; ARGS='--size 512M'"
	@echo 'make fuzz           fuzz the bencode and torrent parsers, verify and the C library, 10 minutes each'
	@echo 'make install        the program, into PREFIX=$(PREFIX) (DESTDIR is respected)'
	@echo 'make clean          remove everything built'

build:
	@tools/setup.sh demo
	cargo build --release --locked --package hashloom-cli

demo:
	@tools/setup.sh demo
	@tools/demo.sh

test:
	@tools/setup.sh test
	@test/run.sh quick

test-all:
	@tools/setup.sh test
	@tools/setup.sh cross
	@test/run.sh all

cross:
	@tools/setup.sh cross
	@test/cross.sh all

build/bench/bench: bench/bench.c $(wildcard core/src/*.* core/src/*/*.* core/include/*.h)
	@mkdir -p build/bench
	$(CC) -O2 -Wall -Wextra -Icore/include -o $@ bench/bench.c core/src/*.c core/src/*/*.c -lcrypto

bench: build
	@tools/setup.sh bench
	@$(MAKE) --no-print-directory build/bench/bench
	@build/bench/bench compare
	@echo
	@bench/verify.py $(HASHLOOM) --kernels
	@echo
	@bench/asan/run.sh

bench-kernels:
	@tools/setup.sh bench
	@$(MAKE) --no-print-directory build/bench/bench
	@build/bench/bench kernels

bench-tiers:
	@tools/setup.sh bench
	@$(MAKE) --no-print-directory build/bench/bench
	@build/bench/bench tiers

kernels: build
	@tools/kernels.py $(HASHLOOM) $(if $(filter-out 0,$(BENCH)),--bench)

bench-peers:
	@tools/setup.sh demo
	@bench/peers/run.sh

# ARGS: rows and options of bench/torrents.py.
bench-torrents: build
	@tools/setup.sh bench-torrents
	@bench/torrents.py $(HASHLOOM) $(ARGS)

# ARGS: rows and options of bench/trees.py.
bench-trees: build
	@tools/setup.sh bench-trees
	@bench/trees.py $(HASHLOOM) $(ARGS)

bench-compilers:
	@bench/compilers.sh

fuzz:
	@tools/setup.sh test
	@test/run.sh fuzz

# Not a dependency on build: root, as in `sudo make install`, rarely has cargo in its PATH.
install:
	@test -x $(HASHLOOM) || { echo 'make: $(HASHLOOM) is not there yet: run make build first' >&2; exit 2; }
	install -D -m 755 $(HASHLOOM) $(DESTDIR)$(PREFIX)/bin/hashloom

clean:
	rm -rf build target bench/peers/target
