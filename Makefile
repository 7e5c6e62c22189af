# Makefile: the front door. The C library itself is built by CMake or a bare cc (README.md), the rest by Cargo.
#
# SPDX-License-Identifier: MIT OR Apache-2.0

PREFIX ?= /usr/local
# One place for the program, whatever build folder the user's Cargo has.
export CARGO_TARGET_DIR := $(CURDIR)/target
# The profile of Cargo; dist is that of releases: smaller, and a little faster.
PROFILE := release
HASHLOOM := target/$(PROFILE)/hashloom
# Manual pages and completions, which the program generates.
SHARE := target/$(PROFILE)/share
# The programs that it can be called as. They are not installed beside it: see install-links.
STAND_INS := b2sum b3sum cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum sha3sum md5 rmd160 sha1 \
	sha224 sha256 sha384 sha512 sha512t224 sha512t256 digest mac
ROOT = $(DESTDIR)$(PREFIX)
LINKS = $(ROOT)/libexec/hashloom
# The folder of the prefix in which zsh looks for completions.
ZSH_FUNCTIONS := share/zsh/site-functions
# The folder in which fish does: that of its own prefix. A distribution's fish in /usr reads nothing below /usr/local
# unless the desktop sets XDG_DATA_DIRS, but what the administrator puts into /etc.
OWN_FISH := $(filter-out Linux/usr/local,$(shell uname)$(PREFIX))
FISH_COMPLETIONS := $(if $(OWN_FISH),$(PREFIX)/share/fish/vendor_completions.d,/etc/fish/completions)

.PHONY: help build share demo demo-python check test test-more test-all cross dist bench bench-kernels bench-peers
.PHONY: bench-slh bench-never bench-compilers bench-torrents bench-sums bench-trees bench-disks adopters fuzz mutants
.PHONY: deny install install-links uninstall clean drop-ins install-drop-ins uninstall-drop-ins web web-site npm

help:
	@echo 'make demo           build, sum, check, manifest and torrents at work, then two races, one of them in Go'
	@echo 'make demo-python    10 million e-mail addresses hashed in Python, beside hashlib, polars-hash and DuckDB'
	@echo 'make build          the program: $(HASHLOOM)'
	@echo 'make check          short tests of the files that differ from the last commit, or from BASE=main: two minutes'
	@echo 'make test           the program, the crates, the C library on this CPU, Go, Python, JavaScript: 9 minutes'
	@echo '                    on two CPUs; installs or names missing packages'
	@echo 'make test-more      other compilers, systems, browsers and programs, proofs, faults: half an hour'
	@echo 'make test-all       the slow ones too: over 4 GiB, valgrind, every compiler found, other systems, benchmarks'
	@echo 'make cross          the C tests on other architectures under qemu (part of test-all; one of them of test)'
	@echo 'make dist           what a release carries, into build/dist: source archive, Debian and RPM package, static'
	@echo '                    program; tests each in a clean folder (part of test-all)'
	@echo 'make bench          beside OpenSSL, and torrents beside sha1sum; make bench-kernels: each kernel'
	@echo 'make bench-peers    beside every other library and crate; make bench-compilers: gcc beside clang'
	@echo 'make bench-slh      SLH-DSA beside sphincsplus (SPHINCSPLUS_DIR) and two crates, some minutes'
	@echo 'make bench-never    ratio to the best of what it replaces, for every call, number, length and lesser CPU: half'
	@echo '                    an hour; ARGS=--quick: six minutes'
	@echo "make bench-torrents verify and create beside other programs, 20 minutes; ARGS='--size 512M' for a quick look"
	@echo "make bench-sums     sum and check beside other programs, 10 minutes; ARGS=--quick for a quick look"
	@echo "make bench-trees    fs-verity, dm-verity and others beside the usual programs; ARGS='--size 512M'"
	@echo "make bench-disks    modelled disks and this machine's, beside others, hours; ARGS='--quick --models hdd'"
	@echo "make adopters       gain of others' projects, in their own benchmarks; WITHOUT=avx512; ARGS='btcd --rounds 9'"
	@echo 'make fuzz           fuzz every parser, verify, proofs and the C library, 10 minutes each'
	@echo "make mutants        small changes of sources that no test notices, hours; ARGS='--every 20': some of the core"
	@echo 'make deny           licences, duplicates, sources and known vulnerabilities of the dependencies'
	@echo 'make install        program, manual pages, completions, into PREFIX=$(PREFIX) (DESTDIR is respected)'
	@echo '                    make install-links: also as sha1sum, digest and others, in libexec/hashloom;'
	@echo '                    make uninstall: remove the files of both'
	@echo 'make drop-ins       into build/drop-ins: hashloom.so, a provider for OpenSSL 3 (docs/drop-ins.md), and'
	@echo '                    libhashloom-pkcs11.so, a PKCS#11 module (docs/drop-ins.md)'
	@echo '                    make install-drop-ins: into the folders of OpenSSL and p11-kit; make uninstall-drop-ins'
	@echo 'make web            build/web/hashloom.html, a page that checks files in the browser (docs/web.md);'
	@echo '                    make web-site: build/web/site, the same for a web server, offline after the first load'
	@echo 'make npm            build/npm, the package for JavaScript: many messages in WebAssembly (web/npm/README.md)'
	@echo 'make clean          remove everything built'

build:
	@tools/setup.sh build
	@test -e $(HASHLOOM) || echo 'make: building the program, once: about four minutes of CPU time'
	cargo build --profile $(PROFILE) --locked --package hashloom-cli
	@$(MAKE) --no-print-directory share
	@# Not for make demo and others that build first.
	@$(if $(filter 0build,$(MAKELEVEL)$(MAKECMDGOALS)),printf '%s\n' 'Next: $(HASHLOOM) sum FILE...' \
	    '      sudo make install      into $(PREFIX) (or make install PREFIX=$$HOME/.local)' '      make demo',:)

# Needs the built program.
share:
	@$(HASHLOOM) generate man $(SHARE)/man/man1
	@$(HASHLOOM) generate man --stand-ins $(SHARE)/stand-ins/man/man1
	@mkdir -p $(SHARE)/completions
	@for shell in bash zsh fish; do \
	    $(HASHLOOM) generate completions $$shell >$(SHARE)/completions/$$shell || exit 1; done

demo:
	@tools/setup.sh demo
	@$(MAKE) --no-print-directory build
	@tools/demo.sh

demo-python:
	@tools/setup.sh demo-python
	@test/python.sh demo

test:
	@tools/setup.sh test
	@test/run.py test

test-more:
	@tools/setup.sh test-more
	@test/run.py more

# BASE: a commit; the files that differ from it.
check:
	@tools/setup.sh test
	@test/run.py check $(BASE)

test-all:
	@tools/setup.sh test-all
	@test/run.py all

cross:
	@tools/setup.sh cross
	@test/cross.sh all

dist:
	@tools/setup.sh dist
	@tools/dist.sh
	@test/dist.sh

build/bench/kernels: bench/kernels.c $(wildcard core/src/*.* core/src/*/*.* core/include/*.h)
	@mkdir -p build/bench
	$(CC) -O2 -Wall -Wextra -Icore/include -o $@ bench/kernels.c core/src/*.c core/src/*/*.c

# Libraries that other programs look for. The core is compiled into each; its names stay hidden.
DROP_IN_CFLAGS := -std=c11 -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Icore/include
# Flags of the code that handles other programs' data, and of its linking. test/hardened.sh checks the libraries.
HARDENED := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -shared -Wl,-z,defs,-z,relro,-z,now

# -r: one object of all files.
build/drop-ins/core.o: $(wildcard core/src/*.* core/src/*/*.* core/include/*.h)
	@mkdir -p build/drop-ins
	$(CC) $(DROP_IN_CFLAGS) $(CFLAGS) -r -o $@ core/src/*.c core/src/*/*.c

build/drop-ins/hashloom.so: build/drop-ins/core.o $(wildcard drop-in/openssl/*.[ch])
	$(CC) $(DROP_IN_CFLAGS) $(HARDENED) $(CFLAGS) -o $@ drop-in/openssl/*.c build/drop-ins/core.o $(LDFLAGS) -lcrypto

# p11-kit's header has the types of PKCS#11.
PKCS11_CFLAGS := $(or $(shell pkg-config --cflags p11-kit-1 2>/dev/null),-I/usr/include/p11-kit-1)

build/drop-ins/libhashloom-pkcs11.so: build/drop-ins/core.o $(wildcard drop-in/pkcs11/*.[ch])
	$(CC) $(DROP_IN_CFLAGS) $(PKCS11_CFLAGS) $(HARDENED) $(CFLAGS) -Wl,-soname,libhashloom-pkcs11.so -o $@ \
	    drop-in/pkcs11/*.c build/drop-ins/core.o $(LDFLAGS) -lpthread

drop-ins:
	@tools/setup.sh drop-ins
	@$(MAKE) --no-print-directory build/drop-ins/hashloom.so build/drop-ins/libhashloom-pkcs11.so

# OpenSSL looks for providers in one folder, wherever PREFIX is.
OPENSSL_MODULES_DIR ?= $(or $(shell pkg-config --variable=modulesdir libcrypto 2>/dev/null), \
    $(shell openssl version -m | sed 's/.*"\(.*\)"/\1/'))

# p11-kit reads a file for each module from here.
P11_KIT_MODULES_DIR ?= $(or $(shell pkg-config --variable=p11_module_configs p11-kit-1 2>/dev/null), \
    $(PREFIX)/share/p11-kit/modules)
# The configuration gives the module's whole path, so the module may lie anywhere.
PKCS11_DIR ?= $(PREFIX)/lib/pkcs11

install-drop-ins:
	@for built in hashloom.so libhashloom-pkcs11.so; do test -e build/drop-ins/$$built || \
	    { echo "make: run 'make drop-ins' first" >&2; exit 2; }; done
	@test -n '$(OPENSSL_MODULES_DIR)' || { echo 'make: set OPENSSL_MODULES_DIR: OpenSSL is not installed' >&2; exit 2; }
	install -D -m 644 build/drop-ins/hashloom.so '$(DESTDIR)$(OPENSSL_MODULES_DIR)/hashloom.so'
	install -D -m 644 drop-in/openssl/hashloom.cnf '$(ROOT)/share/hashloom/hashloom.cnf'
	install -D -m 644 build/drop-ins/libhashloom-pkcs11.so '$(DESTDIR)$(PKCS11_DIR)/libhashloom-pkcs11.so'
	install -d '$(DESTDIR)$(P11_KIT_MODULES_DIR)'
	echo 'module: $(PKCS11_DIR)/libhashloom-pkcs11.so' >'$(DESTDIR)$(P11_KIT_MODULES_DIR)/hashloom.module'
	@echo 'To use the provider: OPENSSL_CONF=$(PREFIX)/share/hashloom/hashloom.cnf PROGRAM'
	@echo 'The PKCS#11 module: $(PKCS11_DIR)/libhashloom-pkcs11.so'

uninstall-drop-ins:
	rm -f '$(DESTDIR)$(OPENSSL_MODULES_DIR)/hashloom.so' '$(ROOT)/share/hashloom/hashloom.cnf' \
	    '$(DESTDIR)$(PKCS11_DIR)/libhashloom-pkcs11.so' '$(DESTDIR)$(P11_KIT_MODULES_DIR)/hashloom.module'
	@# The folder stays if it has other files.
	rmdir '$(ROOT)/share/hashloom' 2>/dev/null || true

# The page's module has vectors wherever it runs: browsers without them are older than 2023. WASM_CC is a clang.
WASM_CC ?= clang
# Rust of rustup has a linker of its own; that of a distribution takes the system's.
WASM_LINKER = $(if $(wildcard $(shell rustc --print sysroot)/lib/rustlib/*/bin/rust-lld),rust-lld,wasm-ld)
web:
	@tools/setup.sh web
	CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER='$(WASM_LINKER)' \
	    CC_wasm32_unknown_unknown='$(WASM_CC)' CFLAGS_wasm32_unknown_unknown='-msimd128 -mbulk-memory' \
	    RUSTFLAGS='-C target-feature=+simd128 -C panic=abort -C strip=symbols' cargo build --profile dist --locked \
	    --target wasm32-unknown-unknown --package hashloom-web
	web/build.py target/wasm32-unknown-unknown/dist/hashloom_web.wasm build/web/hashloom.html build/web/site

# A folder for a web server, and the SHA-256 of what is in it.
web-site: web
	@cd build/web/site && sha256sum * | tee ../SHA256SUMS

# The package for JavaScript, as npm would pack it.
npm:
	@tools/setup.sh web
	WASM_CC='$(WASM_CC)' web/npm/build.py build/npm

bench: build
	@tools/setup.sh bench
	@bench/never/run.py --quick --sides --beside OpenSSL --tiers here
	@echo
	@bench/torrents.py $(HASHLOOM) image --rounds 7 --dir build/bench
	@echo
	@bench/asan/run.sh

# ARGS=--choice: where another kernel than the chosen one is faster.
bench-kernels: build/bench/kernels
	@build/bench/kernels $(ARGS)

bench-peers:
	@tools/setup.sh bench-peers
	@bench/never/run.py --quick --sides --tiers here

bench-slh:
	@bench/slh/run.sh

# ARGS: options of bench/never/run.py.
bench-never:
	@tools/setup.sh bench-never
	@bench/never/run.py $(ARGS)

# ARGS: rows and options of bench/torrents.py.
bench-torrents: build
	@tools/setup.sh bench-torrents
	@bench/torrents.py $(HASHLOOM) $(ARGS)

# ARGS: rows and options of bench/sums.py.
bench-sums: build
	@tools/setup.sh bench-sums
	@bench/sums.py $(HASHLOOM) $(ARGS)

# ARGS: rows and options of bench/trees.py.
bench-trees: build
	@tools/setup.sh bench-trees
	@bench/trees.py $(HASHLOOM) $(ARGS)

# Needs root and Linux. ARGS: rows and options of bench/disks/run.py.
bench-disks: build
	@tools/setup.sh bench-disks
	@bench/disks/run.py $(HASHLOOM) $(ARGS)

# Needs the network. ARGS: projects and options of bench/adopters/run.py.
adopters:
	@bench/adopters/run.py $(ARGS)

bench-compilers:
	@tools/setup.sh bench-compilers
	@bench/compilers.sh

fuzz:
	@tools/setup.sh test
	@test/run.py fuzz

# Changes the sources in many places, one at a time, and lists the changes that no test notices. ARGS: options of
# tools/mutants_core.py; FILES: for tools/mutants.sh.
mutants:
	@tools/setup.sh test
	@tools/mutants_core.py $(ARGS)
	@tools/mutants.sh $(FILES)

deny:
	@tools/deny.sh --require

# Does not depend on build: root, as in `sudo make install`, rarely has cargo in its PATH.
install:
	@for built in $(HASHLOOM) $(SHARE)/completions/fish; do \
	    test -e $$built || { echo "make: $$built is missing: run 'make build' first" >&2; exit 2; }; done
	install -D -m 755 $(HASHLOOM) '$(ROOT)/bin/hashloom'
	install -d '$(ROOT)/share/man/man1'
	install -m 644 $(SHARE)/man/man1/*.1 '$(ROOT)/share/man/man1'
	install -D -m 644 $(SHARE)/completions/bash '$(ROOT)/share/bash-completion/completions/hashloom'
	install -D -m 644 $(SHARE)/completions/zsh '$(ROOT)/$(ZSH_FUNCTIONS)/_hashloom'
	install -D -m 644 $(SHARE)/completions/fish '$(DESTDIR)$(FISH_COMPLETIONS)/hashloom.fish'

# In a folder of their own, so that they hide no other command. To use them, put the folder first into PATH; man(1) then
# finds their pages by itself.
install-links: install
	install -d '$(LINKS)/man/man1'
	for name in $(STAND_INS); do ln -sf ../../bin/hashloom '$(LINKS)'/$$name || exit 1; done
	install -m 644 $(SHARE)/stand-ins/man/man1/*.1 '$(LINKS)/man/man1'
	@echo 'To use them: PATH=$(PREFIX)/libexec/hashloom:$$PATH'

# Removes files by their names in the prefix, so that no build is needed, and folders that are empty then. Folders of
# the system stay: /usr/local/bin and /usr/local/share.
uninstall:
	rm -f '$(ROOT)/bin/hashloom' '$(ROOT)/share/man/man1/hashloom.1' '$(ROOT)'/share/man/man1/hashloom-*.1
	rm -f '$(ROOT)/share/bash-completion/completions/hashloom' '$(ROOT)/$(ZSH_FUNCTIONS)/_hashloom'
	rm -f '$(DESTDIR)$(FISH_COMPLETIONS)/hashloom.fish'
	for name in $(STAND_INS); do rm -f '$(LINKS)'/$$name '$(LINKS)'/man/man1/$$name.1; done
	@cd '$(ROOT)' 2>/dev/null || exit 0; rmdir -p libexec/hashloom/man/man1 2>/dev/null; \
	for folder in man/man1 bash-completion/completions $(ZSH_FUNCTIONS:share/%=%) fish/vendor_completions.d; do \
	    (cd share && rmdir -p $$folder) 2>/dev/null; done; \
	(cd '$(DESTDIR)/etc' && rmdir -p fish/completions) 2>/dev/null; \
	case '$(PREFIX)' in /usr|/usr/local) ;; *) rmdir bin share 2>/dev/null ;; esac; true

clean:
	rm -rf build target bench/peers/target bench/slh/target test/fuse/target
